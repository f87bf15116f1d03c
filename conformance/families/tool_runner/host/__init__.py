"""Hosts a tool runner: an adapter object runs on the kit's own event loop as the runtime under test."""
