"""Random walks through scenarios in which the rare things of a message loop are not rare."""

from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import with_turns
from runlock.conformance.driving.strategies.scripted import corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.message_loop.host.hosted import Hosted
from runlock.conformance.families.message_loop.messages import Scenario
from runlock.conformance.family.chooser import Seeded, pick

SEED = 7
TRIES, MOVES = 400, 28
"""How often a move is sought in a walk, and how many of them it has."""

TOOLS = [{"name": "t0"}, {"name": "t1", "origin": "remote"}, {"name": "t2", "offered": False}]
STAGES = {
    "plan": {
        "body": "Plan it.", "allowed_tools": ["t0"], "grants": [{"tool": "t1", "uses": 1}], "turn_cap": 1,
    },
    "build": {"body": "Build it.", "allowed_tools": ["t0", "t1"], "turn_cap": 2},
    "review": {"body": "Review it.", "turn_cap": 2},
}  # fmt: skip
EASY = (
    *["start"] * 3, *["model_asks"] * 6, *["model_ends"] * 3, *["model_says"] * 2, *["tool_ok"] * 6,
    *["prompt_allow"] * 4, *["hook_continues"] * 8, *["context_comes"] * 3, *["store_takes"] * 8,
    *["assertion_is_ok"] * 3, *["machine_approve"] * 3,
)  # fmt: skip


SLOW = ("settle", "time_passes")
"""What leads nowhere, or ends a turn at once: only the kit's own walks have it."""


def hooks(*slots):
    """Hooks at these slots."""
    parts = [slot.split(".") for slot in slots]
    return [
        {"id": f"h{n}", "at": at, "point": point, "kind": kind} for n, (at, point, kind) in enumerate(parts)
    ]


SCENARIOS = (
    {"mode": "yolo", "bounds": {"max_iterations": 1}, "interactors": ["i1"]},
    {"mode": "ask", "interactors": ["i1"]},
    {"mode": "ask", "interactors": ["i1", "i2"]},
    {"mode": "allowlist", "interactors": []},
    {"mode": "yolo", "context": [{"id": "p1", "budget": 30}]},
    {"mode": "yolo", "hooks": hooks("RECEIVE_INPUT.pre.guard", "COMPOSE_REQUEST.post.guard")},
    {"mode": "yolo", "hooks": hooks("SEND_REQUEST.pre.guard", "COMPOSE_REQUEST.post.transform")},
    {"mode": "yolo", "hooks": hooks("STREAM_RESPONSE.pre.transform", "RENDER.pre.transform")},
    {"mode": "allowlist", "interactors": ["i1"], "hooks": hooks("TOOL_CALL.pre.observer")},
    {"mode": "ask", "interactors": ["i1"], "hooks": hooks("TOOL_CALL.pre.guard", "TOOL_CALL.pre.transform")},
    {"mode": "yolo", "hooks": hooks("TOOL_CALL.pre.transform", "TOOL_CALL.post.transform")},
    {"mode": "yolo", "hold": ["store.put"]},
    {"mode": "ask", "interactors": ["i1"], "driver": {"stages": STAGES}},
    {"mode": "yolo", "interactors": ["i1"], "driver": {"stages": STAGES}},
    {"mode": "yolo", "interactors": ["i1"], "driver": {"decides": True, "stages": STAGES}},
    {"mode": "yolo", "driver": {"stages": STAGES}, "hold": ["store.put"]},
    {
        "mode": "ask", "interactors": ["i1"], "driver": {"stages": STAGES},
        "hooks": hooks("TOOL_CALL.pre.guard"),
    },
)  # fmt: skip


MORE_FROM = 1_000
MORE = (
    {"mode": "allowlist", "interactors": ["i1"]},
    {"mode": "ask", "interactors": ["i1", "i2"]},
    {
        "mode": "allowlist", "interactors": ["i1"],
        "hooks": hooks("TOOL_CALL.pre.guard", "TOOL_CALL.pre.transform", "TOOL_CALL.pre.observer"),
    },
    {
        "mode": "allowlist", "interactors": ["i1"],
        "hooks": hooks("RECEIVE_INPUT.pre.guard", "RECEIVE_INPUT.pre.transform"),
    },
    {"mode": "yolo", "interactors": ["i1"], "bounds": {"max_iterations": 1}},
    {
        "mode": "yolo", "interactors": ["i1"],
        "hooks": hooks("COMPOSE_REQUEST.pre.guard", "RENDER.pre.transform"),
    },
    {"mode": "ask", "interactors": ["i1"]},
)  # fmt: skip
"""The scenarios of the walks from that number on."""


def scenarios(handshake, listed):
    """Those of them that a handshake offers, as the kit has them."""
    return [
        Scenario.model_validate({
            "scenario": f"s{n}", "system": "You help.", "tools": TOOLS, "allowlist": ["t0"], **one,
        })
        for n, one in enumerate(listed)
        if offers(handshake, one)
    ]  # fmt: skip


def offers(handshake, one):
    """Whether a handshake offers what a scenario needs."""
    gates = {"context": "context", "hooks": "hook", "hold": "store.put"}
    has_gates = all(gate in handshake.gates for key, gate in gates.items() if key in one)
    people = len(one.get("interactors", ()))
    has_turns = "driver" not in one or "stage" in handshake.turns
    return has_gates and has_turns and people <= handshake.interactors and one["mode"] in handshake.modes


class Walks:
    """A loop under the checks of its family: one walk after the other, each known by its number."""

    def __init__(self, make):
        self.bench = Bench(lambda: Hosted(make))
        self.scenarios = scenarios(self.bench.handshake, SCENARIOS)
        self.more = scenarios(self.bench.handshake, MORE)
        rest = [name for name in self.bench.family.actions.table if name not in SLOW]
        self.names = [*EASY * 3, *rest]

    def take(self, index):
        """What one walk showed: the tally of the judge."""
        tally = Tally()
        listed = self.scenarios if index < MORE_FROM else self.more
        scenario = listed[index % len(listed)]
        self.bench.play(scenario, lambda session: self.walk(session, Seeded(SEED, index)), tally)
        return tally

    def see(self, schedule):
        """What one schedule showed: a walk by its number, or a script by its name."""
        return self.play(schedule) if isinstance(schedule, str) else self.take(schedule)

    def play(self, name):
        """What one script showed, when it was played twice."""
        tally, family = Tally(), self.bench.family
        script = next(one for one in corpus(family) if one.name == name)
        fitted = family.fitting.fitted(script.scenario, self.bench.handshake)
        self.bench.play_twice(fitted, play(script), tally)
        return tally

    def walk(self, session, chooser):
        """Send what is possible, the usual things more often than the others."""
        context = session.family.actions.new_context(session.state)
        for _ in range(TRIES):
            if session.violation is not None or session.state.stimuli >= MOVES:
                break
            move = session.family.actions.table[pick(chooser, self.names)](context, chooser)
            if move is not None:
                session.send(with_turns(move, session.handshake, chooser))
        session.wind_up()
        session.close()

    def close(self):
        """Give the loop back."""
        self.bench.close()
