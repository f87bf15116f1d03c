"""`interlock serve`: a runtime in process, put behind the pipe."""

from __future__ import annotations

import sys

from interlock.conformance.exceptions import UsageError
from interlock.conformance.serve import serve
from interlock.conformance.targets import resolve


def run(target: str) -> int:
    """Answer requests on standard input until they end; the exit code."""
    resolved = resolve(target)
    if resolved.path is not None:
        raise UsageError(f"`{target}` is recorded, so that nothing can be asked of it.", "Serve a runtime.")
    serve(resolved.open(), sys.stdin.buffer, sys.stdout.buffer)
    return 0
