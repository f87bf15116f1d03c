"""The applications that serve AG-UI: each folder says how it is started, and with which packages."""

import ast
import json
import re
import tomllib

import pytest
from places import ROOT

from runlock.conformance.campaign.entries import entry_in
from runlock.conformance.wires.address import DATA, address_of, exported
from runlock.conformance.wires.settings import address_in_table, address_named

APPLICATIONS = ROOT / "conformance" / "adapters" / "applications"
NAMES = sorted(path.parent.name for path in APPLICATIONS.glob("*/runlock.toml"))
IN_PYTHON = [name for name in NAMES if (APPLICATIONS / name / "app.py").is_file()]
IN_NODE = [name for name in NAMES if (APPLICATIONS / name / "app.mjs").is_file()]


def test_there_are_some():
    """So that the tests below are about something."""
    assert len(IN_PYTHON) >= 6 and len(IN_NODE) >= 2
    assert len(IN_PYTHON) + len(IN_NODE) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_one_word_checks_it(monkeypatch, name):
    """The settings in its folder name it, and start it at a port of the kit, in an environment of its own."""
    monkeypatch.chdir(APPLICATIONS / name)
    address = address_named(name)

    assert address is not None
    assert address.can_be_many
    started = [".venv/bin/python", "app.py"], ["node_modules/.bin/node", "app.mjs"]
    assert address.command == started[name in IN_NODE]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_the_matrix_is_made_of_it(name):
    """Its entry has the same settings, and names its program wherever the command is typed."""
    folder = APPLICATIONS / name
    entry = entry_in(folder)
    given = tomllib.loads((folder / "runlock.toml").read_text("utf-8"))["agents"][name]
    launch = " ".join(f"{folder}/{word}" for word in given["launch"].split())

    package = entry.requirements[0]

    assert address_of(entry.address) == address_in_table({**given, "launch": launch, "package": package})
    assert entry.library


@pytest.mark.parametrize("name", IN_PYTHON)
def test_it_finds_the_ends_by_the_environment(name):
    """It reads the port and the tools of the kit there; its model is reached by a variable of its library."""
    source = (APPLICATIONS / name / "app.py").read_text("utf-8")
    read = {one.value for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Constant)}

    assert {"PORT", "RUNLOCK_MCP_URL"} <= read
    assert {one for one in read if isinstance(one, str) and one.startswith("RUNLOCK_")} <= exported(1).keys()


@pytest.mark.parametrize("name", IN_NODE)
def test_one_in_node_finds_the_ends_by_the_environment(name):
    """The same, in one of its modules."""
    source = "".join(path.read_text("utf-8") for path in sorted((APPLICATIONS / name).glob("*.mjs")))
    read = {*re.findall(r"\b(?:PORT|RUNLOCK_[A-Z_]+)\b", source)}

    assert {"PORT", "RUNLOCK_MCP_URL"} <= read <= {"PORT", DATA, *exported(1)}


@pytest.mark.parametrize("name", IN_NODE)
def test_one_in_node_says_which_packages_it_imports(name):
    """Each in its newest release, and Node itself among them."""
    folder = APPLICATIONS / name
    source = "".join(path.read_text("utf-8") for path in sorted(folder.glob("*.mjs")))
    imported = {*re.findall(r'^import .* from "(?!node:)((?:@[\w-]+/)?[\w-]+)', source, re.MULTILINE)}
    packages = json.loads((folder / "package.json").read_text("utf-8"))["dependencies"]

    assert imported <= packages.keys()
    assert packages.pop("node").isdecimal()
    assert {*packages.values()} == {"latest"}


@pytest.mark.parametrize("name", IN_PYTHON)
def test_it_says_which_packages_it_imports(name):
    """Each package stands on a line of its own, without a release: the newest is checked."""
    lines = (APPLICATIONS / name / "requirements.txt").read_text("utf-8").splitlines()

    assert lines == sorted(lines)
    assert lines and not any(set(line) & set("=<>~ ") for line in lines)
