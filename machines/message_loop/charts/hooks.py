"""One stage with the hooks at its two points.

Clauses: spec/message_loop/clauses/hook.toml.
In TOOL_CALL each call has its own pre and post point; a denial there is a denial of the call.
"""

from statemachine import State

from runlock.machines.chart import Chart, clause


class StageWithHooks(Chart):
    """One occasion of a stage: hooks, body, hooks."""

    subject = "stage"

    Pre = State(initial=True)
    Body = State()
    Post = State()
    Over = State(final=True)
    Denied = State(final=True)
    Broken = State(final=True)
    Cancelled = State(final=True)

    # fmt: off
    deny      = (clause("HOOK-40", Pre.to(Denied),   "a guard denies before the body")
               | clause("HOOK-45", Post.to(Denied),  "a guard denies after the body"))
    rewrite   = (clause("HOOK-41", Pre.to(Pre),      "a transform changes what the body gets")
               | clause("HOOK-46", Post.to(Post),    "a transform changes what goes on"))
    leave     = (clause("HOOK-42", Pre.to(Pre),      "a hook leaves it as it is")
               | clause("HOOK-47", Post.to(Post),    "a hook leaves the outcome as it is"))
    begin     =  clause("HOOK-43", Pre.to(Body),     "every pre hook is answered")
    complete  =  clause("HOOK-44", Body.to(Post),    "the body is complete")
    finish    =  clause("WIRE-1",  Post.to(Over),    "every post hook is answered")
    fault     =  clause("HOOK-9",  Pre.to(Broken) | Body.to(Broken) | Post.to(Broken), "something broke")
    interrupt =  clause("CANCEL-20", Pre.to(Cancelled) | Body.to(Cancelled) | Post.to(Cancelled), "cancelled")
    # fmt: on

    closed = "HOOK-60"
