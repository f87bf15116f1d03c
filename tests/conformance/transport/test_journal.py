"""The journal: what a runtime was asked is on disk before it is asked, and reads back as a trace."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runlock.conformance.protocol import ProtocolError
from runlock.conformance.transport.journal import Journal, Journalled, in_flight

HANDSHAKE = {"implementation": {"name": "t", "version": "1"}}
START = {"run": "r1", "input": "hello"}
SHOWN = {"kind": "run.status", "run": "r1", "from": None, "to": "Running"}
REPORT = {"quiescent": True, "refused": []}


class Answering:
    """A runtime with one answer for each verb, or an exception; it reads the journal at each request."""

    def __init__(self, path: Path, answers: dict[str, Any]) -> None:
        self.path, self.answers = path, answers
        self.seen: dict[str, str] = {}  # what the journal says was in flight, by verb

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        self.seen[method], _ = in_flight(self.path)
        answer = self.answers.get(method, {})
        if isinstance(answer, Exception):
            raise answer
        return dict(answer)

    def kill(self) -> None:
        """Nothing to end."""

    def close(self) -> None:
        """Nothing to give back."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the journal is kept."""
    return tmp_path / "journal"


def journalled(path: Path, **answers: Any) -> tuple[Journalled, Answering, Journal]:
    """A runtime whose requests are written down; its scenario is open."""
    given = {"initialize": HANDSHAKE, **{name.replace("_", "."): answer for name, answer in answers.items()}}
    runtime, journal = Answering(path, given), Journal(path)
    sut = Journalled(runtime, journal)
    sut.request("initialize", {"kit": {"name": "k", "version": "1"}})
    sut.request("scenario.open", {"scenario": "s"})
    return sut, runtime, journal


def records(path: Path) -> list[dict[str, Any]]:
    """What the journal reads as."""
    _, trace = in_flight(path)
    assert trace is not None
    return trace.records


def test_a_request_is_written_down_before_it_is_sent(path: Path) -> None:
    """A runtime that never answers leaves the verb that it was asked."""
    sut, runtime, _ = journalled(path, run_start={"observations": [SHOWN], **REPORT})
    sut.request("run.start", START)
    sut.request("settle", {})

    assert runtime.seen["run.start"] == "run.start"
    assert runtime.seen["settle"] == "settle"


def test_it_reads_back_as_a_trace(path: Path) -> None:
    """The handshake, the scenario, each stimulus, and what it led to once the next one is sent."""
    sut, _, _ = journalled(path, run_start={"observations": [SHOWN], **REPORT})
    sut.request("run.start", START)
    assert [next(iter(record)) for record in records(path)] == ["handshake", "scenario", "stimulus"]
    sut.request("settle", {})

    assert records(path) == [
        {"handshake": HANDSHAKE},
        {"scenario": {"scenario": "s"}},
        {"stimulus": {"method": "run.start", "params": START}},
        {"observation": SHOWN},
        {"report": REPORT},
        {"stimulus": {"method": "settle", "params": {}}},
    ]


def test_each_scenario_begins_it_anew(path: Path) -> None:
    """What was closed well is of no interest any more."""
    sut, _, _ = journalled(path)
    sut.request("run.start", START)
    sut.request("scenario.close", {})
    sut.request("scenario.open", {"scenario": "t"})

    assert records(path) == [{"handshake": HANDSHAKE}, {"scenario": {"scenario": "t"}}]


def test_a_scenario_goes_on_in_the_next_process(path: Path) -> None:
    """A kill by the kit is a crash of the scenario, which is opened again and not begun anew."""
    sut, _, journal = journalled(path)
    sut.request("run.start", START)
    journal.killed()
    sut.request("scenario.open", {"scenario": "s"})
    sut.request("recover", {"run": "r1", "store": None})

    kinds = [next(iter(record)) for record in records(path)]
    assert kinds == ["handshake", "scenario", "stimulus", "report", "crash", "stimulus"]


@pytest.mark.parametrize("verb", ["scenario.open", "scenario.close", "crash", "run.start", "decide"])
def test_the_verb_in_flight_is_named(path: Path, verb: str) -> None:
    """Of each verb it is known that it had no answer."""
    sut, _, _ = journalled(path, **{verb.replace(".", "_"): {}})
    sut.request(verb, {"scenario": "s"})

    assert in_flight(path)[0] == verb


def test_a_look_at_a_run_is_an_observation(path: Path) -> None:
    """What `inspect` showed is in the trace, and a runtime that has none leaves no hole."""
    sut, runtime, _ = journalled(path, inspect={"status": "Running"})
    sut.request("inspect", {"run": "r1"})
    runtime.answers["inspect"] = ProtocolError(-32601, "no such method")
    with pytest.raises(ProtocolError):
        sut.request("inspect", {"run": "r1"})
    sut.request("settle", {})

    assert [record["observation"] for record in records(path) if "observation" in record] == [
        {"status": "Running", "kind": "inspect", "run": "r1"}
    ]
    assert sum("report" in record for record in records(path)) == 2


@pytest.mark.parametrize("text", ["", '{"scenario": {"scen', "not json\n"])
def test_a_file_that_was_cut_off_holds_nothing(path: Path, text: str) -> None:
    """A process that ended while it wrote, or before, leaves no trace and no error."""
    path.write_text(text)

    assert in_flight(path) == ("", None)
    assert in_flight(path.with_name("missing")) == ("", None)


def test_a_shorter_scenario_leaves_no_rest_of_a_longer_one(path: Path) -> None:
    """The file is cut before it is written anew."""
    sut, _, _ = journalled(path)
    sut.request("run.start", {**START, "input": "x" * 1_000})
    sut.request("scenario.open", {"scenario": "t"})

    assert all(json.loads(line) for line in path.read_text().splitlines())
    assert "xxx" not in path.read_text()
