"""A client of the Agent Client Protocol, in any of its versions: one process of an agent, and its sessions.

It does what an editor does, and also what an editor should not: it answers a permission again, or one that
was never asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.errors import AdapterError
from runlock.conformance.wires.acp_v1 import Version1
from runlock.conformance.wires.acp_v2 import Version2
from runlock.conformance.wires.acp_version import Offers, Turn, Version
from runlock.conformance.wires.json_rpc import LINE_MAX, Ended, Params, Peer, RpcError, first_line
from runlock.conformance.wires.launch import Launched
from runlock.conformance.wires.ui_clients import Json

SPOKEN: Final[Mapping[int, Version]] = {one.number: one for one in (Version1(), Version2())}
"""The versions of the protocol that the kit speaks, by their numbers."""

CANCELLED: Final = {"outcome": {"outcome": "cancelled"}}
LOGIN: Final = -32000
"""The code of an error that asks for an authentication."""

KINDS: Final[Mapping[bool, tuple[str, ...]]] = {
    True: ("allow_once", "allow_always"),
    False: ("reject_once", "reject_always"),
}
"""The kinds of options that say yes and no, the narrowest first."""

EXTENSION: Final = "_"
"""How the names of methods begin that are none of the protocol."""

ASKS: Final = "session/request_permission"
OVER: Final = ("completed", "failed", "cancelled")


@dataclass(eq=False)
class Permission:
    """A request for a permission, by its id; `answer` is what the client said last."""

    number: Any
    call: str  # by the id of the agent
    params: Params
    answer: Any = None
    name: str = ""  # in what a prompt keeps
    is_of_call: bool = True  # whether the agent says for which call it is

    def outcome(self, approves: bool) -> Json:
        """The answer that says so; as cancelled, if no option does."""
        options = [one for one in self.params.get("options") or () if isinstance(one, Mapping)]
        for kind in KINDS[approves]:
            found = [one.get("optionId") for one in options if one.get("kind") == kind]
            if found:
                return {"outcome": {"outcome": "selected", "optionId": found[-1]}}
        return dict(CANCELLED)


@dataclass(eq=False)
class Session:
    """One session; `asked` and `updated` belong to the schedule that is played in it."""

    agent: Agent
    id: str
    folder: str
    calls: dict[str, Json] = field(default_factory=dict)  # what was told of each call, by the agent's ids
    permissions: list[Permission] = field(default_factory=list)
    asked: Callable[[Permission], None] = lambda permission: None
    updated: Callable[[Json], None] = lambda update: None
    noted: Callable[[Json], None] = lambda event: None  # what either side says, as a prompt keeps it
    turn: Turn | None = None  # the newest prompt
    loads: int = 0  # how often it was loaded

    @property
    def version(self) -> Version:
        """The words that its agent speaks."""
        return self.agent.version

    def prompt(self, text: str) -> asyncio.Future[Any]:
        """Send a prompt; the future has how it ended."""
        number = {"version": self.version.number} if self.version.number > 1 else {}
        self.noted({"type": "prompt", **number})
        self.turn = turn = self.version.turn(self.agent.peer.promise())
        prompt = {"sessionId": self.id, "prompt": [{"type": "text", "text": text}]}
        self.agent.peer.request("session/prompt", prompt, lambda message: self._answered(turn, message))
        return turn.ended

    def _answered(self, turn: Turn, message: Params) -> None:
        self.noted({"type": "response", **self.version.response(message)})
        turn.answered(message)

    def cancel(self, *, races: bool = False) -> None:
        """Cancel the prompt, and answer each open permission as cancelled, as the protocol has it.

        One that `races` may meet what the agent has sent before it reads the cancel.
        """
        self.agent.peer.notify("session/cancel", {"sessionId": self.id, "_meta": {}})
        self._note_cancel(races)

    def close(self, *, races: bool = False) -> None:
        """Close the session, which cancels its prompt in the same way."""
        self.agent.peer.request("session/close", {"sessionId": self.id})
        self._note_cancel(races)

    def give_up(self, *, is_under_way: bool) -> None:
        """The client is done with the session, whatever becomes of it."""
        if self.agent.offers.closes:
            self.agent.peer.request("session/close", {"sessionId": self.id})
        elif is_under_way:
            self.agent.peer.notify("session/cancel", {"sessionId": self.id})

    def _note_cancel(self, races: bool) -> None:
        self.noted({"type": "cancel", **({"races": True} if races else {})})
        for one in self.open:
            self.answer(one, dict(CANCELLED))

    def cancel_late(self) -> None:
        """Cancel when no prompt is under way, as a client does that has not read the response yet."""
        self.agent.peer.notify("session/cancel", {"sessionId": self.id})

    @property
    def open(self) -> list[Permission]:
        """The permissions that have no answer."""
        return [one for one in self.permissions if one.answer is None]

    def answer(self, permission: Permission, outcome: Json) -> None:
        """Answer a permission, for the first time or again."""
        permission.answer = outcome
        self.noted({"type": "answer", "id": permission.name, **outcome["outcome"]})
        self.agent.peer.answer(permission.number, outcome)

    def take(self, update: Json) -> None:
        """Take in what the agent tells."""
        if update.get("sessionUpdate") in ("tool_call", "tool_call_update"):
            known = self.calls.setdefault(str(update.get("toolCallId")), {})
            known.update({key: value for key, value in update.items() if value is not None})
        self.updated(update)
        if self.turn is not None:
            self.turn.told(update)

    def take_permission(self, number: Any, params: Params) -> None:
        """Take in what the agent asks."""
        told, name = self.version.subject(params), f"permission-{len(self.permissions) + 1}"
        is_of_call = bool(told.get("toolCallId"))
        call = str(told["toolCallId"]) if is_of_call else name
        known = self.calls.setdefault(call, {})
        known.update({key: value for key, value in told.items() if value is not None})
        permission = Permission(number, call, params, name=name, is_of_call=is_of_call)
        self.permissions.append(permission)
        self.asked(permission)


class Agent:
    """One process of an agent."""

    def __init__(self, process: Launched, says: str, version: Version = SPOKEN[1]) -> None:
        self.process = process
        self.version = version
        self.says = says  # the command, as a sentence names it
        self.info: Json = {}
        self.sessions: dict[str, Session] = {}
        self.garbage = ""  # the first line that it wrote which is no message
        self.garbled = 0
        self._reading: asyncio.Task[None] | None = None
        self._pipe: asyncio.ReadTransport | None = None

    async def start(self) -> None:
        """Start the process, and greet it; raises an `AdapterError` for what is no agent."""
        self.process.start()
        self.sessions = {}
        popen = self.process.process
        assert popen.stdin is not None and popen.stdout is not None
        self.peer = Peer(self._asked, self._notified, self._other)
        self.peer.takes_batches = self.version.takes_batches
        self.peer.write = _writer(popen.stdin)
        reader = asyncio.StreamReader(LINE_MAX)
        protocol = asyncio.StreamReaderProtocol(reader)
        loop = asyncio.get_running_loop()
        self._pipe, _ = await loop.connect_read_pipe(lambda: protocol, popen.stdout)
        self._reading = loop.create_task(self.peer.read(reader))
        try:
            self.info = dict(await self.peer.request("initialize", self.version.greeting) or {})
        except Ended:
            raise self._gone() from None
        except RpcError as error:
            raise AdapterError(
                f"`{self.says}` refused `initialize`: {error}.", self.process.tail()
            ) from error
        self._refuse_other_words()

    def _refuse_other_words(self) -> None:
        """Raise an `AdapterError` if it speaks another version than it was greeted with."""
        number, asked = self.info.get("protocolVersion"), self.version.number
        if number == asked and (why := self.version.misspoken(self.info)):
            raise AdapterError(
                f"`{self.says}` says that it speaks version {asked} of the protocol, and does not: {why}.",
                "An agent that sends back each number it is asked for speaks version 1: "
                "leave `--protocol` out.",
            )
        if number != asked:
            raise AdapterError(
                f"`{self.says}` speaks version {number} of the protocol, and not version {asked}.",
                f"Add `--protocol {number}`."
                if number in SPOKEN
                else f"The kit speaks version {' and version '.join(map(str, SPOKEN))}.",
            )

    async def stop(self) -> None:
        """Close its pipes; the process is ended by its owner."""
        popen = getattr(self.process, "process", None)
        if popen is not None and popen.stdin is not None:
            popen.stdin.close()
        if self._pipe is not None:
            self._pipe.close()
        if self._reading is not None:
            self._reading.cancel()

    def _gone(self) -> AdapterError:
        code = self.process.process.wait()
        return AdapterError(
            f"`{self.says}` ended with exit code {code} before it answered `initialize`.", self.process.tail()
        )

    @property
    def is_alive(self) -> bool:
        """Whether it still has an open output."""
        return not self.peer.is_ended

    @property
    def offers(self) -> Offers:
        """What it says that it can."""
        return self.version.offers(self.info)

    async def new(self, folder: str, servers: list[Json]) -> Session:
        """Begin a session in a folder; raises an `AdapterError` if it wants a login."""
        try:
            found = await self.peer.request("session/new", {"cwd": folder, "mcpServers": servers})
        except RpcError as error:
            raise self._refused("session/new", error) from error
        session = Session(self, str(found["sessionId"]), folder)
        self.sessions[session.id] = session
        return session

    async def load(self, session: Session, servers: list[Json]) -> None:
        """Load a session that another process had; what it replays is taken in, and told to no one.

        Where it need not be replayed, it is asked for that every second time alone.
        """
        params = {"sessionId": session.id, "cwd": session.folder, "mcpServers": servers}
        loading = Session(self, session.id, session.folder, session.calls, session.permissions)
        is_silent = self.version.resumes_silently and session.loads % 2 == 0
        session.loads += 1
        if is_silent:
            loading.updated = lambda update: session.noted({"type": "replay", "update": update})
        self.sessions[session.id] = loading
        await self.peer.request(self.version.resumes, self.version.resuming(params, not is_silent))
        if is_silent:
            session.noted({"type": "resumed"})
        self.sessions[session.id] = session
        session.agent = self
        for one in session.permissions:  # this process may ask under the same numbers
            one.number = f"{one.name}-of-another-process"

    def _refused(self, method: str, error: RpcError) -> AdapterError:
        if error.code == LOGIN or "auth" in error.message.lower():
            methods = self.info.get("authMethods") or ()
            ways = ", ".join(str(one.get("id") or one.get("methodId")) for one in methods)
            named = f" (it names {ways})" if ways else ""
            return AdapterError(
                f"`{self.says}` wants a login before `{method}`{named}: {error.message}",
                "Only what runs with a key and a base URL can be checked; a recipe sets them.",
            )
        return AdapterError(f"`{self.says}` refused `{method}`: {error}.", self.process.tail())

    # What it says.

    def _other(self, line: bytes) -> None:
        self.garbled += 1
        self.garbage = self.garbage or first_line(line)
        for session in self.sessions.values():
            session.noted({"type": "garbage", "line": first_line(line)})

    def _asked(self, number: Any, method: str, params: Params) -> None:
        session = self.sessions.get(str(params.get("sessionId")))
        if method == ASKS and session is not None:
            session.take_permission(number, params)
        else:
            self.peer.decline(number, method)
            if session is not None and not method.startswith(EXTENSION):
                session.noted({"type": "request", "method": method})

    def _notified(self, method: str, params: Params) -> None:
        session = self.sessions.get(str(params.get("sessionId")))
        if method == "session/update" and session is not None and isinstance(params.get("update"), Mapping):
            session.take(dict(params["update"]))


def _writer(pipe: Any) -> Callable[[bytes], None]:
    def write(line: bytes) -> None:
        with suppress(ValueError, OSError):  # that it has ended is seen where its output is read
            pipe.write(line)

    return write
