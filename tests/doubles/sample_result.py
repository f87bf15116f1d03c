"""One fixed result of a check, which the tests of all reports render."""

from pathlib import Path

from runlock.conformance.campaign.result import ClauseVerdict, Result, Toured, Unanswered
from runlock.conformance.driving.findings import Trouble, Witness
from runlock.conformance.families.lifecycle.monitors.status_charts import CALLS, RUNS
from runlock.conformance.family.coverage import ChartCoverage
from runlock.conformance.trace.moves import Move
from runlock.conformance.trace.trace import Trace
from runlock.spec.model import load_spec

TRACE = Trace(
    [
        {"handshake": {"implementation": {"name": "acme-runtime", "version": "2.1"}}},
        {"scenario": {"scenario": "s", "tools": [{"name": "asking", "permission": "ask"}]}},
        {"stimulus": {"method": "run.start", "params": {"run": "r1", "input": "hello"}}},
        {"observation": {"kind": "run.status", "run": "r1", "from": None, "to": "Running"}},
        {"observation": {"kind": "gate.open", "run": "r1", "gate": "g1", "on": "model", "step": 1}},
        {"report": {"quiescent": True, "refused": []}},
        {
            "stimulus": {
                "method": "gate.release",
                "params": {
                    "gate": "g1",
                    "outcome": {
                        "kind": "turn",
                        "tool_calls": [{"id": "c1", "name": "asking"}, {"id": "c2", "name": "asking"}],
                    },
                },
            }
        },
        {"observation": {"kind": "call.status", "run": "r1", "call": "c1", "from": None, "to": "Suspended"}},
        {"observation": {"kind": "call.status", "run": "r1", "call": "c2", "from": None, "to": "Suspended"}},
        {"observation": {"kind": "run.status", "run": "r1", "from": "Running", "to": "Waiting"}},
        {"report": {"quiescent": True, "refused": []}},
        {
            "stimulus": {
                "method": "decide",
                "params": {
                    "run": "r1",
                    "decisions": [{"id": "d1", "call": "c1", "action": "resume", "payload": False}],
                },
            }
        },
        {
            "observation": {
                "kind": "call.status", "run": "r1", "call": "c2", "from": "Suspended", "to": "Resuming",
            }
        },
        {"observation": {"kind": "gate.open", "run": "r1", "gate": "g2", "on": "tool", "call": "c2"}},
        {"report": {"quiescent": True, "refused": [{"why": "a \x1b[31mred\x1b[0m reason"}]}},
    ]
)  # fmt: skip

MOVES = (
    Move("run.start", {"run": "r1", "input": "hello"}),
    Move(
        "gate.release",
        {
            "gate": "model",
            "outcome": {
                "kind": "turn",
                "tool_calls": [{"id": "c1", "name": "asking"}, {"id": "c2", "name": "asking"}],
            },
        },
    ),
    Move(
        "decide",
        {"run": "r1", "decisions": [{"id": "d1", "call": "c1", "action": "resume", "payload": False}]},
    ),
)

RESULT = Result(
    target="cmd:./acme-adapter --fast",
    implementation={"name": "acme-runtime", "version": "2.1"},
    profile="awaken-8",
    policies={},
    spec="1.0",
    family_name="lifecycle",
    budget={"examples": 100},
    schedules=100,
    stimuli=812,
    partial="its time was over",
    clauses=[
        ClauseVerdict("CALL-1", "MUST", "held", "", 212),
        ClauseVerdict("CALL-2", "MUST", "held", "", 4),
        ClauseVerdict("CALL-3", "MUST", "held", "", 1),
        ClauseVerdict("CALL-5", "MUST", "held", "", 9),
        ClauseVerdict("CALL-9", "MAY", "untested", "no schedule reached it"),
        ClauseVerdict("CALL-24", "MUST", "untested", "no schedule reached it"),
        ClauseVerdict("DECIDE-5", "MUST", "broken", "decision d1 names call c1, yet call c2 moved", 3),
        ClauseVerdict("DECIDE-6", "MUST", "untested", "its decisions have no payload", 0, False),
        ClauseVerdict("RUN-11", "MUST", "not-applicable", "the policy run.created is no"),
    ],
    witnesses=[Witness("DECIDE-5", "decision d1 names call c1, yet call c2 moved", MOVES, TRACE)],
    questions=[
        Unanswered(
            load_spec("lifecycle").questions[1],
            ("checkpoint", "no"),
            Witness("KEEP-1", "decision d1 had been accepted, yet call c1 waits", MOVES, TRACE),
        )
    ],
    troubles=[
        Trouble("adapter", "The answer to decide does not fit the protocol: kind is \"\\u001b\"."),
        Trouble("SUT", "The runtime did not answer decide within 10 s."),
        Trouble("SUT", "The runtime did not answer decide within 10 s."),
    ],
    coverage=[
        ChartCoverage(
            "Run",
            {row: 3 * (row.event != "stopped") for row in RUNS.rows},
            {(RUNS.rows[0], row): number for number, row in enumerate(RUNS.rows) if row.source == "Waiting"},
            {("Done", "cancel"): 4},
            derived=True,
        ),
        ChartCoverage(
            "ToolCall",
            {row: 9 for row in CALLS.rows},
            {},
            {(state, "decide resume"): 0 for state in CALLS.states},
        ),
        ChartCoverage("ResumeToolCall", {}, {}, {}, 14, why="the runtime does not show resume"),
    ],
    tours=[Toured("Run", ("RUN-1", "RUN-2"), 3, 2), Toured("Run", ("RUN-1", "RUN-18"), 3, 0)],
)  # fmt: skip

FILES = {
    "DECIDE-5": Path("runlock-results/DECIDE-5.jsonl"),
    "question-1": Path("runlock-results/question-1.jsonl"),
    "trouble-2": Path("runlock-results/t.jsonl"),
}
