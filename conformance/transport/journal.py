"""A write-ahead log of requests: each is recorded before it is sent, so that the trace survives the process.

An in-process runtime can end its process, or never return.  The supervisor then reads here which request
was in flight, and has a trace to replay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from runlock.conformance.protocol import ProtocolError
from runlock.conformance.trace.moves import INSPECT, as_seen
from runlock.conformance.trace.trace import Record, Trace
from runlock.conformance.transport.sut import Sut

_NOT_IN_A_TRACE: Final = ("initialize", "shutdown")
_WITHOUT_REPORT: Final = ("initialize", "scenario.open", "scenario.close", "shutdown", "crash")


class Journal:
    """The file of the current scenario; each scenario truncates it.

    An answer is written together with the next request, in one write, since it is not needed earlier.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        self._handshake = ""
        self._unwritten = ""
        self._goes_on = False

    def shook_hands(self, handshake: dict[str, Any]) -> None:
        """Store the records that every trace begins with."""
        self._handshake = _line("handshake", handshake)

    def begin(self, scenario: dict[str, Any]) -> None:
        """Discard the previous scenario, unless it continues in another process."""
        if self._goes_on:
            self._goes_on = False
            return
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self._unwritten = self._handshake
        self.write("scenario", scenario)

    def write(self, key: str, value: Any) -> None:
        """Append one record, and everything that was not written yet."""
        with suppress(OSError):  # a full disk: the trace is then missing if the process ends
            os.write(self._descriptor, (self._unwritten + _line(key, value)).encode())
        self._unwritten = ""

    def starts_again(self) -> None:
        """The runtime is started: progress, although nothing of it is in a trace."""
        os.utime(self._descriptor)

    def killed(self) -> None:
        """The kit killed the process, and the scenario continues in the next one."""
        self.write("crash", {"by": "kill"})
        self._goes_on = True

    def answered(self, answer: dict[str, Any]) -> None:
        """Store the result of a stimulus."""
        self._unwritten += _line("answer", answer)


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


def _line(key: str, value: Any) -> str:
    return f"{_ENCODER.encode({key: value})}\n"


class Journalled:
    """A `Sut` that records each request before it sends it."""

    def __init__(self, sut: Sut, journal: Journal) -> None:
        self._sut = sut
        self._journal = journal

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Send one verb, and record it with its result."""
        self._before(method, params)
        answer = self._answer(method, params)
        if method == "initialize":
            self._journal.shook_hands(answer)
        elif method == INSPECT:
            self._journal.answered({"observations": [as_seen(params, answer)]})
        elif method not in _WITHOUT_REPORT:
            self._journal.answered(answer)
        return answer

    def _answer(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        try:
            return self._sut.request(method, params)
        except ProtocolError:
            if method == INSPECT:  # there may be none, and the scenario continues
                self._journal.answered({})
            raise

    def _before(self, method: str, params: dict[str, Any]) -> None:
        if method == "initialize":
            self._journal.starts_again()
        elif method == "scenario.open":
            self._journal.begin(params)
        elif method == "crash":
            self._journal.write("crash", {})
        elif method == "scenario.close":
            self._journal.write("end", {})
        elif method not in _NOT_IN_A_TRACE:
            self._journal.write("stimulus", {"method": method, "params": params})

    def kill(self) -> None:
        """End the runtime immediately."""
        self._sut.kill()

    def close(self) -> None:
        """Release the resources of the runtime."""
        self._sut.close()


def in_flight(path: Path) -> tuple[str, Trace | None]:
    """The verb that has had no answer, if any, and the trace before it."""
    try:
        trace = Trace(list(_records(path)))
    except (OSError, ValueError, TypeError):  # the process ended during or before its first write
        return "", None
    if not trace.records:
        return "", None
    last = trace.records[-1]
    if "stimulus" in last:
        return last["stimulus"]["method"], trace
    return _VERB_OF.get(next(iter(last)), ""), trace


def _records(path: Path) -> Iterator[Record]:
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        if "answer" in record:
            answer = record["answer"]
            yield from ({"observation": seen} for seen in answer.get("observations") or ())
            yield {
                "report": {"quiescent": answer.get("quiescent", True), "refused": answer.get("refused") or []}
            }
        else:
            yield record


_VERB_OF: Final = {"scenario": "scenario.open", "end": "scenario.close", "crash": "crash"}
