"""Single faults of CLI agents, built into the two message loops that share no code with the reference.

Each class makes one mistake, and names the script that gives it away and the clauses to be blamed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from rich_loop import RichLoop
from rich_loop_calls import ABORTED
from rich_loop_parts import Over
from small_loop import POLICIES, SmallLoop
from small_loop import Over as SmallOver


class Fault(NamedTuple):
    """A wrong loop, the script that gives it away, and the clauses of which one is to be blamed."""

    make: Callable[[], Any]
    script: str
    clauses: frozenset[str]


FAULTS: dict[str, Fault] = {}


def fault(script: str, *clauses: str, **policies: Any) -> Callable[[type], type]:
    """Registers a loop that makes a mistake, and the clauses that the mistake breaks."""

    def register(loop: type) -> type:
        make = loop if issubclass(loop, SmallLoop) else partial(loop, policies)
        FAULTS[loop.__name__] = Fault(make, script, frozenset(clauses))
        return loop

    return register


# -- the small loop, which declares no policy


@fault("aborted-and-denied", "GATE-2", "AUTH-1")
class RunsDeniedCalls(SmallLoop):
    """A denied call runs."""

    async def may_run(self, call):
        await super().may_run(call)
        return True


@fault("nobody-there", "AUTH-17", "AUTH-1")
class RunsIfNobodyIsThere(SmallLoop):
    """Without anybody to ask, everything may run."""

    async def may_run(self, call):
        return not self.scenario.interactors or await super().may_run(call)


@fault("session-grant", "AUTH-15", "AUTH-1")
class GrantsForEverything(SmallLoop):
    """An "always" for one tool lets every tool pass."""

    def is_granted(self, call):
        return bool(self.granted)


@fault("aborted-and-denied", "AUTH-27", "AUTH-1", "AUTH-15")
class OnceIsForEver(SmallLoop):
    """An allow for one call is kept for the session."""

    async def may_run(self, call):
        right = await super().may_run(call)
        if right:
            self.grant(call)
        return right


@fault("a-tool-breaks", "PAIR-1", "TURN-11")
class LeavesCallsWithoutResults(SmallLoop):
    """After a cancel the calls that have no result get none."""

    def settle(self, calls, results):
        super().settle([call for call in calls if call["id"] in results], results)


@fault("aborted-and-denied", "PAIR-1")
class SaysNothingOfDeniedCalls(SmallLoop):
    """A denied call gets no result."""

    def settle(self, calls, results):
        kept = [call for call in calls if results.get(call["id"]) != ("error", "The tool was not run.")]
        super().settle(kept, results)


@fault("aborted-and-denied", "PAIR-6", "PAIR-4")
class TellsOfSuccess(SmallLoop):
    """A denied call is shown to the model as a success."""

    def settle(self, calls, results):
        super().settle(calls, {call: ("ok", text) for call, (_, text) in results.items()})


@fault("bad-calls", "PAIR-4", "ROUND-2")
class SwapsResults(SmallLoop):
    """The results of two calls change places."""

    def settle(self, calls, results):
        ids = list(results)
        values = list(results.values())[::-1]
        super().settle(calls, dict(zip(ids, values, strict=True)))


@fault("bad-calls", "ONCE-1")
class RunsTwice(SmallLoop):
    """A call whose tool failed is run again."""

    async def one(self, call, results):
        await super().one(call, results)
        if (
            results[call["id"]][0] == "error"
            and call["name"] in self.known
            and isinstance(call["args"], dict)
        ):
            await super().one(call, results)


@fault("chat-turn", "LOOP-4")
class ForgetsTheTextOfItsCalls(SmallLoop):
    """What the model said with its calls is lost."""

    def settle(self, calls, results):
        if calls:
            self.history[-1] = {**self.history[-1], "text": ""}
        super().settle(calls, results)


@fault("cancel-while-asked", "CANCEL-1", "CANCEL-2", "CANCEL-3")
class IgnoresACancelWhilePrompting(SmallLoop):
    """An interrupt does not reach a permission request."""

    async def prompt(self, call):
        self.is_asking = True
        answer = await super().prompt(call)
        self.is_asking = False
        return answer

    async def cancel(self):
        if not getattr(self, "is_asking", False):
            await super().cancel()


@fault("aborted-and-denied", "CANCEL-8", "CANCEL-1", "CANCEL-2", "RUN-24")
class GoesOnAfterACancel(SmallLoop):
    """An interrupted tool counts as one that failed, and the next call runs."""

    async def one(self, call, results):
        try:
            await super().one(call, results)
        except asyncio.CancelledError:
            results[call["id"]] = ("cancelled", "Interrupted.")


@fault("bad-calls", "LOOP-3", "LOOP-16")
class StopsAfterUnknownTools(SmallLoop):
    """A round with an unknown tool ends the turn as if the model had finished."""

    async def round(self, calls):
        await super().round(calls)
        if any(call["name"] not in self.known for call in calls):
            raise SmallOver("NaturalEnd")


@fault("aborted-and-denied", "AUTH-13", "AUTH-31")
class ShowsOtherArguments(SmallLoop):
    """The person is shown arguments that are not those of the call."""

    async def prompt(self, call):
        return await super().prompt({**call, "args": {"k": "..."}})


@fault("one-prompt-after-another", "AUTH-12", "GATE-2", "AUTH-1")
class OneAnswerForTheRound(SmallLoop):
    """The first answer of a round counts for all of its calls."""

    async def round(self, calls):
        self.answered = None
        await super().round(calls)

    async def prompt(self, call):
        if self.answered is None:
            self.answered = await super().prompt(call)
        return self.answered


@fault("aborted-and-denied", "RUN-24", "RUN-7", "CANCEL-2")
class CallsACancelDone(SmallLoop):
    """A cancelled turn is reported as a natural end."""

    async def start(self, turn):
        segment = await super().start(turn)
        return type(segment)("NaturalEnd") if segment.reason.code == "Cancelled" else segment


# -- the small loop, which declares its policies


class Declared(SmallLoop):
    """The small loop with its policies."""

    def __init__(self):
        super().__init__(policies=POLICIES)


@fault("bound-of-a-chat-turn", "LOOP-5", "LOOP-6", "LOOP-8")
class CountsCallsForRounds(Declared):
    """The bound counts calls."""

    async def round(self, calls):
        self.calls = getattr(self, "calls", 0) + len(calls)
        await super().round(calls)
        if calls and self.calls >= self.scenario.bounds.max_iterations:
            self.calls = 0
            raise SmallOver("Error", "too many; tools may have completed", "max_iterations")


@fault("bound-of-a-chat-turn", "LOOP-5")
class OneRoundTooMany(Declared):
    """The bound is one too high."""

    async def open(self, host, scenario):
        bounds = scenario.bounds.model_copy(update={"max_iterations": scenario.bounds.max_iterations + 1})
        await super().open(host, scenario.model_copy(update={"bounds": bounds}))


# -- the rich loop


@fault("guard-after-an-answer", "AUTH-8", "HOOK-3")
class IgnoresGuards(RichLoop):
    """A hook's veto of a call is logged and ignored."""

    def obey(self, hook, answer, data):
        is_veto = hook.at == "TOOL_CALL" and getattr(answer, "kind", "") == "deny"
        return data if is_veto else super().obey(hook, answer, data)


@fault("guard-of-a-granted-call", "AUTH-9", "HOOK-1")
class SkipsGuardsOfGrantedCalls(RichLoop):
    """A standing grant spares a call its guards."""

    async def stack(self, p, r, call):
        if self.is_granted(p, call) and p.spec is None:
            await self.approve(p, r, call)
        else:
            await super().stack(p, r, call)


@fault("rewrite-after-an-answer", "AUTH-13", "HOOK-11")
class AsksNobodyAboutRewrites(RichLoop):
    """Arguments rewritten after the approval run without another question, against what it declares."""

    async def stack(self, p, r, call):
        self.policy = {**self.policy, "rewrite.place": "after_approval"}
        await super().stack(p, r, call)
        self.policy = {**self.policy, "rewrite.place": "asked_again"}


@fault("group-with-a-join", "TURN-9", "TURN-10")
class JoinsTooEarly(RichLoop):
    """The join begins with the first sibling that has exited."""

    async def group(self, turn):
        tasks = [asyncio.ensure_future(self.execution(one)) for one in turn.group]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if turn.join is not None:
            await self.execution(turn.join)
        await asyncio.gather(*tasks)


@fault(
    "group-that-fails",
    "TURN-52",
    "TURN-71",
    "TURN-9",
    "TURN-2",
    "CANCEL-1",
    "RUN-20",
    "WIRE-8",
    "RUN-24",
    "LOOP-18",
    "TURN-8",
)
class LosesABranch(RichLoop):
    """A group is over with its first sibling; the other one is forgotten while it runs."""

    async def group(self, turn):
        tasks = [asyncio.ensure_future(self.execution(one)) for one in turn.group]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)


@fault("group-that-fails", "TURN-10", "CANCEL-1", "WIRE-8", "TURN-2")
class DoesNotWaitForSiblings(RichLoop):
    """A sibling that fails ends the turn, and the other one goes on."""

    async def group(self, turn):
        tasks = [asyncio.ensure_future(self.execution(one)) for one in turn.group]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            if task.done():
                await task
        if turn.join is not None:
            await self.execution(turn.join)


@fault("context-of-two-providers", "LOOP-14", "LOOP-15")
class AppendsContextTwice(RichLoop):
    """Context slices are appended to the request twice."""

    async def slices(self, p):
        found = await super().slices(p)
        return [*found, *found]


@fault("context-of-two-providers", "LOOP-14", "LOOP-4")
class PutsContextInTheHistory(RichLoop):
    """Context slices stay in the history of later requests."""

    async def slices(self, p):
        found = await super().slices(p)
        for text in found:
            self.append(p, {"role": "user", "text": text})
        return []


@fault("tokens-of-two-attempts", "AUTH-6")
class CountsTokensByAttempt(RichLoop):
    """Each attempt of a stage execution starts with all of its tokens."""

    async def one_pass(self, p, text):
        p.tokens = [[token.tool, token.uses] for token in p.spec.grants] if p.spec is not None else []
        return await super().one_pass(p, text)


@fault("grant-of-one-execution", "AUTH-15", "AUTH-1", "AUTH-27")
class StageGrantsLastForEver(RichLoop):
    """A grant for a stage execution counts in later ones."""

    def keep(self, p, call, scope):
        super().keep(p, call, "session" if scope == "stage" else scope)


@fault("grant-and-the-same-arguments", "AUTH-28")
class RemembersLessThanItSays(RichLoop):
    """A grant for a tool fits the same arguments only, against what it declares."""

    def is_granted(self, p, call):
        return any(grant["args"] == call.args for grant in self.standing) and super().is_granted(p, call)


@fault("one-prompt-after-another", "WIRE-5", "WIRE-50", **{"reject.reach": "round"})
class AuditsNoCascade(RichLoop):
    """Calls that are denied with another one are missing in the audit."""

    def say(self, name, p, /, **data):
        if data.get("code") != "Cascade":
            super().say(name, p, **data)


@fault("aborted-and-denied", "WIRE-1")
class ForgetsThePostEvent(RichLoop):
    """A stage that is cancelled has no end event."""

    def say(self, name, p, /, **data):
        if name != "StagePostFired" or data["outcome"] != "cancelled":
            super().say(name, p, **data)


@fault("first-of-two-answers", "AUTH-11")
class LeavesPromptsOpen(RichLoop):
    """After the first answer the others are still asked."""

    async def first_answer(self, call, question):
        if len(self.interactors) < 2:
            return await super().first_answer(call, question)
        asks = [asyncio.ensure_future(self.ask(one, question)) for one in self.interactors]
        done, _ = await asyncio.wait(asks, return_when=asyncio.FIRST_COMPLETED)
        return done.pop().result()


@fault("cancel-of-a-stage", "CANCEL-9", "CANCEL-1", "TURN-8", "RUN-24", "TURN-10", "CANCEL-2")
class ExitsOnACancel(RichLoop):
    """A cancelled stage execution still runs its Exit."""

    async def attempts(self, start, spec, shown):
        try:
            await super().attempts(start, spec, shown)
        except asyncio.CancelledError:
            self.slots[start.name] = None
            self.say("StageExited", None, execution=start.id)
            raise


@fault("aborted-and-denied", "CANCEL-10")
class TellsADenialAndAnAbortAlike(RichLoop):
    """The model reads the same of an aborted call and of a denied one, against what it declares."""

    def words(self, text):
        return ABORTED


@fault("stage-at-its-cap", "LOOP-10", "TURN-41", "RUN-24")
class TakesACapForAFailure(RichLoop):
    """A stage at its turn cap ends the turn in Error."""

    async def one_pass(self, p, text):
        capped = await super().one_pass(p, text)
        if capped and p.spec is not None:
            raise Over("Error", "the cap was reached")
        return capped
