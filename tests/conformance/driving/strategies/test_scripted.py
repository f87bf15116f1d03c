"""The corpus: the reference shows what it showed before, and every script is legal on every reference.

A scenario file holds moves and comments.  What its target shows on them is pinned by a digest, one line for
each file; `pytest -k test_scripted --rewrite` writes both, and the site shows what the digests stand for.
"""

from __future__ import annotations

import hashlib
import re
from functools import cache

import pytest
from places import GOLDEN, LIFECYCLE
from played_scripts import reasons

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import (
    ENDING,
    Script,
    applicable,
    corpus,
    play,
    recorded,
    script_of,
    without_answers,
)
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import UsageError
from runlock.conformance.families.lifecycle.adapter import Segment
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.host.hosted import Hosted
from runlock.conformance.families.lifecycle.messages import Handshake
from runlock.conformance.family.recordings import parse, render, to_text
from runlock.conformance.protocol import Party
from runlock.conformance.trace.document import Document
from runlock.spec.model import load_spec

FOLDER = LIFECYCLE / "scenarios"
DIGESTS = GOLDEN / "scenarios.txt"
NAMES = sorted(path.name.removesuffix(ENDING) for path in FOLDER.glob(f"*{ENDING}"))
SCRIPTS = corpus(FAMILY)
PLAYED_ON = ("reference:awaken-8", "reference:tirea")


@cache
def bench(target: str) -> Bench:
    return Bench(resolve(target).open)


def recording(text: str, name: str) -> Document:
    """The file with what its target shows now."""
    script, document = script_of(FAMILY, name, text), parse(text, name)
    return recorded(document, bench(script.target).session(script.scenario))


def text_of(name: str) -> str:
    return (FOLDER / f"{name}{ENDING}").read_text("utf-8")


def digest(shown: Document) -> str:
    """A short name for everything that was shown: observations, refusals, and whether it was quiescent."""
    return hashlib.sha256(to_text(shown.trace).encode()).hexdigest()[:16]


def digests() -> dict[str, str]:
    """The digests that are checked in, by the names of the scenarios."""
    return dict(line.split() for line in DIGESTS.read_text("utf-8").splitlines())


@pytest.mark.parametrize("name", NAMES)
def test_each_file_is_moves_and_comments(name, rewrites):
    """A file holds no observations, and says what its moves need; `--rewrite` brings it into this form."""
    text = text_of(name)
    now = render(without_answers(FAMILY, recording(text, name)))
    if rewrites:
        (FOLDER / f"{name}{ENDING}").write_text(now, "utf-8")
        return

    assert text == now, f"`pytest -k test_scripted --rewrite` writes {name} so"


@pytest.mark.long
def test_the_targets_show_what_they_showed(rewrites):
    """What the reference shows in each scenario is what it showed when its digest was written."""
    shown = {name: recording(text_of(name), name) for name in NAMES}
    now = {name: digest(one) for name, one in shown.items()}
    if rewrites:
        DIGESTS.write_text("".join(f"{name} {one}\n" for name, one in now.items()), "utf-8")
        return
    changed = [name for name in NAMES if now[name] != digests().get(name)]

    assert changed == [], f"{changed[0]} now shows:\n\n{render(shown[changed[0]])}"
    assert now == digests()


@pytest.mark.parametrize("target", PLAYED_ON)
@pytest.mark.parametrize("script", SCRIPTS, ids=NAMES)
def test_every_script_is_legal_on_every_reference(script, target):
    """One script serves every profile: what it has no occasion for there is left out, nothing is broken."""
    on = bench(target)
    if applicable(FAMILY, script, on.handshake):
        return
    tally = Tally()
    on.play(script.scenario, play(script), tally)

    assert reasons(tally) == {}
    assert tally.troubles == []


def test_hardly_a_script_is_left_out():
    """The references take every script but those for resume modes that tirea does not have."""
    left_out = {
        (script.name, why)
        for script in SCRIPTS
        for on in PLAYED_ON
        if (why := applicable(FAMILY, script, bench(on).handshake))
    }

    assert left_out == {
        ("a-plugin-is-too-late", "no plugin of the runtime can be held at ToolGate"),
        ("empty-payloads", "the policy decision.modes has no use_as_result"),
        ("other-arguments-when-held-again", "the policy decision.modes has no pass_to_tool"),
        ("payload-as-result", "the policy decision.modes has no use_as_result"),
        ("payload-as-arguments", "the policy decision.modes has no pass_to_tool"),
        ("payload-of-a-wrong-type", "the policy decision.modes has no pass_to_tool"),
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_script_is_short_and_says_what_it_shows(name):
    """A scenario fits a head: at most 12 stimuli and 40 lines, with its clauses named at the top."""
    text = text_of(name)
    script = script_of(FAMILY, name, text)
    named = re.findall(r"\b[A-Z]{3,}-\d+\b", script.about)

    assert len(script.moves) <= 12
    assert text.count("\n") <= 40
    assert named
    assert [clause for clause in named if clause not in load_spec("lifecycle").clauses] == []


def test_a_changed_observation_is_seen():
    """The digests can fail: one other status in what is shown, and the digest is another."""
    shown = recording(text_of("pending-twice"), "pending-twice")
    told = render(shown)
    line = "call.status c1 Running -> Suspended suspension=2"
    changed = parse(told.replace(line, "call.status c1 Running -> Failed"))

    assert line in told
    assert digest(parse(told)) == digest(shown) == digests()["pending-twice"] != digest(changed)


def test_a_recording_keeps_comments_and_moves():
    """The observations stand between the moves and the comments; without them the file is as it was."""
    text = (
        "# What it shows.\n# RUN-3\nscenario greeting\n  tool read\n\n"
        "# The model has nothing to ask for.\nstart r1 hello\nrelease model turn goodbye\n\n# Over.\nsettle\n"
    )
    shown = recording(text, "greeting")
    now = render(shown)

    assert "# What it shows.\n# RUN-3\nscenario greeting\n  tool read\n" in now
    assert "# The model has nothing to ask for.\nstart r1 hello\n----\nrun.status -> Running\n" in now
    assert "# Over.\nsettle\n----\n\nend\n" in now
    assert render(recording(now, "greeting")) == now
    assert render(without_answers(FAMILY, shown)) == text


def test_a_move_without_occasion_stays_unanswered():
    """A move whose gate is not open on the target is kept, for runtimes that open it."""
    text = "scenario x\n\nstart r1 hello\nrelease tool:c1 ok done\nsettle\n"
    shown = recording(text, "x")

    assert "\n\nrelease tool:c1 ok done\n\nsettle\n----\n\nend\n" in render(shown)
    assert render(without_answers(FAMILY, shown)) == text


def test_what_depends_on_the_moment_is_written_down():
    """A decision for a busy run needs `decisions live`; a script says so, since no observation does."""
    text = "scenario x\n  tool write ask\n\nstart r1 hello\n{}decide d1 resume c1\n"
    busy, idle = text.format(""), text.format("release model turn c1:write\n")

    assert without_answers(FAMILY, recording(busy, "x")).needs == ("decisions live",)
    assert without_answers(FAMILY, recording(idle, "x")).needs == ()
    assert "decisions live" in script_of(FAMILY, "x", f"needs decisions live\n\n{busy}").needs


WEAK = Handshake(
    implementation=Party(name="weak", version="1"),
    gates=["model", "tool"],
    tools=["allow", "ask"],
    stimuli=["decide", "cancel"],
    decisions={"live": False, "ids": False, "suspensions": False, "payload": False},
    outcomes={"tool": ["ok", "error"]},
)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("natural-end", ""),
        ("reject", ""),
        ("set-result", "the runtime has no tools of permission gate"),
        ("store-fault-at-the-end", "the runtime has no store.put gate"),
        ("pending-twice", "the runtime does not take pending at a tool gate"),
        ("empty-payloads", "its decisions have no payload"),
        ("stop-not-yet", ""),
        ("decision-after-the-call", "its decisions have no live"),
        ("cancel-while-waiting", "the runtime does not take cancel.waiting"),
        ("cancel-while-executing", ""),
        ("cancel-races-a-result", "the runtime does not take deliver"),
        ("cancel-before-the-first-turn", "its control of step is not turns"),
        ("crash-while-waiting", "it cannot be crashed"),
        ("next-run", "the runtime does not take run.again"),
        ("input-while-waiting", "the runtime does not take run.input"),
    ],
)
def test_a_script_says_why_it_does_not_apply(name, why):
    """What a runtime has not declared is not sent to it, and the reason is said."""
    assert applicable(FAMILY, by_name(name), WEAK) == why


@pytest.mark.parametrize(
    ("name", "need"),
    [
        ("same-decision-twice", "decisions ids"),
        ("stale-decision", "decisions suspensions"),
        ("early-decision", "decisions live"),
        ("nothing-decided", "stimulus decide"),
        ("two-deliveries-at-once", "decisions live"),
        ("decision-races-the-last-result", "decisions live"),
        ("cancel-in-a-replay", "stimulus cancel"),
        ("stop-at-last", "policy stop.conditions=max_rounds"),
        ("payload-as-arguments", "policy decision.modes=pass_to_tool"),
    ],
)
def test_needs_are_read_off_what_a_script_sends(name, need):
    """What a script needs follows from its moves and its line `needs`."""
    assert need in by_name(name).needs


class WaitsAgain:
    """A runtime in which a resume without a decision is a segment of its own, which ends as it began."""

    handshake = WEAK

    async def open(self, host, scenario):
        self.host, self.thread = host, []

    async def start(self, text):
        self.thread.append({"role": "user", "text": text})
        turn = await self.host.infer(self.thread)
        calls = [call.model_dump() for call in turn.tool_calls]
        self.thread.append({"role": "assistant", "text": turn.text, "tool_calls": calls})
        return Segment("Suspended", ["c1"])

    async def decide(self, decisions):
        if not decisions:
            return Segment("Suspended", ["c1"])
        answer = await self.host.tool("c1", "write", {"k": "c1"})
        self.thread.append({"role": "tool", "call": "c1", "status": "ok", "text": answer.content})
        await self.host.infer(self.thread)
        return Segment("NaturalEnd")


def test_a_resume_without_a_decision_may_be_a_segment_of_its_own():
    """A runtime may be woken by it, find nothing, and say once more that it waits."""
    script, tally = by_name("nothing-decided"), Tally()
    Bench(lambda: Hosted(WaitsAgain)).play(script.scenario, play(script), tally)

    assert reasons(tally) == {}
    assert tally.troubles == []
    assert tally.exercised["DECIDE-4"]


def by_name(name: str) -> Script:
    return next(script for script in SCRIPTS if script.name == name)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("scenario y\n", "x.scenario does not hold one scenario of its own name. Write `scenario x` in it."),
        ("start r1 hello\n", "x.scenario does not hold one scenario of its own name."),
        ("scenario x\n  tool read maybe\n", "x.scenario:1: tools.0.permission is 'maybe'. Input should be"),
        ("scenario x\n\nstart r1 3\n", "x.scenario:3: input is 3. Input should be a valid string."),
        ("scenario x\n\nrelease model ok\n", "x.scenario:3: Turn.kind is 'ok'."),
        (
            "scenario x\n\nrelease tools:c1 ok\n",
            "x.scenario:3: no gate is called tools:c1. A script names a gate",
        ),
        ("scenario x\n\nrecord stimulus={method=fly params={}}\n", "x.scenario:3: fly is no stimulus."),
        ("scenario x\n\nrecord stimulus={}\n", "x.scenario:3: None is no stimulus."),
        ("scenario x\n\nrecord stimulus={method=[]}\n", "x.scenario:3: [] is no stimulus."),
        (
            "scenario x\n\nrecord stimulus={method=cancel}\n",
            "x.scenario:3: params is None.",
        ),
        ("scenario x\n\nrace\n  advance soon\n", "x.scenario:3: ms is 'soon'."),
        ("scenario x\n\nsettle\n----\ngate.open\n", "x.scenario:5: observations.0.gate.open.gate is"),
        ("scenario x\n\ndecide d1 resume c1\n", "x.scenario:3: run is {"),
    ],
)
def test_a_script_that_does_not_fit_the_protocol_is_turned_down(text, says):
    """What cannot be sent is found when the script is loaded, with the line that it stands on."""
    with pytest.raises(UsageError) as caught:
        script_of(FAMILY, "x", text)

    assert says in str(caught.value)
