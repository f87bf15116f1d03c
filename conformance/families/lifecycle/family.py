"""All parts of the family lifecycle, as the shared code knows them."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from runlock.conformance.families.lifecycle import (
    adapter_mistakes,
    draining,
    grounding,
    needs,
    requirements,
    situations,
)
from runlock.conformance.families.lifecycle.actions import LIFECYCLE_ACTIONS
from runlock.conformance.families.lifecycle.adapter import TAKEN_BY
from runlock.conformance.families.lifecycle.inference import known, learner, questions
from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.invariants.selectors import name_of, newest_of
from runlock.conformance.families.lifecycle.line_formats import LINE_FORMATS
from runlock.conformance.families.lifecycle.messages import VOCABULARY
from runlock.conformance.families.lifecycle.monitors.coverage_targets import covered
from runlock.conformance.families.lifecycle.monitors.derived_statuses import Derived
from runlock.conformance.families.lifecycle.monitors.flow_charts import Paths
from runlock.conformance.families.lifecycle.monitors.refusals import Refusals
from runlock.conformance.families.lifecycle.monitors.status_charts import Oracle
from runlock.conformance.families.lifecycle.state import ObservedState
from runlock.conformance.families.lifecycle.wording import SPELLED, shown, step
from runlock.conformance.family.exploration import Exploration
from runlock.conformance.family.family import Family
from runlock.conformance.family.invariant import Selectors
from runlock.conformance.family.late import late, late_by_name
from runlock.conformance.family.made import Made
from runlock.conformance.family.parts import Driving, Fitting, Inference, Judging, Strategy, Wording
from runlock.spec.model import load_spec

HERE: Final = "runlock.conformance.families.lifecycle"
NAME: Final = "lifecycle"
DETERMINISM: Final = "RUN-29"
"""The clause for which two plays of one schedule are compared."""

TOUR_SHARE: Final = 16
"""One in this number of schedules aims at an arrow of a chart, or at two in a row."""

TOLD_BY_THE_TIMELINE: Final = ("gate.open", "gate.closed", "run.status", "call.status", "run.finished")

MONITORS: Final = (Oracle, Paths, Refusals, Derived)


FAMILY: Final = Family(
    name=NAME,
    spec=load_spec(NAME),
    vocabulary=VOCABULARY,
    line_formats=LINE_FORMATS,
    wording=Wording(
        step,
        shown,
        late(f"{HERE}.timeline", "timeline"),
        TOLD_BY_THE_TIMELINE,
        late(f"{HERE}.timeline", "render"),
        SPELLED,
        adapter_mistakes.mistake,
        TAKEN_BY,
    ),
    files=files(__package__),
    host=late(f"{HERE}.host.hosted", "Hosted"),
    made=Made(
        late(f"{HERE}.reference", "factory"),
        late(f"{HERE}.reference", "durable"),
        late_by_name(f"{HERE}.mutants", "MUTANTS"),
        late_by_name(f"{HERE}.variants", "VARIANTS"),
    ),
    default_profile="awaken-8",
    actions=LIFECYCLE_ACTIONS,
    driving=Driving(
        scenarios=situations.scenarios,
        ground=grounding.ground,
        admit=grounding.admit,
        drain=draining.drain,
        recover=draining.recover,
        bare=situations.bare,
        combined=situations.combined,
        strategies=(Strategy("tours", TOUR_SHARE, late(f"{HERE}.chart_tours", "play_tours")),),
    ),
    judging=Judging(
        new_state=ObservedState,
        selectors=Selectors(name_of, newest_of),
        coverage_targets=covered,
        determinism=DETERMINISM,
        mixing="RUN-34",
        leaks="RUN-36",
        scoping={
            "control store=none": "the runtime has a store",
            "observes exchange": "the runtime shows no exchange of AG-UI",
            "observes prompt": "the runtime shows no prompt of the Agent Client Protocol",
            "prompts 1": "it is of version 1 of the Agent Client Protocol, and the runtime speaks another",
            "prompts 2": "it is of version 2 of the Agent Client Protocol, and the runtime speaks another",
        },
    ),
    invariants=INVARIANTS,
    monitors=MONITORS,
    fitting=Fitting(
        unmet=needs.unmet,
        needs_of_script=requirements.needs_of,
        occasions=requirements.occasions_of,
        is_timely=draining.is_timely,
    ),
    inference=Inference(
        new_learner=learner.Learner,
        signs=questions.signs,
        read_under=known.READ_UNDER,
        alike=known.ALIKE,
        idle=known.IDLE,
        hidden=known.hidden,
    ),
    explored=Exploration(late(f"{HERE}.exploration", "explored"), models=("calls",)),
)
