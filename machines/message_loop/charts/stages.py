"""The six stages of one pass, and its continuation.

Clauses: spec/message_loop/clauses/loop.toml.
A pass goes once through the stages: a chat turn has one, a stage execution has one for each attempt.
The fact `renders_terminal` is the policy `call.terminal`.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class Pass(Chart):
    """One pass through the stages of a turn; each continuation repeats them from COMPOSE_REQUEST."""

    subject = "pass"

    RECEIVE_INPUT = State(initial=True)
    COMPOSE_REQUEST = State()
    SEND_REQUEST = State()
    STREAM_RESPONSE = State()
    TOOL_CALL = State()
    RENDER = State()
    Rendered = State(final=True)
    Finished = State(final=True)  # after a terminal round that is not rendered
    Bounded = State(final=True)  # the continuation would exceed the bound
    Blocked = State(final=True)
    Cancelled = State(final=True)
    Failed = State(final=True)

    # fmt: off
    compose      =  clause("LOOP-40", RECEIVE_INPUT.to(COMPOSE_REQUEST),   "the input is taken")
    dispatch     =  clause("LOOP-41", COMPOSE_REQUEST.to(SEND_REQUEST),    "the request is composed")
    stream       =  clause("LOOP-42", SEND_REQUEST.to(STREAM_RESPONSE),    "the provider has the request")
    has_calls    =  clause("LOOP-43", STREAM_RESPONSE.to(TOOL_CALL),       "complete, with tool calls")
    no_calls     =  clause("LOOP-44", STREAM_RESPONSE.to(RENDER),          "complete, without a tool call")
    send_again   =  clause("LOOP-20", STREAM_RESPONSE.to(STREAM_RESPONSE), "it failed before its first token")
    proceed      =  clause("LOOP-45", TOOL_CALL.to(COMPOSE_REQUEST),       "the results are appended")
    bound        =  clause("LOOP-46", TOOL_CALL.to(Bounded),               "the bound is reached")
    terminal     = (clause("LOOP-47", TOOL_CALL.to(RENDER, cond="renders_terminal"), "terminal, and rendered")
                  | clause("LOOP-48", TOOL_CALL.to(Finished),              "terminal, and not rendered"))
    rendered     =  clause("LOOP-49", RENDER.to(Rendered),                 "the payload was handed over")
    refuse       = (clause("LOOP-50", RECEIVE_INPUT.to(Blocked) | COMPOSE_REQUEST.to(Blocked)
                           | SEND_REQUEST.to(Blocked) | STREAM_RESPONSE.to(Blocked), "a guard denies"))
    halt         =  clause("LOOP-51", TOOL_CALL.to(Blocked),               "a denial reaches the turn")
    interrupt    =  clause("LOOP-52", RECEIVE_INPUT.to(Cancelled) | COMPOSE_REQUEST.to(Cancelled)
                           | SEND_REQUEST.to(Cancelled) | STREAM_RESPONSE.to(Cancelled)
                           | TOOL_CALL.to(Cancelled) | RENDER.to(Cancelled), "the turn is cancelled")
    fault        =  clause("LOOP-53", RECEIVE_INPUT.to(Failed) | COMPOSE_REQUEST.to(Failed)
                           | SEND_REQUEST.to(Failed) | STREAM_RESPONSE.to(Failed)
                           | TOOL_CALL.to(Failed) | RENDER.to(Failed),     "something broke")
    # fmt: on

    closed = "LOOP-60"
