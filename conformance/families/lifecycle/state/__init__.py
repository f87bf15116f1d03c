"""The observed state: what the kit knows of a runtime, folded from the trace of one scenario.

The kit cannot look inside a runtime under test.  It sends stimuli and receives observations, and from these
two it keeps an account of every run, tool call, decision and gate.  `ObservedState` is a fold: it starts
from the handshake and the scenario, and `stimulus`, `observe` and `report` take it forward by one record
each.  The same trace always gives the same state, whether the runtime runs now or was recorded.

Facts and claims
----------------
Two kinds of knowledge are kept apart.

* A *witnessed fact* is something that the kit caused or saw at a gate: the model was asked, a tool body was
  entered, the kit released a gate with an answer, a decision was sent.  No runtime can be mistaken about it.
* A *claim* is something that the runtime says of itself: a status, a disposition, a checkpoint, an event.  A
  claim may be wrong, and whether it agrees with the facts is what many clauses are about.

Of a call, `claimed` is the last claimed status; `result`, `ended_as` and `last_verdict` follow from facts
alone.  A runtime need not show every kind of observation.  So a property such as `waits` uses the claim where
there is one, and the facts otherwise; `may_wait` is true where neither excludes it.

Certainty
---------
A stimulus can race with what the runtime is doing.  Then it is open in which order the two took effect, and
both orders are legal.  `alone` is true for a stimulus that was sent to a quiescent runtime with nothing next
to it.  Each record keeps whether it met no race (`alone` of a gate and of a decision, `turn_alone` of a run),
and a check that would be wrong in one of the two orders does not judge what has raced.

A cancel, a fault, a crash and new input interfere with the flow of a run as well.  `Run.disturbed_by` says
which of them have met a run, and the registration of a check says which ones it `excuses`.

Crashes
-------
A crash ends a *life* of the runtime, and with it all that the runtime held in memory: its claims, the gates
that it had open, the watchers of its stream.  These stand in the `volatile` object of the state, of each run
and of each call, and a crash replaces that object by a new one.  What the kit has witnessed survives: a tool
body that was entered once has been entered, in whatever life.

What the state does not do
--------------------------
It never judges.  Invariants and monitors read it, and read it *before* the state records the observation that
they judge: the question is always whether this may be shown now.

Modules
-------
Each imports only from those before it.

* `records`, with `calls`, `disturbances`, `wires` and `watchers`: what is kept of a run, a call, a gate, a
  decision, a watcher.
* `knowledge`: all records of a scenario, and what can be asked of them; `nesting` and `expiry` ask more.
* `fold`: a function for each stimulus and each kind of observation, which changes what is known.
* `observed_state`: `ObservedState`, which is the knowledge together with its fold.
"""

from runlock.conformance.families.lifecycle.state.knowledge import Feature, once
from runlock.conformance.families.lifecycle.state.observed_state import ObservedState

__all__ = ["Feature", "ObservedState", "once"]
