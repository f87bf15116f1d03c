"""How a command that plays single schedules reaches a runtime: one in Python has a process of its own."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.errors import UsageError
from runlock.conformance.safe_path import SAFE
from runlock.conformance.transport.stdio import Pipe
from runlock.conformance.transport.sut import Sut, SutFactory


@dataclass(frozen=True, slots=True)
class Reached:
    """A target, and whether it runs in this process, which it can then end or block."""

    target: str
    timeout_scale: float = 1.0
    in_process: bool = False

    def factory(self) -> SutFactory:
        """What starts the runtime."""
        resolved = resolve(self.target, timeout_scale=self.timeout_scale)
        if resolved.path is not None:
            raise UsageError(f"`{self.target}` is a recorded trace, and not a runtime.", "Name a runtime.")
        return self._served if resolved.kind == "py" and not self.in_process else resolved.open

    def _served(self) -> Sut:
        words = [sys.executable, SAFE, "-m", "runlock.conformance.cli", "serve", self.target]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        return Pipe(words, timeout_scale=self.timeout_scale, env=environment)
