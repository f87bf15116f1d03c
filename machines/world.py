"""How the outside world fails, as the references of all families meet it."""

from __future__ import annotations


class WorldFault(Exception):
    """Something outside the runtime broke: the model, the machinery of a tool, a hook, or the store."""


class ToolRaised(Exception):
    """The body of a tool threw, which is not the same as answering with an error."""
