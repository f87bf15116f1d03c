"""Lives of the reference that end by SIGKILL at a counted instant, and what is judged of them afterwards.

    python tests/machines/killed.py CASE [EVERY]         a case below, with a death after every N lines
    python tests/machines/killed.py wrong               whether the runtimes that are wrong are seen to be

One process imports everything and forks for each death, so that a death costs some milliseconds.  A child
counts the lines that the runtime and its store execute, or what goes on in SQLite: operations before and
after, and inside of them statements and steps of its machine.  At the given instant it kills
itself.  Another way to die is to write past a size of file, in the middle of a write.  Nothing is timed.
Next to the store lies a journal of what happened outside, appended and flushed by the same process: that is
what the lives are held to.
"""

import asyncio
import json
import sys
import traceback
from collections import Counter
from dataclasses import dataclass, field

from kill_checks import lives_in, what_went_wrong
from kill_points import at_line, folder_for_one, in_store, instants, tear
from kill_scenario import Case, live

from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.store import Store

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
    """At every instant of the store, at one in N lines, and at sizes of its files."""
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
