"""Runtimes that are reached over a protocol of their own, without an adapter of their author.

A wire has two sides.  The *ends* are servers of the kit on loopback: the model, whose turns the kit makes,
and the tools, whose bodies are gates.  The *mouth* is a client of one protocol: it starts runs, answers what
waits, and reads what is streamed.  The author of the runtime writes nothing: the application is only pointed
at the ends.
"""
