"""What the kit says of a stream of AG-UI, an audit says of a recording of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from audited import audited, broken, verdicts, written
from exchanges import recorded, rows
from judged_records import Row
from recorded_events import asks, begins, ends, request, says

pytest.importorskip("duckdb", reason="the records of these formats are brought together by DuckDB")

BROKEN, HELD = rows(is_broken=True), rows(is_broken=False)


@pytest.mark.sampled(8)
@pytest.mark.parametrize("row", BROKEN, ids=[f"{row.clause}-{at}" for at, row in enumerate(BROKEN)])
def test_a_recorded_stream_is_blamed_like_a_live_one(row: Row, tmp_path: Path) -> None:
    """The same clause, for the same reason."""
    found = broken(audited(written(tmp_path / "wrong.jsonl", recorded(row))))

    assert found.get(row.clause) == row.reason


@pytest.mark.sampled(8)
@pytest.mark.parametrize("row", HELD, ids=[f"{row.clause}-{at}" for at, row in enumerate(HELD)])
def test_a_recorded_stream_holds_like_a_live_one(row: Row, tmp_path: Path) -> None:
    """And is exercised."""
    found = audited(written(tmp_path / "right.jsonl", recorded(row)))

    assert row.clause not in broken(found)
    assert verdicts(found)[row.clause] == "held"


def test_events_without_a_request_are_judged_run_by_run(tmp_path: Path) -> None:
    """How a stream begins is not known, nor which request it answers; what a run leaves open is."""
    apart = [*says(), ends(), begins(), *says("m2"), ends()]
    found = audited(written(tmp_path / "events.jsonl", apart))
    wrong = broken(audited(written(tmp_path / "open.jsonl", [begins(), *asks("c1")[:-1], ends()])))

    assert broken(found) == {}
    assert verdicts(found)["PRODUCER-1"] == "untested"
    assert "call c1 is open" in (wrong.get("PRODUCER-18") or wrong.get("WIRE-63", ""))


def test_requests_whose_answers_are_not_recorded_pair_with_nothing(tmp_path: Path) -> None:
    """Where a request has no events after it, no events are known to be those of a request."""
    records = [request(), request(), {**begins(), "threadId": "one", "runId": "other"}, *says(), ends()]
    found = audited(written(tmp_path / "unpaired.jsonl", records))

    assert broken(found) == {}
    assert verdicts(found)["PRODUCER-1"] == "untested"
