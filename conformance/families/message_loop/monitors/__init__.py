"""Monitors of the message loop: they follow a scenario along a chart."""
