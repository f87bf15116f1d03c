"""The authority stack of the reference loop: modes, prompts, grants, denials, late answers."""

import pytest
from loop_world import call

from runlock.machines.message_loop.runtime.prompting import LateAnswer


def audit(talk):
    wanted = ("ToolCallApproved", "ToolCallDenied")
    return [
        (data["call"], data.get("by") or data["code"]) for name, data in talk.world.events if name in wanted
    ]


def asked(begun, *calls, **settings):
    one = begun(**settings)
    return one, one.respond(*calls)


@pytest.mark.parametrize(
    ("mode", "gates"),
    [("ask", ["prompt:c1:i1"]), ("allowlist", ["prompt:c2:i1"]), ("yolo", ["tool:c1", "tool:c2"])],
)
def test_the_mode_decides_who_is_asked(begun, mode, gates):
    """Ask asks about each call, allowlist about tools that are not on the list, yolo about none."""
    _, opened = asked(begun, call("c1", "t0"), call("c2", "t1"), mode=mode, allowlist=("t0",))

    assert opened == gates


def test_prompts_come_one_at_a_time_in_call_order(begun):
    """The next prompt opens when the previous one is answered; no call runs before all are answered."""
    one, opened = asked(begun, call("c1"), call("c2"))

    assert opened == ["prompt:c1:i1"]
    assert one.release("prompt:c1:i1", "allow") == ["prompt:c2:i1"]
    assert one.release("prompt:c2:i1", "deny") == ["tool:c1"]
    one.release("tool:c1")
    assert one.history[2:] == [("c1", "ok"), ("c2", "error")]
    assert audit(one) == [("c1", "interactor"), ("c2", "ModeDenied")]


@pytest.mark.parametrize(
    ("place", "gates"),
    [
        ("first", ["prompt:c2:i1"]),
        ("interleaved", ["tool:c1"]),
        ("overlapped", ["prompt:c2:i1", "tool:c1"]),
    ],
)
def test_the_place_of_prompts_is_the_declared_one(begun, place, gates):
    """All approvals first, each directly before its call, or while an earlier call runs."""
    one, _ = asked(begun, call("c1"), call("c2"), policies={"prompt.place": place})

    assert one.release("prompt:c1:i1", "allow") == gates


def test_parallel_prompts_are_open_together(begun):
    """An answer finds its own call."""
    one, opened = asked(begun, call("c1"), call("c2"), policies={"prompt.line": "parallel"})

    assert opened == ["prompt:c1:i1", "prompt:c2:i1"]
    one.release("prompt:c2:i1", "allow")
    assert one.release("prompt:c1:i1", "deny") == ["tool:c2"]


def test_a_prompt_goes_to_all_interactors_and_one_answer_counts(begun):
    """The gates of the others are given up."""
    one, opened = asked(begun, call("c1"), interactors=("i1", "i2"))

    assert opened == ["prompt:c1:i1", "prompt:c1:i2"]
    assert one.release("prompt:c1:i2", "allow") == ["tool:c1"]


@pytest.mark.parametrize(("policy", "gates"), [("answers", ["model"]), ("passes", ["prompt:c1:i2"])])
def test_a_deferral_among_several_is_the_answer_or_leaves_it_to_the_others(begun, policy, gates):
    """A call that no one allows does not run."""
    one, _ = asked(begun, call("c1"), interactors=("i1", "i2"), policies={"prompt.defer": policy})

    assert one.release("prompt:c1:i1", "defer") == gates


def test_an_interactor_that_goes_counts_as_one_that_was_never_there(begun):
    """The others are still asked; without any the call is denied."""
    one, _ = asked(begun, call("c1"), interactors=("i1", "i2"))

    assert one.gone("i1") == ["prompt:c1:i2"]
    assert one.gone("i2") == ["model"]
    assert audit(one) == [("c1", "Unanswered")]


@pytest.mark.parametrize(("policy", "code"), [("deny", None), ("halt", "Blocked")])
def test_a_prompt_that_nobody_can_answer_denies_or_halts(begun, policy, code):
    """Either way the call does not run."""
    one, opened = asked(begun, call("c1"), interactors=(), policies={"prompt.unanswered": policy})

    assert opened == ([] if code else ["model"])
    assert (one.reason.code if one.reason else None) == code
    assert one.history[-1] == ("c1", "error")


@pytest.mark.parametrize(
    ("policy", "gates"), [("call", ["prompt:c2:i1"]), ("round", ["model"]), ("turn", [])]
)
def test_a_denial_reaches_as_far_as_declared(begun, policy, gates):
    """Its call, the calls of the round that have not run, or the turn as well."""
    one, _ = asked(begun, call("c1"), call("c2"), policies={"reject.reach": policy})

    assert one.release("prompt:c1:i1", "deny") == gates
    if policy != "call":
        assert audit(one) == [("c1", "ModeDenied"), ("c2", "Cascade")]
    if policy == "turn":
        assert one.reason.code == "Blocked"


@pytest.mark.parametrize(("scope", "gates"), [("once", ["prompt:c2:i1"]), ("session", ["tool:c2"])])
def test_a_grant_lasts_as_long_as_its_scope(begun, scope, gates):
    """A session grant covers the calls of the next turn, and one for a call does not."""
    one, _ = asked(begun, call("c1"))
    one.release("prompt:c1:i1", "allow", scope=scope)
    one.release("tool:c1")
    one.respond()
    one.start("again")

    assert one.respond(call("c2")) == gates


@pytest.mark.parametrize(
    ("match", "gates"),
    [("tool", ["tool:c2"]), ("arguments", ["prompt:c2:i1"]), ("call", ["prompt:c2:i1"])],
)
def test_a_standing_grant_fits_what_was_declared(begun, match, gates):
    """Any call of its tool, one with the same arguments, or none."""
    one, _ = asked(begun, call("c1"), call("c2"), policies={"grant.match": match, "prompt.place": "first"})
    opened = one.release("prompt:c1:i1", "allow", scope="session")

    assert [gate for gate in opened if gate != "tool:c1"] == gates


def test_a_standing_grant_never_covers_another_tool(begun):
    """A grant covers one tool only."""
    one, _ = asked(begun, call("c1", "t0"), call("c2", "t1"))

    assert one.release("prompt:c1:i1", "allow", scope="session") == ["prompt:c2:i1"]


@pytest.mark.parametrize("policy", ["refused", "ignored"])
def test_a_late_answer_changes_nothing(begun, policy):
    """It is refused, or has no effect."""
    one, _ = asked(begun, call("c1"), policies={"late.answer": policy})
    one.cancel()
    before = one.history
    late = one.loop.late("prompt", "prompt-1", None)

    if policy == "refused":
        with pytest.raises(LateAnswer):
            one.events.run_until_complete(late)
    else:
        one.events.run_until_complete(late)
    assert one.history == before


def test_remote_tools_pass_the_same_stack(begun):
    """A remote tool needs the same approval as a local one."""
    _, opened = asked(begun, call("c1", "t1"), remote=("t1",))

    assert opened == ["prompt:c1:i1"]


@pytest.mark.parametrize(("policy", "apart"), [("apart", True), ("alike", False)])
def test_the_model_reads_different_words_for_aborted_and_denied_calls(begun, policy, apart):
    """Or the same words, as declared."""
    one, _ = asked(begun, call("c1"), call("c2"), policies={"told": policy})
    one.release("prompt:c1:i1", "deny")
    one.cancel()
    denied, aborted = (message["text"] for message in one.loop.history[-2:])

    assert (denied != aborted) is apart
