"""Newer releases: which are followed, which one is the newest, and when a column is judged again."""

import subprocess
from dataclasses import replace

import pytest

from runlock.conformance.campaign import releases
from runlock.conformance.campaign.entries import entry_in
from runlock.conformance.campaign.releases import followed, from_registries, judged_from, newest, remembered
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.errors import UsageError

RUNTIMES = {one.name: one for one in runtimes()}
STARTED = 'command = "agent {requirements}"'


def entry(folder, command=STARTED):
    """A runtime of an entry, with two packages, of which one has a version."""
    text = f'name = "mine"\ntitle = "Mine"\nrequirements = ["mine==1.9", "any"]\n{command}\n'
    (folder / "entry.toml").write_text(text)
    return entry_in(folder)


@pytest.mark.parametrize(
    ("name", "packages"),
    [
        ("agno", ["agno"]),
        ("langgraph", ["langgraph", "langchain", "langgraph-checkpoint-sqlite"]),
        ("pydantic-ai-ag-ui", ["pydantic-ai-slim"]),
        ("openai-agents-node", ["@openai/agents"]),  # and neither Node nor a package that only helps
    ],
)
def test_the_library_is_followed_with_what_is_released_with_it(name, packages):
    """Other packages stay where they are."""
    assert [releases.split(one)[0] for one in followed(RUNTIMES[name])] == packages


@pytest.mark.parametrize(
    ("versions", "newer"),
    [
        (["1.8", "1.10", "1.9.5"], "mine==1.10"),  # by number, not by letter
        (["2.0rc1", "2.0.dev3", "1.9.1"], "mine==1.9.1"),
        (["1.8"], "mine==1.9"),  # what was withdrawn
        ([], "mine==1.9"),
    ],
)
def test_the_newest_release_is_no_preview_and_no_older_one(versions, newer, tmp_path):
    """The command of the entry starts it."""
    found = newest(entry(tmp_path), lambda _: versions)

    assert found.requirements == (newer, "any")
    assert found.target(tmp_path) == f"cmd:agent {newer} any"


def test_an_environment_may_stay_in_a_line_of_releases():
    """The next line has an adapter of its own."""
    versions = ["6.0.999", "7.0.1", "60.1.0"]

    assert followed(newest(RUNTIMES["vercel-ai-6"], lambda _: versions)) == ("ai@6.0.999",)
    assert followed(newest(RUNTIMES["agno"], lambda _: ["60.1.0"])) == ("agno==60.1.0",)


def test_a_newer_release_has_an_environment_of_its_own():
    """Named by the versions of all that is followed, also when it moves again."""
    runtime = RUNTIMES["pydantic-ai-dbos"]
    first = newest(runtime, lambda one: ["99.1"] if one.startswith("dbos") else [])
    second = newest(first, lambda one: ["99.2"] if one.startswith("dbos") else [])

    assert first.environment == "pydantic-ai-dbos@2.68.0+99.1"
    assert second.environment == "pydantic-ai-dbos@2.68.0+99.2"
    assert newest(runtime, lambda _: []) is runtime


def test_what_was_judged_before_is_remembered(tmp_path):
    """So that a failing lookup does not lead back to the release of the entry."""
    look = remembered("mine==2.1 other==3 any")

    assert look("mine==1.9") == ["2.1"]
    assert look("else==1.9") == []
    assert newest(entry(tmp_path), look).requirements == ("mine==2.1", "any")


def test_a_column_is_judged_again_after_each_change(tmp_path):
    """Of the packages, of the adapter, of what it hides, of the budget and of the kit; not for nothing."""
    one = entry(tmp_path)
    digests = [judged_from(one, {"examples": 1}), judged_from(one, {"examples": 2})]
    digests.append(judged_from(newest(one, lambda _: ["2.0"]), {"examples": 1}))
    digests.append(judged_from(replace(one, hidden={"GATE-2": "it refuses"}), {"examples": 1}))
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "made.pyc").write_text("")
    assert judged_from(one, {"examples": 1}) == digests[0]
    (tmp_path / "adapter.py").write_text("")
    digests.append(judged_from(one, {"examples": 1}))

    assert len({*digests}) == 5


def test_a_column_is_judged_again_when_the_kit_has_changed(tmp_path, monkeypatch):
    """What judges is part of the verdict."""
    one = entry(tmp_path)
    before = judged_from(one, {})
    monkeypatch.setattr(releases, "_kit", lambda: ["another"])

    assert judged_from(one, {}) != before


def test_what_an_entry_starts_is_not_known_without_its_releases(tmp_path):
    """Nothing is followed, and no column is reused."""
    one = entry(tmp_path, 'command = "agent"')

    assert followed(one) == ()
    assert judged_from(one, {}) == ""


@pytest.mark.parametrize(
    ("requirement", "printed", "versions"),
    [
        (
            "mine==1.0",
            "mine (1.2)\nAvailable versions: 1.2, 1.1, 1.0\n  INSTALLED: 1.0\n",
            ["1.2", "1.1", "1.0"],
        ),
        ("@mine/agent@1.0", '["1.0", "1.1"]', ["1.0", "1.1"]),
        ("mine@1.0", '"1.0"', ["1.0"]),  # npm, if there is only one
    ],
)
def test_pip_and_npm_list_the_versions(requirement, printed, versions, monkeypatch):
    """Each in its own way; neither is asked here."""
    asked = []

    def run(words, **_):
        asked.append(words)
        return subprocess.CompletedProcess(words, 0, printed, "")

    monkeypatch.setattr(releases.subprocess, "run", run)
    assert from_registries(requirement) == versions
    assert requirement.removesuffix("==1.0").removesuffix("@1.0") in asked[0]


def test_a_registry_that_does_not_answer_is_an_error(monkeypatch):
    """With the last line that it said."""
    failed = subprocess.CompletedProcess([], 1, "", "a warning\nno network\n")
    monkeypatch.setattr(releases.subprocess, "run", lambda *_, **__: failed)

    with pytest.raises(UsageError, match=r"The releases of mine could not be looked up: no network\."):
        from_registries("mine==1.0")
