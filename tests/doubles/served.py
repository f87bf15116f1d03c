"""Serves a runtime of the lifecycle, as `runlock serve` does."""

from __future__ import annotations

from typing import BinaryIO

from runlock.conformance.families.lifecycle.messages import METHODS
from runlock.conformance.transport import server
from runlock.conformance.transport.sut import Sut


def serve(sut: Sut, stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Answer the requests on `stdin`, with the verbs of the lifecycle whatever the handshake names."""
    server.serve(sut, lambda _family: METHODS, stdin, stdout)
