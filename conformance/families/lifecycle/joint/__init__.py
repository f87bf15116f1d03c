"""The joint model: run, calls, resume gate and store as one labelled transition system.

The charts of a run, of its calls, of the resume gate and of the store are separate pages, but a runtime goes
through all of them at once.  This package composes them and asks of a trace as a whole: is there any path
through the joint charts that shows exactly this?  Clauses RUN-31 and RUN-32 are about that.

The labelled transition system
------------------------------
A *joint state* (`Control` and a tuple of `Call`, from `runlock.machines.lifecycle.joint`) says where the
run is and the status of each live call.  A *transition* (`labels.Way`) leads from one joint state to another
and has

* a *cue*: the input that it needs, such as an answer of the model or a decision, or none if the runtime
  takes it by itself;
* *labels*: the outputs that it shows, such as a status of a call.  A transition without labels is internal.

Several charts leave a choice open, and an open policy leaves the charts themselves open.  So the system is
nondeterministic, and what was seen so far can be explained by several joint states.

Hypotheses
----------
A `Hypothesis` is one explanation: a joint state, the labels that its transitions still owe, and the inputs
that arrived and were not used yet.  Labels may be owed because a runtime may report the statuses of a run
and of its calls in either order.  `JointStates` holds the set of all hypotheses, for each way to settle the
open policies.  Each event (`events`) maps that set to the next one:

* an *input* adds a cue to the inbox of each hypothesis; if it may have had no effect, both cases are kept;
* an *observation* keeps the hypotheses from which internal transitions lead to a transition that shows it;
* *quiescence*, the runtime being at rest, keeps those that owe nothing and in which no transition is due.

If the set becomes empty, nothing explains the trace: the observation breaks RUN-31, or the silence RUN-32.

What the relation is
--------------------
This is input-output conformance (ioco) with quiescence (Tretmans): after each trace of the specification, the
outputs of the runtime, silence included, are among those that the specification allows.  Silence is an output
here, since a runtime that stops too early is as wrong as one that says too much.

It is applied as a *sound under-approximation*.  A runtime that conforms is never blamed: where the kit does
not know whether something took effect, or the charts do not speak of it (`environment`), the set of
hypotheses is made larger, and never smaller.  The price is that some wrong traces pass.  Beyond two bounds,
on the hypotheses at once and on those looked at for one run, or where the charts say nothing at all (one id
for two calls, a store that fails), the run is not followed any further and nothing more is judged of it.

An objection of this package names no cause: it says what was not explained, and what would have been.  So it
waits for one more answer, in which a check of another clause may name the cause.

Modules
-------
`labels` derives the transition system from the joint charts; `hypotheses` has hypotheses and the search over
internal transitions; `events` the inputs, observations and quiescence; `states` the set of hypotheses and the
cache of where events led; `environment` what may happen without an input; `conformance` the monitor; and
`explanation` the sentences.
"""
