"""Monitors of the tool runner: they check runs against its charts, and count the transitions taken."""
