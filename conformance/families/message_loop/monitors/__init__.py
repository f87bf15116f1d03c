"""Monitors of the message loop: they check a scenario against a chart."""
