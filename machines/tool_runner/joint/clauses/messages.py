"""What is said of the state: the turn, its results, and that a request holds one of them for each call."""

from __future__ import annotations

from collections.abc import Iterator

from runlock.machines.joint.rules import Never, NeverStep, Rule
from runlock.machines.tool_runner.joint.clauses.rules import HAS_RESULT, Terms, at, is_handled
from runlock.machines.tool_runner.joint.state import Call, Control


def messages(terms: Terms) -> Iterator[Rule]:
    """The rules of messages."""
    yield from _pairs(terms)
    yield from _turn(terms)
    yield from _results(terms)
    yield from _answered(terms)


def _by_runner(call: Call) -> bool:
    return call.result in ("runner", "both")


def _without(call: Call) -> bool:
    return call.status != "" and call.result == ""


def _pairs(terms: Terms) -> Iterator[Rule]:
    def goes_back(control: Control) -> bool:
        return control.stop == "pause_turn" and terms.says("runner.pause", "resent")

    yield Never(
        "PAIR-1",
        "a turn that the runner put into the state is to be sent, and a call of it has no result",
        lambda control: control.runner == "Settled" and control.stands == "runner" and not goes_back(control),
        (_without,),
    )
    yield Never(
        "PAIR-1",
        "the runner added results to a turn, and a call of it has none",
        lambda control: control.runner == "Settled" and control.stands != "",
        (_by_runner, _without),
    )
    yield Never(
        "PAIR-2",
        "a result that the runner put into the state stands there without its turn",
        lambda control: control.stands == "",
        (_by_runner,),
    )
    yield Never(
        "PAIR-3",
        "a call has two results in the state",
        lambda control: True,
        (lambda call: call.result == "both",),
    )


def _turn(terms: Terms) -> Iterator[Rule]:
    if terms.says("runner.append", "on_receipt"):
        yield Never(
            "RUNNER-44",
            "a turn was yielded, and did not stand in the state",
            lambda control: control.runner == "Yielded" and control.stands == "" and not control.was_set,
        )
        return
    yield Never(
        "RUNNER-9",
        "an unchanged turn that asked for tools was not put into the state",
        lambda control: (
            control.runner in ("Updated", "Handling", "Settled")
            and control.stop == "tool_use"
            and not control.again
            and terms.unchanged(control)
            and control.stands == ""
        ),
    )
    yield Never(
        "RUNNER-10",
        "the runner put the turn of a changed iteration into the state",
        lambda control: (
            control.stands == "runner" and terms.changed(control) and control.stop != "pause_turn"
        ),
    )
    yield NeverStep(
        "RUNNER-9",
        "a result entered the state before its turn",
        lambda c, call, to, after: c.stands == "" and to.stands == "",
        lambda c, call, to, after: _by_runner(after) and not _by_runner(call),
    )


def _results(terms: Terms) -> Iterator[Rule]:
    yield Never(
        "RUNNER-27",
        "results entered the state, and the turn that they answer does not stand in it",
        lambda control: control.runner in ("Settled", "Broken") and control.stands == "",
        (_by_runner,),
    )
    yield NeverStep(
        "ROUND-1",
        "a round was over, and a call of it had no result",
        lambda c, call, to, after: after.status not in HAS_RESULT,
        lambda c, call, to, after: (
            c.runner == "Handling" and to.runner != "Handling" and call.status not in ("", "New")
        ),
    )
    if terms.says("runner.append", "on_receipt"):
        return
    is_dropped = terms.says("runner.results", "dropped")
    done = "put into the state" if is_dropped else "dropped"
    yield NeverStep(
        "RUNNER-45",
        f"the results of a changed iteration were {done}, against what is declared",
        lambda c, call, to, after: _by_runner(after) if is_dropped else after.result == "",
        lambda c, call, to, after: (
            c.runner == "Handling"
            and to.runner == "Settled"
            and terms.changed(c)
            and c.stands != ""
            and call.status in HAS_RESULT
        ),
    )


def _answered(terms: Terms) -> Iterator[Rule]:
    """The calls that the user answered."""
    yield Never(
        "RUNNER-28",
        "the runner gave a result to a call that the user had answered",
        at("Settled", "Handling"),
        (lambda call: call.result == "both",),
    )
    if terms.says("runner.answered", "skipped"):
        yield NeverStep(
            "RUNNER-15",
            "a call that the user had answered was run",
            is_handled,
            lambda c, call, to, after: (
                c.runner == "Updated" and call.result == "user" and to.target != "other"
            ),
        )
        yield Never(
            "RUNNER-16",
            "the user had pushed the turn and its response, and its calls were handled",
            lambda control: (
                control.runner == "Handling" and control.target == "received" and control.stands == "user"
            ),
            (lambda call: call.result == "user",),
            lambda call: call.result == "",
        )
    else:
        yield NeverStep(
            "RUNNER-47",
            "a call that the user had answered was not run",
            lambda c, call, to, after: call.entered == 0,
            lambda c, call, to, after: (
                c.runner == "Handling"
                and to.runner == "Settled"
                and c.target == "received"
                and call.result == "user"
                and not c.again
            ),
        )
    yield NeverStep(
        "RUNNER-37",
        "the user iterated again, and a call to which the runner had given a result ran again",
        lambda c, call, to, after: _by_runner(call) and is_handled(c, call, to, after),
        lambda c, call, to, after: c.again != "" and c.runner == "Updated",
    )
    yield NeverStep(
        "RUNNER-29",
        "the user asked for a response, and that counted as a change",
        lambda c, call, to, after: (c.pushed, c.was_set, c.stands) != (to.pushed, to.was_set, to.stands),
        lambda c, call, to, after: c.response != "Making" and to.response == "Making",
    )
