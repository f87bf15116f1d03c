"""The reference made different on purpose, and right: what the kit must not raise a false alarm about.

Each variant takes a freedom that a source, or a real runtime, leaves open: another value of a policy, an
order that nothing prescribes, less that is shown, or more.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.families.lifecycle.messages import (
    ALL_STIMULI,
    DecisionSupport,
    InputSupport,
    OfferedOutcomes,
)
from runlock.conformance.families.lifecycle.reference import (
    PRODUCES,
    PROMPTS,
    STATES,
    ReferenceAdapter,
)
from runlock.conformance.families.lifecycle.variants import prompting, serving
from runlock.conformance.families.lifecycle.variants.parts import runtime_with, shielded
from runlock.conformance.protocol import Control
from runlock.machines.lifecycle.runtime.producer import Producer
from runlock.machines.lifecycle.runtime.prompter import Prompter, StatePrompter
from runlock.machines.lifecycle.runtime.rounds import Resume
from runlock.machines.lifecycle.runtime.runtime import Runtime
from runlock.machines.lifecycle.runtime.sink import Data, Encoded, EventSink
from runlock.machines.lifecycle.runtime.state import Call, Decision, Reason
from runlock.machines.lifecycle.runtime.world import Answer, ModelTurn, WorldFault

__all__ = ["VARIANTS", "Variant"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A right runtime: called without arguments it is an adapter of it."""

    name: str
    freedom: str
    profile: str = "awaken-8"
    policies: Mapping[str, Any] = field(default_factory=dict)
    make: type[Runtime] = Runtime
    declare: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> ReferenceAdapter:
        """A life of the variant."""
        return ReferenceAdapter(self.profile, self.policies, self.make, self.declare)


class Chatty(Runtime):
    """Shows kinds of its own, and repeats the status that a call already has."""

    def say_call(self, call: Call, target: str, before: str | None) -> None:
        super().say_call(call, target, before)
        self.observe("acme.progress", call=call.id, percent=50, nested={"any": ["thing"]})
        fields = {"suspension": call.suspension} if target == "Suspended" else {}
        self.observe("call.status", call=call.id, **{"from": target}, to=target, **fields)


class Eager(Runtime):
    """Stores after every message as well."""

    async def _step(self) -> None:
        await self.commit("AcmeBefore", "step")
        await super()._step()


class WaitsForItsTools(Runtime):
    """Aborts its tools on a cancel, and is Done when those that ignore it have answered."""

    async def _try(self, call: Call, args: dict[str, Any], resume: Resume) -> Answer:
        if self.tools[call.name]["abort"] is None:
            return await super()._try(call, args, resume)
        body = asyncio.ensure_future(self.world.execute(call.id, call.name, args, resume))
        try:
            answer: Answer = await self.outside(shielded(body), drains=True)
        except BaseException:
            await body
            raise
        return answer


class JoinsInputs(Runtime):
    """Shows all that was said since the last inference as one message."""

    def show_inputs(self) -> None:
        self.state.inputs = ["\n\n".join(self.state.inputs)] if self.state.inputs else []
        super().show_inputs()


class TellsInPieces(EventSink):
    """Tells the arguments of a call in two pieces, or on a stream of the AI SDK all at once."""

    def encode(self, name: str, data: Data) -> list[Encoded]:
        events = super().encode(name, data)
        if name != "call.asked" or self.stream == "native":
            return events
        if self.stream == "ai-sdk-v6":
            return events[-1:]
        text = events[1][1]["delta"]
        pieces = [("TOOL_CALL_ARGS", {**events[1][1], "delta": piece}) for piece in (text[:2], text[2:])]
        return [events[0], *pieces, *events[2:]]


class Piecemeal(Runtime):
    """Has a sink that tells calls in pieces, and tells a result as soon as the tool has answered."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.sink = TellsInPieces(self.world.observe)
        self.told: set[int] = set()

    def settle(self, call: Call, event: str, status: str, content: Any) -> None:
        super().settle(call, event, status, content)
        self.publish("call.answered", call=call.id, status=status, text=str(content))
        self.told.add(id(call))

    def publish(self, name: str, **data: Any) -> None:
        call = self.state.calls.get(str(data.get("call")))
        if name != "call.answered" or id(call) not in self.told:
            super().publish(name, **data)


class TellsAnew(Runtime):
    """Where a run goes on after a crash, a call that is decided is opened anew for those who watch then."""

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.untold = {call.id for call in self.state.in_status("Suspended")}

    def _prepare(self, decision: Decision) -> bool:
        call = self.state.calls[decision.call]
        if call.id in getattr(self, "untold", ()):
            self.untold.remove(call.id)
            self.publish("call.asked", call=call.id, tool=call.name, args=call.args)
        return super()._prepare(decision)


class StartsBeforeItLooks(Runtime):
    """Says that a call runs, and only where its tool would be entered looks for a cancel."""

    def heed(self) -> None:
        return


class StoresBeforeTheStepEnds(Runtime):
    """Stores a step, and then says that it has ended."""

    async def _step_end(self) -> None:
        await self.commit("StepEnd", "step")
        self._end_step()


class EndsAStepAgain(Runtime):
    """Ends a step before it waits, and once more when its round is over."""

    def _end_step(self) -> None:
        self.state.steps_ended = self.state.step
        self.phase("StepEnd")


class NamesTheAgentToo(Runtime):
    """Names the call of an agent among those that wait, next to the calls within it."""

    def pending(self) -> list[str]:
        agents = [call.id for call in self.state.in_status("Suspended") if call.id in self.within]
        return [*agents, *super().pending()]


class ShowsGatesAloneWithin(Runtime):
    """Of a run within a call, nothing is shown but what it asks of the outside world."""

    def new_run_within(self, call: Call) -> Runtime:
        inner = super().new_run_within(call)
        inner.world.observe = lambda *_kind, **_fields: None  # type: ignore[method-assign]
        return inner


class Terse(Runtime):
    """Does not say what became of a decision: what it turns down comes back as refused."""

    def dispose(self, decision: Decision, disposition: str) -> None:
        return


class Backwards(Runtime):
    """Applies the decisions of a batch in the opposite order."""

    def ready(self) -> list[Decision]:
        return super().ready()[::-1]


class ResolvesTogether(Runtime):
    """One pass through the resume gate resolves all decisions that it drained, and has one commit."""

    def resolved_together(self, ready: Sequence[Decision]) -> Sequence[Decision]:
        return ready


class EndsThenCloses(Runtime):
    """Says that the run is Done before it closes the calls that are left."""

    async def _suspend(self) -> Any:
        await super().commit("AcmeSuspending", "suspend")
        return await super()._suspend()


class Refusing(Runtime):
    """Refuses a decision that was taken before rather than calling it a duplicate."""

    def dispose(self, decision: Decision, disposition: str) -> None:
        shown = "refused" if disposition == "duplicate" else disposition
        self.observe("decision", decision=decision.id, call=decision.call, disposition=shown)


class Renaming(Runtime):
    """Wraps what tools answered before the model sees it."""

    def answer(self, call: Call, status: str, content: Any) -> None:
        super().answer(call, status, f"[{call.name}] {content}" if isinstance(content, str) else content)


class SaysWhy(Runtime):
    """Gives every end a detail."""

    async def _end(self, reason: Reason) -> Any:
        return await super()._end(Reason(reason.code, reason.detail or "as it happened", reason.stop))


class AsksAnew(Runtime):
    """Asks the model once more if it breaks."""

    async def _ask(self, request: dict[str, Any]) -> ModelTurn:
        try:
            return await super()._ask(request)
        except WorldFault:
            return await super()._ask(request)


class ShowsAgain(Runtime):
    """Shows again after a crash what waits, and whenever a run comes to rest."""

    async def go_on(self) -> Any:
        for call in self.state.in_status("Suspended"):
            self.show(call)
        return await super().go_on()


class KeepsEditsInTheThread(Runtime):
    """The history has an edited call as it was edited."""

    def edit(self, call: Call, edit: Mapping[str, Any]) -> bool:
        is_renamed = super().edit(call, edit)
        turns = [at for at, one in enumerate(self.state.messages) if call.id in _calls_of(one)]
        turn = self.state.messages[turns[-1]]
        calls = {**_calls_of(turn), call.id: {"id": call.id, "name": call.name, "args": call.args}}
        self.state.messages[turns[-1]] = {**turn, "tool_calls": [*calls.values()]}
        return is_renamed


def _calls_of(message: Mapping[str, Any]) -> dict[str, Any]:
    return {one["id"]: one for one in message.get("tool_calls", ())}


class EditsOnce(Runtime):
    """An edit counts for the execution that it approves: in a later wait, the call is what the model gave."""

    def say_call(self, call: Call, target: str, before: str | None) -> None:
        asked = [one for message in self.state.messages for one in _calls_of(message).values()]
        given = next(one for one in reversed(asked) if one["id"] == call.id) if before == "Running" else None
        if given is not None and target == "Suspended" and given["name"] == call.name:
            call.args = given["args"]
        super().say_call(call, target, before)


class LosesGrants(Runtime):
    """Grants are in no checkpoint."""

    def restore(self, state: dict[str, Any]) -> None:
        super().restore(state)
        self.state.grants = []


def _less(*kinds: str) -> dict[str, Sequence[str]]:
    every = [
        "run.status", "call.status", "phase", "message", "checkpoint", "decision", "run.finished",
    ]  # fmt: skip
    return {"observes": [kind for kind in every if kind not in kinds]}


PLAIN: Final = Control(settle="exact", clock="virtual", step="turns", store="none", crash=[])

TACITURN: Final = {"observes": ["message", "run.finished"]}

BY_ARGUMENTS: Final = {"grant.match": "arguments"}

KEPT: Final = {"decision.kept": "acceptance"}

UNSTEERED: Final = [kind for kind in ALL_STIMULI if kind != "run.input"]

SERVING: Final = {
    "serving": ("what is sent as a server of AG-UI is shown", Producer),
    "serving-in-chunks": ("calls are streamed in chunks", serving.Chunked),
    "serving-for-an-application": (
        "the application executes the calls",
        serving.LeavesCallsToTheApplication,
    ),
    "serving-encrypted": ("a run of version 1.1 has an encryptedValueType", serving.Encrypted),
    "serving-again": ("a call that was ended is opened again", serving.OpensCallsAgain),
    "serving-replayed": ("a stream begins with runs from before", serving.ReplaysItsThread),
    "serving-late-errors": ("an error follows the end of a run", serving.FailsLate),
    "serving-open-errors": ("a run that fails leaves items open", serving.FailsWithItemsOpen),
    "serving-parts": ("a result is a list of parts", serving.AnswersInParts),
}
"""Right servers of AG-UI, by name: the freedom, and the producer."""

PROMPTING: Final = {
    "prompting": ("what is said as an agent of ACP is shown", Prompter),
    "prompting-late": ("a call is announced by its permission, or at its end", prompting.AnnouncesLate),
    "prompting-twice": ("the end of a call comes twice", prompting.TellsTheEndTwice),
}
"""Right agents of ACP, by name: the freedom, and the producer."""

PROMPTING_IN_STATES: Final = {
    "prompting-states": ("what is said as an agent of version 2 of ACP is shown", StatePrompter),
    "prompting-chunks": ("messages come in chunks, and before the response", prompting.StreamsItsMessages),
    "prompting-own-words": ("statuses and reasons are words of its own", prompting.UsesWordsOfItsOwn),
}
"""Those of version 2."""


def for_both(name: str, freedom: str, **more: Any) -> tuple[Variant, Variant]:
    """A freedom of both sources: one variant for each."""
    return Variant(name, freedom, **more), Variant(f"{name}-tirea", freedom, "tirea", **more)


VARIANTS: Final[tuple[Variant, ...]] = (
    Variant(
        "sequential",
        "calls run one after the other, the rest is held back",
        policies={"round.executor": "sequential"},
    ),
    Variant(
        "sequential-failing",
        "the calls after a suspended one fail",
        policies={"round.executor": "sequential", "round.rest": "failed"},
    ),
    *for_both("by-call", "each call's result is durable at once", policies={"durability": "call"}),
    Variant("sequential-tirea", "calls run one after the other", "tirea", {"round.executor": "sequential"}),
    Variant(
        "draining", "tools that run at a cancel end by themselves", policies={"cancel.inflight": "drain"}
    ),
    Variant(
        "waiting-for-its-tools",
        "a run that aborts its tools is Done when those that ignore it have answered",
        make=WaitsForItsTools,
    ),
    Variant(
        "starting-before-it-looks",
        "a call is Running before its tool is entered, and a cancel may come between",
        "awaken-concurrent",
        policies={"cancel.inflight": "drain", "end.live": "left"},
        make=StartsBeforeItLooks,
    ),
    Variant(
        "storing-before-the-step-ends",
        "a step is stored just before its StepEnd is told",
        make=StoresBeforeTheStepEnds,
    ),
    Variant("ending-a-step-again", "a step that waited ends once more", "awaken-9", make=EndsAStepAgain),
    Variant(
        "ending-a-step-again-concurrent",
        "a step that waited ends once more",
        "awaken-concurrent",
        make=EndsAStepAgain,
    ),
    Variant("dropping", "a cancel drops the results of its round", policies={"cancel.results": "dropped"}),
    Variant("keeping", "a cancel keeps the results of its round", "tirea", {"cancel.results": "kept"}),
    Variant(
        "resuming-to-cancel", "a rejection passes Resuming", policies={"decision.cancel_path": "via_resuming"}
    ),
    Variant("refusing-early", "an early decision is refused", policies={"decision.early": "refuse"}),
    Variant("ignoring-early", "an early decision is ignored", policies={"decision.early": "ignore"}),
    *for_both("keeping-decisions", "a decision is stored when it is accepted", policies=KEPT),
    Variant(
        "keeping-held-decisions",
        "decisions are stored when they are accepted, and held until all are there",
        policies={**KEPT, "resume": "collect"},
    ),
    Variant(
        "checkpointing-decisions",
        "a decision is in the next checkpoint",
        "tirea",
        {"decision.kept": "checkpoint"},
    ),
    *for_both("granting-by-arguments", "a grant covers calls with its arguments", policies=BY_ARGUMENTS),
    Variant("granting-one-call", "a grant covers no later call", policies={"grant.match": "call"}),
    Variant("granting-tirea", "a grant covers later calls of its tool", "tirea"),
    Variant(
        "granting-runs", "an approval lasts for its run at most", policies={"grant.scopes": ["once", "run"]}
    ),
    Variant("granting-once", "an approval lasts for its call", policies={"grant.scopes": ["once"]}),
    Variant("granting-for-good", "a grant cannot be revoked", declare={"stimuli": [*ALL_STIMULI, "watch"]}),
    Variant("losing-grants", "a crash takes the grants away", make=LosesGrants),
    *for_both("expiring-runs", "a wait that expires ends its run", policies={"expire.end": "run"}),
    Variant("expiring-anew", "a wait begins anew after a crash", policies={"expire.crash": "anew"}),
    Variant(
        "without-time-limits",
        "tools take as long as they take",
        declare={"tools": ["allow", "ask", "gate", "parameters", "offered", "agent", "expires"]},
    ),
    Variant("shortening-unsaid", "shortens its thread without a word", declare=_less("run.status", "phase")),
    *for_both(
        "leaving-the-rest-out",
        "a failure ends its round",
        policies={"round.executor": "sequential", "round.failure": "cancels_rest"},
    ),
    *for_both(
        "skipping-for-input",
        "new input ends its round",
        policies={"round.executor": "sequential", "input.round": "skips_rest"},
    ),
    *for_both("repairing", "completes what was cut off", policies={"turn.cut": "repaired"}),
    Variant(
        "answered-whole",
        "its model answers whole turns alone, or breaks",
        declare={
            "profile": "core",
            "policies": {},
            "outcomes": OfferedOutcomes(model=["turn", "fault"]),
        },
    ),
    Variant(
        "asking-anew",
        "asks the model once more after a stream that broke",
        make=AsksAnew,
        declare={"profile": "core", "policies": {}},
    ),
    Variant("refusing-other-tools", "an edit changes no tool", policies={"edit.tool": "refused"}),
    Variant("showing-again", "a wait is shown again after a crash", make=ShowsAgain),
    *for_both("showing-once", "a wait is shown once", policies={"wait.reshown": "no"}),
    Variant("showing-on-request", "a wait is there for who looks", policies={"wait.reshown": "on_request"}),
    Variant("editing-the-thread", "the history has what was edited", make=KeepsEditsInTheThread),
    *for_both("editing-once", "an edit counts for one execution", make=EditsOnce),
    Variant(
        "editing-arguments-alone",
        "takes edits of arguments and shows nothing",
        declare={**_less(), "decisions": DecisionSupport(edit=["args"])},
    ),
    Variant("atomic", "a batch is taken whole or not at all", policies={"decision.batch": "atomic"}),
    Variant("ungated-replay", "a replay does not pass the gate again", policies={"replay.gate": "no"}),
    Variant("raising-ends", "a tool that throws ends the run", policies={"tool.raises": "end_run"}),
    Variant(
        "leaving-live", "calls that are live at the end are left as they are", policies={"end.live": "left"}
    ),
    *for_both("late-next", "late input is for the next run", policies={"input.late": "next_run"}),
    Variant("late-refused", "late input is refused", policies={"input.late": "refused"}),
    *for_both(
        "keeping-input", "a run that ends leaves its input to the next", policies={"input.fate": "next_run"}
    ),
    Variant("returning-input", "a run that ends gives input back", policies={"input.fate": "returned"}),
    Variant("joining-input", "several inputs are one message", make=JoinsInputs),
    Variant("unsteered", "takes no input", declare={"stimuli": UNSTEERED}),
    Variant(
        "steered-in-a-wait",
        "takes input only while it waits",
        declare={"inputs": InputSupport(working=False)},
    ),
    Variant("superseding", "new input supersedes what waits", policies={"input.waiting": "supersede"}),
    *for_both(
        "going-on-during", "new input goes on while calls wait", policies={"input.waiting": "placeholder"}
    ),
    Variant("superseding-tirea", "new input supersedes what waits", "tirea", {"input.waiting": "supersede"}),
    *for_both("collecting", "decisions are held until all are there", policies={"resume": "collect"}),
    Variant("all-or-nothing", "a part of the decisions is refused", policies={"resume": "all_or_nothing"}),
    *for_both("handed-out", "a suspended run is its caller's", policies={"state": "caller"}),
    Variant("preempting", "a stop leaves the tools of its step out", policies={"stop.tools": "preempted"}),
    Variant("storing-each-call", "a crash costs less than a call", policies={"durability": "call"}),
    Variant("outcome-counting", "suspended again is an outcome", "tirea", {"replay.start": "by_outcomes"}),
    Variant("blocking-one", "a block fails the call alone", policies={"round.block": "fail_call"}),
    Variant("reaching", "a stop condition fires at its limit", policies={"stop.threshold": "reaches"}),
    Variant("created-nine", "a run is created first, and judged in a phase of its own", "awaken-9"),
    Variant("silent-run", "shows no status of the run", declare=_less("run.status")),
    Variant("silent-calls", "shows no status of calls", declare=_less("call.status")),
    *for_both(
        "silent",
        "shows gates and ends alone",
        declare={
            **_less("run.status", "call.status", "phase", "message", "decision", "checkpoint"),
            "control": PLAIN,
            "gates": ["model", "permission", "tool"],
        },
    ),
    *for_both("taciturn", "shows messages and ends alone, also after a crash", declare=TACITURN),
    *for_both("core", "claims the universal core alone", declare={"profile": "core", "policies": {}}),
    Variant(
        "unstepped",
        "cannot be stopped between two turns",
        declare={"control": Control(settle="exact", store="kit", crash=["soft"])},
    ),
    Variant("observed", "settles as observed", declare={"control": Control(settle="observed", store="kit")}),
    Variant(
        "only-waiting",
        "takes decisions only while it waits",
        declare={"decisions": DecisionSupport(live=False, ids=True, suspensions=True)},
    ),
    Variant("chatty", "shows more than is asked for", make=Chatty),
    Variant("eager", "stores more often than it must", make=Eager),
    Variant("eager-suspending", "stores once more before it waits", make=EndsThenCloses),
    Variant("terse", "says of no decision what became of it", make=Terse, declare=_less("decision")),
    Variant("agent-named", "names an agent that waits next to its calls", make=NamesTheAgentToo),
    Variant("agent-unseen", "shows gates alone of a run within a call", make=ShowsGatesAloneWithin),
    Variant("backwards", "applies a batch in the opposite order", make=Backwards),
    Variant("one-pass", "a pass resolves what it drained", "tirea", make=ResolvesTogether),
    Variant(
        "one-pass-in-parallel",
        "a pass resolves what it drained, and its replays overlap",
        "tirea-stream",
        policies={"round.executor": "parallel"},
        make=ResolvesTogether,
    ),
    Variant("backwards-tirea", "applies a batch in the opposite order", "tirea", make=Backwards),
    Variant("refusing-twice", "refuses what was taken before", make=Refusing),
    *for_both("piecemeal", "tells arguments in pieces, and results at once", make=Piecemeal),
    Variant("telling-anew", "a life after a crash opens calls anew on its stream", make=TellsAnew),
    Variant("wrapping", "wraps what tools answered", make=Renaming),
    Variant("explaining", "gives every end a detail", make=SaysWhy),
    *(
        Variant(name, freedom, "tirea", make=runtime_with("producer", part), declare=shown)
        for shown, made in ((PRODUCES, SERVING), (PROMPTS, PROMPTING), (STATES, PROMPTING_IN_STATES))
        for name, (freedom, part) in made.items()
    ),
)
