"""Scenario configurations for testing a message loop: modes, interactors, hooks, context, bounds, stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from runlock.conformance.families.message_loop.messages import (
    SLOTS,
    Bounds,
    ContextSpec,
    Driver,
    Handshake,
    HookSpec,
    Scenario,
    StageSpec,
    TokenSpec,
    ToolSpec,
)
from runlock.conformance.family.pairs import pairwise

BUDGET: Final = 24
SYSTEM: Final = "You help."
STAGES: Final = {
    "plan": StageSpec(
        body="Plan it.", allowed_tools=["t0"], grants=[TokenSpec(tool="t1", uses=1)], turn_cap=2
    ),
    "build": StageSpec(body="Build it.", allowed_tools=["t0", "t1"], turn_cap=3),
    "review": StageSpec(body="Review it.", allowed_tools=[], turn_cap=2),
}

Slots = Sequence[tuple[str, str, str]]
AROUND_A_CALL: Final[Slots] = (
    ("TOOL_CALL", "pre", "guard"), ("TOOL_CALL", "pre", "transform"), ("TOOL_CALL", "pre", "observer"),
    ("TOOL_CALL", "post", "transform"),
)  # fmt: skip
AROUND_A_REQUEST: Final[Slots] = (
    ("RECEIVE_INPUT", "pre", "guard"), ("RECEIVE_INPUT", "pre", "transform"),
    ("COMPOSE_REQUEST", "post", "transform"), ("COMPOSE_REQUEST", "post", "guard"),
    ("SEND_REQUEST", "pre", "guard"), ("SEND_REQUEST", "post", "observer"),
)  # fmt: skip
AROUND_A_RESPONSE: Final[Slots] = (
    ("STREAM_RESPONSE", "pre", "guard"), ("STREAM_RESPONSE", "pre", "transform"),
    ("STREAM_RESPONSE", "post", "observer"), ("RENDER", "pre", "transform"), ("RENDER", "post", "observer"),
)  # fmt: skip
GUARDS: Final[Slots] = (
    ("TOOL_CALL", "pre", "guard"), ("TOOL_CALL", "pre", "guard"), ("COMPOSE_REQUEST", "pre", "guard"),
)  # fmt: skip


def scenarios(handshake: Handshake, policies: Mapping[str, Any]) -> Iterator[Scenario]:
    """The scenario configurations that a runtime is tested in, the simplest first."""
    yield from _chats(handshake)
    yield from _hooked(handshake)
    if "context" in handshake.gates:
        context = [ContextSpec(id="p1", budget=BUDGET), ContextSpec(id="p2", budget=BUDGET)]
        yield _scenario(handshake, "context", mode="yolo", context=context)
    if "max_iterations" in handshake.bounds:
        yield _scenario(handshake, "bound-of-2", mode="yolo", bounds=Bounds(max_iterations=2))
    if "store.put" in handshake.gates:
        yield _scenario(handshake, "stored", mode="allowlist", hold=["store.put"])
    yield from _driven(handshake)


def combined(handshake: Handshake, policies: Mapping[str, Any]) -> Iterator[Scenario]:
    """Scenarios in which every two features of the runtime meet; a place of hooks has two of each kind."""
    for number, row in enumerate(pairwise(_features(handshake)), start=1):
        yield _scenario(
            handshake,
            f"combined-{number}",
            mode=row["mode"],
            people=row["people"],
            hooks=_hooks(handshake, row["hooks"]),
            bounds=Bounds(max_iterations=row["rounds"]),
            context=[ContextSpec(id=f"p{one + 1}", budget=BUDGET) for one in range(row["providers"])],
            hold=row["hold"],
            driver=_driver(handshake, row["driver"], row["cap"]),
        )


def _driver(handshake: Handshake, decides: bool | None, cap: int) -> Driver | None:
    """A driver whose stages all have this cap; none if it is not said whether it decides."""
    if decides is None:
        return None
    capped = {name: one.model_copy(update={"turn_cap": cap}) for name, one in _stages(handshake).items()}
    return Driver(decides=decides, stages=capped)


def _features(handshake: Handshake) -> dict[str, list[Any]]:
    """The values of each feature that the runtime has."""
    has_stages = "stage" in handshake.turns or "group" in handshake.turns
    drivers = [False, True] if "sm" in handshake.gates else [False]
    return {
        "mode": list(handshake.modes),
        "people": list(range(min(2, handshake.interactors), -1, -1)) if "prompt" in handshake.gates else [0],
        "hooks": [(), *_places(handshake)],
        "rounds": [None, 1, 2] if "max_iterations" in handshake.bounds else [None],
        "providers": [0, 2] if "context" in handshake.gates else [0],
        "hold": [[], ["store.put"]] if "store.put" in handshake.gates else [[]],
        "driver": [None, *drivers] if has_stages else [None],
        "cap": [1, 2, 3] if has_stages else [1],
    }


def _places(handshake: Handshake) -> Iterator[Slots]:
    """Two hooks of each kind that the runtime has at one place of a turn."""
    held = [tuple(slot.split(".")) for slot in SLOTS if handshake.holds(slot)]
    for place in dict.fromkeys((at, point) for at, point, _ in held):
        yield [(*place, kind) for at, point, kind in held if (at, point) == place for _ in range(2)]


def _chats(handshake: Handshake) -> Iterator[Scenario]:
    yield _scenario(handshake, "nobody-asked", mode="yolo")
    if handshake.interactors and "prompt" in handshake.gates:
        yield _scenario(handshake, "each-call-asked", mode="ask", people=1)
        yield _scenario(handshake, "some-calls-asked", mode="allowlist", people=1)
        if handshake.interactors > 1:
            yield _scenario(handshake, "two-people", mode="ask", people=2)
    if "prompt" in handshake.gates:
        yield _scenario(handshake, "nobody-there", mode="allowlist", people=0)


def _hooked(handshake: Handshake) -> Iterator[Scenario]:
    sets = {
        "call": AROUND_A_CALL, "request": AROUND_A_REQUEST, "response": AROUND_A_RESPONSE, "guards": GUARDS,
    }  # fmt: skip
    for name, slots in sets.items():
        hooks = _hooks(handshake, slots)
        if hooks:
            mode = "allowlist" if name in ("call", "guards") else "yolo"
            yield _scenario(handshake, f"hooks-around-a-{name}", mode=mode, people=1, hooks=hooks)


def _hooks(handshake: Handshake, slots: Slots) -> list[HookSpec]:
    offered = [slot for slot in slots if handshake.holds(".".join(slot))]
    return [
        HookSpec(id=f"h{number}", at=at, point=point, kind=kind)  # type: ignore[arg-type]
        for number, (at, point, kind) in enumerate(offered, start=1)
    ]


def _driven(handshake: Handshake) -> Iterator[Scenario]:
    if "stage" not in handshake.turns and "group" not in handshake.turns:
        return
    stages = _stages(handshake)
    yield _scenario(handshake, "stages", mode="ask", people=1, driver=Driver(stages=stages))
    yield _scenario(handshake, "stages-alone", mode="yolo", people=0, driver=Driver(stages=stages))
    if "sm" in handshake.gates:
        driver = Driver(decides=True, stages=stages)
        yield _scenario(handshake, "stages-that-judge", mode="allowlist", people=1, driver=driver)
    if "store.put" in handshake.gates:
        driver = Driver(stages=stages)
        yield _scenario(handshake, "stages-stored", mode="yolo", people=1, driver=driver, hold=["store.put"])
    hooks = _hooks(handshake, AROUND_A_CALL[:2])
    if hooks:
        driver = Driver(stages=stages)
        yield _scenario(handshake, "stages-with-hooks", mode="ask", people=1, driver=driver, hooks=hooks)


def _stages(handshake: Handshake) -> dict[str, StageSpec]:
    """Two stages, and a third one where they can be a group with a join."""
    names = ["plan", "build", "review"] if "group" in handshake.turns else ["plan", "build"]
    return {name: STAGES[name] for name in names}


def _scenario(handshake: Handshake, name: str, *, mode: str, people: int = 1, **more: Any) -> Scenario:
    """A scenario that the runtime supports: one of its modes, and no more interactors than it can ask."""
    there = min(people, handshake.interactors) if "prompt" in handshake.gates else 0
    tools = [
        ToolSpec(name="t0"),
        ToolSpec(name="t1", origin="remote"),
        ToolSpec(name="t2", offered=False),
    ]
    scenario = Scenario.model_validate(
        {
            "scenario": name,
            "system": SYSTEM,
            "tools": tools,
            "mode": mode,
            "allowlist": ["t0"],
            "interactors": [f"i{number}" for number in range(1, there + 1)],
            **more,
        }
    )
    return fitted(scenario, handshake)


def fitted(scenario: Scenario, handshake: Handshake) -> Scenario:
    """The scenario in a mode that the runtime has.

    An empty allowlist asks like the mode `ask`, and one with every tool like `yolo`.
    """
    if scenario.mode in handshake.modes:
        return scenario
    if "allowlist" not in handshake.modes:
        return scenario.model_copy(update={"mode": handshake.modes[0]})
    passing = [tool.name for tool in scenario.tools] if scenario.mode == "yolo" else []
    return scenario.model_copy(update={"mode": "allowlist", "allowlist": passing})
