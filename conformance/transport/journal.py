"""What a runtime was asked, written down before it is asked: a trace that outlives the process.

A runtime in process can end that process, or never give it back.  The supervisor then reads here what
was in flight, and has a trace to replay.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from runlock.conformance.protocol import ProtocolError
from runlock.conformance.trace.moves import INSPECT, as_seen
from runlock.conformance.trace.trace import Record, Trace
from runlock.conformance.transport.sut import Sut

_NOT_IN_A_TRACE: Final = ("initialize", "shutdown")
_WITHOUT_REPORT: Final = ("initialize", "scenario.open", "scenario.close", "shutdown", "crash")


class Journal:
    """A file that holds the scenario under way; each scenario begins it anew.

    An answer is written with the request that follows it, in one write: it is only needed then.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        self._handshake = ""
        self._unwritten = ""
        self._goes_on = False

    def shook_hands(self, handshake: dict[str, Any]) -> None:
        """Keep what every trace begins with."""
        self._handshake = _line("handshake", handshake)

    def begin(self, scenario: dict[str, Any]) -> None:
        """Forget the scenario before, unless it goes on in another process."""
        if self._goes_on:
            self._goes_on = False
            return
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        self._unwritten = self._handshake
        self.write("scenario", scenario)

    def write(self, key: str, value: Any) -> None:
        """Append one record, and what was not written yet."""
        os.write(self._descriptor, (self._unwritten + _line(key, value)).encode())
        self._unwritten = ""

    def killed(self) -> None:
        """The process was killed by the kit, and the scenario goes on in the next one."""
        self.write("crash", {"by": "kill"})
        self._goes_on = True

    def answered(self, answer: dict[str, Any]) -> None:
        """Keep what a stimulus led to."""
        self._unwritten += _line("answer", answer)


_ENCODER: Final = json.JSONEncoder(separators=(",", ":"))


def _line(key: str, value: Any) -> str:
    return f"{_ENCODER.encode({key: value})}\n"


class Journalled:
    """A `Sut` that writes down each request before it passes it on."""

    def __init__(self, sut: Sut, journal: Journal) -> None:
        self._sut = sut
        self._journal = journal

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Pass one verb on, with what it leads to in the journal."""
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
            if method == INSPECT:  # there may be none, and the scenario goes on
                self._journal.answered({})
            raise

    def _before(self, method: str, params: dict[str, Any]) -> None:
        if method == "scenario.open":
            self._journal.begin(params)
        elif method == "crash":
            self._journal.write("crash", {})
        elif method == "scenario.close":
            self._journal.write("end", {})
        elif method not in _NOT_IN_A_TRACE:
            self._journal.write("stimulus", {"method": method, "params": params})

    def kill(self) -> None:
        """End the runtime at once."""
        self._sut.kill()

    def close(self) -> None:
        """Give back what the runtime holds."""
        self._sut.close()


def in_flight(path: Path) -> tuple[str, Trace | None]:
    """The verb that has had no answer, if any, and the trace that led there."""
    try:
        trace = Trace(list(_records(path)))
    except (OSError, ValueError, TypeError):  # the process ended while it wrote, or before it wrote anything
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
