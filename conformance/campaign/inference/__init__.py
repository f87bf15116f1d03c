"""Infers the policies of a runtime from its observations instead of its declarations."""
