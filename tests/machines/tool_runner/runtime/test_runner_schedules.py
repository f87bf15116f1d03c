"""Schedules for a tool runner: the content of the next request, and the calls that ran."""

import pytest
from scripted_runner import (
    Answer,
    assistant,
    both,
    cancel,
    change,
    play,
    push,
    respond,
    result,
    set_state,
    turn,
    user,
)

from runlock.machines.tool_runner.runtime.runner import TurnedDown
from runlock.machines.tool_runner.runtime.world import ToolRaised, WorldFault

ASKS = turn("a", "c1")
END = turn("end")
TURN = assistant("a", "c1")
DONE = result("c1")


# -- nothing is changed


def test_an_unchanged_turn_is_followed_by_its_results():
    """The turn and its results enter the state, and the next request holds them."""
    played = play([turn("a", "c1", "c2"), END])

    assert played.last_request == [assistant("a", "c1", "c2"), result("c1"), result("c2")]
    assert played.world.entries == ["c1", "c2"]
    assert played.world.reported == [*played.last_request, assistant("end")]


def test_each_turn_is_yielded_as_it_is():
    """The user gets the turns, one after the other."""
    assert play([ASKS, END]).yielded == [TURN, assistant("end")]


@pytest.mark.parametrize(
    ("policy", "stop", "stays"),
    [
        ("kept", None, True),
        ("dropped", None, False),
        ("unless_refused", None, True),
        ("unless_refused", "refusal", False),
    ],
)
def test_a_final_turn_stands_in_the_state_or_not(policy, stop, stays):
    """The policy end.turn says whether the last turn is among the messages."""
    played = play([turn("end", stop=stop)], policies={"end.turn": policy})

    assert (assistant("end") in played.messages) is stays
    assert (played.runner.at, played.runner.reason) == ("Finished", "NaturalEnd")


# -- a push


def test_a_plain_message_on_a_tool_turn_takes_its_place():
    """Under the source's rule the turn is dropped, and no tool runs."""
    played = play([ASKS, END], push(user("stop")))

    assert played.last_request == [user("stop")]
    assert played.world.entries == []


def test_a_plain_message_on_a_tool_turn_lets_the_tools_run_where_the_received_turn_counts():
    """The results are made, and enter the state only if the turn stands there."""
    played = play([ASKS, END], push(user("stop")), policies={"runner.inspects": "received"})

    assert played.last_request == [user("stop")]
    assert played.world.entries == ["c1"]


def test_a_plain_message_after_a_turn_that_stands_keeps_its_results_before_it():
    """Results stand directly after their turn, and not after what was pushed."""
    played = play([ASKS, END], push(user("and?")), profile="tool-runner-go")

    assert played.last_request == [TURN, DONE, user("and?")]


@pytest.mark.parametrize(("finish", "requests"), [("received", 1), ("state", 2)])
def test_a_plain_message_on_a_final_turn(finish, requests):
    """The message is sent, or the run ends with the message in the state."""
    played = play([END, turn("more")], push(user("and?")), policies={"runner.finish": finish})

    assert len(played.world.requests) == requests
    assert user("and?") in played.messages
    assert assistant("end") not in played.messages


def test_the_assistants_message_alone_is_followed_by_its_results():
    """The last message of the state asks for tools, and is handled."""
    played = play([ASKS, END], push(TURN))

    assert played.last_request == [TURN, DONE]
    assert played.world.entries == ["c1"]


def test_another_assistants_message_is_handled_in_place_of_the_turn():
    """Under `state` what runs are the calls of the message that the user pushed."""
    played = play([ASKS, END], push(assistant("mine", "c9")))

    assert played.last_request == [assistant("mine", "c9"), result("c9")]
    assert played.world.entries == ["c9"]


def test_the_answer_alone_is_sent_as_the_user_pushed_it():
    """The runner adds nothing: the history of the user is sent as it is."""
    played = play([ASKS, END], push(result("c1", "mine")))

    assert played.last_request == [result("c1", "mine")]
    assert played.world.entries == []


def test_both_leave_nothing_but_the_next_request():
    """After a push of the turn and its response, no call runs again and there is no second result."""
    played = play([ASKS, END], respond(then_push=True))

    assert played.last_request == [TURN, DONE]
    assert played.world.entries == ["c1"]


@pytest.mark.parametrize(("answered", "entries"), [("skipped", []), ("run", ["c1"])], ids=["skipped", "run"])
@pytest.mark.parametrize("results", ["appended", "dropped"])
def test_the_users_own_answer_stands(answered, entries, results):
    """Where the received turn counts, the call runs or not, and what is sent is the user's answer."""
    policies = {"runner.inspects": "received", "runner.answered": answered, "runner.results": results}
    played = play([ASKS, END], push(TURN, result("c1", "mine")), policies=policies)

    assert played.last_request == [TURN, result("c1", "mine")]
    assert played.world.entries == entries


def test_an_answer_to_one_of_two_calls_leaves_the_other_to_run():
    """The result of the other call stands after the user's."""
    both_calls, mine = assistant("a", "c1", "c2"), result("c1", "mine")
    played = play(
        [turn("a", "c1", "c2"), END], push(both_calls, mine), policies={"runner.inspects": "received"}
    )

    assert played.last_request == [both_calls, mine, result("c2")]
    assert played.world.entries == ["c2"]


def test_a_change_is_forgotten_at_the_next_request():
    """The second turn was not changed, and is handled as ever."""
    played = play([ASKS, turn("b", "c2"), END], push(user("x")))

    assert played.last_request == [user("x"), assistant("b", "c2"), result("c2")]


# -- a set


def test_a_param_that_is_no_message_drops_the_turn_under_the_sources_rule():
    """A set is a change: the same messages are sent, with the new param."""
    played = play([ASKS, END], set_state(params={"max_tokens": 7}))

    assert played.world.requests[0] == played.world.requests[1]
    assert played.world.params == [{}, {"max_tokens": 7}]
    assert played.world.entries == []


def test_a_set_does_not_count_where_only_a_push_does():
    """Under unless_pushed the turn is appended and handled."""
    played = play([ASKS, END], set_state(params={"k": 1}), policies={"runner.append": "unless_pushed"})

    assert played.last_request == [TURN, DONE]


def test_a_history_that_was_set_replaces_what_was_there():
    """None of the old messages is sent."""
    played = play([ASKS, END], set_state([user("anew")]))

    assert played.world.requests[1] == [user("anew")]


def test_a_turn_enters_after_messages_that_were_set_where_a_set_does_not_count():
    """The turn and its results follow the history that the user gave."""
    played = play([ASKS, END], set_state([user("anew")]), policies={"runner.append": "unless_pushed"})

    assert played.world.requests[1] == [user("anew"), TURN, DONE]


def test_params_that_were_set_hold():
    """Every later request has them."""
    played = play([ASKS, turn("b", "c2"), END], set_state(params={"k": 1}))

    assert played.world.params == [{}, {"k": 1}, {"k": 1}]


# -- a response on request


def test_a_response_changes_no_state_and_is_used_by_the_runner():
    """The turn is appended as if nothing had happened, with the results that were made."""
    given = []
    played = play([ASKS, END], respond(given))

    assert given == [[DONE]]
    assert played.last_request == [TURN, DONE]
    assert played.world.entries == ["c1"]


def test_a_second_request_for_the_response_gets_the_kept_one():
    """The tools run once."""
    given = []
    played = play([ASKS, END], both(respond(given), respond(given)))

    assert given == [[DONE], [DONE]]
    assert played.world.entries == ["c1"]


def test_without_a_cache_the_tools_run_each_time():
    """Twice for the user, once more for the runner."""
    played = play([ASKS, END], both(respond(), respond()), policies={"runner.cache": "none"})

    assert played.world.entries == ["c1", "c1", "c1"]


@pytest.mark.parametrize(
    ("cache", "act", "entries"),
    [
        ("until_change", push(user("x")), 2),
        ("until_change", set_state(params={"k": 1}), 2),
        ("until_push", push(user("x")), 2),
        ("until_push", set_state(params={"k": 1}), 1),
        ("by_state", push(user("x")), 2),
        ("by_state", change(add=["t2"]), 2),
        ("by_state", set_state(params={}), 1),
        ("kept", push(user("x")), 1),
        ("until_change", change(add=["t2"]), 1),
    ],
)
def test_what_drops_a_kept_response(cache, act, entries):
    """A second request after the act runs the tools again, or not."""
    played = play([ASKS, END], both(respond(), act, respond()), policies={"runner.cache": cache})

    assert len(played.world.entries) == entries


def test_a_turn_without_calls_has_no_response():
    """There is nothing to answer."""
    given = []
    play([END], respond(given))

    assert given == [None]


def test_a_response_that_was_made_is_dropped_with_the_turn():
    """The user pushed something else: the results answer nothing that is sent."""
    played = play([ASKS, END], both(respond(), push(user("x"))))

    assert played.last_request == [user("x")]


def test_a_response_is_made_anew_for_the_next_turn():
    """It is never given for another turn."""
    given = []
    play([ASKS, turn("b", "c2"), END], respond(given), respond(given))

    assert given == [[DONE], [result("c2")]]


# -- tools


def test_a_tool_that_raises_fails_its_call_alone():
    """Its sibling has its result, and the model is asked again."""
    played = play([turn("a", "c1", "c2"), END], answers={"c1": ToolRaised("no")})

    assert played.last_request[1:] == [result("c1", "no", "error"), result("c2")]


@pytest.mark.parametrize("executor", ["sequential", "parallel"])
def test_a_tool_that_raises_ends_the_run_where_that_is_declared(executor):
    """The state is one that a model takes: each call has a result."""
    played = play(
        [turn("a", "c1", "c2")],
        answers={"c1": ToolRaised("no")},
        policies={"tool.raises": "end_run", "round.executor": executor},
    )

    assert isinstance(played.error, ToolRaised)
    assert played.runner.at == "Broken"
    assert [one["call"] for one in played.messages[1:]] == ["c1", "c2"]


def test_an_error_of_a_tool_is_an_error_for_the_model():
    """The next request holds it as one."""
    played = play([ASKS, END], answers={"c1": Answer("error", "bad")})

    assert played.last_request == [TURN, result("c1", "bad", "error")]


def test_an_unknown_tool_runs_nothing_and_is_an_error():
    """The model learns that there is no such tool."""
    played = play([turn("a", "c1", tool="nowhere"), END])

    assert played.world.entries == []
    assert [(one["call"], one["status"]) for one in played.last_request[1:]] == [("c1", "error")]


def test_an_id_that_comes_twice_runs_once():
    """There are no two results under one id."""
    played = play([turn("a", "c1", "c1"), END])

    assert played.last_request[1:] == [DONE]
    assert played.world.entries == ["c1"]


@pytest.mark.parametrize(("added", "status"), [("at_once", "ok"), ("next_request", "error")])
def test_a_tool_that_was_added_within_a_turn(added, status):
    """It counts for the calls at hand, or from the next request on."""
    played = play([turn("a", "c1", tool="t2"), END], change(add=["t2"]), policies={"tools.added": added})

    assert played.last_request[1]["status"] == status
    assert played.world.offered == [["t0", "t1"], ["t0", "t1", "t2"]]


@pytest.mark.parametrize(("removed", "entries"), [("at_once", []), ("next_request", ["c1"])])
def test_a_tool_that_was_removed_within_a_turn(removed, entries):
    """It is gone for the calls at hand, or from the next request on; the turn is no changed one."""
    played = play([ASKS, END], change(remove=["t0"]), policies={"tools.removed": removed})

    assert played.world.entries == entries
    assert played.last_request[0] == TURN
    assert played.world.offered[1] == ["t1"]


@pytest.mark.parametrize(("added", "versions"), [("at_once", [2]), ("next_request", [1])])
def test_a_tool_that_was_replaced_within_a_turn(added, versions):
    """The calls at hand meet the new definition, or the old one."""
    played = play([ASKS, END], change(add=["t0"]), policies={"tools.added": added})

    assert played.world.versions == versions


def test_a_tool_that_was_removed_between_turns_is_unknown_in_the_next():
    """The request does not offer it, and its call is an error."""
    played = play([END, turn("b", "c2"), END], both(push(user("x")), change(remove=["t0"])))

    assert played.world.entries == []
    assert played.last_request[-1]["status"] == "error"


# -- how the model stops


@pytest.mark.parametrize("stop", ["refusal", "max_tokens", "end_turn", "stop_sequence"])
@pytest.mark.parametrize("cut_off", ["not_run", "run_unless_refused", "run"])
def test_calls_of_a_turn_that_was_cut_off(stop, cut_off):
    """They run where the policy says so; otherwise the turn is final."""
    played = play([turn("a", "c1", stop=stop), END], policies={"runner.cut_off": cut_off})
    runs = cut_off == "run" or (cut_off == "run_unless_refused" and stop != "refusal")

    assert played.world.entries == (["c1"] if runs else [])
    assert len(played.world.requests) == (2 if runs else 1)


def test_tool_use_without_a_call_is_final():
    """There is nothing to run."""
    assert len(play([turn("a", stop="tool_use"), END]).world.requests) == 1


@pytest.mark.parametrize("calls", [(), ("c1",)])
def test_a_paused_turn_goes_back_as_it_is(calls):
    """Its calls do not run, and the next request holds it."""
    played = play([turn("a", *calls, stop="pause_turn"), END])

    assert played.last_request == [assistant("a", *calls)]
    assert played.world.entries == []


def test_a_paused_turn_ends_the_run_where_that_is_declared():
    """No second request is sent."""
    played = play([turn("a", stop="pause_turn"), END], policies={"runner.pause": "ends"})

    assert (len(played.world.requests), played.runner.reason) == (1, "NaturalEnd")


@pytest.mark.parametrize(("value", "sent"), [("dropped", [user("x")]), ("kept", [assistant("a"), user("x")])])
def test_a_paused_turn_that_was_changed(value, sent):
    """It is lost, or stands before what was pushed."""
    played = play([turn("a", stop="pause_turn"), END], push(user("x")), policies={"pause.changed": value})

    assert played.last_request == sent


def test_a_paused_turn_that_was_pushed_has_its_calls_handled():
    """The user made it the last message of the state."""
    played = play([turn("a", "c1", stop="pause_turn"), END], push(TURN))

    assert played.last_request == [TURN, DONE]


def test_a_param_that_was_set_does_not_run_the_calls_of_an_earlier_pause():
    """The paused turn stands at the end of the state, but the user did not push it."""
    played = play([turn("a", "c1", stop="pause_turn"), END, END], both(), set_state(params={"k": 1}))

    assert played.world.entries == []


# -- the limit


@pytest.mark.parametrize(
    ("limit", "zero", "requests", "reason"),
    [
        (0, "no_request", 0, "Stopped"),
        (0, "no_limit", 3, "NaturalEnd"),
        (1, "no_limit", 1, "Stopped"),
        (2, "no_limit", 2, "Stopped"),
        (3, "no_limit", 3, "NaturalEnd"),
        (None, "no_limit", 3, "NaturalEnd"),
    ],
)
def test_the_limit(limit, zero, requests, reason):
    """Exactly as many requests are sent as the limit allows."""
    played = play([ASKS, turn("b", "c2"), END], max_iterations=limit, policies={"limit.zero": zero})

    assert (len(played.world.requests), played.runner.reason) == (requests, reason)


@pytest.mark.parametrize(("value", "entries"), [("drained", ["c1"]), ("preempted", [])])
def test_the_calls_of_the_last_turn(value, entries):
    """They run and their results are in the state, or the run ends before them."""
    played = play([ASKS], max_iterations=1, policies={"stop.tools": value})

    assert played.world.entries == entries
    assert (DONE in played.messages) is bool(entries)


def test_paused_turns_count():
    """A model that pauses for ever meets the limit."""
    played = play([turn("a", stop="pause_turn")] * 5, max_iterations=2)

    assert len(played.world.requests) == 2


# -- faults, breaks, again


def test_a_fault_in_the_middle_ends_the_walk_and_the_runner_can_be_taken_up():
    """The request is sent again with the state as it is, and no tool runs again."""
    played = play([ASKS, WorldFault("down"), END], again=[])

    assert isinstance(played.error, WorldFault)
    assert played.world.requests[1] == played.world.requests[2]
    assert played.world.entries == ["c1"]


def test_a_fault_is_the_end_where_that_is_declared():
    """The runner refuses to go on."""
    with pytest.raises(TurnedDown):
        play([WorldFault("down")], again=[], policies={"again.fault": "over"})


@pytest.mark.parametrize(("counts", "requests"), [("requests", 2), ("turns", 3)])
def test_a_fault_counts_or_not(counts, requests):
    """Under `requests` the failed one used up an iteration."""
    played = play(
        [ASKS, WorldFault("down"), turn("b", "c2")],
        again=[],
        max_iterations=2,
        policies={"limit.counts": counts},
    )

    assert len(played.world.requests) == requests


def test_a_tool_that_broke_leaves_a_state_that_can_be_sent():
    """Taken up again, the request holds a result for each call."""
    played = play([turn("a", "c1", "c2"), END], answers={"c2": WorldFault("gone")}, again=[])

    assert played.last_request == [
        assistant("a", "c1", "c2"), result("c1"), result("c2", "gone", "error")
    ]  # fmt: skip


def test_leaving_the_loop_stops_it_there():
    """No tool runs, and the turn is not in the state."""
    played = play([ASKS, END], "break")

    assert (played.world.entries, played.messages, played.runner.at) == ([], [], "Left")


def test_coming_back_goes_on_from_where_the_loop_was_left():
    """The calls of the turn are handled, and the next request is sent."""
    played = play([ASKS, END], "break", again=[])

    assert played.last_request == [TURN, DONE]


def test_coming_back_is_refused_where_the_runner_is_over():
    """The runner allows no second run."""
    with pytest.raises(TurnedDown):
        play([ASKS, END], "break", again=[], policies={"again.break": "over"})


# -- what a request carries


def test_a_request_carries_what_the_server_does_not_hold():
    """After the first request only the results are new."""
    assert play([ASKS, turn("b", "c2"), END]).world.sent == [1, 1, 1]


def test_a_history_that_the_server_does_not_hold_is_sent_whole():
    """The user dropped the turn."""
    assert play([ASKS, END], push(user("x"))).world.sent == [1, 2]


def test_the_whole_history_is_sent_where_that_is_declared():
    """Each request carries everything."""
    assert play([ASKS, END], policies={"runner.history": "whole"}).world.sent == [1, 3]


# -- a cancel at a yield


@pytest.mark.parametrize(("value", "entries"), [("run", ["c1"]), ("not_run", [])])
def test_a_cancel_while_the_turn_is_with_the_user(value, entries):
    """The calls run after the resume, or do not; no request is sent."""
    played = play([ASKS, END], cancel(), policies={"cancel.handed_over": value})

    assert played.world.entries == entries
    assert (len(played.world.requests), played.runner.reason) == (1, "Cancelled")


def test_after_a_cancel_a_response_enters_no_body():
    """There is nothing, or what is kept."""
    given = []
    played = play([ASKS], both(cancel(), respond(given)))
    kept = []
    again = play([ASKS], both(respond(), cancel(), respond(kept)))

    assert (given, played.world.entries) == ([None], [])
    assert (kept, again.world.entries) == ([[DONE]], ["c1"])


def test_the_verbs_of_the_user_are_refused_without_a_yield():
    """Before the first yield, the user's methods are refused."""
    played = play([END])

    for verb in (lambda: played.runner.push([user("x")]), lambda: played.runner.set(None, {"k": 1})):
        with pytest.raises(TurnedDown):
            verb()


def test_a_pause_that_is_kept_after_a_set_does_not_have_its_calls_run():
    """The runner put the paused turn at the end of the state, and not the user."""
    played = play(
        [turn("a", "c1", stop="pause_turn"), END],
        set_state([user("anew")]),
        policies={"pause.changed": "kept"},
    )

    assert played.world.requests[1] == [user("anew"), TURN]
    assert played.world.entries == []


def test_coming_back_after_a_broken_response_goes_on_with_its_results():
    """No call runs a second time; the one that broke has an error."""
    played = play(
        [turn("a", "c1", "c2"), END],
        respond(),
        answers={"c2": WorldFault("gone")},
        policies={"runner.cache": "kept"},
    )
    left = play_and_leave_after_a_broken_response()

    assert isinstance(played.error, WorldFault)
    assert left.world.entries == ["c1", "c2"]
    assert left.last_request[1:] == [result("c1"), result("c2", "gone", "error")]


def play_and_leave_after_a_broken_response():
    async def respond_and_leave(runner):
        assert await runner.respond() is None

    return play(
        [turn("a", "c1", "c2"), END],
        respond_and_leave,
        answers={"c2": WorldFault("gone")},
        leave_after=1,
        again=[],
    )
