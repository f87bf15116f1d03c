"""Monitors of the tool runner: they follow its charts, and count which arrows were taken."""
