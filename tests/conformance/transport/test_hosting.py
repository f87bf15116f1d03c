"""What the hosts of all families share: errors of the protocol, planned races, and leaks."""

from types import SimpleNamespace

import pytest

from runlock.conformance.families.lifecycle.messages import METHODS, OUTCOMES_BY_GATE
from runlock.conformance.family.family import families
from runlock.conformance.protocol import (
    DID_NOT_SETTLE,
    ILLEGAL_STIMULUS,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    NO_SUCH_GATE,
    SUT_CRASHED,
    UNSUPPORTED,
    GateRelease,
    Initialize,
    ProtocolError,
)
from runlock.conformance.transport.gates import GateHost
from runlock.conformance.transport.hosted_life import HostedLife
from runlock.conformance.transport.hosting import (
    answer_or_error,
    check_version,
    must_have,
    open_gate,
    parse,
    parse_outcome,
)
from runlock.conformance.transport.virtual_loop import DidNotSettle

GATE = SimpleNamespace(shown={"gate": "g1", "on": "tool", "call": "c1", "step": 1})
RELEASE = GateRelease(gate="g1", outcome={"kind": "ok"})


@pytest.mark.parametrize(
    ("asked", "code", "says"),
    [
        (lambda: parse(METHODS, "gate.relase", {}), METHOD_NOT_FOUND, "There is no verb gate.relase"),
        (lambda: parse(METHODS, "gate.release", {"gate": 1}), INVALID_PARAMS, "gate.release cannot take"),
        (lambda: parse_outcome(OUTCOMES_BY_GATE, "tool", {"kind": "no"}), INVALID_PARAMS, "A tool gate"),
        (lambda: open_gate({"g2": GATE}, RELEASE, ()), NO_SUCH_GATE, "Gate g1 is not open; open are: g2."),
        (lambda: open_gate({}, RELEASE, ()), NO_SUCH_GATE, "open are: none."),
        (lambda: open_gate({"g1": GATE}, RELEASE, [RELEASE]), ILLEGAL_STIMULUS, "Gate g1 stands twice"),
        (lambda: must_have(object(), "cancel"), UNSUPPORTED, "The adapter has no cancel"),
        (lambda: check_version(_hello(7, 9)), INVALID_PARAMS, "The kit speaks protocol 7 to 9"),
    ],
)  # fmt: skip
def test_a_wrong_request_has_a_code_and_a_sentence(asked, code, says):
    """The error names the mistake."""
    with pytest.raises(ProtocolError) as caught:
        asked()

    assert caught.value.code == code
    assert says in str(caught.value)


def test_a_right_request_passes():
    """The same functions accept what is legal."""
    check_version(_hello(1, 1))

    assert open_gate({"g1": GATE}, RELEASE, ()) is GATE
    assert parse(METHODS, "gate.release", RELEASE.to_wire()) == RELEASE


@pytest.mark.parametrize(
    ("error", "code"),
    [(DidNotSettle("busy"), DID_NOT_SETTLE), (SystemExit(3), SUT_CRASHED), (KeyError("k"), SUT_CRASHED)],
)  # fmt: skip
def test_what_the_runtime_raises_is_an_answer(error, code):
    """No exception of the runtime under test gets through to the kit."""

    def fails():
        raise error

    with pytest.raises(ProtocolError) as caught:
        answer_or_error(fails)

    assert caught.value.code == code


class Over(HostedLife):
    """A life in which no run is under way."""

    is_over = True


def test_leaks_are_open_gates_a_bad_close_and_tasks_that_were_not_there_before():
    """A task that was there from the beginning is no leak."""

    async def close():
        raise OSError("the file is gone")

    async def forever(future):
        await future

    life = Over(SimpleNamespace(close=close), None, GateHost)
    loop = life.loop
    life.bystanders = {loop.create_task(forever(loop.create_future()))}
    loop.create_task(forever(loop.create_future()))
    loop.settle()
    life.host.open_gates["g1"] = GATE

    assert life.leaks() == [
        {"gate": "g1", "on": "tool", "call": "c1"},
        {"close": "OSError: the file is gone"},
        {"task": forever.__qualname__},
    ]
    life.wind_up()
    assert not loop.alive()
    life.bury()


@pytest.mark.parametrize("family", families(), ids=lambda family: family.name)
def test_each_stimulus_of_a_family_has_a_plan(family):
    """What is no plan is a verb of its own."""
    hosted = family.host(object)

    assert type(hosted).plans.keys() | hosted._verbs.keys() == family.vocabulary.methods.keys()


def _hello(least, most):
    kit = {"name": "a kit", "version": "1"}
    return Initialize.model_validate({"protocol": {"min": least, "max": most}, "kit": kit})
