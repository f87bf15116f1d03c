"""What a runtime shows, as a scenario file: all of it, in lines of its own."""

from __future__ import annotations

import json

import pytest

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.random_walk import walk
from runlock.conformance.family.chooser import Seeded
from runlock.conformance.family.recordings import from_text, to_text
from runlock.conformance.trace.trace import Trace


def exactly(trace: Trace) -> list[str]:
    """The records so that 1, 1.0 and true differ."""
    return [json.dumps(record, sort_keys=True) for record in trace.records]


@pytest.mark.long
def test_what_the_references_show_is_read_back_whole_and_without_a_record_line() -> None:
    """Real traces need no `record` line: the formats fit everything that the protocol says."""
    for target in ("reference:awaken-8", "reference:tirea"):
        bench = Bench(resolve(target).open)
        for index in range(12):
            session = bench.session(bench.scenarios[index % len(bench.scenarios)])
            walk(session, Seeded(7, index))
            text = to_text(session.trace)

            assert exactly(from_text(text)) == exactly(session.trace)
            assert "\nrecord " not in text
