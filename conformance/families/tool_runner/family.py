"""Registers the family tool-runner: all of its parts, for the shared code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final

from runlock.conformance.families.tool_runner import grounding, needs, situations, wording
from runlock.conformance.families.tool_runner.actions import RUNNER_ACTIONS
from runlock.conformance.families.tool_runner.invariants import INVARIANTS
from runlock.conformance.families.tool_runner.line_formats import LINE_FORMATS
from runlock.conformance.families.tool_runner.messages import VOCABULARY, RunnerGate
from runlock.conformance.families.tool_runner.monitors.coverage_targets import covered
from runlock.conformance.families.tool_runner.monitors.iteration_chart import IterationMonitor
from runlock.conformance.families.tool_runner.monitors.response_chart import ResponseMonitor
from runlock.conformance.families.tool_runner.state import ObservedRunner
from runlock.conformance.family.exploration import Asked, Estimate, Exploration
from runlock.conformance.family.family import Family
from runlock.conformance.family.inference_notes import inference_of
from runlock.conformance.family.invariant import NOTHING, Selectors
from runlock.conformance.family.made import Made
from runlock.conformance.family.parts import Driving, Fitting, Judging, Wording
from runlock.conformance.protocol import Observation
from runlock.spec.model import load_spec

if TYPE_CHECKING:
    from runlock.conformance.families.tool_runner.adapter import AdapterFactory
    from runlock.conformance.transport.sut import Sut

FILES: Final = files(__package__ or __name__)
NAME: Final = "tool-runner"


def _name_of(seen: Observation) -> str:
    """The kind of a gate, by which checks are selected."""
    return attrgetter("on")(seen) if isinstance(seen, RunnerGate) else ""


def _newest_of(state: ObservedRunner, seen: Observation) -> str:
    return NOTHING


def _host(factory: AdapterFactory) -> Sut:
    from runlock.conformance.families.tool_runner.host.hosted import HostedRunner

    return HostedRunner(factory)


def _reference(*given: Any) -> AdapterFactory:
    from runlock.conformance.families.tool_runner.reference import reference

    return reference(*given)


def _explored(model: str, asked: Asked, announce: Callable[[Estimate], None]) -> Any:
    from runlock.conformance.families.tool_runner.exploration import explored

    return explored(model, asked, announce)


def _mutants() -> Mapping[str, Any]:
    from runlock.conformance.families.tool_runner.mutants import MUTANTS

    return {mutant.name: mutant for mutant in MUTANTS}


def _variants() -> Mapping[str, Any]:
    from runlock.conformance.families.tool_runner.variants import VARIANTS

    return {variant.name: variant for variant in VARIANTS}


FAMILY: Final = Family(
    name=NAME,
    spec=load_spec(NAME),
    vocabulary=VOCABULARY,
    line_formats=LINE_FORMATS,
    wording=Wording(wording.step, wording.shown, spelled={"cut off": "cut-off"}),
    files=FILES,
    host=_host,
    made=Made(_reference, None, _mutants, _variants),
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
    explored=Exploration(_explored, bounds=("limit",)),
)
