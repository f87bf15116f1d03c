"""pytest passes, fails and skips what `check` reports, clause by clause, and never passes an empty run."""

import os
import subprocess
import sys
import tomllib
from collections import Counter
from importlib import import_module
from xml.etree import ElementTree

import pytest
from places import ROOT

README = (ROOT / "README.md").read_text("utf-8")
ADAPTER, SUITE = (block.partition("```")[0] for block in README.split("```python\n")[1:3])

SUITES = """
import slip, tiny
from runlock.conformance.pytest_suite import ConformanceSuite

class TestSlip(ConformanceSuite):
    adapter = lambda: slip.Adapter()

class Deaf(tiny.Adapter):
    async def open(self, host, scenario):
        raise RuntimeError("no")

class TestDeaf(ConformanceSuite):
    adapter = Deaf
"""
COUNTED = """

    def __init__(self):
        import os
        with open("processes", "a") as file:
            print(os.getpid(), file=file)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A project with the README's adapter and suite, a slip in another, and one that cannot be opened."""
    made = tmp_path_factory.mktemp("project")
    (made / "tiny.py").write_text(ADAPTER)
    (made / "slip.py").write_text(ADAPTER.replace('if action == "resume":', "if action:"))
    (made / "counted.py").write_text(ADAPTER + COUNTED)
    (made / "test_tiny.py").write_text(SUITE)
    (made / "test_suites.py").write_text(SUITES)
    return made


def ran(folder, *words):
    """The run of pytest in a process of its own that knows this plugin and xdist alone."""
    plugins = (
        "-p",
        "runlock.conformance.pytest_plugin.plugin",
        "-p",
        "xdist.plugin",
        "-p",
        "no:cacheprovider",
    )
    return subprocess.run(
        [sys.executable, "-m", "pytest", *plugins, "-q", "--tb=short", "-W", "error", *words],
        cwd=folder,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        check=False,
    )


def cases(path, suite):
    """What the JUnit file says of each test of a suite: its outcome, its text, its clause."""
    said = {}
    for case in ElementTree.parse(path).iter("testcase"):
        if case.get("classname").endswith(suite):
            news = [one for one in case if one.tag != "properties"]
            clause = [one.get("value") for one in case.iter("property") if one.get("name") == "clause"]
            outcome = (news[0].tag, f"{news[0].get('message')}\n{news[0].text}") if news else ("passed", "")
            said[case.get("name")] = (*outcome, *clause)
    return said


@pytest.fixture(scope="module")
def report(folder):
    """The JUnit file of all suites of the project, by the scripted scenarios alone."""
    ran(folder, "--runlock-examples", "0", "--junitxml", "report.xml")
    return folder / "report.xml"


@pytest.mark.processes
def test_the_suite_of_the_readme_holds(report):
    """Each clause of a right runtime passes or is skipped with its why, under its id."""
    said = cases(report, "TestTiny")

    assert said["test_campaign"] == ("passed", "")
    assert said["test_clause[GATE-2]"] == ("passed", "", "GATE-2")
    assert {one[0] for one in said.values()} == {"passed", "skipped"}
    assert "untested: the runtime does not show call.status" in said["test_clause[CALL-1]"][1]
    assert "not applicable: " in said["test_clause[ROUND-20]"][1]


@pytest.mark.processes
def test_a_broken_clause_fails_alone_with_its_violation(report, folder):
    """The text is that of `check`, from because to replay, and the trace that it names is there."""
    said = cases(report, "TestSlip")
    failed = [name for name, one in said.items() if one[0] == "failure"]
    text = said["test_clause[GATE-2]"][1]

    assert failed == ["test_clause[GATE-1]", "test_clause[GATE-2]"]  # the first is a symptom of the second
    assert "GATE-2 broken by tiny-agent 1.0: a rejected call is not executed" in text
    for label in ("because", "clause", "timeline", "witness", "replay"):
        assert f"\n  {label}" in text
    assert "runlock replay runlock-results/test_suites.TestSlip/GATE-2.jsonl" in text
    assert (folder / "runlock-results/test_suites.TestSlip/GATE-2.jsonl").is_file()


@pytest.mark.processes
def test_nothing_exercised_is_an_error(report):
    """A runtime of which no schedule could be judged passes nothing and skips nothing."""
    said = cases(report, "TestDeaf")

    assert {one[0] for one in said.values()} == {"error"}
    assert "could not be judged" in said["test_clause[GATE-2]"][1]


@pytest.mark.processes
def test_skipped_and_expected_clauses_fail_no_test(folder):
    """A skipped clause is skipped with its symptoms, and an expected violation is an expected failure."""
    (folder / "known.toml").write_text(
        '[[expected]]\nclause = "GATE-2"\nbecause = "yet it was executed"\nreason = "known"\n'
    )
    words = ("--runlock-target", "py:slip:Adapter", "--runlock-examples", "0", "-m", "runlock", "-rxs")
    files = ("--ignore", "test_suites.py", "--ignore", "test_tiny.py")
    bare = ran(folder, *words, *files)
    skipped = ran(folder, *words, *files, "--runlock-skip", "GATE-2")
    expected = ran(folder, *words, *files, "--runlock-baseline", "known.toml")

    assert (bare.returncode, skipped.returncode, expected.returncode) == (1, 0, 0)
    assert "it is left out by `skip`" in skipped.stdout
    assert "XFAIL" in expected.stdout


@pytest.mark.processes
def test_the_processes_of_xdist_share_one_campaign(folder):
    """Each process makes one adapter, to read its handshake at collection; only one plays the campaign."""
    words = ("--runlock-target", "py:counted:Adapter", "--runlock-examples", "0", "-m", "runlock")
    run = ran(folder, *words, "-n", "2", "--ignore", "test_suites.py", "--ignore", "test_tiny.py")

    assert run.returncode == 0, run.stdout + run.stderr
    made = Counter((folder / "processes").read_text().split())
    assert sum(count > 1 for count in made.values()) == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--runlock-target", "refrence"), "`refrence` names no target. Did you mean `reference`?"),
        (("--runlock-examples", "few"), "`few` is no whole number"),
        (("--runlock-examples", "-1"), "-1 is no number of schedules, which is 0 or more"),
        (("--runlock-seed", "x"), "`x` is no whole number"),
    ],
)
def test_a_word_that_cannot_be_used_ends_the_run(folder, words, sentence):
    """Nothing runs on an option that means nothing."""
    run = ran(folder, *words)

    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert sentence in run.stderr


@pytest.mark.processes
def test_a_suite_without_a_runtime_is_no_suite(tmp_path):
    """A name that is no runtime is reported at collection."""
    (tmp_path / "test_none.py").write_text(
        "from runlock.conformance.pytest_suite import ConformanceSuite\n"
        "class TestNone(ConformanceSuite): pass\n"
        "class TestTypo(ConformanceSuite): adapter = 'mutant:no'\n"
    )
    run = ran(tmp_path)

    assert "TestNone names no runtime. Write `adapter = MyAdapter` in it." in run.stdout
    assert "There is no mutant `no`." in run.stdout


def test_a_run_that_does_not_ask_for_it_loads_nothing() -> None:
    """Without an option of the kit, pytest imports the entry point's module and its packages only."""
    names = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["entry-points"]["pytest11"]
    loaded = "print([name for name in sys.modules if name.split('.')[0] in ('runlock', 'pydantic')])"
    run = subprocess.run(
        [sys.executable, "-c", f"import sys, {names['runlock']}; {loaded}"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert import_module(names["runlock"]).pytest_addoption is not None
    assert sorted(eval(run.stdout)) == [
        "runlock",
        "runlock.conformance",
        "runlock.conformance.pytest_plugin",
        "runlock.conformance.pytest_plugin.plugin",
    ]
