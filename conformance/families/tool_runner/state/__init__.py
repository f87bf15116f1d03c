"""What the kit knows of a tool runner: the fold of a scenario's trace, and what follows from it.

Two kinds of fact are kept apart. *Witnessed* facts are those that the kit caused or saw at a gate: the
messages of a request, the turn that the model gave, what the user pushed and set, the body of a tool
that was entered, its answer. *Claims* are what the runner reports of itself: `run.status`, `message`,
`runner.response`, `run.finished`, the answer to `inspect`. Witnessed facts decide; claims are checked
against them.

The unit is the iteration. It begins with a request, whose messages are witnessed, and they are the
state of the runner at that moment. What comes after follows from it: the turn, the acts of the user
while the yield is open, the calls that are handled after the resume, and the next request. So nothing
is carried over from one iteration to the next but the messages of the last request, which the kit saw.
An error is found at the first request that shows it, and later iterations are judged from what was
really sent.

What the page lets a runner do is a plan: whether the turn is put into the state, which calls are
handled, whether their results enter the state, and whether a request or the end comes next. A plan
depends on policies. Where a policy is declared, there is one plan; where it is open, `plans` gives one
for each value that matters, and a check objects only if no plan allows what was seen. Each plan holds
the clauses that explain it, so that a violation names the rule that a maintainer has to look at. A
point that the page does not settle (say, a change that arrives while a response is being made) is
`None` in a plan: either is allowed.

Modules
-------
Each imports only from those before it.

* `records`: what is kept of a gate, an act of the user, a response, an iteration, a run.
* `knowledge`: all records of a scenario, and what can be asked of them.
* `fold`: a function for each stimulus and each kind of observation, which changes what is known.
* `observed_state`: `ObservedRunner`, which is the knowledge together with its fold.
* `facts` and `plan`: what follows for an iteration under a value of the policies.
"""

from runlock.conformance.families.tool_runner.state.observed_state import ObservedRunner

__all__ = ["ObservedRunner"]
