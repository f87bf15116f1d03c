"""A runtime under test behind a pipe: a child process that speaks JSON-RPC 2.0, one object a line.

This module has the conversation and the diagnosis of everything that is not an answer; `child_process` has
the process.  Any error in the conversation ends the process, since the two sides are then out of step:
the next request starts a new incarnation.
"""

from __future__ import annotations

import os
import shlex
import signal
from collections.abc import Mapping, Sequence
from typing import Any, Final, NoReturn

from runlock.conformance.errors import (
    AdapterError,
    RunlockError,
    SutDied,
    TimedOut,
)
from runlock.conformance.protocol import ProtocolError
from runlock.conformance.protocol.framing import (
    LINE_LIMIT_BYTES,
    NotALine,
    decode,
    encode,
    quote,
)
from runlock.conformance.transport.child_process import Child, EndlessLine, Silent

INITIALIZE_LIMIT_SECONDS: Final = 15.0
ANSWER_LIMIT_SECONDS: Final = 10.0
STDERR_LIMIT: Final = 400
"""How many characters of standard error an error shows."""

_STARTS: Final = "The command names an executable file and its arguments; no shell reads it."
_ONE_LINE: Final = "Standard output carries one JSON-RPC 2.0 object a line, and nothing else."
_SHORT_LINES: Final = "A line holds at most 4 MiB."
_ONE_ANSWER: Final = "Each request is answered once, and all that happened since comes inside that answer."
_NO_MESSAGES: Final = "There are no unsolicited messages: all that happened comes inside the next answer."
_LIVES_ON: Final = (
    "It runs until its input ends or it is killed; that the runtime crashed is an answer, -32005."
)
_TALKS_ON: Final = "It answers on standard output until its input ends or it is killed."
_IN_TIME: Final = (
    "It answers once only the kit can move the runtime on; a slow machine wants `--timeout-scale`."
)


class Pipe:
    """A `Sut` over a child process; the first request starts it, and `lives` counts the starts."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        timeout_scale: float = 1.0,
        cwd: str | os.PathLike[str] | None = None,
        env: Mapping[str, str] | None = None,
    ) -> None:
        self.argv = tuple(argv)
        self.name = shlex.join(self.argv)
        self.lives = 0
        self._scale = timeout_scale
        self._cwd = cwd
        self._env = env
        self._child: Child | None = None
        self._last_id = 0
        self._first_id = 1  # of this incarnation
        self._said_goodbye = False

    @property
    def pid(self) -> int | None:
        """The child's process id, which is also that of its group; None while there is no child."""
        return self._child.pid if self._child else None

    def start(self) -> None:
        """Start the child, unless it is running."""
        self._living()

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one request and wait for its answer, within the time limit of the protocol."""
        line = self._line(method, params)
        child = self._living()
        try:
            return self._asked(child, method, line)
        except ProtocolError:
            raise
        except AdapterError as error:
            self._fail(error)
        except BaseException:  # interrupted: the pending answer would be taken for that of the next request
            self.kill()
            raise

    def kill(self) -> None:
        """End the child and its whole process group immediately."""
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def close(self) -> None:
        """End the child; one that answered `shutdown` gets a moment to exit."""
        if self._child is not None and self._said_goodbye:
            self._child.leave()
        self.kill()

    def _living(self) -> Child:
        if self._child is None:
            self._child = self._born()
            self.lives += 1
            self._first_id = self._last_id
            self._said_goodbye = False
        return self._child

    def _born(self) -> Child:
        try:
            return Child(self.argv, self._cwd, self._env)
        except (OSError, ValueError) as error:  # ValueError: a null byte in the command
            words = getattr(error, "strerror", None) or error
            raise AdapterError(f"`{self.name}` could not be started: {words}.", _STARTS) from None

    def _line(self, method: str, params: dict[str, Any]) -> bytes:
        self._last_id += 1
        try:
            line = encode({"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params})
        except (TypeError, ValueError, RecursionError) as error:
            raise RunlockError(f"The parameters of {method} are no JSON: {error}.") from None
        if len(line) - 1 > LINE_LIMIT_BYTES:
            raise RunlockError(f"The request {method} has {len(line) - 1} bytes.", _SHORT_LINES)
        return line

    def _asked(self, child: Child, method: str, line: bytes) -> dict[str, Any]:
        try:
            child.read_what_is_there()
            self._refuse_more(child)
            answer = child.converse(line, self._limit_seconds(method))
            result = self._result(method, answer)
            self._refuse_more(child)
        except Silent as silence:
            raise self._explained(method, silence, child) from None
        except EndlessLine:
            begins = f"which begins {quote(child.unread)}"
            raise AdapterError(
                f"`{self.name}` wrote a line of more than 4 MiB, {begins}.", _SHORT_LINES
            ) from None
        self._said_goodbye = method == "shutdown"
        return result

    def _refuse_more(self, child: Child) -> None:
        if child.unread:
            raise self._diagnosis(child.take_line(), None)

    def _result(self, method: str, line: bytes) -> dict[str, Any]:
        """The answer's result; a `ProtocolError` if it is a well-formed error."""
        answer = self._answer(method, line)
        result = answer.get("result")
        if "error" not in answer and isinstance(result, dict):
            return result
        error = _protocol_error(answer) if "result" not in answer else None
        raise error or self._diagnosis(line, method)

    def _answer(self, method: str, line: bytes) -> dict[str, Any]:
        try:
            answer = decode(line)
        except NotALine:
            raise self._diagnosis(line, method) from None
        if not isinstance(answer, dict) or self._flaw_of_envelope(answer) is not None:
            raise self._diagnosis(line, method)
        return answer

    def _diagnosis(self, line: bytes, method: str | None) -> AdapterError:
        """What is wrong with a line that is not an answer to `method` (None: there was no request)."""
        asked = f"instead of an answer to {method}" if method else "where nothing was asked"
        if not line.strip():
            return AdapterError(f"`{self.name}` wrote an empty line {asked}.", _ONE_LINE)
        wrote = f"`{self.name}` wrote {quote(line)} {asked}"
        try:
            answer = decode(line)
        except NotALine as flaw:
            return AdapterError(f"{wrote}, which {flaw}.", _ONE_LINE)
        if not isinstance(answer, dict):
            return AdapterError(f"{wrote}, which is no JSON object.", _ONE_LINE)
        flaw_of_answer = self._flaw_of_envelope(answer, method is not None) or _flaw_of_content(answer)
        return AdapterError(
            f"{wrote}, which {flaw_of_answer}.", _NO_MESSAGES if "method" in answer else _ONE_ANSWER
        )

    def _flaw_of_envelope(self, answer: dict[str, Any], is_asked: bool = True) -> str | None:
        own_id = answer.get("id")
        if "method" in answer:
            return f"is a {'request' if 'id' in answer else 'notification'} of its own"
        if answer.get("jsonrpc") != "2.0":
            return 'lacks `"jsonrpc": "2.0"`'
        if is_asked and type(own_id) is int and own_id == self._last_id:
            return None
        if is_asked and own_id is None and "error" in answer:  # JSON-RPC: the request could not be read
            return None
        if type(own_id) is int and self._first_id <= own_id <= self._last_id:
            return f"answers request {own_id} a second time"
        asked = f"request {self._last_id} was asked" if is_asked else "no request is open"
        return f"carries the id {quote(repr(own_id))}, but {asked}"

    def _explained(self, method: str, silence: Silent, child: Child) -> AdapterError:
        half = f"; it had written half a line, {quote(child.unread)}" if child.unread else ""
        exit_code = child.exit_code()
        if exit_code is not None:
            what = f"`{self.name}` {_death(exit_code)} instead of answering {method}{half}."
            return SutDied(what, _LIVES_ON)
        if silence.is_closed:
            what = (
                f"`{self.name}` closed its standard output instead of answering {method}, and ran on{half}."
            )
            return AdapterError(what, _TALKS_ON)
        limit = f"{self._limit_seconds(method):g} s"
        return TimedOut(f"`{self.name}` did not answer {method} within {limit}{half}.", _IN_TIME)

    def _limit_seconds(self, method: str) -> float:
        return (INITIALIZE_LIMIT_SECONDS if method == "initialize" else ANSWER_LIMIT_SECONDS) * self._scale

    def _fail(self, error: AdapterError) -> NoReturn:
        """End the process, and raise the error with its output on standard error."""
        child = self._child
        self.kill()
        words = child.last_words() if child else b""
        said = f" On standard error: {quote(words, STDERR_LIMIT)}." if words else ""
        raise type(error)(f"{error.what}{said}", error.right) from None


def _protocol_error(answer: dict[str, Any]) -> ProtocolError | None:
    error = answer.get("error")
    if not isinstance(error, dict):
        return None
    code, message = error.get("code"), error.get("message")
    if type(code) is not int or not isinstance(message, str):
        return None
    return ProtocolError(code, message, error.get("data"))


def _flaw_of_content(answer: dict[str, Any]) -> str:
    if "result" in answer and "error" in answer:
        return "holds both a result and an error"
    if "error" in answer:
        return "holds an error without a whole-number `code` and a `message`"
    if "result" in answer:
        return "holds a result that is no object"
    return "holds neither a result nor an error"


def _death(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was killed by {signal.Signals(-exit_code).name}"
    except ValueError:  # a real-time signal has no name
        return f"was killed by signal {-exit_code}"
