"""The hooks of mkdocs: what a page that is missing links to."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from places import ROOT

PAGE = '<a href="/index.html"></a><script src="/a.js"></script>{"base": "/"} new URL("/",location)'


@pytest.fixture
def after_template(monkeypatch):
    """The hook that a template passes through."""
    pytest.importorskip("mkdocs", reason="the site needs the extra `docs`")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    hook = import_module("hooks").on_post_template
    return lambda address: hook(PAGE, SimpleNamespace(site_url=address, nav=[]))


def test_without_an_address_a_missing_page_links_to_its_own_folder(after_template):
    """The site may be served below the root of a host."""
    assert '"/' not in after_template("")
    assert '<a href="./index.html">' in after_template("")


def test_with_an_address_its_links_stay_as_they_are(after_template):
    """They are below the address then."""
    assert after_template("https://example.org/site/") == PAGE
