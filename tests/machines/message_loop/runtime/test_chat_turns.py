"""Chat turns of the reference loop: stages, continuations, bounds, terminal and malformed calls, faults."""

import pytest
from loop_world import call

STAGES = [
    "RECEIVE_INPUT", "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "TOOL_CALL",
    "COMPOSE_REQUEST", "SEND_REQUEST", "STREAM_RESPONSE", "RENDER",
]  # fmt: skip


def stages(talk):
    return [data["stage"] for name, data in talk.world.events if name == "StagePreFired"]


def test_a_turn_without_a_call_asks_once_and_renders(talk):
    """The input is the request, and the response is the end."""
    one = talk(mode="yolo")

    assert one.start() == ["model"]
    assert one.respond(text="hi") == []
    assert one.reason.code == "NaturalEnd"
    assert one.history == [("user", "hello"), ("assistant", "hi")]
    assert [data["text"] for name, data in one.world.events if name == "Rendered"] == ["hi"]


def test_a_round_leads_back_to_compose_request(begun):
    """The result of the call stands in the next request."""
    one = begun(mode="yolo")

    assert one.respond(call("c1")) == ["tool:c1"]
    assert one.release("tool:c1", content="r1") == ["model"]
    assert [m.get("text") for m in one.world.shown["model"]["messages"]] == ["hello", "done", "r1"]
    one.respond()
    assert stages(one) == STAGES


@pytest.mark.parametrize(("counts", "requests"), [("continuations", 3), ("requests", 2)])
def test_the_bound_ends_a_turn_after_its_round(begun, counts, requests):
    """A bound of two allows two continuations or two requests; the last round is settled in full."""
    one = begun({"bound.counts": counts}, mode="yolo", max_iterations=2)
    for number in range(requests):
        one.respond(call(f"c{number}"))
        one.release(f"tool:c{number}")

    assert one.world.opened.count("model") == requests
    assert (one.reason.code, one.reason.stop) == ("Error", "max_iterations")
    assert "already have completed" in one.reason.detail
    assert one.history[-1] == (f"c{requests - 1}", "ok")


def test_the_bound_starts_anew_with_the_next_turn(talk):
    """Each turn counts from zero."""
    one = talk(mode="yolo", max_iterations=1)
    for turn in "ab":
        one.start(turn)
        one.respond(call(f"{turn}1"))
        assert one.release(f"tool:{turn}1") == ["model"]
        one.respond()

    assert one.reason.code == "NaturalEnd"


def test_a_bound_may_stop_a_turn_instead(begun):
    """Under the other policy the turn ends with the reason Stopped."""
    one = begun({"bound.end": "stopped", "bound.counts": "requests"}, mode="yolo", max_iterations=1)
    one.respond(call("c1"))
    one.release("tool:c1")

    assert one.reason.code == "Stopped"


@pytest.mark.parametrize(("policy", "rendered"), [("render", 1), ("finish", 0)])
def test_no_request_follows_a_terminal_response(begun, policy, rendered):
    """The calls run, and the turn renders or just ends."""
    one = begun({"call.terminal": policy}, mode="yolo")
    one.respond(call("c1"), terminal=True)

    assert one.release("tool:c1") == []
    assert one.names().count("Rendered") == rendered
    assert one.reason.code == "NaturalEnd"
    assert one.history == [("user", "hello"), ("assistant", ["c1"]), ("c1", "ok")]


def test_a_malformed_call_fails_alone(begun):
    """It has an error result, and its sibling runs."""
    one = begun(mode="yolo")
    bad = call("c1")
    bad.args = "{no json"

    assert one.respond(bad, call("c2"), call("c3", "nothing")) == ["tool:c2"]
    one.release("tool:c2")
    assert one.history[2:] == [("c1", "error"), ("c2", "ok"), ("c3", "error")]


def test_a_malformed_call_may_end_the_turn(begun):
    """Under the other policy the turn ends in Error, with a result for each call."""
    one = begun({"call.malformed": "end_run"}, mode="yolo")
    bad = call("c1")
    bad.args = "{no json"
    one.respond(bad, call("c2"))

    assert one.reason.code == "Error"
    assert one.history[2:] == [("c1", "error"), ("c2", "cancelled")]


def test_a_model_that_breaks_ends_the_turn(begun):
    """The text that had come is kept, as declared."""
    one = begun()
    one.say("Hel")
    one.fault("model")

    assert one.reason.code == "Error"
    assert one.history == [("user", "hello"), ("assistant", "Hel")]
    assert one.names("ProviderRequestFailed", "ProviderRequestCompleted") == ["ProviderRequestFailed"]


def test_a_request_is_sent_again_only_before_its_first_delta(begun):
    """After text was shown, a repeated request would show it twice."""
    one = begun({"model.fault": "retried"})

    assert one.fault("model") == ["model"]
    one.say("Hel")
    assert one.fault("model") == []
    assert one.reason.code == "Error"


def test_text_is_published_as_it_comes(begun):
    """Two deltas and the rest of the response make three events, which together are the text."""
    one = begun()
    one.say("Hel")
    one.say("lo")
    published = [data["text"] for name, data in one.world.events if name == "ProviderTokensStreamed"]
    one.respond(text="Hello!")

    assert published == ["Hel", "lo"]
    texts = [data["text"] for name, data in one.world.events if name == "ProviderTokensStreamed"]
    assert texts == ["Hel", "lo", "!"]


@pytest.mark.parametrize(("policy", "order"), [("call", ["c1", "c2"]), ("finish", ["c2", "c1"])])
def test_results_stand_in_the_declared_order(begun, policy, order):
    """In call order, or as the calls finished."""
    one = begun({"results.order": policy}, mode="yolo")

    assert one.respond(call("c1"), call("c2")) == ["tool:c1", "tool:c2"]
    one.release("tool:c2")
    one.release("tool:c1")
    assert [entry[0] for entry in one.history[2:]] == order


def test_a_sequential_executor_runs_one_call_after_the_other(begun):
    """The second call begins when the first is over."""
    one = begun({"round.executor": "sequential"}, mode="yolo")

    assert one.respond(call("c1"), call("c2")) == ["tool:c1"]
    assert one.release("tool:c1") == ["tool:c2"]


@pytest.mark.parametrize(("policy", "ends"), [("failed_call", False), ("end_run", True)])
def test_an_exception_in_a_tool_costs_its_call_or_the_turn(begun, policy, ends):
    """The call has an error result in both cases."""
    one = begun({"tool.raises": policy}, mode="yolo")
    one.respond(call("c1"))
    one.throw("tool:c1")

    assert one.history[-1] == ("c1", "error")
    assert (one.reason is not None) is ends


@pytest.mark.parametrize(
    ("policy", "texts"), [("cut", ["abcd", "e"]), ("dropped", ["abcd"]), ("refused", [])]
)
def test_context_past_its_budget_is_cut_left_out_or_refused(begun, policy, texts):
    """The provider has a budget of five characters, and returns seven."""
    one = begun({"context.over": policy}, context=(("p1", 5),))
    one.release("context:p1", slices=["abcd", "efg"])

    assert one.world.shown["model"]["context"] == texts


def test_a_store_that_breaks_ends_the_turn(talk):
    """No request is sent if the input could not be stored."""
    one = talk(held=["input"])

    assert one.start() == ["store:input"]
    assert one.fault("store:input") == []
    assert one.reason.code == "Error"


@pytest.mark.parametrize(("policy", "causes"), [
    ("round", ["input", "results", "render", "end"]), ("turn", ["input", "results", "render", "end"]),
])  # fmt: skip
def test_the_session_is_stored_at_its_occasions(begun, policy, causes):
    """Results are stored after their round, or with the end of the turn."""
    one = begun({"persist.results": policy}, mode="yolo")
    one.respond(call("c1"))
    one.release("tool:c1")
    before = [cause for _, cause, _ in one.world.commits]
    one.respond()

    assert [cause for _, cause, _ in one.world.commits] == causes
    assert ("results" in before) is (policy == "round")


@pytest.mark.parametrize("policy", ["inside", "outside"])
def test_the_bracket_stands_inside_the_outer_stages_or_around_them(begun, policy):
    """One start and one end, in either place."""
    one = begun({"turn.bracket": policy})
    one.respond()
    names = one.names("SessionTurnStart", "SessionTurnEnd", "StagePreFired", "StagePostFired")

    assert names.index("SessionTurnStart") == (1 if policy == "inside" else 0)
    assert names[::-1].index("SessionTurnEnd") == (1 if policy == "inside" else 0)
    assert names.count("SessionTurnStart") == names.count("SessionTurnEnd") == 1


@pytest.mark.parametrize(("policy", "ends"), [("always", 1), ("rendered", 0)])
def test_a_turn_that_breaks_announces_its_end_as_declared(begun, policy, ends):
    """Under `rendered` a turn that never renders ends in silence."""
    one = begun({"turn.end": policy})
    one.fault("model")

    assert one.names().count("SessionTurnEnd") == ends


def test_a_watcher_that_fails_changes_nothing(talk):
    """Events are projections."""
    seen = []

    def watch(name, data):
        seen.append(name)
        raise RuntimeError("no")

    one = talk()
    one.loop.watch(watch)
    one.start()
    one.respond()

    assert one.reason.code == "NaturalEnd"
    assert seen == one.names()
