"""`runlock serve`: a runtime in process, put behind the pipe."""

from __future__ import annotations

import sys
from typing import Final

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT, family_named
from runlock.conformance.transport.server import Methods, serve

HOLDERS: Final = ("kit", "own")
"""Who may hold the checkpoints of the reference."""


def run(target: str, store: str) -> int:
    """Answer requests on standard input until they end; the exit code."""
    if store not in HOLDERS:
        raise UsageError(f"There is no store `{store}`.", f"It is {' or '.join(HOLDERS)}.")
    resolved = resolve(target, own_store=store == "own")
    if resolved.path is not None:
        raise UsageError(f"`{target}` is recorded, so that nothing can be asked of it.", "Serve a runtime.")
    serve(resolved.open(), _methods_of, sys.stdin.buffer, sys.stdout.buffer)
    return 0


def _methods_of(family: str | None) -> Methods:
    return family_named(family or DEFAULT).vocabulary.methods
