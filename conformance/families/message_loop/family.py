"""Registers the family message-loop: all of its parts, for the shared code."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from runlock.conformance.families.message_loop import grounding, needs, situations, wording
from runlock.conformance.families.message_loop.actions import LOOP_ACTIONS
from runlock.conformance.families.message_loop.invariants import INVARIANTS
from runlock.conformance.families.message_loop.invariants.results import SELECTORS
from runlock.conformance.families.message_loop.line_formats import LINE_FORMATS
from runlock.conformance.families.message_loop.messages import VOCABULARY
from runlock.conformance.families.message_loop.monitors.pass_chart import PassChart
from runlock.conformance.families.message_loop.state import ObservedState
from runlock.conformance.family.exploration import Exploration
from runlock.conformance.family.family import Family
from runlock.conformance.family.inference_notes import inference_of
from runlock.conformance.family.late import late, late_by_name
from runlock.conformance.family.made import Made
from runlock.conformance.family.parts import Driving, Fitting, Judging, Wording
from runlock.spec.model import load_spec

FILES: Final = files(__package__ or __name__)
HERE: Final = "runlock.conformance.families.message_loop"
NAME: Final = "message-loop"
DETERMINISM: Final = "RUN-29"
"""The clause that requires two runs of one schedule to be equal."""


FAMILY: Final = Family(
    name=NAME,
    spec=load_spec(NAME),
    vocabulary=VOCABULARY,
    line_formats=LINE_FORMATS,
    wording=Wording(wording.step, wording.shown),
    files=FILES,
    host=late(f"{HERE}.host.hosted", "Hosted"),
    made=Made(
        late(f"{HERE}.reference", "factory"),
        None,
        late_by_name(f"{HERE}.mutants", "MUTANTS"),
        late_by_name(f"{HERE}.variants", "VARIANTS"),
    ),
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
    explored=Exploration(late(f"{HERE}.exploration", "explored"), bounds=("iterations", "interactors")),
)
