"""No incident is forgotten: what a target does without being asked is counted, and the result is not held."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from command_line import run
from flaky_fakes import Flaky
from places import ROOT

from runlock.conformance.campaign.order import Means, Order, Sampled
from runlock.conformance.campaign.result import Result
from runlock.conformance.campaign.supervisor import campaign
from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.ledger import DIFFERED, ENDED, GARBLED, HANDSHAKE, Ledger
from runlock.conformance.driving.strategies.hypothesis_machine import ClauseBroken, conformance_test
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import AdapterError, SutDied
from runlock.conformance.judging.determinism import another_answer
from runlock.conformance.report.html import web
from runlock.conformance.report.junit import junit
from runlock.conformance.report.markdown import markdown
from runlock.conformance.report.result_json import as_json, stored
from runlock.conformance.report.sarif import sarif
from runlock.conformance.text import difference_of
from runlock.conformance.trace.trace import Trace

FLAKY = ROOT / "tests/doubles/faulty_adapters/flaky.py"
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The runtimes count from 1, and the command runs in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    for kind in Flaky.__subclasses__():
        kind.__init_subclass__()
    yield


def in_process(name: str, examples: int = 24) -> Result:
    """The result of a campaign on a runtime in this process."""
    return campaign(Order(f"py:flaky_fakes:{name}", Sampled(examples)))


def over_a_pipe(*words: object, jobs: int = 1) -> Result:
    """The result of a campaign on a runtime in a process of its own."""
    argv = [sys.executable, str(FLAKY), *map(str, words)]
    return campaign(Order(f"cmd:{shlex.join(argv)}", Sampled(24)), Means(jobs=jobs))


def kinds(result: Result) -> set[str]:
    return {one.kind for one in result.ledger.shown}


# --- a campaign -----------------------------------------------------------------------------------


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("RaisesNowAndThen", GARBLED, "Wrong: “not now”"),
        ("EndsAfterEachScenario", GARBLED, "in scenario_open"),
        ("LosesAnObservation", DIFFERED, "replays of the same schedule it did not"),
        ("StampsTheTime", DIFFERED, "`stamp` was 2, and is"),
        ("ChangesItsHandshake", HANDSHAKE, "`implementation.version` was"),
    ],
)
def test_a_flaky_target_is_undecided_and_nothing_is_broken(name: str, kind: str, words: str) -> None:
    """An incident turns held into undecided; what breaks once and not again is no violation."""
    result = in_process(name)

    assert (result.verdict, result.exit_code(), result.witnesses) == ("undecided", 3, [])
    assert kind in kinds(result)
    assert result.ledger.headline.startswith("flaky: ")
    assert words in next(one.what for one in result.ledger.shown if one.kind == kind)


@pytest.mark.long
def test_a_target_that_ends_between_two_drawn_schedules_loses_nothing() -> None:
    """Hypothesis goes on, and the incident is counted once, among all scenarios."""
    result = in_process("BreaksInADrawnSchedule", 300)

    assert (result.verdict, result.partial, result.troubles) == ("undecided", "", [])
    assert result.ledger.headline.startswith("flaky: 1 incident in ")
    assert result.schedules > 300


def test_a_target_that_has_to_be_restarted_for_each_scenario_is_given_up() -> None:
    """More restarts would show nothing else; the result says why it ends early."""
    result = in_process("EndsAfterEachScenario")

    assert result.partial == "it gave up after 20 incidents"
    assert result.ledger.times == 20


@pytest.mark.long
@pytest.mark.sampled(1, nightly=3)
@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("exits", 400), ENDED),
        pytest.param(("exits_after_it", 1, "scenario.close"), ENDED, marks=pytest.mark.long),
        pytest.param(("exits", 60), ENDED, marks=pytest.mark.long),
        pytest.param(("exits", 200), ENDED, marks=pytest.mark.long),
        pytest.param(("is_killed", 150), ENDED, marks=pytest.mark.long),
        pytest.param(("exits", 40, "scenario.open"), ENDED, marks=pytest.mark.long),
        pytest.param(("writes_garbage", 100), GARBLED, marks=pytest.mark.long),
        pytest.param(("writes_half_a_line", 100), ENDED, marks=pytest.mark.long),
        pytest.param(("answers_twice", 100), GARBLED, marks=pytest.mark.long),
        pytest.param(("answers_with_an_error", 100), GARBLED, marks=pytest.mark.long),
        pytest.param(("says_that_it_crashed", 100), ENDED, marks=pytest.mark.long),
        pytest.param(("loses_an_observation", 300), DIFFERED, marks=pytest.mark.long),
        pytest.param(("reorders_observations", 30), DIFFERED, marks=pytest.mark.long),
        pytest.param(("renames_an_observation", 300), DIFFERED, marks=pytest.mark.long),
        pytest.param(("repeats_an_observation", 300), DIFFERED, marks=pytest.mark.long),
        pytest.param(("stamps_the_time", 1), DIFFERED, marks=pytest.mark.long),
    ],
)
def test_each_fault_of_a_process_is_counted(words: tuple[object, ...], kind: str) -> None:
    """Whatever goes wrong now and then, over a pipe: undecided, flaky, and no violation."""
    result = over_a_pipe(*words)

    assert (result.verdict, result.exit_code(), result.witnesses) == ("undecided", 3, [])
    assert kind in kinds(result)
    assert result.ledger.headline.startswith("flaky: ")


@pytest.mark.long
@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.long)])
def test_a_handshake_that_alternates_is_noticed_with_any_number_of_jobs(tmp_path: Path, jobs: int) -> None:
    """Each campaign starts its target at least twice."""
    result = over_a_pipe(
        "changes_its_handshake", 2, "any", "reference:tool-runner", tmp_path / "starts", jobs=jobs
    )

    assert (result.verdict, kinds(result)) == ("undecided", {HANDSHAKE})


@pytest.mark.long
def test_a_runtime_that_is_right_has_no_incident() -> None:
    """Restarts that the kit orders are none."""
    result = campaign(Order("reference:tool-runner", Sampled(24)))

    assert (result.verdict, result.ledger.times, result.ledger.headline) == ("held", 0, "")


@pytest.mark.long
def test_a_violation_of_a_flaky_runtime_stays_a_violation() -> None:
    """What breaks in most replays is broken, whatever else goes wrong."""
    result = in_process("BreaksAndRaises")

    assert (result.verdict, result.exit_code()) == ("broken", 1)
    assert result.witnesses
    assert result.ledger.headline.startswith("flaky: ")


# --- reports --------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_incident_is_the_first_thing_in_every_report(capsys: Capsys) -> None:
    """The text begins with it, and each other format has it."""
    ran = run(capsys, "check", "py:flaky_fakes:RaisesNowAndThen", "--examples", 24)
    whole = json.loads(Path("runlock-results/result.json").read_text())

    first, second, *_ = ran.out.splitlines()
    assert ran.code == 3
    assert first.startswith("flaky: ")
    assert second.startswith(f"  {GARBLED}, ")
    assert list(whole)[:3] == ["schema", "flaky", "incidents"]
    assert (whole["verdict"], whole["flaky"]) == ("undecided", first)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("written", [web, markdown, junit, sarif])
def test_each_format_names_the_incident(written: Callable[[Any], str]) -> None:
    """How often of how many, and the first example."""
    result = in_process("ChangesItsHandshake", 0)

    page = written(stored(result, {}, 3))
    assert result.ledger.headline in page
    assert "implementation.version" in page


@pytest.mark.long
def test_the_trace_of_another_answer_is_stored(capsys: Capsys) -> None:
    """A person can look at the schedule that led to another answer."""
    run(capsys, "check", "py:flaky_fakes:StampsTheTime", "--examples", 0, "-o", "out")

    whole = json.loads(Path("out/result.json").read_text())
    assert [one["trace"] for one in whole["incidents"]] == ["out/incident-1.jsonl"]
    assert Path("out/incident-1.jsonl").exists()


@pytest.mark.long
def test_a_clause_that_broke_once_is_neither_held_nor_broken() -> None:
    """Its verdict says how often it did not break again."""
    result = in_process("LosesAnObservation")

    found = [one for one in as_json(result, {}, 3)["clauses"] if one["verdict"] == "error"]
    assert found
    assert all("replays of the same schedule it did not" in one["why"] for one in found)


# --- other ways into a target ---------------------------------------------------------------------


@pytest.mark.long
def test_smoke_counts_incidents(capsys: Capsys) -> None:
    """A verb that fails once works, and the command is undecided."""
    ran = run(capsys, "smoke", f"cmd:{sys.executable} {FLAKY} exits 20 any reference:tool-runner", "--json")

    assert (ran.code, ran.json["exit_code"]) == (3, 3)
    assert ran.json["flaky"].startswith("flaky: ")


@pytest.mark.long
def test_infer_counts_incidents(capsys: Capsys) -> None:
    """What a flaky runtime shows once rules nothing out for certain."""
    ran = run(capsys, "infer", "py:flaky_fakes:RaisesNowAndThen", "--examples", 8)

    assert ran.code == 3
    assert ran.out.startswith("flaky: ")


@pytest.mark.long
def test_a_replay_is_not_held_if_the_target_ends_after_it(capsys: Capsys) -> None:
    """A replay opens one more scenario, since nothing else would show that the target is gone."""
    run(capsys, "check", "py:flaky_fakes:Breaks", "--examples", 0, "-o", "out")
    trace = next(one for one in Path("out").glob("*.jsonl") if not one.stem.startswith("incident"))

    ran = run(capsys, "replay", trace, "py:flaky_fakes:EndsAfterEachScenario")
    assert ran.code == 3
    assert "in scenario_open" in ran.out
    assert "undecided: runlock-reference-runner" in ran.out


@pytest.mark.long
def test_a_unit_test_says_that_the_runtime_is_flaky() -> None:
    """The whole interface for a test file raises an error of the adapter, and no clause."""
    for name in ("RaisesNowAndThen", "EndsAfterEachScenario"):
        with pytest.raises(AdapterError, match=r"Flaky: |raised Wrong"):
            conformance_test(resolve(f"py:flaky_fakes:{name}").open, examples=60)


def test_a_unit_test_still_finds_a_violation() -> None:
    """A clause that breaks each time is raised as such."""
    with pytest.raises(ClauseBroken):
        conformance_test(resolve("py:flaky_fakes:Breaks").open, examples=60)


# --- parts ----------------------------------------------------------------------------------------


def test_a_failure_is_counted_whether_or_not_the_next_start_succeeds() -> None:
    """A start that fails is repeated; after three failures in a row the error of the last one is raised."""
    left = [2]

    def opened() -> Any:
        left[0] -= 1
        if left[0] >= 0:
            raise AdapterError("It did not start.")
        return resolve("reference:tool-runner").open()

    bench = Bench(opened)
    assert [(one.times, one.recovered) for one in bench.ledger.shown] == [(2, 1)]
    left[0] = 3
    with pytest.raises(AdapterError, match="It did not start"):
        bench.renew(SutDied("It ended."))
    bench.close()


def test_an_error_of_a_schedule_is_no_incident_as_well() -> None:
    """What fails twice is reported as the error of its schedule, and counted."""
    bench, tally = Bench(resolve("reference:tool-runner").open), Tally()

    def fails(_: object) -> None:
        raise SutDied("It ended.")

    assert bench.judged(bench.scenarios[0], fails, tally) is None
    assert [one.what for one in tally.troubles] == ["It ended."]
    assert (bench.ledger.times, bench.ledger.headline) == (2, "")
    bench.close()


def test_ledgers_are_added() -> None:
    """The first example stays, and the numbers are added up."""
    one, other = Ledger(3), Ledger(4)
    one.failed(SutDied("first"))
    other.failed(SutDied("second"))
    other.recovered(SutDied("second"))
    one.add(other)

    assert one.headline == "flaky: 2 incidents in 7 scenarios; what was sent again went otherwise"
    assert one.shown[0].sentence == f"{ENDED}, 2 times; first: first"


def test_the_order_within_an_answer_and_the_ids_of_gates_may_change() -> None:
    """A runtime chooses both; nothing else may be another in the same schedule."""

    def answer(*seen: dict[str, Any]) -> Trace:
        return Trace(
            [*({"observation": one} for one in seen), {"report": {"quiescent": True, "refused": []}}]
        )

    def compared(once: Trace, again: Trace) -> str:
        return another_answer(once, again, lambda gate: str(gate["on"]))

    gate, other = ({"kind": "gate.open", "gate": name, "on": "model"} for name in ("g1", "x7"))
    once, again = {"kind": "phase", "step": 1}, {"kind": "phase", "step": 2}
    assert compared(answer(gate, once), answer(once, other)) == ""
    assert "in phase `step` was 1, and is 2" in compared(answer(gate, once), answer(gate, again))
    assert "it showed phase 1 times before, and 0 times now" in compared(answer(once), answer())
    exchanges = [{"kind": "exchange", "events": list(events)} for events in ("ab", "ba", "ac")]
    assert compared(answer(exchanges[0]), answer(exchanges[1])) == ""
    assert 'in exchange `events.1` was "b", and is "c"' in compared(
        answer(exchanges[0]), answer(exchanges[2])
    )


@pytest.mark.parametrize(
    ("once", "again", "words"),
    [
        ({"a": 1}, {"a": 1}, ""),
        ({"a": [1, 2]}, {"a": [1, 3]}, "`a.1` was 2, and is 3"),
        ({"a": 1}, {}, "`a` is missing, and was 1"),
        ({}, {"a": 1}, "`a` was missing, and is 1"),
        ([1], [1, 2], "`1` was missing, and is 2"),
    ],
)
def test_a_difference_is_named_by_its_place(once: Any, again: Any, words: str) -> None:
    assert difference_of(once, again) == words
