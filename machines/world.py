"""The outside world as the references of all families meet it: calls, answers and failures."""

from __future__ import annotations

from typing import Any, Protocol


class WorldFault(Exception):
    """Something outside the runtime broke: the model, the machinery of a tool, a hook, or the store."""


class ToolRaised(Exception):
    """The body of a tool threw, which is not the same as answering with an error."""


class AskedCall(Protocol):
    """A call as the model asks for it; arguments that are no object do not parse."""

    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def args(self) -> Any: ...


class Answer(Protocol):
    """What a tool or the permission hook answered: a kind, and what it says."""

    @property
    def kind(self) -> str: ...
    @property
    def content(self) -> Any: ...
    @property
    def message(self) -> str | None: ...


class HookAnswer(Protocol):
    """What a hook or a plugin answered: a kind, and data that replaces what it was shown."""

    @property
    def kind(self) -> str: ...
    @property
    def data(self) -> dict[str, Any] | None: ...
    @property
    def message(self) -> str | None: ...
