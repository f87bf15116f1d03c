"""The hosted face of a tool runner: an adapter object on the kit's own loop, as a runtime under test."""
