"""An application that the kit starts: its process, its log, and its end with everything that it started."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import tempfile
import weakref
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import IO, Final
from urllib.parse import urlsplit

from runlock.conformance.errors import AdapterError, TimedOut
from runlock.conformance.transport import guardian
from runlock.conformance.transport.child_process import kill_group, new_cookie, with_cookie
from runlock.conformance.wires.address import DATA, PLACE

UP_SECONDS: Final = 60.0
"""How long an application may take until its port is open."""

LOOK_SECONDS: Final = 0.05
TAIL_BYTES: Final = 2_000


def free_port() -> int:
    """A port of loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


class Launched:
    """A process in a group of its own, with a folder for its data; they end with this object, or the kit.

    `env` is its whole environment, with what `environment` makes of the folder.  One that `speaks` is spoken
    to over its standard input and output.
    """

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        *,
        names: str = "`--launch`",
        speaks: bool = False,
        environment: Callable[[str], Mapping[str, str]] = lambda folder: {},
    ) -> None:
        self._data = tempfile.TemporaryDirectory(prefix="runlock-data-", ignore_cleanup_errors=True)
        self.folder = self._data.name
        guardian.tidy(self.folder)
        self._env = {**env, **environment(self.folder), DATA: self.folder}
        program = shutil.which(command[0], path=self._env.get("PATH"))
        if program is None:
            self._data.cleanup()
            raise AdapterError(
                f"There is no command `{command[0]}`.", f"{names} names what starts the application."
            )
        self._command = [program, *command[1:]]
        self._speaks = speaks
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  # as long as the process

    def twin(self) -> Launched:
        """Another process of the same command in the same folder, which is not started yet."""
        return copy(self)

    def start(self) -> None:
        """Start the command, on the data that it left if it was started before."""
        cookie = new_cookie()
        guardian.watch(cookie)
        piped = subprocess.PIPE if self._speaks else None
        self.process = subprocess.Popen(
            self._command, env=with_cookie(self._env, cookie), start_new_session=True,
            stdin=piped or subprocess.DEVNULL, stdout=piped or self._log, stderr=self._log, bufsize=0,
        )  # fmt: skip
        guardian.watch(cookie, self.process.pid)
        self.end = weakref.finalize(self, kill_group, self.process, cookie.encode())

    async def until_up(self, url: str) -> None:
        """Wait until the port of a URL is open; raises an `AdapterError` if the process ends before."""
        parts = urlsplit(url)
        loop = asyncio.get_running_loop()
        deadline = loop.time() + UP_SECONDS
        while not await _is_open(parts.hostname or "", parts.port or 80):
            if (code := self.process.poll()) is not None:
                raise AdapterError(
                    f"The application ended with exit code {code} before it listened at {url}.", self.tail()
                )
            if loop.time() > deadline:
                raise TimedOut(
                    f"The application has not listened at {url} within {UP_SECONDS:.0f} seconds.",
                    f"It runs, and finds that port as `{PLACE}` in its command, or in PORT. {self.tail()}",
                )
            await asyncio.sleep(LOOK_SECONDS)

    def tail(self) -> str:
        """The end of what it wrote, as a sentence."""
        size = self._log.seek(0, os.SEEK_END)
        self._log.seek(max(0, size - TAIL_BYTES))
        lines = [line for line in self._log.read().decode("utf-8", "replace").splitlines() if line.strip()]
        return f"It wrote last: {lines[-1].strip()}" if lines else "It wrote nothing."


async def _is_open(host: str, port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection(host, port)
    except OSError:
        return False
    writer.close()
    return True
