"""Audit: judges what runtimes did in production, from recordings that others made.

Three parts, each of which knows only the one before it:

1. An *importer* knows one format.  It says to which thread a record belongs, and turns the records of one
   thread into a trace: stimuli and observations of a family, with a handshake that declares what the format
   shows and nothing else.  An importer judges nothing.
2. The *engine* reads the files, brings the records of each thread together, and judges thread by thread, in
   as many processes as asked, on one machine or on many.
3. The *result* says for each clause whether it held, broke, or was not observable.

What cannot be seen is never held
---------------------------------
The judge is the one that judges campaigns.  It decides from a handshake which clauses can be judged, and
counts how often each was exercised.  So a clause that needs something that a format does not show is
untested, for that reason, however the recorded run went.

Order
-----
An importer orders records by parents, by what a message history contains, and by sequence numbers.  Clocks
of two processes differ, so a time stamp alone never puts one record before another.  Where nothing orders
two records, the trace has them in an order that no clause depends on.

Ends
----
A recording that stops before its run has ended is *open*.  Nothing is said about what would have followed:
its last stimulus has no report, and a judge draws no conclusion from silence that was not recorded.
"""
