"""The versions of the Agent Client Protocol: what each says in words of its own, behind one interface.

The client and the mouth know what is done.  A version knows how it is spelled, and when a prompt is over.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from runlock.conformance.wires.json_rpc import Params, RpcError
from runlock.conformance.wires.ui_clients import Json

CLIENT: Final = {"name": "runlock", "version": "1"}


@dataclass(frozen=True, slots=True)
class Offers:
    """What an agent says that it can."""

    loads: bool  # a session that another process had
    closes: bool  # a session
    http: bool  # reach a tool server over HTTP


class Turn(ABC):
    """One prompt that is under way; `ended` has its result, an `RpcError`, or `Ended`."""

    def __init__(self, ended: asyncio.Future[Any]) -> None:
        self.ended = ended

    @abstractmethod
    def answered(self, message: Params) -> None:
        """Take in the response to the prompt."""

    @abstractmethod
    def told(self, update: Json) -> None:
        """Take in an update of the session."""

    def so_far(self) -> str:
        """What is missing for its end, in a sentence, where it can be told."""
        return ""

    def end(self, result: Any) -> None:
        """The prompt is over, if it was not before."""
        if not self.ended.done():
            self.ended.set_result(result)

    def fail(self, error: Any) -> None:
        """The prompt has failed, if it was not over before."""
        if not self.ended.done():
            self.ended.set_exception(RpcError(error))


class Version(ABC):
    """The words of one version."""

    number: ClassVar[int]
    turn: ClassVar[type[Turn]]
    greeting: ClassVar[Params]  # the parameters of `initialize`
    resumes: ClassVar[str]  # the method by which a session is loaded
    of_calls: ClassVar[tuple[str, ...]]
    of_messages: ClassVar[tuple[str, ...]]
    """The updates that a prompt keeps: those of calls, and that something is said."""

    resumes_silently: ClassVar = False  # whether a session can be loaded without its replay
    names_messages: ClassVar = False  # whether each message has an id
    has_states: ClassVar = False  # whether the work on a prompt has a state
    has_open_outcomes: ClassVar = False  # whether a permission may be answered in words that are not known
    has_titles: ClassVar = False  # whether a permission has a title
    takes_batches: ClassVar = False  # whether a line may hold several messages

    def misspoken(self, info: Json) -> str:
        """What in an answer to `initialize` is not of this version, or an empty string."""
        return ""

    @abstractmethod
    def implementation(self, info: Json) -> Json:
        """How an agent names itself."""

    @abstractmethod
    def offers(self, info: Json) -> Offers:
        """What an agent says that it can."""

    @abstractmethod
    def piped(self, server: Json) -> Json:
        """A tool server that is a command."""

    @abstractmethod
    def subject(self, params: Params) -> Json:
        """What a request for a permission tells of its call."""

    def resuming(self, params: Json, replays: bool) -> Json:
        """The parameters with which a session is loaded; it may be asked for without its replay."""
        return params

    @abstractmethod
    def response(self, message: Params) -> Json:
        """What a prompt keeps of its response."""


def table(found: Any, *names: str) -> Json:
    """The table under these names, or an empty one."""
    for name in names:
        found = found.get(name) if isinstance(found, Mapping) else None
    return dict(found) if isinstance(found, Mapping) else {}
