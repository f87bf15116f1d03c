"""One stage with the hooks at its two points.

Clauses: spec/message_loop/clauses/hook.toml.
In TOOL_CALL each call has its own pre and post point; a denial there is a denial of the call.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class StageWithHooks(Chart):
    """One run of a stage: the hooks before it, its body, the hooks after it."""

    subject = "stage"

    Pre = State(initial=True)
    Body = State()
    Post = State()
    Over = State(final=True)
    Denied = State(final=True)
    Broken = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    deny      =  clause("HOOK-3",  Pre.to(Denied) | Post.to(Denied), "a guard denies")
    rewrite   =  clause("HOOK-4",  Pre.to(Pre) | Post.to(Post),      "a transform changes what goes on")
    leave     =  clause("HOOK-7",  Pre.to(Pre) | Post.to(Post),      "a hook leaves it as it is")
    begin     =  clause("HOOK-43", Pre.to(Body),     "every pre hook is answered")
    complete  =  clause("HOOK-44", Body.to(Post),    "the body is complete")
    finish    =  clause("WIRE-1",  Post.to(Over),    "every post hook is answered")
    fault     =  clause("HOOK-9",  Pre.to(Broken) | Body.to(Broken) | Post.to(Broken), "something broke")
    interrupt =  clause("CANCEL-20", Pre.to(Cancelled) | Body.to(Cancelled) | Post.to(Cancelled), "cancelled")
    # fmt: on

    closed = "HOOK-60"
