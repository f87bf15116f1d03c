"""Registers the family tool-runner: all of its parts, for the shared code."""

from __future__ import annotations

from importlib.resources import files
from operator import attrgetter
from typing import Final

from runlock.conformance.families.tool_runner import grounding, needs, situations, wording
from runlock.conformance.families.tool_runner.actions import RUNNER_ACTIONS
from runlock.conformance.families.tool_runner.invariants import INVARIANTS
from runlock.conformance.families.tool_runner.line_formats import LINE_FORMATS
from runlock.conformance.families.tool_runner.messages import VOCABULARY, RunnerGate
from runlock.conformance.families.tool_runner.monitors.coverage_targets import covered
from runlock.conformance.families.tool_runner.monitors.iteration_chart import IterationMonitor
from runlock.conformance.families.tool_runner.monitors.response_chart import ResponseMonitor
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.family.exploration import Exploration
from runlock.conformance.family.family import Family
from runlock.conformance.family.inference_notes import inference_of
from runlock.conformance.family.invariant import NOTHING, Selectors
from runlock.conformance.family.late import late, late_by_name
from runlock.conformance.family.made import Made
from runlock.conformance.family.parts import Driving, Fitting, Judging, Wording
from runlock.conformance.protocol import Observation
from runlock.spec.model import load_spec

FILES: Final = files(__package__ or __name__)
HERE: Final = "runlock.conformance.families.tool_runner"
NAME: Final = "tool-runner"


def _name_of(seen: Observation) -> str:
    """The kind of a gate, by which checks are selected."""
    return attrgetter("on")(seen) if isinstance(seen, RunnerGate) else ""


def _newest_of(state: ObservedRunner, seen: Observation) -> str:
    return NOTHING


FAMILY: Final = Family(
    name=NAME,
    spec=load_spec(NAME),
    vocabulary=VOCABULARY,
    line_formats=LINE_FORMATS,
    wording=Wording(wording.step, wording.shown, spelled={"cut off": "cut-off"}),
    files=FILES,
    host=late(f"{HERE}.host.hosted", "HostedRunner"),
    made=Made(
        late(f"{HERE}.reference", "reference"),
        None,
        late_by_name(f"{HERE}.mutants", "MUTANTS"),
        late_by_name(f"{HERE}.variants", "VARIANTS"),
    ),
    default_profile="tool-runner",
    actions=RUNNER_ACTIONS,
    driving=Driving(
        situations.scenarios,
        grounding.ground,
        grounding.admit,
        grounding.drain,
        combined=situations.combined,
    ),
    judging=Judging(
        new_state=ObservedRunner,
        selectors=Selectors(_name_of, _newest_of),
        coverage_targets=covered,
        mixing="RUN-13",
        leaks="RUN-14",
    ),
    invariants=INVARIANTS,
    monitors=(IterationMonitor, ResponseMonitor),
    fitting=Fitting(unmet=needs.unmet, needs_of_script=needs.needs_of),
    inference=inference_of(FILES),
    explored=Exploration(late(f"{HERE}.exploration", "explored"), bounds=("limit",)),
)
