"""Entries: a runtime of a third party is a folder with a short file, and its column needs nothing else."""

import json
import shutil
import sys

import pytest
from places import ROOT
from sample_result import RESULT

from runlock.conformance.campaign import entries
from runlock.conformance.campaign.entries import entry_in, listed
from runlock.conformance.campaign.matrix import Column
from runlock.conformance.cli.commands import matrix as command
from runlock.conformance.cli.main import main
from runlock.conformance.errors import UsageError
from runlock.conformance.report.matrix import as_json, as_markdown

FILE = """name = "tiny"
title = "A tiny agent"
requirements = ["tiny==1.0"]
command = "{python} {folder}/adapter.py"
deviations = { "A rejected call runs." = "It is the fault that the test looks for." }
"""
ADAPTER = """
import sys
from agent import Adapter
from runlock.conformance.cli.main import main

class Mine(Adapter):
    def take(self, decision):
        super().take(decision.model_copy(update={"action": "resume"}))

if __name__ == "__main__":
    sys.exit(main(["serve", "py:adapter:Mine"]))
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with an entry, whose name has a space."""
    place = tmp_path / "the entry"
    place.mkdir()
    (place / "entry.toml").write_text(FILE)
    (place / "adapter.py").write_text(ADAPTER)
    shutil.copy(ROOT / "docs/examples/adapter.py", place / "agent.py")
    return place


def written(folder, text):
    """The folder with another file."""
    (folder / "entry.toml").write_text(text)
    return folder


def test_the_command_judges_the_entry_alone(folder, tmp_path, monkeypatch):
    """No runtime of the kit is judged with it, unless one is named."""
    asked = []
    monkeypatch.setattr(command, "matrix", lambda chosen, *_, **__: asked.extend(chosen) or [])
    monkeypatch.chdir(tmp_path)
    main(["matrix", "--entry", str(folder), "-o", "out"])
    main(["matrix", "--entry", str(folder), "--only", "agno", "-o", "out"])

    assert [one.name for one in asked] == ["tiny", "tiny", "agno"]


def test_the_page_of_an_entry_is_of_its_own_column(folder):
    """Its findings have a severity, and what its adapter decides stands with them."""
    entry = entry_in(folder)
    columns = [Column(entry, RESULT)]
    report = as_json(columns, {"seed": 0})
    page = as_markdown(report, known=[entry])

    assert [one["library"] for one in report["findings"]] == ["tiny"]
    assert "## A tiny agent" in page
    assert "- A rejected call runs. It is the fault that the test looks for." in page
    assert "- Severity: runs without consent." in page


@pytest.mark.nightly
@pytest.mark.processes
def test_an_entry_makes_a_column(folder, tmp_path, monkeypatch, capsys):
    """The page has its verdicts, its finding with the severity, and what the adapter decides."""
    monkeypatch.chdir(tmp_path)
    assert main(["matrix", "--entry", str(folder), "--examples", "0", "-o", "out", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)

    (column,) = report["runtimes"]
    assert (column["name"], column["implementation"]["name"]) == ("tiny", "tiny-agent")
    assert "GATE-2" in {one["clause"] for one in column["violations"]}
    assert report["findings"][0]["severity"] == "runs without consent"
    assert report["counts"]["unshown"] == len(report["findings"])  # there is no program without the kit
    page = (tmp_path / "out/matrix.md").read_text()
    assert "## A tiny agent" in page
    assert (tmp_path / "out/witnesses/tiny/GATE-2.scenario").is_file()


def test_the_command_names_the_folder_and_the_interpreter(folder, tmp_path):
    """Both are quoted for a shell, and no environment of the kit is needed."""
    entry = entry_in(folder)

    assert entry.target(tmp_path) == f"cmd:{sys.executable} '{folder}'/adapter.py"
    assert entry.is_installed(tmp_path)
    assert (entry.library, entry.requirements) == ("tiny", ("tiny==1.0",))


@pytest.mark.parametrize(
    ("place", "begins"),
    [
        ('url = "http://127.0.0.1:{port}/agent"\nlaunch = "app {port}"\nask = ["erase"]', "ag-ui:http:"),
        ('acp = "agent --acp"\nask = ["erase"]', "acp:agent --acp"),
    ],
)
def test_an_entry_may_be_behind_a_wire(folder, tmp_path, place, begins):
    """With the settings that a table of `runlock.toml` has."""
    entry = entry_in(written(folder, f'name = "far"\ntitle = "Far"\n{place}\n'))

    assert entry.target(tmp_path).startswith(begins)
    assert "ask=erase" in entry.target(tmp_path)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('title = "x"\ncommand = "x"\n', "has no `name`"),
        ('name = "x"\ntitle = "x"\n', "names nothing that can be started"),
        ('name = "x"\ntitle = "x"\ncommand = "x"\ncomand = "y"\n', "has a field `comand`; did you mean"),
        ('name = "x"\ntitle = "x"\ncommand = "x"\n' + "#\n" * 13, "has 16 lines"),
    ],
)
def test_what_is_no_entry_is_refused(folder, text, said):
    """In one sentence, which says what would be right."""
    with pytest.raises(UsageError) as raised:
        entry_in(written(folder, text))
    assert said in str(raised.value)


def test_a_folder_without_an_entry_is_refused(tmp_path):
    """The file is named."""
    with pytest.raises(UsageError, match=r"entry\.toml"):
        entry_in(tmp_path)


# --- entries of the kit ---------------------------------------------------------------------------


@pytest.mark.parametrize(("command", "is_there"), [("no-such-program --flag", False), ("{python} x", True)])
def test_an_entry_is_there_if_its_program_is(folder, tmp_path, command, is_there):
    """So that a matrix of all runtimes says which ones are not installed."""
    entry = entry_in(written(folder, f'name = "a"\ntitle = "A"\ncommand = "{command}"\n'))

    assert entry.is_installed(tmp_path) == is_there


@pytest.fixture
def installed(monkeypatch):
    """What would be installed, and where."""
    found = []
    monkeypatch.setattr(entries, "npm_install", lambda place, *what: found.append(("npm", place, what[-1])))
    monkeypatch.setattr(entries, "pip_install", lambda place, *what: found.append(("pip", place, what[-1])))
    return found


SERVED = """name = "a-served"
title = "A"
requirements = ["a==1"]
launch = "{folder}/.venv/bin/python {folder}/app.py"
url = "http://127.0.0.1:{port}/agent"
"""
AGENT = """name = "an-agent"
title = "An agent"
requirements = ["@an/agent@2.0"]
acp = ""
recipe = "gemini-cli"
"""


def test_the_kit_makes_the_environment_of_an_application_in_its_folder(folder, tmp_path, installed):
    """With the packages that the folder names; the adapter on a page is the file of the entry."""
    (folder / "requirements.txt").write_text("uvicorn\n")
    entry = listed(written(folder, SERVED), "conformance/adapters/applications/a")
    entry.install(tmp_path)

    assert installed == [("pip", folder / ".venv", ["-r", str(folder / "requirements.txt")])]
    assert entry.adapter_file == "conformance/adapters/applications/a/entry.toml"
    assert not entry.is_installed(tmp_path)
    assert entry.lives_in.by_hand("x.py", "") == ["pip install a==1", "python x.py"]


def test_the_kit_makes_the_environment_of_an_agent_where_its_recipe_looks(folder, tmp_path, installed):
    """It is there once its program is."""
    entry = listed(written(folder, AGENT), "conformance/adapters/agents/a")
    entry.install(tmp_path)

    assert installed == [("npm", tmp_path / "gemini-cli", ("@an/agent@2.0",))]
    assert not entry.is_installed(tmp_path)
    program = tmp_path / "gemini-cli/node_modules/.bin/gemini"
    program.parent.mkdir(parents=True)
    program.touch()
    assert entry.is_installed(tmp_path)
    assert entry.lives_in.by_hand("x.mjs", "p")[0] == "npm install --no-save @an/agent@2.0"
