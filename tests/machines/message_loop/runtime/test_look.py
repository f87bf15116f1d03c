"""What a look at the reference loop shows."""

from loop_world import call

PLAN = {"plan": {"allowed_tools": ("t0",)}}


def test_a_look_shows_the_request_and_the_rounds_of_the_last_pass(begun):
    """The second request follows one round; the next turn counts anew."""
    one = begun(mode="yolo")
    one.respond(call("c1"))
    one.release("tool:c1", content="r1")
    assert [one.loop.look()[key] for key in ("status", "step", "rounds")] == ["Running", 2, 1]

    one.respond()
    one.start()
    assert [one.loop.look()[key] for key in ("status", "step", "rounds")] == ["Running", 1, 0]


def test_a_look_before_the_first_turn_shows_none(talk):
    """No status, no request and no round."""
    shown = talk().loop.look()

    assert [shown[key] for key in ("status", "reason", "step", "rounds")] == [None] * 4


def test_a_look_shows_the_attempt_of_a_stage_execution(talk):
    """A retry is the next attempt."""
    one = talk(stages=PLAN)
    one.start(stage=("x", "plan"))
    attempts = [one.loop.look()["stages"]["x"]["attempt"]]
    one.respond(gate="model@x")
    one.release("assert:x", "retry")
    attempts.append(one.loop.look()["stages"]["x"]["attempt"])

    assert attempts == [1, 2]
