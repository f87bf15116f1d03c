"""Threads as a production runtime of the core might record them: rounds of two calls, and an answer."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from runlock.conformance.audit.importers.builder import Builder, handshake
from runlock.conformance.audit.importers.histories import assistant, call, result, user

CLAIMS = handshake("recorded", "1.0", gates=["model", "tool"], observes=["run.finished"])


def threads(
    number: int, *, faulty: Collection[int] = (), framed: bool = False, rounds: int = 2
) -> list[dict[str, Any]]:
    """The records of threads; those that are `faulty` show the model another result than the tool gave.

    With `framed`, the model is shown each result inside of a longer text.
    """
    made = [{"handshake": CLAIMS}]
    for index in range(number):
        made += _thread(index, rounds, is_faulty=index in faulty, is_framed=framed)
    return made


def _thread(index: int, rounds: int, *, is_faulty: bool, is_framed: bool) -> list[dict[str, Any]]:
    builder = Builder(CLAIMS)
    text = f"question {index} about the weather in several cities of the world"
    builder.start(text)
    history = [user(text)]
    for step in range(rounds):
        calls = [call(f"call_{index}_{step}_{one}", "weather", {"city": f"city {index}"}) for one in range(2)]
        builder.turn(builder.ask(history), "", calls)
        history = [*history, assistant("", calls)]
        gates = [builder.enter(one) for one in calls]
        for one, gate in zip(calls, gates, strict=True):
            answer = f"{one['id']}: {index % 40} degrees, some clouds, and a light wind from the north-west"
            builder.leave(gate, "ok", answer)
            shown = f"the tool says: {answer}." if is_framed else answer
            history = [*history, result(one["id"], "something else" if is_faulty else shown, "ok")]
    builder.turn(builder.ask(history), f"answer {index}: it is fine everywhere", [])
    builder.finish("NaturalEnd")
    trace = builder.finished()
    trace.add("end", {"leaks": []})
    return trace.records[1:]
