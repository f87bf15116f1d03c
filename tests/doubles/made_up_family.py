"""A family of another distribution: three messages, one clause, no chart; and two runtimes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint
from typing import Any, Literal

from places import ROOT

from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import HELD, CheckResults, Invariant, broken
from runlock.conformance.family.made import Made
from runlock.conformance.family.parts import Actions, Driving, Judging, Wording
from runlock.conformance.protocol import Empty, Handshake, Observation, Scenario, Settle, Stimulus, reports
from runlock.conformance.protocol.methods import methods_of
from runlock.conformance.protocol.observations import listed
from runlock.conformance.protocol.vocabulary import Vocabulary
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.plain_formats import plain_formats
from runlock.conformance.trace.sentences import Sentences
from runlock.conformance.transport.in_process import InProcess
from runlock.spec.model import read_spec

FOLDER = ROOT / "tests" / "data" / "made_up_family"
LAST = "bye"


# --- messages -----------------------------------------------------------------------------------


class Start(Stimulus, verb="run.start", needs=""):
    run: str


class Say(Stimulus, verb="say", words="say {text}"):
    text: str


class Said(Observation, words="{text}"):
    kind: Literal["said"] = "said"
    text: str


class Report(reports.Report):
    observations: list[Said] = []


METHODS = methods_of(Handshake, Scenario, Report, None, (Start, Say, Settle))
LISTED = listed(Said)
SENTENCES = Sentences(METHODS, LISTED, {})


# --- state, check and actions -------------------------------------------------------------------


@dataclass
class Run:
    id: str
    is_done: bool = False


class State:
    features: frozenset[str] = frozenset()

    def __init__(self, handshake: Handshake, policies: Mapping[str, Any], scenario: Scenario) -> None:
        self.handshake, self.policies, self.scenario = handshake, policies, scenario
        self.run: Run | None = None
        self.text = ""
        self.stimuli = 0
        self.quiescent = True

    def under(self, policies: Any) -> State:
        return self

    def stimulus(self, method: str, params: Mapping[str, Any]) -> None:
        self.stimuli += 1
        if method == "run.start":
            self.run = Run(params["run"])
        self.text = params.get("text", "")

    def read(self, seen: Said) -> Said:
        return seen

    def observe(self, seen: Said) -> None:
        if self.run is not None and self.text == LAST:
            self.run.is_done = True

    def report(self, report: Report) -> None:
        self.quiescent = report.quiescent


def a_text_is_shown_as_it_was_said(state: State, seen: Said) -> CheckResults:
    why = f"{state.text} was said, and {seen.text} was shown"
    yield HELD if seen.text == state.text else broken(why)


@dataclass
class Context:
    state: State
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def handshake(self) -> Handshake:
        return self.state.handshake

    def aside(self) -> Context:
        return Context(self.state, dict(self.counts))


def start(context: Context, chooser: Any) -> Move | None:
    if context.state.run is not None and not context.state.run.is_done:
        return None
    context.counts["r"] = context.counts.get("r", 0) + 1
    return Move("run.start", {"run": f"r{context.counts['r']}"})


def say(context: Context, chooser: Any) -> Move | None:
    run = context.state.run
    return None if run is None or run.is_done else Move("say", {"text": f"word{chooser.choose(3)}"})


# --- runtimes -----------------------------------------------------------------------------------


class Echo:
    """Shows what is said."""

    def initialize(self, params: dict[str, Any]) -> dict[str, Any]:
        return {
            "implementation": {"name": type(self).__name__, "version": "1"}, "family": "made-up",
            "profile": "quiet", "control": {"settle": "exact"}, "observes": ["said"], "stimuli": ["say"],
        }  # fmt: skip

    def scenario_open(self, params: dict[str, Any]) -> dict[str, Any]:
        return {}

    def scenario_close(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"leaks": []}

    def shutdown(self, params: dict[str, Any]) -> dict[str, Any]:
        return {}

    def run_start(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"observations": [], "quiescent": True}

    settle = run_start

    def say(self, params: dict[str, Any]) -> dict[str, Any]:
        return {"observations": [{"kind": "said", "text": self.shown(params["text"])}], "quiescent": True}

    def shown(self, text: str) -> str:
        return text


class Shouts(Echo):
    """Shows a text in upper case."""

    def shown(self, text: str) -> str:
        return text.upper()


@dataclass(frozen=True)
class Mutant:
    name: str = "Shouts"
    fault: str = "Shows a text in upper case."
    clause: str = "ECHO-1"
    says: str = "was shown"
    also: tuple[str, ...] = ()
    is_masked: bool = False
    profile: str = "quiet"
    policies: Mapping[str, Any] = field(default_factory=dict)

    def innocent(self) -> Any:
        return Echo

    def __call__(self) -> Shouts:
        return Shouts()


FAMILY = Family(
    name="made-up",
    spec=read_spec(FOLDER),
    vocabulary=Vocabulary(Handshake, Scenario, Report, Empty, METHODS, LISTED, {}),
    line_formats=plain_formats("made-up", METHODS, LISTED, Scenario, {}),
    actions=Actions({"start": start, "say": say}, Context),
    driving=Driving(
        scenarios=lambda handshake, policies: [Scenario(scenario="plain")],
        ground=lambda move, state: dict(move.params),
        admit=lambda move, state: move,
        drain=lambda state: Move("say", {"text": LAST}),
    ),
    judging=Judging(State),
    invariants=(Invariant("ECHO-1", a_text_is_shown_as_it_was_said, Said),),
    files=FOLDER,
    host=lambda factory: InProcess(factory(), again=factory),
    made=Made(lambda profile, policies: Echo, mutants=lambda: {"Shouts": Mutant()}),
    default_profile="quiet",
    wording=Wording(SENTENCES.step, SENTENCES.shown),
)

ENTRY = EntryPoint("made-up", "made_up_family:FAMILY", "runlock.families")
