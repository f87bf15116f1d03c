"""The reference of adapters names every method and every field, and shows an example of each method."""

from importlib import import_module

import pytest
from places import ROOT

from runlock.conformance import adapter


@pytest.fixture
def page(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    return import_module("docs.generator.adapter")


@pytest.fixture
def text(page):
    [(_, text)] = page.pages()
    return text


@pytest.mark.parametrize("kind", [adapter.HostedAdapter, adapter.Host])
def test_each_method_has_an_example(page, text, kind):
    """A method that is added to an interface needs a place in a program that the kit checks."""
    is_host = kind is adapter.Host
    names = [name for base in kind.__mro__ for name in vars(base) if page._is_member(name, vars(base)[name])]

    assert len(names) > 9
    assert [name for name in names if not page.example(is_host, name)] == []
    assert [name for name in names if f"### {name} {{" not in text] == []


def test_the_examples_show_what_is_hard_to_guess(page):
    """Those that authors of adapters had to find in the code of others."""
    assert "self.agent.restore(checkpoint)" in page.example(False, "restore")
    assert "decision.id" in page.example(True, "refuse")
    assert "get_running_loop().time()" in page.example(False, "time_passed")
    assert "within(call.id)" in page.example(True, "within")
    assert 'origin=self.status.get("run")' in page.example(True, "observe")


@pytest.mark.parametrize("kind", ["DECLARED", "GIVEN", "RETURNED"])
def test_each_field_has_a_row(page, text, kind):
    """Its name on the wire, and what it is, where its name does not say it."""
    for model in getattr(page, kind):
        rows = list(page.fields(model))
        assert rows
        assert [name for name, *_ in rows if f"| `{name}` |" not in text] == []
    assert "| `store.put` |" in text
    assert "`model`, `permission`, `tool`, `hook`, `apply`, `store.put`" in text


def test_a_field_has_the_comment_of_its_code(page):
    """At its end, or above it; a note to a tool is none."""
    said = {name: why for name, _, _, why in page.fields(adapter.Handshake)}

    assert said["hooks"].startswith("where a plugin can be held")
    assert said["gates"].startswith("What the runtime awaits")
    assert not any("type: ignore" in why for why in said.values())


def test_what_tests_most_comes_first(text):
    """Five declarations, of which the first opens most clauses."""
    _, _, after = text.partition("| what it lacks |")
    counts = [int(line.split("|")[2]) for line in after.splitlines()[2:7]]

    assert counts == sorted(counts, reverse=True)
    assert "call.status" in after.splitlines()[2]
