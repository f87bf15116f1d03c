"""Stage executions of the reference loop: envelope, tokens, grants, cap, assertion, exit, groups."""

import pytest
from loop_world import call

PLAN = {"plan": {"allowed_tools": ("t0",), "grants": (("t1", 1),), "turn_cap": 1}}
TWO = {name: {"allowed_tools": ("t0",)} for name in "abj"}
X = {"stage": ("x", "plan")}
GROUP = {"group": [("xa", "a"), ("xb", "b")]}


def test_a_stage_is_asked_with_its_body_and_its_tools(talk):
    """The body is the system prompt and the first message; the completion is offered."""
    one = talk(stages=PLAN, system="session")

    assert one.start(**X) == ["model@x"]
    request = one.world.shown["model@x"]
    assert request["system"] == "do plan"
    assert request["tools"] == ["t0", "complete"]
    assert request["messages"] == [{"role": "user", "text": "do plan"}]


@pytest.mark.parametrize(("policy", "texts"), [("none", ["do plan"]), ("before", ["hello", "hi", "do plan"])])
def test_a_stage_reads_the_session_as_declared(begun, policy, texts):
    """Its transcript stands alone, or after the session history."""
    one = begun({"stage.history": policy}, stages=PLAN)
    one.respond(text="hi")
    one.start(**X)

    assert [message["text"] for message in one.world.shown["model@x"]["messages"]] == texts


def test_a_stage_writes_its_slot_and_leaves_the_session_alone(talk):
    """Exit runs once, after ok."""
    one = talk(stages=PLAN)
    one.start(**X)
    one.respond(gate="model@x", text="planned")

    assert one.world.shown["assert:x"]["cap_hit"] is False
    one.release("assert:x", "ok", slot={"n": 1})
    assert one.reason.code == "NaturalEnd"
    assert one.history == []
    assert [(cause, state["slots"]) for _, cause, state in one.world.commits] == [
        ("exit", {"plan": {"n": 1}}), ("end", {"plan": {"n": 1}}),
    ]  # fmt: skip
    shown = one.names("StageEntered", "ActEnded", "StageAssertOutcome", "StageExited", "SessionTurnEnd")
    assert shown == ["StageEntered", "ActEnded", "StageAssertOutcome", "StageExited", "SessionTurnEnd"]


def test_the_envelope_a_token_and_a_grant_approve_in_this_order(talk):
    """A token serves one call; the next one needs a grant, and the mode gate is asked about neither."""
    one = talk(stages={"plan": {**PLAN["plan"], "turn_cap": 5}}, mode="yolo")
    one.start(**X)
    one.respond(call("c1", "t0"), call("c2", "t1"), call("c3", "t1"), gate="model@x")

    assert list(one.world.gates) == ["prompt:c3:i1"]
    assert one.world.shown["prompt:c3:i1"]["ask"] == "grant"
    opened = one.release("prompt:c3:i1", "deny")
    assert opened == ["tool:c1@x", "tool:c2@x"]
    by = [(d["call"], d.get("by") or d["code"]) for n, d in one.world.events if n in (
        "ToolCallApproved", "ToolCallDenied",
    )]  # fmt: skip
    assert by == [("c1", "sm"), ("c2", "token"), ("c3", "GrantDenied")]
    assert "ToolCallModeInvoked" not in one.names()


@pytest.mark.parametrize(
    ("policy", "gates"), [("approval", ["prompt:c2:i1"]), ("execution", ["hook:h1:c2@x"])]
)
def test_a_token_is_spent_as_declared_when_a_guard_denies(talk, policy, gates):
    """With the approval, or only by an execution."""
    guard = ("h1", "TOOL_CALL", "pre", "guard")
    one = talk({"grant.spent": policy}, stages=PLAN, hooks=[guard])
    one.start(**X)
    one.respond(call("c1", "t1"), call("c2", "t1"), gate="model@x")

    assert one.release("hook:h1:c1@x", "deny") == gates


def test_a_state_machine_that_decides_is_asked_about_each_call(talk):
    """Its answer replaces the lists of allowed tools."""
    one = talk(stages=PLAN, decides=True)
    one.start(**X)
    one.respond(call("c1", "t0"), call("c2", "t1"), gate="model@x")
    one.release("sm:c1", "out")

    assert list(one.world.gates) == ["prompt:c1:i1"]
    one.release("prompt:c1:i1", "deny")
    assert one.release("sm:c2", "approve") == ["tool:c2@x"]


def test_an_idle_state_machine_has_no_say(begun):
    """In a chat turn the mode gate applies."""
    one = begun(stages=PLAN, decides=True)

    assert one.respond(call("c1")) == ["prompt:c1:i1"]


def test_the_cap_ends_act_and_not_the_turn(talk):
    """The round is settled, nothing is rendered, and the assertion decides."""
    one = talk({"bound.counts": "requests"}, stages=PLAN)
    one.start(**X)
    one.respond(call("c1"), gate="model@x")

    assert one.release("tool:c1@x", content="r1") == ["assert:x"]
    shown = one.world.shown["assert:x"]
    assert shown["cap_hit"] is True
    assert shown["transcript"][-1] == {"role": "tool", "call": "c1", "status": "ok", "text": "r1"}
    assert "Rendered" not in one.names()


@pytest.mark.parametrize(
    ("policy", "texts"), [("fresh", ["do plan"]), ("kept", ["do plan", "one", "do plan"])]
)
def test_a_retry_is_another_attempt_of_the_same_execution(talk, policy, texts):
    """It is entered once, and has one bracket."""
    one = talk({"assert.retry": policy}, stages=PLAN)
    one.start(**X)
    one.respond(gate="model@x", text="one")
    one.release("assert:x", "retry")

    assert [message["text"] for message in one.world.shown["model@x"]["messages"]] == texts
    one.respond(gate="model@x")
    one.release("assert:x", "ok")
    names = one.names("StageEntered", "SessionTurnStart", "SessionTurnEnd")
    assert sorted(names) == ["SessionTurnEnd", "SessionTurnStart", "StageEntered"]


@pytest.mark.parametrize(("policy", "exits"), [("yes", 1), ("no", 0)])
def test_a_failed_assertion_ends_the_turn_in_error(talk, policy, exits):
    """Exit runs or does not, as declared."""
    one = talk({"exit.on_fail": policy}, stages=PLAN)
    one.start(**X)
    one.respond(gate="model@x")
    one.release("assert:x", "fail", message="not good")

    assert (one.reason.code, one.reason.detail) == ("Error", "not good")
    assert [cause for _, cause, _ in one.world.commits].count("exit") == exits


def test_siblings_run_together_and_the_join_after_them(talk):
    """The join begins when the last of them has exited; one bracket is around all three."""
    one = talk(stages=TWO)

    assert one.start(**GROUP, join=("xj", "j")) == ["model@xa", "model@xb"]
    for sibling in ("xa", "xb"):
        one.respond(gate=f"model@{sibling}")
    one.release("assert:xb", "ok")
    assert "model@xj" not in one.world.gates
    assert one.release("assert:xa", "ok") == ["model@xj"]
    one.respond(gate="model@xj")
    one.release("assert:xj", "ok")
    assert one.reason.code == "NaturalEnd"
    assert one.names().count("SessionTurnStart") == one.names().count("SessionTurnEnd") == 1
    assert one.names("StageExited", "SessionTurnEnd") == [*["StageExited"] * 3, "SessionTurnEnd"]


def test_siblings_see_nothing_of_each_other(talk):
    """Each has a transcript of its own."""
    one = talk(stages=TWO)
    one.start(**GROUP)
    one.respond(call("c1"), gate="model@xa")
    one.release("tool:c1@xa", content="r1")
    one.respond(call("c2"), gate="model@xb")
    one.release("tool:c2@xb", content="r2")

    assert [m.get("text") for m in one.world.shown["model@xb"]["messages"]] == ["do b", "done", "r2"]


@pytest.mark.parametrize("how", ["fail", "interrupt"])
def test_a_failure_and_an_interrupt_cancel_all_that_runs(talk, how):
    """No join, no further exit, and each running stage execution is cancelled."""
    one = talk(stages=TWO)
    one.start(**GROUP, join=("xj", "j"))
    one.respond(gate="model@xa")
    gates = one.release("assert:xa", "fail") if how == "fail" else one.cancel()

    assert gates == []
    assert one.reason.code == ("Error" if how == "fail" else "Cancelled")
    cancelled = [data["execution"] for name, data in one.world.events if name == "StageCancelled"]
    assert cancelled == (["xb"] if how == "fail" else ["xa", "xb"])
    assert "StageExited" not in one.names()


def test_a_guard_that_denies_in_a_sibling_blocks_the_turn(talk):
    """The others are cancelled."""
    one = talk(stages=TWO, hooks=[("h1", "SEND_REQUEST", "pre", "guard")])
    one.start(**GROUP)

    assert one.release("hook:h1@xa", "deny") == []
    assert one.reason.code == "Blocked"


def test_siblings_share_a_line_of_prompts_or_not(talk):
    """As declared."""
    for policy, gates in (("one", 1), ("each", 2)):
        one = talk({"prompt.siblings": policy}, stages=TWO)
        one.start(**GROUP)
        one.respond(call("c1", "t1"), gate="model@xa")
        one.respond(call("c2", "t1"), gate="model@xb")

        assert len([gate for gate in one.world.gates if gate.startswith("prompt")]) == gates


def test_a_stage_grant_ends_with_its_stage_execution(talk):
    """The next execution of the same stage asks again."""
    one = talk(stages={"plan": {"turn_cap": 9}})
    for execution, gates in (("x1", ["prompt:c1:i1"]), ("x2", ["prompt:c1:i1"])):
        one.start(stage=(execution, "plan"))
        assert one.respond(call("c1"), gate=f"model@{execution}") == gates
        one.release("prompt:c1:i1", "allow", scope="stage")
        one.release(f"tool:c1@{execution}")
        assert one.respond(call("c2"), gate=f"model@{execution}") == [f"tool:c2@{execution}"]
        one.release(f"tool:c2@{execution}")
        one.respond(gate=f"model@{execution}")
        one.release(f"assert:{execution}", "ok")


def test_a_look_shows_where_a_stage_execution_stands(talk):
    """Its status, its attempt and its transcript."""
    one = talk(stages=PLAN)
    one.start(**X)
    shown = one.loop.look()

    assert shown["status"] == "Running"
    assert shown["stages"]["x"] == {
        "name": "plan", "status": "Running", "attempt": 1, "cap_hit": False,
        "transcript": [{"role": "user", "text": "do plan"}],
    }  # fmt: skip
