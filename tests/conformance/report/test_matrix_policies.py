"""The policies of a runtime in the matrix: declared and inferred values, and a contradiction between them."""

from runlock.conformance.campaign.inference.result import Against, Inferred
from runlock.conformance.families.message_loop.reference import factory
from runlock.conformance.report.matrix_policies import inferred, section
from runlock.conformance.trace.trace import Trace

FOUND = {
    "policies": {"state": "caller", "resume": "partial", "decision.modes": ["replay", "use_as_result"]},
    "inferred": {
        "schedules": 9,
        "policies": {
            "state": {"values": ["runtime", "caller"], "against": []},
            "resume": {
                "values": ["collect"],
                "against": [["partial", "DECIDE-14", "decision d1 | d2 of '<c1>' was to be held"]],
            },
            "tool.raises": {"values": [], "against": []},
        },
    },
}


def test_declared_and_inferred_values_stand_side_by_side():
    """A declared value links to the page that promises it; one that was ruled out is a contradiction."""
    lines = [*section(FOUND, {"state": "https://docs"})]

    assert lines[0] == (
        '<details markdown="1"><summary>Policies: 3 declared, 1 inferred from 9 schedules, '
        "1 contradiction</summary>\n"
    )
    assert lines[4:-1] == [
        "| `decision.modes` | replay, use_as_result | not inferred |  |",
        "| `resume` | partial | collect, **contradicts the declaration** | "
        "`partial` is ruled out: decision d1 \\| d2 of '&lt;c1\\>' was to be held (DECIDE-14) |",
        "| `state` | [caller](https://docs) | runtime or caller |  |",
        "| `tool.raises` |  | **mixed** |  |",
    ]


def test_a_known_violation_explains_a_contradiction():
    """A runtime that breaks the clause of its declared value behaves as no value says."""
    seen = {"values": [], "against": [["partial", "DECIDE-14", "it was held"]]}
    found = {
        "policies": {"resume": "partial"},
        "inferred": {"schedules": 9, "policies": {"resume": seen}},
        "violations": [{"clause": "DECIDE-14"}, {"clause": "RUN-20"}],
    }

    assert "**mixed**, **contradicts the declaration**, as its violation of DECIDE-14 shows" in "".join(
        section(found, {})
    )


def test_a_runtime_that_was_not_inferred_shows_what_it_declares():
    """And one without any policy has no table."""
    assert [*section({"policies": {"state": "caller"}}, {})][4] == "| `state` | caller | not inferred |  |"
    assert [*section({"policies": {}}, {})] == []


def test_a_time_in_the_words_of_an_agent_does_not_change_the_matrix():
    """How long a call had run is left out of the evidence."""
    said = Against("an aborted call reads 'aborted after 0.5s'", "CANCEL-10", 3, Trace())
    found = Inferred("an agent", factory()().handshake, against={("told", "alike"): said})

    assert inferred(found)["policies"]["told"] == {
        "values": ["apart"],
        "against": [["alike", "CANCEL-10", "an aborted call reads 'aborted after N s'"]],
    }
