"""What is said of a turn, by its stop reason: whether its calls run, and whether it ends the run."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule, Where
from runlock.machines.tool_runner.joint.clauses.rules import Terms, is_handled
from runlock.machines.tool_runner.joint.state import Control


def turns(terms: Terms) -> Iterator[Rule]:
    """The rules of turns: final ones, those that ask for tools, paused ones, and those that were cut off."""
    yield from _final(terms)
    yield from _asking(terms)
    yield from _paused(terms)
    yield from _cut_off(terms)


def _goes_on(terms: Terms, stop: str, *, changed: bool) -> Where:
    """Whether the next request is due after a turn with this stop reason."""
    return lambda control: (
        control.runner == "Settled"
        and control.stop == stop
        and not control.again
        and terms.changed(control) is changed
    )


def _ended(terms: Terms, stop: str, *, changed: bool) -> Where:
    """Whether a turn with this stop reason has ended the run."""
    return lambda control: (
        control.runner == "Finished" and control.stop == stop and terms.changed(control) is changed
    )


def _final(terms: Terms) -> Iterator[Rule]:
    yield Never(
        "RUNNER-6",
        "a final turn was unchanged, and the run went on",
        _goes_on(terms, "end_turn", changed=False),
    )
    if terms.says("runner.finish", "received"):
        where = _goes_on(terms, "end_turn", changed=True)
        yield Never("RUNNER-7", "a final turn came in a changed iteration, and the run went on", where)
    else:
        where = _ended(terms, "end_turn", changed=True)
        yield Never("RUNNER-7", "the state of a final turn was changed, and was not sent", where)
    yield from _kept(terms)


def _kept(terms: Terms) -> Iterator[Rule]:
    """Whether an unchanged final turn stands in the state at the end."""

    def is_kept(control: Control) -> bool:
        return terms.says("end.turn", "kept") or (
            terms.says("end.turn", "unless_refused") and control.stop != "refusal"
        )

    yield Never(
        "RUNNER-46",
        "a final turn does not stand in the state at the end, or does, against what is declared",
        lambda control: (
            control.runner == "Finished"
            and terms.unchanged(control)
            and not control.was_set
            and (control.stands != "") is not is_kept(control)
        ),
    )


def _asking(terms: Terms) -> Iterator[Rule]:
    where = _goes_on(terms, "tool_use", changed=False)
    yield Never(
        "RUNNER-5",
        "an unchanged turn asked for tools, and a call of it was not handled",
        where,
        (lambda call: call.status in ("", "New"),),
    )
    yield Never(
        "RUNNER-5",
        "an unchanged turn asked for tools, and ended the run",
        _ended(terms, "tool_use", changed=False),
    )
    yield NeverStep(
        "RUNNER-41",
        "the calls of an unchanged turn were handled, and something else than the next request came",
        lambda c, call, to, after: to.runner not in ("Settled", "Asked"),
        lambda c, call, to, after: (
            c.runner == "Settled"
            and c.target == "received"
            and c.left != 0
            and c.cancel != "asked"
            and to.cancel != "asked"
            and terms.unchanged(c)
        ),
    )
    if not terms.says("runner.append", "on_receipt"):
        yield from _handled(terms)


def _handled(terms: Terms) -> Iterator[Rule]:
    """Whose calls are handled in a changed iteration."""
    follows_state = terms.says("runner.inspects", "state")
    yield NeverStep(
        "RUNNER-13",
        "calls were handled that are not those of the last message of the state"
        if follows_state
        else "calls were handled that are not those of the received turn",
        lambda c, call, to, after: (
            ({"turn": "received", "other turn": "other"}.get(c.last, "none") if follows_state else "received")
            != to.target
        ),
        lambda c, call, to, after: c.runner == "Updated" and to.runner == "Handling" and terms.changed(c),
    )


def _paused(terms: Terms) -> Iterator[Rule]:
    if terms.says("runner.pause", "resent"):
        where = _ended(terms, "pause_turn", changed=False)
        yield Never("RUNNER-20", "a paused turn was unchanged, and was not sent back", where)
        yield NeverStep(
            "RUNNER-32",
            "a call of a paused turn ran, and the user had not pushed the turn",
            lambda c, call, to, after: c.stands != "user" and is_handled(c, call, to, after),
            lambda c, call, to, after: (
                c.stop == "pause_turn" and c.runner == "Updated" and to.target != "other"
            ),
        )
    else:
        where = _goes_on(terms, "pause_turn", changed=False)
        yield Never("RUNNER-20", "a paused turn was unchanged, and the run went on", where)
    if not terms.says("runner.append", "on_receipt"):
        yield from _paused_and_changed(terms)


def _paused_and_changed(terms: Terms) -> Iterator[Rule]:
    where = _goes_on(terms, "pause_turn", changed=True)
    if terms.says("pause.changed", "kept"):
        yield Never(
            "RUNNER-31",
            "a paused turn of a changed iteration was left out of the state",
            lambda control: where(control) and control.stands == "",
        )
    else:
        yield Never(
            "RUNNER-31",
            "a paused turn of a changed iteration was put into the state",
            lambda control: where(control) and control.stands == "runner",
        )


def _cut_off(terms: Terms) -> Iterator[Rule]:
    runs = {"not_run": (), "run_unless_refused": ("max_tokens",), "run": ("max_tokens", "refusal")}
    value = terms.policies["runner.cut_off"]
    for stop in ("max_tokens", "refusal"):
        if stop in runs[str(value)]:
            because = "the calls of a turn that was cut off are to run, and the turn ended the run"
            yield Never("RUNNER-21", because, _ended(terms, stop, changed=False))
        else:
            yield _no_call_of(terms, stop)


def _no_call_of(terms: Terms, stop: str) -> Rule:
    return NeverStep(
        "RUNNER-21",
        "a call of a turn that was cut off ran",
        is_handled,
        lambda c, call, to, after: (
            c.runner == "Updated"
            and to.runner in ("Handling", "Finished", "Cancelled")
            and c.stop == stop
            and terms.unchanged(c)
        ),
    )
