"""One record of a trace from the lines of a scenario file that say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from runlock.conformance.trace.line_formats import (
    CRASH,
    DECISION,
    END,
    HANDSHAKE,
    HEADS,
    HOOK,
    METHOD_OF,
    OBSERVED,
    OUTCOME,
    REFUSED,
    SAYS,
    SCENARIO,
    SEEN,
    SENT,
    STOP,
    TOOL,
    UNLISTED,
    Known,
    Shape,
    about,
    call_of,
    gate_of_a_call,
    reason_of,
)
from runlock.conformance.trace.trace import KEYS, Record
from runlock.conformance.trace.values import (
    Bare,
    Malformed,
    Part,
    Reader,
    encode,
    plain,
)


def read(lines: Sequence[str], known: Known, notes: Mapping[str, Any]) -> Record:
    """The record that these lines say; a report is said by any number of lines, also none."""
    if not lines:
        return {"report": _report([])}
    word, parts = _split(lines[0], notes)
    if word in ("refused", "report"):
        return {"report": _report([_split(line, notes) for line in lines])}
    record = _record(word, parts, lines[1:], known, notes)
    return {str(key): plain(value) for key, value in record.items()}


def _split(line: str, notes: Mapping[str, Any]) -> tuple[str, list[Part]]:
    word, _, rest = line.strip().partition(" ")
    return word, Reader(rest, notes).parts()


def _record(
    word: str, parts: list[Part], members: Sequence[str], known: Known, notes: Mapping[str, Any]
) -> Record:
    if members and word not in ("race", "scenario"):
        raise Malformed(
            f"Lines are indented under `{word}`, which has none.", "Only `race` and `scenario` have."
        )
    if word in METHOD_OF:
        return {"stimulus": _stimulus(word, parts, members, known, notes)}
    if word == "decide" or len(parts) == 1:
        return _record_of_one_part(word, parts[0], members, known, notes)
    raise Malformed(f"A semicolon stands in `{word}`.", "Only decisions are parted by semicolons.")


def _record_of_one_part(
    word: str, part: Part, members: Sequence[str], known: Known, notes: Mapping[str, Any]
) -> Record:
    if word == "record":
        return _any_record(part)
    if word == "scenario":
        return {"scenario": _scenario(part, members, notes)}
    if word in ("handshake", "crash", "end"):
        shape = {"handshake": HANDSHAKE, "crash": CRASH, "end": END}[word]
        return {word: _filled(shape, part, known)}
    if word == "unlisted":
        return {"observation": _filled(UNLISTED, part, known, open_ended=True)}
    if word in OBSERVED:
        return {"observation": {"kind": word, **_observation(word, part, known)}}
    raise unknown(word, (*HEADS, *SEEN), "word")


def unknown(word: str, words: Sequence[str], what: str) -> Malformed:
    """That a word is none of these, and which was probably meant."""
    listed = ", ".join(f"`{one}`" for one in sorted(set(words)))
    meant = [SENT[word].word] if word in SENT else get_close_matches(word, words, n=1)
    hint = f"Did you mean `{meant[0]}`? " if meant else ""
    return Malformed(f"`{word}` is no {what}.", f"{hint}There are {listed}.")


def _any_record(part: Part) -> Record:
    if len(part.named) != 1 or part.given or part.left:
        raise Malformed("`record` takes one key and its value.", f"The keys are {', '.join(KEYS)}.")
    return part.named


def _stimulus(
    word: str, parts: list[Part], members: Sequence[str], known: Known, notes: Mapping[str, Any]
) -> dict[str, Any]:
    method = METHOD_OF[word]
    if method == "decide":
        params = _decide(parts, known)
    elif len(parts) > 1:
        raise Malformed(f"A semicolon stands in `{word}`.", "Only decisions are parted by semicolons.")
    elif method == "gate.release":
        params = _release(parts[0], known)
    else:
        params = _filled(SENT[method], parts[0], known)
    if method == "deliver" and (members or "stimuli" not in params):
        params["stimuli"] = [_member(line, known, notes) for line in members]
    return {"method": method, "params": params}


def _member(line: str, known: Known, notes: Mapping[str, Any]) -> dict[str, Any]:
    word, parts = _split(line, notes)
    if word not in METHOD_OF or word == "race":
        words = [one for one in METHOD_OF if one != "race"]
        raise unknown(word, words, "stimulus of a race")
    return _stimulus(word, parts, (), known, notes)


def _release(part: Part, known: Known) -> dict[str, Any]:
    if len(part.given) < 2:
        if part.named.keys() >= {"gate", "outcome"}:
            return _filled(SENT["gate.release"], part, known)
        raise Malformed(
            "`release` names a gate and an outcome.",
            "As in `release tool:c1 ok done` or `release model turn c1:t0`.",
        )
    gate, kind, *said = part.given
    own = ("turns",)
    params = {key: value for key, value in part.named.items() if key in own}
    rest = Part([], {k: v for k, v in part.named.items() if k not in own}, part.added, part.left)
    outcome = {"kind": kind, **_said(kind, said), **_filled(OUTCOME, rest, known)}
    return {"gate": known.gate(gate) if isinstance(gate, Bare) else gate, "outcome": outcome, **params}


def _said(kind: Any, said: Sequence[Any]) -> dict[str, Any]:
    if not isinstance(kind, str):
        raise Malformed(f"{encode(kind)} is no kind of outcome.", "As in `release tool:c1 ok done`.")
    calls = [value for value in said if kind == "turn" and _is_short_call(value)]
    texts = [value for value in said if not (kind == "turn" and _is_short_call(value))]
    if len(texts) > (1 if kind in SAYS else 0):
        extra = encode(texts[-1])
        raise Malformed(
            f"{extra} stands behind `{kind}` without a name.",
            "A text of several words is written in quotes." if kind in SAYS else "Write `key=value`.",
        )
    outcome: dict[str, Any] = {SAYS[kind]: texts[0]} if texts else {}
    return {**outcome, "tool_calls": [_long_call(call) for call in calls]} if calls else outcome


def _is_short_call(value: Any) -> bool:
    return isinstance(value, Bare) and ":" in value


def _long_call(value: Any) -> Any:
    return call_of(*value.split(":", 1)) if _is_short_call(value) else value


def _decide(parts: list[Part], known: Known) -> dict[str, Any]:
    if not any(part.given for part in parts):
        if len(parts) > 1:
            raise Malformed("A decision is missing at a semicolon.", _DECISION_RIGHT)
        return _filled(SENT["decide"], parts[0], known)
    own = SENT["decide"].fields() - {"decisions"}
    ours = Part(
        [],
        {key: value for part in parts for key, value in part.named.items() if key in own},
        left=[name for part in parts for name in part.left if name in own],
    )
    decisions = []
    for part in parts:
        if not part.given:
            raise Malformed("A decision is missing at a semicolon.", _DECISION_RIGHT)
        theirs = {key: value for key, value in part.named.items() if key not in own}
        left = [name for name in part.left if name not in own]
        decisions.append(_filled(DECISION, Part(part.given, theirs, part.added, left), known))
    return {**_filled(SENT["decide"], ours, known), "decisions": decisions}


_DECISION_RIGHT: Final = "As in `decide d1 resume c1 payload=false; d2 cancel c2`."


def _observation(kind: str, part: Part, known: Known) -> dict[str, Any]:
    shape = OBSERVED[kind]
    if kind in ("run.status", "call.status") and "->" in part.given:
        return _status(shape, part, known)
    if kind == "gate.open" and len(part.given) > 1 and _is_short_call(part.given[1]):
        on, call = part.given[1].split(":", 1)
        given = [part.given[0], on, *part.given[2:]]
        shortened = Part(given, part.named, part.added, part.left)
        return {**_filled(gate_of_a_call(call), shortened, known), "call": call}
    if kind == "message" and "message" not in part.named:
        own = {"run", *part.added}
        filled = _filled(shape, part, known)
        inner = {key: value for key, value in filled.items() if key not in own}
        return {**{k: v for k, v in filled.items() if k in own}, "message": inner}
    return _filled(shape, part, known)


def _status(shape: Shape, part: Part, known: Known) -> dict[str, Any]:
    arrow = part.given.index("->")
    before, after = part.given[:arrow], part.given[arrow + 1 :]
    count = len(shape.positions)
    if len(after) != 1 or not count <= len(before) <= count + 1:
        right = " ".join([shape.word, *(name.upper() for name in shape.positions), "OLD -> NEW"])
        raise Malformed(
            "An arrow stands between two statuses.", f"Write `{right}`; OLD is left out at first."
        )
    origin = before[count] if len(before) > count else None
    rest = Part(before[:count], part.named, part.added, [name for name in part.left if name != "from"])
    moved = {"to": after[0]} if "from" in part.left else {"from": origin, "to": after[0]}
    return {**_filled(shape, rest, known), **moved}


def _scenario(part: Part, members: Sequence[str], notes: Mapping[str, Any]) -> dict[str, Any]:
    scenario = _filled(SCENARIO, part, Known())
    for line in members:
        word, parts = _split(line, notes)
        if word == "tool":
            scenario.setdefault("tools", []).append(_filled(TOOL, parts[0], Known()))
        elif word == "stop":
            agent = scenario.setdefault("agent", {})
            agent.setdefault("stop", []).append(_filled(STOP, parts[0], Known()))
        elif word == "hook":
            scenario.setdefault("hooks", []).append(_filled(HOOK, parts[0], Known()))
        elif word == "hold":
            scenario.setdefault("hold", []).extend(parts[0].given)
        else:
            raise unknown(word, ("tool", "stop", "hook", "hold"), "part of a scenario")
    return scenario


def _report(lines: Sequence[tuple[str, list[Part]]]) -> dict[str, Any]:
    report: dict[str, Any] = {"quiescent": True, "refused": []}
    for word, parts in lines:
        if word == "refused":
            report["refused"].append(plain(_filled(REFUSED, parts[0], Known())))
        else:
            if parts[0].given or parts[0].named.keys() != {"quiescent"}:
                raise Malformed(
                    "`report` says whether the runtime is quiescent.", "Write `report quiescent=false`."
                )
            report["quiescent"] = plain(parts[0].named["quiescent"])
    return report


def _filled(shape: Shape, part: Part, known: Known, open_ended: bool = False) -> dict[str, Any]:
    """The fields that a part of a line gives, with what goes without saying."""
    if len(part.given) > len(shape.positions):
        extra = encode(part.given[len(shape.positions)])
        takes = ", ".join(shape.positions) or "nothing"
        raise Malformed(
            f"{extra} stands in `{shape.word}` without a name.",
            f"Without a name it takes {takes}, in this order.",
        )
    fields = dict(zip(shape.positions, part.given, strict=False))
    if not open_ended:
        _check_names(shape, part)
    for name in part.named.keys() & fields.keys():
        raise Malformed(f"`{name}` is given twice.", "Once without its name, and once with it.")
    fields |= part.named
    unsaid = about(shape, fields, known).unsaid
    fields |= {name: value for name, value in unsaid.items() if name not in fields and name not in part.left}
    return {name: _field_value(name, value) for name, value in fields.items()}


def _check_names(shape: Shape, part: Part) -> None:
    listed = shape.fields()
    for name in part.named:
        if name in listed or name in part.added:
            continue
        meant = get_close_matches(name, listed, n=1)
        hint = f"Did you mean `{meant[0]}`?" if meant else f"It has {', '.join(sorted(listed)) or 'none'}."
        raise Malformed(
            f"`{shape.word}` has no field `{name}`.",
            f"{hint} A field that the protocol does not list is `+{name}=…`.",
        )


def _field_value(name: str, value: Any) -> Any:
    if name == "reason" and isinstance(value, Bare):
        return reason_of(value)
    if name == "tool_calls" and isinstance(value, list):
        return [_long_call(call) for call in value]
    return value
