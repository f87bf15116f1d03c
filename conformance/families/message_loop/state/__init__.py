"""The observed state of a message loop: what the kit knows of it, folded from the trace of one scenario.

A message loop is a walk through six stages, and none of them can be seen.  What can be seen are two kinds
of things, and the state keeps them apart.

*Facts* are what the kit witnessed because it was there.  A gate is a fact: the runtime came to the outside
world, showed what it came with, and waits until the kit releases it.  Out of gates alone the state builds
its records.  A *turn* begins with the kit's `run.start`.  A *pass* is the chat turn, or one attempt of a
stage execution; an `assert` gate that is released with `retry` begins the next one.  A *request* begins
with the first gate of its COMPOSE_REQUEST (a context provider, a hook) or, where there is none, with its
model gate; a model gate that opens after one that failed before its first delta is the same request, sent
again.  A *response* is complete when the kit releases its model gate with a turn, and from then on its
*calls* exist; a call id that a later response uses is a new call.  Prompts, guards, verdicts of the state
machine and tool entries are filed under their call, in the order in which the gates opened.

*Claims* are what the runtime says of itself: events, messages, statuses, the reason of the end, the answer
to `inspect`.  They are kept apart from the facts and never change them, so that a check can hold one against
the other.

Time is an ordinal: each stimulus and each observation takes the next number.  Two things that happened
without the runtime having come to rest in between lie in one *window*; nothing may be concluded from the
order of two stimuli in one window, since a runtime may take them in any order.  A stimulus that is the only
one in its window is *clean*.

Three things take what they seem to give.  A release in the same window as a cancel may be lost without a
`gate.closed`, if the runtime was cancelled between the answer and its next step.  A gate that was released
and then closed gave nothing: the answer came too late.  A second answer to a prompt in the same delivery is
late as well, even where its gate does not close.

Modules
-------
Each imports only from those before it.

* `records`, with `naming`: what is kept of a turn, a pass, a request, a call, a prompt and a gate.
* `knowledge`: all records of a scenario, and what can be asked of them.
* `fold`: a function for each stimulus and each kind of observation, which changes what is known.
* `observed_state`: `ObservedState`, which is the knowledge together with its fold.
"""

from runlock.conformance.families.message_loop.state.observed_state import ObservedState

__all__ = ["ObservedState"]
