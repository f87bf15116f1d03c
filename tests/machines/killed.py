"""Lives of the reference that end by SIGKILL at a counted instant, and what is judged of them afterwards.

    python tests/machines/killed.py CASE [EVERY]         a case below, with a death at each so many lines
    python tests/machines/killed.py wrong               whether the runtimes that are wrong are seen to be

One process imports everything and forks for each death, so that a death costs some milliseconds.  A child
counts the lines that the runtime and its store execute, or what goes on in SQLite: operations before and
after, and inside of them statements and steps of its machine.  At the instant that it is told, it kills
itself.  Another way to die is to write past a size of file, in the middle of a write.  Nothing is timed.
Beside the store lies a journal of what happened outside, appended and flushed by the same process: that is
what the lives are held to.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import resource
import shutil
import signal
import sqlite3
import sys
import tempfile
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

from interlock.machines.runtime import store as store_module
from interlock.machines.runtime.choices import policies_of
from interlock.machines.runtime.runtime import Runtime
from interlock.machines.runtime.state import FINAL, Decision
from interlock.machines.runtime.store import Store

THREAD, RUN = "t1", "r1"
WATCHED = str(Path(store_module.__file__).parent)
MACHINE_STEPS = 40  # of SQLite, between two instants


@dataclass(frozen=True)
class Case:
    """The reference under a profile, with other policies."""

    profile: str
    policies: dict[str, str] = field(default_factory=dict)
    runtime: type = Runtime
    store: type = Store

    @property
    def by_call(self):
        """Whether only what is in flight may be lost."""
        return self.policies.get("durability") == "call"

    @property
    def one_by_one(self):
        """Whether one call is executed after the other."""
        return self.policies.get("round.executor") == "sequential"


# --- wrong on purpose, so that it is known what is seen ---------------------------------------------


class Lazy(Store):
    """Commits every other checkpoint together with the next."""

    waits = False

    def put(self, *checkpoint):
        self.waits = not self.waits
        if self.waits:
            self._connection.execute("BEGIN")
        super().put(*checkpoint)
        if not self.waits:
            self._connection.execute("COMMIT")


class InTwo(Store):
    """Takes the old checkpoint away before it writes the new one."""

    def put(self, thread, run, *checkpoint):
        self._connection.execute("DELETE FROM checkpoint WHERE thread = ?", (thread,))
        super().put(thread, run, *checkpoint)


class Hasty(Runtime):
    """Says durability=call, and leaves it at the end of the step."""

    async def journal(self):
        return


class Diligent(Runtime):
    """Executes again what is over in the checkpoint."""

    def restore(self, state):
        super().restore(state)
        for call in self.state.last_round():
            call.status = "New" if call.status == "Succeeded" else call.status


class Amnesiac(Runtime):
    """Forgets the calls that wait."""

    def restore(self, state):
        super().restore(state)
        for call in self.state.in_status("Suspended"):
            del self.state.calls[call.id]


BY_CALL = {"durability": "call", "round.executor": "sequential"}

CASES = {
    "step": Case("awaken-8"),
    "round": Case("tirea"),
    "call": Case("awaken-concurrent", {"durability": "call"}),
    "call-by-call": Case("awaken-9", BY_CALL),
}

WRONG = {
    "lazy": (Case("awaken-8", store=Lazy), "what was put last is"),
    "in two": (Case("awaken-8", store=InTwo), "what was put last is"),
    "hasty": (Case("awaken-9", BY_CALL, runtime=Hasty), "although its result had been used"),
    "diligent": (Case("awaken-9", BY_CALL, runtime=Diligent), "and was touched again"),
    "amnesiac": (Case("awaken-9", BY_CALL, runtime=Amnesiac), "and is lost"),
}

# --- the scripted outside world -------------------------------------------------------------------

TOOLS = {
    "read": {"permission": "allow", "resume_mode": "replay"},
    "write": {"permission": "ask", "resume_mode": "replay"},
    "look": {"permission": "gate", "resume_mode": "replay"},
    "send": {"permission": "allow", "resume_mode": "replay"},  # answers pending until it is resumed
    "fill": {"permission": "ask", "resume_mode": "use_as_result"},
}
SCRIPT = (
    (("c1", "read"), ("c2", "write"), ("c3", "send"), ("c4", "look")),
    (("c5", "fill"), ("c6", "write"), ("c7", "read")),
    (),
)
REJECTED = "c6"


class Journal:
    """What happened outside, one line each, flushed before anything else happens."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(self.file, b"\n")  # a death in the middle of a line leaves half of one

    def note(self, what, *about):
        """Append a line."""
        os.write(self.file, json.dumps([what, *about]).encode() + b"\n")
        os.fsync(self.file)

    def close(self):
        """Give the file back."""
        os.close(self.file)


class World:
    """Follows the script, and notes what the runtime makes it do."""

    def __init__(self, store, journal):
        self.store, self.journal = store, journal

    async def infer(self, messages, step, request):
        """The next turn of the script is the one behind those that the thread shows."""
        self.journal.note("ask", step)
        await asyncio.sleep(0)
        turn = sum(message["role"] == "assistant" for message in messages)
        asked = SCRIPT[min(turn, len(SCRIPT) - 1)]  # where it is asked while calls wait, it adds nothing
        calls = [SimpleNamespace(id=call, name=name, args={"k": call}) for call, name in asked]
        return SimpleNamespace(text="", tool_calls=calls, usage=SimpleNamespace(input=1, output=1))

    async def permit(self, call, name, args, resume):
        """Whatever asks may go on."""
        await asyncio.sleep(0)
        return SimpleNamespace(kind="allow", content=None, message=None)

    async def execute(self, call, name, args, resume, tells):
        """A body that takes the longer the earlier it was asked for, so that the last one ends first."""
        entry = [call, resume and resume["decision"]]
        self.journal.note("enter", *entry)
        for _ in range(9 - int(call[1:])):
            await asyncio.sleep(0)
        self.journal.note("finish", *entry)
        kind = "pending" if name == "send" and resume is None else "ok"
        return SimpleNamespace(kind=kind, content=f"<{call}>", message=None)

    async def commit(self, trigger, cause, force, state):
        """Into the store, noted before and after."""
        self.journal.note("put", digest(state))
        self.store.put(THREAD, RUN, trigger, cause, state)
        self.journal.note("kept", digest(state))

    def observe(self, kind, **fields):
        """Nobody watches."""

    def refuse(self, why, decision):
        """Every decision is taken: one that was taken before, and forgotten, would be refused."""
        raise AssertionError(f"decision {decision} was refused: {why}")

    def now_ms(self):
        """Time stands still."""
        return 0


def digest(state):
    """What tells one state from another."""
    return hashlib.sha256(json.dumps(state, sort_keys=True).encode()).hexdigest()[:16]


async def live(folder, case):
    """One life: begin, or go on from the store, and decide two calls at a time until the run is Done."""
    with contextlib.ExitStack() as held:
        store = held.enter_context(contextlib.closing(case.store(folder / "runs.sqlite")))
        journal = held.enter_context(contextlib.closing(Journal(folder / "journal")))
        found = store.last(THREAD, RUN)
        journal.note("born", found)
        policies = policies_of(case.profile, case.policies)
        runtime = case.runtime(World(store, journal), TOOLS, [], policies)
        if found is None:
            await runtime.start("hello")
        else:
            runtime.restore(found)
            await runtime.go_on()
        while waiting := runtime.state.in_status("Suspended"):
            await runtime.decide([_decision(call) for call in waiting[:2]])
        journal.note("over", runtime.state.to_checkpoint())


def _decision(call):
    action = "cancel" if call.id == REJECTED else "resume"
    return Decision(f"d-{call.id}-{call.suspension}", call.id, action, f"<{call.id}>")


# --- dying ----------------------------------------------------------------------------------------


class Reaper:
    """Counts instants, and kills the process at one of them; `seen` are the kinds that went by."""

    def __init__(self, at=0):
        self.at = at
        self.seen = []

    def instant(self, kind):
        """Something is about to happen."""
        self.seen.append(kind)
        if len(self.seen) == self.at:
            os.kill(os.getpid(), signal.SIGKILL)

    @contextlib.contextmanager
    def watching_lines(self):
        """Count the lines that the runtime and its store execute."""
        sys.settrace(self._entered)
        try:
            yield
        finally:
            sys.settrace(None)

    def _entered(self, frame, event, _):
        return self._line if frame.f_code.co_filename.startswith(WATCHED) else None

    def _line(self, frame, event, _):
        if event == "line":
            self.instant("line")
        return self._line

    @contextlib.contextmanager
    def watching_store(self):
        """Count what goes on in SQLite: before, inside and after each operation."""
        connect = sqlite3.connect
        sqlite3.connect = lambda *where, **how: self._hooked(connect(*where, **how, factory=Watched))
        try:
            yield
        finally:
            sqlite3.connect = connect

    def _hooked(self, connection):
        connection.instant = self.instant
        connection.set_trace_callback(lambda _: self.instant("inside: statement"))
        connection.set_progress_handler(lambda: self.instant("inside: machine"), MACHINE_STEPS)
        return connection


def _counted(name):
    def operation(self, *about):
        self.instant("before")
        result = getattr(sqlite3.Connection, name)(self, *about)
        self.instant("after")
        return result

    return operation


class Watched(sqlite3.Connection):
    """A connection that tells when an operation begins and when it is over."""

    execute = _counted("execute")
    executescript = _counted("executescript")
    close = _counted("close")


def at_line(folder, case, at):
    """A life in a child that dies at a line, if it comes so far; whether it did."""
    return _in_a_child(lambda: _live_under(Reaper(at).watching_lines(), folder, case))


def in_store(folder, case, at):
    """A life in a child that dies at an instant of its store, if it comes so far; whether it did."""
    return _in_a_child(lambda: _live_under(Reaper(at).watching_store(), folder, case))


def _live_under(watch, folder, case):
    with watch:
        asyncio.run(live(folder, case))


def instants(case):
    """How many lines a life has that nothing ends, and the kinds of the instants of its store."""
    lines, store = Reaper(), Reaper()
    for watch in (lines.watching_lines(), store.watching_store()):
        with folder_for_one() as folder:
            _live_under(watch, folder, case)
    return len(lines.seen), store.seen


def tear(folder, case, size):
    """A life in a child that dies where it writes beyond a size, in any file; whether it did."""
    return _in_a_child(lambda: _torn(folder, case, size))


def _torn(folder, case, size):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    asyncio.run(live(folder, case))


def _in_a_child(work):
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status):
        raise AssertionError("a life broke before its death; its traceback is on standard error")
    return os.WIFSIGNALED(status)


@contextlib.contextmanager
def folder_for_one():
    """An empty folder, in memory where there is such: a kill does not reach the disk."""
    memory = Path("/dev/shm")
    folder = tempfile.mkdtemp(prefix="killed-", dir=memory if memory.is_dir() else None)
    try:
        yield Path(folder)
    finally:
        shutil.rmtree(folder)


# --- judging --------------------------------------------------------------------------------------


def lives_in(folder):
    """The journal, cut where a life begins; half a line is a thing that did not happen."""
    lives = []
    for line in (folder / "journal").read_text().splitlines():
        with contextlib.suppress(ValueError):
            what, *about = json.loads(line)
            if what == "born":
                lives.append([])
            lives[-1].append((what, *about))
    return lives


def what_went_wrong(lives, kills, case, calm):
    """Each promise of the store and of recovery that these lives broke, as a sentence."""
    over = lives[-1][-1]
    if over[0] != "over" or over[1]["run"]["status"] != "Done":
        yield f"the last life ended with {over[0]}, and not with a run that is Done"
        return
    if over[1]["run"]["reason"]["code"] != "NaturalEnd":
        yield f"the run ended for the reason {over[1]['run']['reason']}"
    if _told(over[1]) != _told(calm):
        yield f"the thread is {_told(over[1])}, and without a kill it is {_told(calm)}"
    yield from _wrong_entries(lives, kills)
    for index in range(1, len(lives)):
        yield from _wrong_beginning(lives[:index], lives[index][0][1])
        yield from _wrong_use(lives[index:], lives[index][0][1], over[1])
        if case.by_call:
            yield from _more_than_in_flight(lives[index - 1], lives[index:], case)


def _told(state):
    """A thread without the order in which the results of a round came in, and without empty turns."""
    turns = [(m["role"], m["text"], m.get("tool_calls")) for m in state["messages"] if m["role"] != "tool"]
    turns = [turn for turn in turns if turn[0] == "user" or turn[2]]
    results = sorted((m["call"], m["status"], m["text"]) for m in state["messages"] if m["role"] == "tool")
    return turns, results


def _entered(life):
    return [tuple(one[1:]) for one in life if one[0] == "enter"]


def _wrong_entries(lives, kills):
    for (call, decision), times in Counter(one for life in lives for one in _entered(life)).items():
        if times > 1 + kills:
            yield f"call {call} was entered {times} times on decision {decision}, and killed {kills} times"
    for life in lives:
        for (call, decision), times in Counter(_entered(life)).items():
            if times > 1:
                yield f"one life entered call {call} {times} times on decision {decision}"


def _wrong_beginning(before, found):
    """A life begins with what was put last; the one that was being put may be there, whole, or not."""
    puts = [one for life in before for one in life if one[0] in ("put", "kept")]
    kept = [one[1] for one in puts if one[0] == "kept"]
    may = {kept[-1] if kept else None, puts[-1][1] if puts else None}
    if (found and digest(found)) not in may:
        yield f"a life began with {found and digest(found)}, and what was put last is {may}"


def _wrong_use(lives, found, over):
    for call_id, call in (found or {"calls": {}})["calls"].items():
        entered = [one for life in lives for one in _entered(life) if one[0] == call_id]
        if call_id not in over["calls"]:
            yield f"call {call_id} was durable as {call['status']}, and is lost"
        elif call["status"] in FINAL and (entered or over["calls"][call_id]["status"] != call["status"]):
            yield f"call {call_id} was durable as {call['status']}, and was touched again"
        elif call["status"] == "Suspended" and any(decision is None for _, decision in entered):
            yield f"call {call_id} was durable as Suspended, and was entered without a decision"


def _more_than_in_flight(last, later, case):
    """Executed again is only what had no successor: no inference, and one by one no other call either."""
    again = {one for life in later for one in _entered(life)} & set(_entered(last))
    if case.one_by_one and len(again) > 1:
        yield f"{sorted(map(str, again))} were executed again, and only one call can be in flight"
    for entry in again:
        if ("finish", *entry) in last:
            used = [one[0] for one in last[last.index(("finish", *entry)) :]]
            if "ask" in used or (case.one_by_one and "enter" in used):
                yield f"call {entry[0]} was executed again, although its result had been used"


# --- campaigns ------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """How many lives were killed, and what went wrong, with the deaths that led there."""

    deaths: int = 0
    wrong: list[str] = field(default_factory=list)


def play(case, calm, deaths, outcome):
    """Lives that die one after the other, and one that does not; `deaths` are ways to die."""
    with folder_for_one() as folder:
        kills = sum(way(folder, case, point) for way, point in deaths)
        outcome.deaths += kills
        try:
            asyncio.run(live(folder, case))
            wrong = list(what_went_wrong(lives_in(folder), kills, case, calm))
        except Exception:
            wrong = [traceback.format_exc()]
    names = ", then ".join(f"{way.__name__} at {point}" for way, point in deaths)
    outcome.wrong += [f"{names}: {one}" for one in wrong]


def calm_life(case):
    """The state at the end of a life that nothing ends early, which is right by the same measure."""
    with folder_for_one() as folder:
        asyncio.run(live(folder, case))
        lives = lives_in(folder)
    calm = lives[0][-1][1]
    assert not list(what_went_wrong(lives, 0, case, calm))
    return calm


def single_deaths(case, every):
    """At every instant of the store, at one of so many lines, and at sizes of its files."""
    lines, store = instants(case)
    yield from ([(in_store, at)] for at in range(1, len(store) + 1))
    yield from ([(at_line, at)] for at in range(1, lines, every))
    yield from ([(tear, size)] for size in range(0, 40_000, 4_000))


def double_deaths(case):
    """One death, and one in the life that follows: some pairs of all."""
    lines, store = instants(case)
    for first in range(1, len(store), len(store) // 5):
        yield from ([(in_store, first), (at_line, at)] for at in range(first, lines, lines // 2))
    for first in range(1, lines, lines // 5):
        yield from ([(at_line, first), (in_store, at)] for at in range(first % 7 + 1, len(store), 50))


def sweep(case, every):
    """Play all these deaths; how many there were, and what went wrong."""
    calm, outcome = calm_life(case), Outcome()
    for deaths in (*single_deaths(case, every), *double_deaths(case)):
        play(case, calm, deaths, outcome)
    lines, store = instants(case)
    return {"lines": lines, "store": Counter(store), "deaths": outcome.deaths, "wrong": outcome.wrong}


def seen_to_be_wrong(case, says, every):
    """Whether some death shows what is wrong with a case."""
    calm, outcome = calm_life(case), Outcome()
    for deaths in single_deaths(case, every):
        play(case, calm, deaths, outcome)
        if any(says in one for one in outcome.wrong):
            return True
    return False


if __name__ == "__main__" and sys.argv[1] == "wrong":
    print(json.dumps({name: seen_to_be_wrong(case, says, 300) for name, (case, says) in WRONG.items()}))
elif __name__ == "__main__":
    swept = sweep(CASES[sys.argv[1]], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    print(json.dumps(swept))
