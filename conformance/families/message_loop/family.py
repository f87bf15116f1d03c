"""Registers the family message-loop: all of its parts, for the shared code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from runlock.conformance.families.message_loop import grounding, needs, situations, wording
from runlock.conformance.families.message_loop.actions import LOOP_ACTIONS
from runlock.conformance.families.message_loop.invariants import INVARIANTS
from runlock.conformance.families.message_loop.invariants.results import SELECTORS
from runlock.conformance.families.message_loop.line_formats import LINE_FORMATS
from runlock.conformance.families.message_loop.messages import VOCABULARY
from runlock.conformance.families.message_loop.monitors.pass_chart import PassChart
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.family.exploration import Asked, Estimate, Exploration
from runlock.conformance.family.family import Family
from runlock.conformance.family.inference_notes import inference_of
from runlock.conformance.family.made import Made
from runlock.conformance.family.parts import Driving, Fitting, Judging, Wording
from runlock.spec.model import load_spec

if TYPE_CHECKING:
    from runlock.conformance.families.message_loop.adapter import AdapterFactory
    from runlock.conformance.transport.sut import Sut

FILES: Final = files(__package__ or __name__)
NAME: Final = "message-loop"
DETERMINISM: Final = "RUN-29"
"""The clause that requires two runs of one schedule to be equal."""


def _host(factory: AdapterFactory) -> Sut:
    from runlock.conformance.families.message_loop.host.hosted import Hosted

    return Hosted(factory)


def _reference(*given: Any) -> AdapterFactory:
    from runlock.conformance.families.message_loop.reference import factory

    return factory(*given)


def _explored(model: str, asked: Asked, announce: Callable[[Estimate], None]) -> Any:
    from runlock.conformance.families.message_loop.exploration import explored

    return explored(model, asked, announce)


def _mutants() -> Mapping[str, Any]:
    from runlock.conformance.families.message_loop.mutants import MUTANTS

    return {mutant.name: mutant for mutant in MUTANTS}


def _variants() -> Mapping[str, Any]:
    from runlock.conformance.families.message_loop.variants import VARIANTS

    return {variant.name: variant for variant in VARIANTS}


FAMILY: Final = Family(
    name=NAME,
    spec=load_spec(NAME),
    vocabulary=VOCABULARY,
    line_formats=LINE_FORMATS,
    wording=Wording(wording.step, wording.shown),
    files=FILES,
    host=_host,
    made=Made(_reference, None, _mutants, _variants),
    default_profile="message-loop",
    actions=LOOP_ACTIONS,
    driving=Driving(
        situations.scenarios,
        grounding.ground,
        grounding.admit,
        grounding.drain,
        combined=situations.combined,
    ),
    judging=Judging(
        new_state=ObservedState,
        selectors=SELECTORS,
        determinism=DETERMINISM,
        mixing="RUN-30",
        leaks="RUN-31",
    ),
    invariants=INVARIANTS,
    monitors=(PassChart,),
    fitting=Fitting(unmet=needs.unmet, needs_of_script=needs.needs_of, fitted=situations.fitted),
    inference=inference_of(FILES),
    explored=Exploration(_explored, bounds=("iterations", "interactors")),
)
