"""Every class of action by its name, and what is made of several of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runlock.conformance.families.lifecycle.actions.answers import (
    permission_answers,
    store_breaks,
    store_takes,
    tool_answers,
)
from runlock.conformance.families.lifecycle.actions.context import Action, Stage
from runlock.conformance.families.lifecycle.actions.decisions import (
    decide_all,
    decide_anything,
    decide_one,
    decide_stale,
    decide_twice,
    decide_with_a_bad_one,
    edit,
    edit_stale,
    grant,
    revoke,
)
from runlock.conformance.families.lifecycle.actions.model import (
    model_asks,
    model_asks_for_one_kind,
    model_breaks,
    model_ends,
    model_errs,
    model_stops_short,
    model_streams,
)
from runlock.conformance.families.lifecycle.actions.plugins import hook_acts, hook_continues
from runlock.conformance.families.lifecycle.actions.runs import (
    cancel,
    crash,
    give_input,
    kill,
    settle,
    start,
    time_passes,
)
from runlock.conformance.families.lifecycle.actions.watchers import decide_and_watch, unwatch, watch
from runlock.conformance.family.races import RACES, racing

TOOL_KINDS: Final = ("ok", "warning", "error", "raise", "fault", "pending", "activity")
VERDICTS: Final = ("allow", "block", "suspend", "set_result")

RACERS: Final = (
    "tool_ok",
    "tool_error",
    "tool_pending",
    "permission_allow",
    "permission_suspend",
    "approve",
    "reject",
    "decide_anything",
    "cancel",
    "model_ends",
    "model_asks",
    "watch",
    "unwatch",
)
"""The classes of which two or three may happen at once."""

ACTIONS: Final[dict[str, Action]] = {}
"""Every class of action by name, in a fixed order."""

ACTIONS.update(
    {
        "start": start,
        "model_asks": model_asks,
        "model_asks_for_one_kind": model_asks_for_one_kind,
        "model_ends": model_ends,
        "model_errs": model_errs,
        "model_breaks": model_breaks,
        **{f"tool_{kind}": tool_answers(kind) for kind in TOOL_KINDS},
        **{f"permission_{kind}": permission_answers(kind) for kind in VERDICTS},
        "store_takes": store_takes,
        "store_breaks": store_breaks,
        "approve": decide_one("resume"),
        "reject": decide_one("cancel"),
        "decide_all": decide_all,
        "decide_anything": decide_anything,
        "decide_twice": decide_twice,
        "decide_stale": decide_stale,
        "decide_with_a_bad_one": decide_with_a_bad_one,
        "cancel": cancel,
        "give_input": give_input,
        "crash": crash,
        "kill": kill,
        RACES: racing(ACTIONS, RACERS),
        "settle": settle,
        "time_passes": time_passes,
        "hook_continues": hook_continues,
        **{f"hook_{kind}": hook_acts(kind) for kind in ("terminate", "skip_inference", "rewrite", "block")},
        "watch": watch,
        "unwatch": unwatch,
        "decide_and_watch": decide_and_watch,
        "edit": edit,
        "edit_stale": edit_stale,
        "grant": grant,
        "revoke": revoke,
        "model_stops_short": model_stops_short,
        "model_streams": model_streams,
    }
)

GATE_OF_PREFIX: Final = {
    "model_": "model",
    "permission_": "permission",
    "tool_": "tool",
    "store_": "store.put",
    "hook_": "hook",
}
"""Classes of action that release a gate, by how their names begin."""

GATE_OF: Final[dict[str, str]] = {
    name: gate for name in ACTIONS for prefix, gate in GATE_OF_PREFIX.items() if name.startswith(prefix)
}
"""The kind of gate that a class of action releases."""

A_WAIT: Final = "a call that waits"

NEEDS: Final[dict[str, str]] = {
    **GATE_OF,
    **dict.fromkeys(
        ("approve", "reject", "decide_all", "decide_with_a_bad_one", "decide_and_watch", "edit", "grant"),
        A_WAIT,
    ),
}
"""What has to be there for a class of action to have an occasion: an open gate of a kind, or a wait."""


def at_hand(stage: Stage) -> set[str]:
    """What there is of that which classes of action need."""
    waits = {A_WAIT} if stage.waiting() else set()
    return {gate.on for gate in stage.state.open_gates} | waits


WEIGHTS: Final[Mapping[str, int]] = {
    "start": 8,
    "model_asks": 6,
    "model_asks_for_one_kind": 3,
    "tool_ok": 5,
    "tool_pending": 2,
    "permission_allow": 4,
    "store_takes": 8,
    "approve": 4,
    "grant": 4,
    "races": 3,
    "hook_continues": 8,
}
"""How much likelier these classes are than others, so that most schedules get somewhere."""

SELDOM: Final[Mapping[str, int]] = {"kill": 40}
"""Expensive classes (each starts a process), included in one of N schedules."""

ALWAYS: Final = ("start", "model_asks", "tool_ok", "store_takes", "permission_allow", "hook_continues")
"""Classes without which hardly any schedule gets anywhere: swarm testing never switches them off."""

TELLING: Final = (
    "start",
    "model_asks_for_one_kind",
    "decide_with_a_bad_one",
    "tool_ok",
    "tool_pending",
    "permission_allow",
    "approve",
)
"""Classes that show the executor, the window of decisions and the handling of a batch."""
