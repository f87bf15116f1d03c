"""Legal variants of the reference loop: the kit must report no violation for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runlock.conformance.families.message_loop.reference import ReferenceAdapter
from runlock.conformance.families.message_loop.variants import freedoms
from runlock.machines.message_loop.runtime.loop import MessageLoop

__all__ = ["VARIANTS", "Variant"]


@dataclass(frozen=True, slots=True)
class Variant:
    """A legal variant; calling it without arguments returns an adapter of it."""

    name: str
    freedom: str
    profile: str = "message-loop"
    policies: Mapping[str, Any] = field(default_factory=dict)
    make: type[MessageLoop] = MessageLoop
    declare: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self) -> ReferenceAdapter:
        """A new adapter of the variant."""
        return ReferenceAdapter(self.profile, self.policies, self.make, self.declare)


CORE: Final = "message-loop-core"
BLACK_BOX: Final[Mapping[str, Any]] = {
    "observes": ["event", "run.finished"],
    "events": ["ToolInvocationProposed", "ToolInvocationStarted", "ToolInvocationSucceeded",
               "ToolInvocationFailed", "ProviderTokensStreamed"],
    "gates": ["model", "tool", "prompt"],
    "interactors": 1,
    "turns": ["chat"],
    "modes": ["allowlist"],
    "stimuli": ["cancel", "run.again"],
}  # fmt: skip

VARIANTS: Final = (
    Variant("OneByOne", "calls run one by one, and results are recorded as they finish",
            policies={"round.executor": "sequential", "results.order": "finish",
                      "prompt.place": "interleaved"}),
    Variant("PromptsWhileTheyRun", "a call runs while the next prompt is open",
            policies={"prompt.place": "overlapped", "prompt.siblings": "each", "prompt.defer": "answers"}),
    Variant("HaltsUnanswered", "a turn ends as Blocked if nobody answers",
            policies={"prompt.unanswered": "halt", "tool.raises": "end_run", "call.malformed": "end_run"}),
    Variant("JudgesAgain", "a call that was rewritten after its approval is judged again",
            policies={"rewrite.place": "asked_again", "hook.order": "by_kind", "hook.fault": "continue"}),
    Variant("RewritesLast", "arguments are rewritten after the approval",
            policies={"rewrite.place": "after_approval", "hook.fault": "end_run"}),
    Variant("SparesTokens", "a token is spent by an execution, and grants fit arguments",
            policies={"grant.spent": "execution", "grant.match": "arguments",
                      "grant.scopes": ["once", "session"]}),
    Variant("CountsRequests", "a bound of n allows n requests",
            policies={"bound.counts": "requests", "call.terminal": "finish"}),
    Variant("AnnouncesInside", "the events of a turn stand inside its first and its last stage",
            policies={"turn.bracket": "inside", "input.refused": "kept", "persist.results": "turn"}),
    Variant("ForgetsWhatWasCut", "partial text and finished results are dropped, late answers are ignored",
            policies={"partial.text": "dropped", "cancel.results": "dropped", "late.answer": "ignored",
                      "told": "alike"}),
    Variant("ReadsTheSession", "a stage reads the session, keeps its transcript, and exits in any case",
            policies={"stage.history": "before", "assert.retry": "kept", "exit.on_fail": "yes",
                      "stage.render": "no"}),
    Variant("LeavesOutSlices", "slices past the budget are left out",
            policies={"context.over": "dropped"}),
    Variant("RefusesContext", "context past the budget is refused", policies={"context.over": "refused"}),
    Variant("AsksGuardsFirst", "guards are asked together before the approval; a denial ends the turn", CORE,
            {"guard.place": "before_approval", "hook.order": "parallel", "reject.reach": "turn"}),
    Variant("AsksTogether", "prompts are open together, and a denial reaches the round", CORE,
            {"prompt.line": "parallel", "reject.reach": "round"}),
    Variant("StopsAtADenial", "a denial ends the turn, and a cancel drains", CORE,
            {"reject.reach": "turn", "cancel.inflight": "drain"}),
    Variant("SendsAgain", "a request that failed is sent again", CORE,
            {"model.fault": "retried", "bound.end": "stopped", "turn.end": "rendered"}),
    Variant("ShowsLittle", "shows gates, some events and the end", CORE, declare=BLACK_BOX),
    Variant("NamesNoPolicy", "nothing is declared where policies are open",
            declare={"policies": {}}),
    Variant("Chatty", "shows observations and events of its own", make=freedoms.Chatty),
    Variant("RendersLate", "keeps what it rendered in the history, and not what the model said",
            make=freedoms.KeepsTheRendered),
    Variant("ReportsBoth", "reports a denied call as failed as well", make=freedoms.ReportsBoth),
    Variant("ChangesIds", "ids of events have another format", make=freedoms.OtherIds),
    Variant("LooksAgain", "a grant given while a call waits to be asked about covers that call too",
            make=freedoms.LooksAgain),
    Variant("StoresMore", "stores the session when a stage execution begins", make=freedoms.StoresMore),
)  # fmt: skip
