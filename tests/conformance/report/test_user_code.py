"""SARIF points into the user's own code: the method that took the last stimulus, or the line that raised."""

import json

import pytest
from command_line import run
from sample_result import FILES, RESULT

from runlock.conformance.report.result_json import as_json
from runlock.conformance.report.user_code import place_of_exception, place_of_target

ADAPTER = """\
class Other:
    def decide(self): ...


class Adapter:
    async def start(self): ...

    async def decide(self): ...


def factory(): ...
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A project with an adapter in it."""
    monkeypatch.chdir(tmp_path)
    tmp_path.joinpath("mine.py").write_text(ADAPTER)
    tmp_path.joinpath("src", "package").mkdir(parents=True)
    tmp_path.joinpath("src", "package", "inner.py").write_text(ADAPTER)
    tmp_path.joinpath("broken.py").write_text("class Adapter(:\n")
    return tmp_path


@pytest.mark.parametrize(
    ("target", "method", "where"),
    [
        ("py:mine:Adapter", "decide", ("mine.py", 8)),
        ("py:mine:Adapter", "start", ("mine.py", 6)),
        ("py:mine:Adapter", "", ("mine.py", 5)),
        ("py:mine:factory", "decide", ("mine.py", 11)),
        ("py:package.inner:Adapter", "decide", ("src/package/inner.py", 8)),
        ("py:broken:Adapter", "decide", ("broken.py", 1)),
        ("py:elsewhere:Adapter", "decide", None),
        ("py:../mine:Adapter", "decide", None),
        (f"py:{'m' * 300}\0:Adapter", "decide", None),
        ("cmd:./mine.py", "decide", None),
    ],
)
def test_the_method_that_took_a_stimulus(target, method, where):
    """The class is the place of what no method took; a file that is not here is no place."""
    assert place_of_target(target, method) == where


@pytest.mark.parametrize(
    ("error", "where"),
    [
        ("KeyError: “'v'” (mine.py:6)", ("mine.py", 6)),
        ("KeyError: “(mine.py:6)” (gone.py:7)", None),
        ("KeyError: “'v'” (/etc/passwd:1)", None),
        ("KeyError: “'v'” at its call", None),
    ],
)
def test_the_line_that_raised(error, where):
    """Only a file below the working directory is a place."""
    assert place_of_exception(error) == where


def test_code_scanning_shows_the_finding_in_the_adapter(capsys):
    """The broken clause is at the method, and its trace is related."""
    result = as_json(RESULT, FILES, 1) | {"target": "py:mine:Adapter"}
    result["exceptions"] = [
        {"error": "KeyError: “'v'” (mine.py:6)", "verb": "start", "times": 1, "trace": None}
    ]
    result["violations"][0]["adapter"] = "this looks like the adapter: it says nothing"
    with open("result.json", "w", encoding="utf-8") as file:
        json.dump(result, file)

    found = json.loads(run(capsys, "report", ".", "--format", "sarif").out)["runs"][0]["results"]
    places = {one["ruleId"]: one["locations"][0]["physicalLocation"] for one in found}

    assert places["DECIDE-5"] == {"artifactLocation": {"uri": "mine.py"}, "region": {"startLine": 8}}
    assert places["exception"] == {"artifactLocation": {"uri": "mine.py"}, "region": {"startLine": 6}}
    assert found[0]["message"]["text"].endswith(". This looks like the adapter: it says nothing")
    assert "DECIDE-5.jsonl" in json.dumps(found[0]["relatedLocations"])
