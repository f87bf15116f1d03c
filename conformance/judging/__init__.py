"""Judging: from the records of a trace to clauses that held, are broken, or were not tested.

A `Judge` reads one scenario record by record.  It knows nothing of the protocol: a `Family` gives it an
observed state, invariants and monitors.  For each record it decides, in this order:

1. Before the state records an observation, the *invariants* about that kind of observation run, in the
   order of blame; then the *monitors*, which follow the charts; then the monitors that *explain*, which
   compare the whole trace with a model.  Each asks whether this may be shown now.
2. When an answer is complete and the runtime is quiescent, the invariants and monitors about quiescent
   points run: what should have come by now, and did not?  They run only if the runtime settles exactly.  If
   it was just watched for a while, its silence proves nothing.
3. Then the first *deferred* objection counts, if there was one, and after that what monitors report once
   everything has settled.

What a check says
-----------------
A check yields one `CheckResult` for each thing that it judged: `HELD`, or `broken` with a reason.  Each of
them counts as one exercise of its clause.  A check that yields nothing has judged nothing.  So a clause is
*held* only if it was exercised and never broken; a clause that was never exercised is *untested*, and is
never reported as passed.

The violation
-------------
The first objection is the violation of the scenario, and judging stops there.  From that point on the
observed state may differ from what the runtime did, and later objections would blame clauses that it
keeps.  One fault often breaks several clauses at the same record, so the order matters: a check that names
the cause runs before one that sees consequences.  Three means serve that: the rank of a check, deferring an
objection until the runtime is quiescent, and, for monitors that explain, waiting for one more answer.

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
