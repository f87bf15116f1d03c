"""Right traces of message loops with one record edited, so that they are wrong."""

import copy
import json
from dataclasses import dataclass, replace
from functools import cache

from runlock.conformance.campaign.audit import facts_of, scenes
from runlock.conformance.campaign.rejudging import judged
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import corpus, play
from runlock.conformance.families.message_loop.family import FAMILY
from runlock.conformance.families.message_loop.host.hosted import Hosted
from runlock.conformance.families.message_loop.reference import factory
from runlock.conformance.families.message_loop.variants import VARIANTS
from runlock.conformance.judging.selection import Selection
from runlock.conformance.trace.trace import Trace

REFERENCE = "message-loop"


@dataclass(frozen=True)
class Edit:
    """One change: what is done, at which record, and the value that it puts there."""

    way: str
    record: int
    value: object = None

    def apply(self, records):
        """The records after the change."""
        before, here, after = records[: self.record], records[self.record], records[self.record + 1 :]
        if self.way in MOVES:
            return MOVES[self.way](before, here, after)
        if self.way == "enter":
            return [*before, {"observation": self.value}, here, *after]
        changed = copy.deepcopy(here)
        CHANGES[self.way](changed, self.value)
        return [*before, changed, *after]


def _doubled(before, here, after):
    again = copy.deepcopy(here)
    if "gate" in here["observation"]:
        again["observation"]["gate"] += "-again"
    return [*before, here, again, *after]


def _first(before, here, after):
    """To the beginning of its answer."""
    at = max(index for index, one in enumerate(before) if "stimulus" in one) + 1
    return [*before[:at], here, *before[at:], *after]


def _last(before, here, after):
    """To the end of its answer."""
    at = next(index for index, one in enumerate(after) if "observation" not in one)
    return [*before, *after[:at], here, *after[at:]]


MOVES = {
    "delete": lambda before, here, after: [*before, *after],
    "double": _doubled,
    "first": _first,
    "last": _last,
}


def _last_message(record, change):
    messages = record["observation"]["messages"]
    messages[-1:] = [] if change is None else [{**messages[-1], **change}]


CHANGES = {
    "outcome": lambda record, value: record["stimulus"]["params"].update(outcome=value),
    "to": lambda record, value: record["observation"].update(to=value),
    "name": lambda record, value: record["observation"].update(name=value),
    "args": lambda record, value: record["observation"].update(args=value),
    "code": lambda record, value: record["observation"]["reason"].update(code=value),
    "data": lambda record, value: record["observation"]["data"].update(value),
    "fields": lambda record, value: record["observation"].update(value),
    "message": _last_message,
}


@cache
def right_trace(runtime, script):
    """The records of a script on the reference or on a variant of it."""
    made = {one.name: one for one in VARIANTS} | {REFERENCE: factory(REFERENCE, {})}
    bench = Bench(lambda: Hosted(made[runtime]))
    one = next(one for one in corpus(FAMILY) if one.name == script)
    session = bench.session(FAMILY.fitting.fitted(one.scenario, bench.handshake))
    play(one)(session)
    bench.close()
    return session.trace.records


def judged_for(clause, records):
    """The judge of a trace that asks about one clause and no other."""
    (scene,) = scenes(Trace(records))
    facts = _facts(json.dumps(scene.records[0]["handshake"]))
    return judged("a trace", scene, replace(facts, selection=Selection(only=(clause,))))


@cache
def _facts(handshake):
    return facts_of("a trace", Trace([{"handshake": json.loads(handshake)}]))


def label(record):
    """What a record is, in short."""
    if "observation" not in record:
        ((key, value),) = record.items()
        return value.get("method", key)
    seen = record["observation"]
    return " ".join(str(seen[key]) for key in ("kind", "on", "name", "to") if seen.get(key))
