"""What runtimes did by right, most of which share nothing with the kit: none of these traces is objected to.

Each file is named after the freedom that was taken in it.
"""

import pytest
from places import DATA

from runlock.conformance.campaign.audit import audit

TRACES = {path.stem: path for path in (DATA / "right_traces").glob("*.jsonl")}

# The clause that each of them is about: it speaks of what was done, and holds.
ABOUT = {
    "a-batch-for-a-busy-run": "PHASE-87",
    "a-batch-for-a-run-that-breaks-off": "DECIDE-2",
    "a-broken-step-that-ends": "PHASE-71",
    "a-busy-call-that-was-renamed": "DERIVE-4",
    "a-call-id-that-a-crash-gives-back": "STORE-12",
    "a-call-left-behind-by-an-undeclared-abort": "ROUND-23",
    "a-call-that-resumes-while-another-is-blocked": "DECIDE-8",
    "a-call-that-was-made-ready-and-left-behind": "FLOW-21",
    "a-cancel-before-the-runtime-has-the-run": "STORE-2",
    "a-cancel-between-segments": "FLOW-40",
    "a-cancel-while-a-decision-is-stored": "SHOWN-1",
    "a-cut-stream-and-an-unlisted-kind": "STREAM-2",
    "a-decision-after-a-crash-and-a-cancel": "RECOVER-4",
    "a-decision-after-a-crash-and-a-fault": "RECOVER-1",
    "a-decision-after-an-end-that-left-its-call": "DECIDE-3",
    "a-decision-for-an-id-that-two-calls-have": "RUN-3",
    "a-decision-for-a-run-that-a-block-ends": "ROUND-7",
    "a-round-in-nine-phases-that-a-failure-ends": "PHASE-53",
    "a-round-in-nine-phases-that-a-time-limit-ends": "PHASE-53",
    "a-decision-next-to-an-agent-that-waits": "DECIDE-14",
    "a-decision-that-a-cancel-overtakes": "FLOW-27",
    "a-decision-that-is-the-answer-without-a-status": "ROUND-89",
    "a-decision-that-is-sent-again-after-its-refusal": "DECIDE-3",
    "a-decision-that-meets-a-replay-in-a-race": "DECIDE-41",
    "a-decision-while-a-call-is-looked-at": "DECIDE-10",
    "a-failure-and-a-wait-of-a-former-round": "STORE-15",
    "a-failure-of-a-former-round": "ROUND-10",
    "a-finished-sibling-in-the-messages-alone": "ONCE-1",
    "a-held-back-call-after-a-crash": "RECOVER-4",
    "a-held-back-call-after-the-wait": "PHASE-70",
    "a-held-back-call-that-waits-alone": "FLOW-23",
    "a-life-that-announces-nothing": "RECOVER-2",
    "a-life-that-begins-after-its-round": "FLOW-40",
    "a-life-that-begins-in-a-step": "PHASE-70",
    "a-life-that-begins-with-nothing-to-commit": "FLOW-40",
    "a-parked-run-that-goes-on-during-a-wait": "CALL-8",
    "a-pass-that-a-block-cuts-short": "PHASE-56",
    "a-payload-in-the-place-of-the-arguments": "STORE-12",
    "a-payload-of-an-undeclared-meaning": "DECIDE-6",
    "a-payload-that-equals-an-edit-of-a-sibling": "EDIT-1",
    "a-pending-answer-that-meets-a-stop": "PHASE-14",
    "a-permission-that-drains-after-a-cancel": "CALL-16",
    "a-race-of-a-decision-and-a-stop": "STOP-4",
    "a-refusal-by-the-adapter-in-a-batch": "ROUND-70",
    "a-refused-input-for-a-run-that-is-done": "PROGRESS-1",
    "a-rejection-after-an-approval-in-a-race": "GATE-1",
    "a-rejection-during-a-wait": "RUN-2",
    "a-rejection-during-a-wait-without-a-status": "DECIDE-14",
    "a-rejection-while-a-call-is-looked-at": "CALL-8",
    "a-replay-during-a-plugin-that-begins-a-step": "STORE-11",
    "a-replay-that-drains-as-it-resumes": "DECIDE-46",
    "a-replay-that-drains-when-cancelled": "CANCEL-5",
    "a-replay-that-goes-on-in-a-run-that-breaks": "DECIDE-16",
    "a-replay-that-is-resuming-all-along": "ROUND-72",
    "a-replay-that-is-stored-before-its-commit": "RESUME-14",
    "a-replay-that-only-its-phases-show": "PHASE-90",
    "a-replay-that-waits-again-without-a-status": "FLOW-4",
    "a-replay-that-waits-again-without-a-word": "PROGRESS-1",
    "a-replay-without-its-phases": "PHASE-26",
    "a-replay-without-the-phases-that-are-left-open": "ONCE-1",
    "a-result-spelled-without-blanks": "DECIDE-18",
    "a-result-that-was-decided-during-a-wait-without-a-status": "DECIDE-4",
    "a-result-that-waits-for-another-commit": "ONCE-2",
    "a-resume-gate-declared-by-a-waiting-loop": "PHASE-54",
    "a-resume-gate-shown-by-a-waiting-loop": "PHASE-52",
    "a-round-that-begins-after-a-crash-from-its-message": "DECIDE-20",
    "a-round-that-goes-on-after-a-crash": "STOP-2",
    "a-round-that-stops-without-a-status": "PHASE-53",
    "a-round-that-waits-for-its-calls-when-one-broke": "RUN-8",
    "a-run-after-the-last-commit-of-another": "PROGRESS-1",
    "a-run-that-goes-back-before-its-last-turn": "RECOVER-1",
    "a-run-that-is-over-and-refuses-to-come-back": "RUN-20",
    "a-run-that-is-over-and-says-nothing-after-a-crash": "RUN-20",
    "a-run-that-never-was": "RECOVER-3",
    "a-step-after-an-undeclared-executor": "PHASE-25",
    "a-step-during-a-placeholder-that-ends": "PHASE-72",
    "a-step-that-a-plugin-cuts-short-and-ends": "PHASE-71",
    "a-step-that-ends-again-after-its-wait": "PHASE-72",
    "a-step-that-ends-after-its-wait": "PHASE-60",
    "a-step-that-ends-when-its-wait-is-resolved": "STORE-19",
    "a-stop-after-a-wait-without-a-status": "STOP-9",
    "a-superseded-step-of-eight-that-ends": "PHASE-71",
    "a-superseded-step-that-ends": "PHASE-72",
    "a-suspended-step-that-is-not-over": "PHASE-50",
    "a-tool-given-up-during-a-drain": "CANCEL-5",
    "a-turn-after-what-does-not-show": "FLOW-16",
    "a-turn-committed-as-of-its-round": "FLOW-21",
    "a-turn-whose-calls-are-in-its-message-alone": "STORE-9",
    "a-wait-for-a-call-that-was-renamed": "PROGRESS-1",
    "a-wait-of-a-former-step-that-goes-on": "DERIVE-3",
    "a-wait-set-aside-by-an-undeclared-input": "DERIVE-3",
    "a-wait-superseded-without-a-status": "DERIVE-5",
    "a-wait-that-expires-where-an-id-is-there-twice": "PROGRESS-1",
    "a-wait-that-is-announced-again-after-a-rejection": "RUN-21",
    "a-waiting-call-that-its-gate-lets-go-on": "GATE-3",
    "an-answer-that-meets-a-stop": "PHASE-14",
    "a-wait-that-is-over-in-the-replay-that-began-it": "DECIDE-19",
    "an-end-after-a-replay-during-the-model": "DECIDE-24",
    "an-end-of-a-round-that-is-not-shown": "ROUND-81",
    "an-end-that-is-not-shown": "STORE-10",
    "an-end-that-only-its-calls-show": "ROUND-7",
    "an-inference-that-drains-after-a-cancel": "STREAM-18",
    "an-inference-under-way-after-a-cancel": "CANCEL-1",
    "an-input-committed-again-on-a-decision": "STORE-16",
    "an-unknown-tool-after-one-that-broke": "CALL-15",
    "an-unknown-tool-when-a-store-fails": "CALL-15",
    "an-unknown-tool-when-a-tool-stops-the-run": "CALL-15",
    "an-unknown-tool-without-a-status": "ROUND-89",
    "done-before-its-commit-from-created": "RUN-13",
    "done-before-its-commit-from-waiting": "RUN-22",
    "replays-at-once-during-the-model": "ONCE-1",
    "siblings-that-fail-when-one-broke": "CALL-5",
    "time-that-passes-after-a-step": "STOP-3",
    "waits-that-a-cancel-closes-where-other-ends-leave-them": "CANCEL-8",
    "waits-that-a-cancel-leaves-where-other-ends-close-them": "CANCEL-8",
}


@pytest.mark.parametrize("name", ABOUT)
def test_nothing_is_objected_to(name):
    """A trace of a right runtime breaks nothing, and the clause that it is about was judged."""
    result = audit(TRACES[name], name)
    verdicts = {one.id: one.verdict for one in result.clauses}

    assert {one.clause: one.reason for one in result.witnesses} == {}
    assert verdicts[ABOUT[name]] == "held"


def test_every_trace_is_about_a_clause():
    """Every trace in the folder is read by a test."""
    assert set(TRACES) == set(ABOUT)
