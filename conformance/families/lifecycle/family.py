"""All parts of the family lifecycle, as the shared code knows them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final

from runlock.conformance.families.lifecycle import draining, grounding, needs, requirements, situations
from runlock.conformance.families.lifecycle.actions import LIFECYCLE_ACTIONS
from runlock.conformance.families.lifecycle.inference import known, learner, questions
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.invariants.selectors import name_of, newest_of
from runlock.conformance.families.lifecycle.joint.conformance import JointOracle
from runlock.conformance.families.lifecycle.joint.states import Kept
from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.families.lifecycle.messages import (
    LISTED,
    METHODS,
    OUTCOMES_BY_GATE,
    Handshake,
    Report,
    Scenario,
    Snapshot,
)
from runlock.conformance.families.lifecycle.monitors.coverage_targets import covered
from runlock.conformance.families.lifecycle.monitors.derived_statuses import Derived
from runlock.conformance.families.lifecycle.monitors.flow_charts import Paths
from runlock.conformance.families.lifecycle.monitors.refusals import Refusals
from runlock.conformance.families.lifecycle.monitors.status_charts import Oracle
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.wording import shown, step
from runlock.conformance.family.family import Family, Inference, Made, Strategy, Wording
from runlock.conformance.family.invariant import Selectors
from runlock.conformance.protocol.vocabulary import Vocabulary
from runlock.spec.model import load_spec

if TYPE_CHECKING:
    from runlock.conformance.families.lifecycle.adapter import AdapterFactory
    from runlock.conformance.transport.sut import Sut

NAME: Final = "lifecycle"
DETERMINISM: Final = "RUN-29"
"""The clause for which two plays of one schedule are compared."""

TOUR_SHARE: Final = 16
"""One of so many schedules makes for an arrow of a chart, or for two in a row."""

MONITORS: Final = (Oracle, Paths, JointOracle, Refusals, Derived)


def _host(factory: AdapterFactory) -> Sut:
    from runlock.conformance.families.lifecycle.host.hosted import Hosted

    return Hosted(factory)


def _reference(profile: str, policies: Mapping[str, Any]) -> AdapterFactory:
    from runlock.conformance.families.lifecycle.reference import factory

    return factory(profile, policies)


def _durable(profile: str, policies: Mapping[str, Any]) -> AdapterFactory:
    from runlock.conformance.families.lifecycle.reference import durable

    return durable(profile, policies)


def _mutants() -> Mapping[str, Any]:
    from runlock.conformance.families.lifecycle.mutants import MUTANTS

    return {mutant.name: mutant for mutant in MUTANTS}


def _variants() -> Mapping[str, Any]:
    from runlock.conformance.families.lifecycle.variants import VARIANTS

    return {variant.name: variant for variant in VARIANTS}


def _tours(*given: Any) -> Any:
    from runlock.conformance.families.lifecycle.chart_tours import play_tours

    return play_tours(*given)


FAMILY: Final = Family(
    name=NAME,
    spec=load_spec(NAME),
    vocabulary=Vocabulary(
        handshake=Handshake,
        scenario=Scenario,
        report=Report,
        snapshot=Snapshot,
        methods=METHODS,
        observations=LISTED,
        outcomes=OUTCOMES_BY_GATE,
    ),
    line_formats=LINE_FORMATS,
    new_state=ObservedState,
    invariants=INVARIANTS,
    selectors=Selectors(name_of, newest_of),
    monitors=MONITORS,
    actions=LIFECYCLE_ACTIONS,
    ground=grounding.ground,
    admit=grounding.admit,
    drain=draining.drain,
    recover=draining.recover,
    is_timely=draining.is_timely,
    scenarios=situations.scenarios,
    files=files(__package__),
    host=_host,
    made=Made(_reference, _durable, _mutants, _variants),
    default_profile="awaken-8",
    wording=Wording(step, shown),
    unmet=needs.unmet,
    needs_of_script=requirements.needs_of,
    strategies=(Strategy("tours", TOUR_SHARE, _tours),),
    coverage_targets=covered,
    inference=Inference(
        new_learner=learner.Learner,
        unconditional=learner.unconditional,
        signs=questions.signs,
        read_under=known.READ_UNDER,
        alike=known.ALIKE,
        idle=known.IDLE,
        hidden=known.hidden,
    ),
    verb_needs={"unwatch": "stimulus watch"},
    determinism=DETERMINISM,
    shared_types=(Kept,),
)
