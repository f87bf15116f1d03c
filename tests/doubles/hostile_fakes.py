"""Right adapters that do something to the process in which they run, for `py:hostile_fakes:NAME`."""

import asyncio
import itertools
import os
import random
import sys
import threading
import time

from cli_fakes import Tiny

AT = 40
"""The scenario in which they do it, so that a part of the campaign was judged before."""


class Hostile(Tiny):
    """Does it where a scenario is opened; each adapter counts its own."""

    def __init_subclass__(cls):
        cls.opened = itertools.count(1)

    async def open(self, host, scenario):
        await super().open(host, scenario)
        if next(self.opened) == AT:
            self.harm()


class LeavesAThread(Hostile):
    def harm(self):
        threading.Thread(target=time.sleep, args=(3600,)).start()


class ChangesTheFolder(Hostile):
    def harm(self):
        os.chdir("/")


class ClosesStandardOutput(Hostile):
    def harm(self):
        sys.stdout.close()
        sys.stderr.close()


class Forks(Hostile):
    """The child goes on as if it were the parent."""

    def harm(self):
        os.fork()


class PatchesRandom(Hostile):
    def harm(self):
        random.random = random.seed = random.getrandbits = lambda *_: 4


class HasNoRandom(Hostile):
    def harm(self):
        random.Random = random.getstate = random.seed = None


class PatchesTheClock(Hostile):
    def harm(self):
        time.time = time.monotonic = time.perf_counter = lambda: 0.0


class BlocksSignals(Hostile):
    def harm(self):
        import signal

        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


class ExitsAtExit(Hostile):
    def harm(self):
        import atexit

        atexit.register(time.sleep, 3600)


class Unheard(BaseException):
    """No handler of the kit names it."""


class FailsInTheBackground(Hostile):
    error = Unheard("in the background")

    def harm(self):
        self.task = asyncio.ensure_future(self.failing())

    async def failing(self):
        raise self.error


class ExitsInTheBackground(FailsInTheBackground):
    error = SystemExit(5)


class InterruptsInTheBackground(FailsInTheBackground):
    error = KeyboardInterrupt()


class Recurses(Hostile):
    def harm(self):
        sys.setrecursionlimit(60)


class EndsItself(Hostile):
    def harm(self):
        os._exit(7)
