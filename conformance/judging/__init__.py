"""Judging: from the records of a trace to clauses that held, are broken, or were not tested.

A `Judge` reads one scenario answer by answer.  It knows nothing of the protocol: a `Family` gives it an
observed state, invariants and charts.  For each answer it decides, in this order:

1. Before the state records an observation, the *invariants* about that kind of observation run: may this be
   shown now?  Then the charts are followed, which counts transitions, and objects to what is none.
2. When the answer is complete and the runtime is quiescent, the invariants about quiescent points run: what
   should have come by now, and did not?  They run only if the runtime settles exactly.  If it was just
   watched for a while, its silence proves nothing.
3. Then a *deferred* objection counts, if there was one and nothing else objected.

What a check says
-----------------
A check yields one `CheckResult` for each thing that it judged: `HELD`, or `broken` with a reason.  Each of
them counts as one exercise of its clause.  A check that yields nothing has judged nothing.  So a clause is
*held* only if it was exercised and never broken; a clause that was never exercised is *untested*, and is
never reported as passed.

The violation
-------------
The first answer that meets an objection decides, and judging stops after it.  From there on the observed
state may differ from what the runtime did, and later objections would blame clauses that it keeps.  One fault
often breaks several clauses in one answer.  The `rank` of a check says how bad it is that it objects, and is
the same in every family (`conformance/family/rank.py`): what was done to a call leads what a checkpoint or a
status says of it, whichever came first.  Of what a runtime says about itself, the first objection is the
cause.  A check whose objection is deferred sees consequences alone.

Which clauses are judged
------------------------
`applicability` decides it before anything runs, from the handshake alone: a clause is judged, untested for a
reason (the runtime does not show what it needs), or not applicable (a policy or the profile excludes it).

Open policies
-------------
A runtime may leave a policy undeclared.  `policy_hypotheses` then treats each value as a hypothesis.  A check
that reads the policy runs under each value that is left, and an objection excludes that value instead of
breaking the clause.  Only if no value is left is something wrong: no single value explains what was seen.

Determinism
-----------
`determinism` compares two traces of one schedule, since a runtime must not act by chance within a step.
"""
