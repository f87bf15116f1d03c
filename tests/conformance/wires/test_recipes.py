"""Recipes: data of a few lines, which point an agent at the ends of the kit."""

import json
import re
import tomllib
from pathlib import Path

import pytest
from places import ROOT

from runlock.conformance.campaign.entries import listed
from runlock.conformance.errors import UsageError
from runlock.conformance.wires.address import address_of, exported
from runlock.conformance.wires.recipes import FOLDER, KEPT, Recipe, known, recipe_of

LINES_MAX = 10


@pytest.mark.parametrize("name", known())
def test_a_recipe_of_the_kit_is_short_and_whole(name):
    """Its content has ten lines at most, a table counted by its keys, and its JSON parses."""
    content = tomllib.loads(Path(str(FOLDER / f"{name}.toml")).read_text("utf-8"))
    recipe = recipe_of(name)

    lines = sum(len(value) if isinstance(value, dict) else 1 for value in content.values())
    assert lines <= LINES_MAX
    assert recipe.words("") and recipe.environment
    for file, text in {**recipe.files, **recipe.workspace}.items():
        if file.endswith(".json"):
            json.loads(text)


def test_the_environment_has_no_key_of_the_user(tmp_path, monkeypatch):
    """Only what a program needs to run, what the ends export, and what the recipe says."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a secret")
    monkeypatch.setenv("MY_TOKEN", "a secret")
    recipe = Recipe(env={"URL": "{base}/v1", "PLACE": "{home}/x"}, environment="mine")
    made = recipe.environment_at(str(tmp_path), exported(1234))

    assert "a secret" not in made.values()
    assert (made["URL"], made["PLACE"]) == ("http://127.0.0.1:1234/v1", f"{tmp_path}/x")
    assert made["HOME"] == str(tmp_path)
    assert ".runlock/mine/node_modules/.bin" in made["PATH"].split(":")[0]
    fixed = {"URL", "PLACE", "HOME", "PATH", "NO_PROXY", "TERM", *exported(1)}
    assert made.keys() <= fixed | set(KEPT)


@pytest.mark.parametrize("written", ["2", '"2"'])
def test_a_recipe_may_say_which_version_is_spoken(tmp_path, written):
    """As a number, or as a text; one that the kit does not speak is refused."""
    path = tmp_path / "new.toml"
    path.write_text(f'command = "agent"\nprotocol = {written}\n', "utf-8")
    assert recipe_of(str(path)).protocol == "2"

    path.write_text('command = "agent"\nprotocol = 3\n', "utf-8")
    with pytest.raises(UsageError, match="The kit speaks no version 3"):
        recipe_of(str(path))


def test_files_are_written_where_they_belong(tmp_path):
    """Those of the home there, and those of a session in its folder."""
    recipe = Recipe(files={".a/b.json": "{base}"}, workspace={"c.json": "{home}"})
    home, session = tmp_path / "home", tmp_path / "session"
    for folder in (home, session):
        folder.mkdir()
        recipe.write(str(folder), str(home), exported(1))

    assert (home / ".a/b.json").read_text() == "http://127.0.0.1:1"
    assert (session / "c.json").read_text() == str(home)
    assert not (home / "c.json").exists() and not (session / ".a").exists()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("comand = 'x'", "has a field `comand`; did you mean 'command'"),
        ("env = { A = 1 }", "`env` of the recipe"),
    ],
)
def test_a_recipe_that_means_nothing_is_refused(tmp_path, text, says):
    """With the field that is wrong."""
    path = tmp_path / "mine.toml"
    path.write_text(text, "utf-8")
    with pytest.raises(UsageError, match=says):
        recipe_of(str(path))


@pytest.mark.parametrize("name", known())
def test_a_column_of_the_matrix_is_made_with_each_recipe(name):
    """Its entry names the recipe, and the packages that the page about agents names."""
    folder = ROOT / "conformance" / "adapters" / "agents" / name
    entry = listed(folder, f"conformance/adapters/agents/{name}")
    page = (ROOT / "docs" / "check-an-agent.md").read_text("utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| `{name}` |")]
    package, version = re.split("==|(?<!^)@", entry.requirements[0])

    assert address_of(entry.address).recipe == name
    assert entry.environment == recipe_of(name).environment
    assert f"`{package}` {version} |" in row
