"""The hooks of mkdocs: what a page that is missing links to, and options that stay on one line."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from places import ROOT

PAGE = '<a href="/index.html"></a><script src="/a.js"></script>{"base": "/"} new URL("/",location)'


@pytest.fixture
def hooks(monkeypatch):
    """The module of the hooks."""
    pytest.importorskip("mkdocs", reason="the site needs the extra `docs`")
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    return import_module("hooks")


@pytest.fixture
def after_template(hooks):
    """The hook that a template passes through."""
    return lambda address: hooks.on_post_template(PAGE, SimpleNamespace(site_url=address, nav=[]))


def test_without_an_address_a_missing_page_links_to_its_own_folder(after_template):
    """The site may be served below the root of a host."""
    assert '"/' not in after_template("")
    assert '<a href="./index.html">' in after_template("")


def test_with_an_address_its_links_stay_as_they_are(after_template):
    """They are below the address then."""
    assert after_template("https://example.org/site/") == PAGE


def test_an_option_stays_on_one_line(hooks):
    """In code within a line and in commands; other blocks of code have their own lines."""
    block = "<pre><span></span><code>check --jobs\n</code></pre>"
    line = '<code>check <span class="whole">-x</span> <span class="whole">--jobs</span> 8</code>'
    assert hooks.on_page_content("<code>check -x --jobs 8</code>" + block) == line + block
    commands = '<div class="language-sh highlight"><pre><span></span><code>check<span class="w"> </span>{}'
    shown = hooks.on_page_content(commands.format("--jobs</code></pre></div>"))
    assert shown == commands.format('<span class="whole">--jobs</span></code></pre></div>')
