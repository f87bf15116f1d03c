"""Spans are read from any export, and say the same in each."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from audited import RECORDINGS, Records, audited, broken, records_in, verdicts, written
from planted_faults import FAULTS
from span_events import OLDER, in_logs
from span_exports import EXPORTS, SERVICES, older, phoenix_table, tables

duckdb = pytest.importorskip("duckdb", reason="the records of these formats are brought together by DuckDB")

PLAIN = ("otel_genai/plain", "openinference/plain", "openinference/failing", "openinference/approved")
PLANTED = {name: fault for name, fault in FAULTS.items() if name.startswith("openinference: ")}


def document(path: Path, whole: Any) -> Path:
    """A file that is one document over many lines."""
    path.write_text(json.dumps(whole, indent=1), "utf-8")
    return path


@pytest.mark.sampled(3)
@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("name", PLAIN)
def test_an_export_says_what_the_spans_say(export: str, name: str, tmp_path: Path) -> None:
    """The verdicts are those of the same spans as OTLP JSON, whatever the file is called."""
    right = audited(RECORDINGS / f"{name}.jsonl")
    found = audited(document(tmp_path / "export", EXPORTS[export](records_in(name))))

    assert (broken(found), found.result.troubles, found.threads) == ({}, [], right.threads)
    assert verdicts(found) == verdicts(right)


def test_a_table_of_spans_is_read_from_parquet(tmp_path: Path) -> None:
    """With a column for each attribute, and any ending."""
    rows, file = phoenix_table(records_in("openinference/plain")), tmp_path / "spans.data"
    names = sorted({name for row in rows for name in row} - {"events"})
    lines = written(tmp_path / "rows.jsonl", [{name: row.get(name) for name in names} for row in rows])
    duckdb.sql(f"copy (select * from read_json('{lines}')) to '{file}' (format parquet)")

    assert verdicts(audited(file)) == verdicts(audited(RECORDINGS / "openinference" / "plain.jsonl"))


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("name", PLAIN[1:])
def test_a_service_says_what_the_spans_say(service: str, name: str, tmp_path: Path) -> None:
    """Runs of LangSmith and observations of Langfuse."""
    found = audited(written(tmp_path / "a.jsonl", SERVICES[service](records_in(name))))
    right = audited(RECORDINGS / f"{name}.jsonl")

    assert (broken(found), found.result.troubles, found.sources[0]["format"]) == ({}, [], service)
    assert verdicts(found) == verdicts(right)


@pytest.mark.parametrize("name", PLAIN[1:])
def test_a_table_of_langfuse_says_what_the_spans_say(name: str, tmp_path: Path) -> None:
    """Its rows have other names, and objects as JSON text."""
    found = audited(written(tmp_path / "a.jsonl", tables(records_in(name))))

    assert (broken(found), found.result.troubles, found.sources[0]["format"]) == ({}, [], "langfuse")
    assert verdicts(found) == verdicts(audited(RECORDINGS / f"{name}.jsonl"))


def test_runs_within_runs_are_read(tmp_path: Path) -> None:
    """As LangSmith gives them with the runs that they started."""
    first, *others = SERVICES["langsmith"](records_in("openinference/plain"))
    found = audited(written(tmp_path / "a.jsonl", [{**first, "child_runs": others}]))

    assert verdicts(found) == verdicts(audited(RECORDINGS / "openinference" / "plain.jsonl"))


@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("name", PLANTED)
def test_a_fault_is_found_in_the_export_of_a_service(service: str, name: str, tmp_path: Path) -> None:
    """Each fault that is found in the spans."""
    recording, plant, clause, says = PLANTED[name]
    found = broken(
        audited(written(tmp_path / "wrong.jsonl", SERVICES[service](plant(records_in(recording)))))
    )

    assert clause in found
    assert says in found[clause]


def test_the_older_spelling_shows_histories(tmp_path: Path) -> None:
    """Messages as attributes with numbers, and tools without the ids of their calls."""
    found = audited(written(tmp_path / "a.jsonl", older(records_in("openinference/plain"))))

    assert (broken(found), found.result.troubles, found.sources[0]["format"]) == ({}, [], "otel-genai")
    assert {verdicts(found)[one] for one in ("PAIR-1", "PAIR-2", "PAIR-3")} == {"held"}


@pytest.mark.parametrize(
    "name", [one for one in PLANTED if PLANTED[one][2] in ("PAIR-1", "PAIR-2", "PAIR-3")]
)
def test_a_fault_is_found_in_the_older_spelling(name: str, tmp_path: Path) -> None:
    """What breaks a history."""
    recording, plant, clause, _ = PLANTED[name]

    assert clause in broken(audited(written(tmp_path / "a.jsonl", older(plant(records_in(recording))))))


def test_results_without_ids_break_nothing(tmp_path: Path) -> None:
    """Where messages do not say which call they answer, nothing is said of their histories."""

    def without_ids(records: Records) -> Records:
        return [
            {
                **one,
                "attributes": {
                    key: value for key, value in one["attributes"].items() if not key.endswith("tool_call_id")
                },
            }
            for one in records
        ]

    found = audited(written(tmp_path / "a.jsonl", without_ids(older(records_in("openinference/plain")))))

    assert (broken(found), found.result.troubles) == ({}, [])
    assert {verdicts(found)[one] for one in ("PAIR-1", "PAIR-2", "PAIR-3")} == {"untested"}


@pytest.mark.parametrize(
    "odd",
    [
        {"scopeSpans": [1, {"spans": [None]}]},
        {"traceId": "t", "spanId": "s", "attributes": [1, {"value": {}}, {"key": "k"}], "status": 3},
        {"traceID": "t", "operationName": "o", "tags": "none", "references": [None], "logs": {}},
        {"context": {"trace_id": "t", "span_id": "s"}, "attributes": "none", "events": [1]},
        {"data": [[], 1, {"spans": {}}], "trace": {"trace": {}}},
    ],
)
def test_a_span_that_is_not_in_order_is_refused(odd: Any, tmp_path: Path) -> None:
    """With a sentence about what was seen, and not with the name of an exception."""
    found = audited(written(tmp_path / "odd.jsonl", [odd]))

    assert ["no importer recognises" in one.what for one in found.result.troubles] == [True]


# --- the events of older conventions ------------------------------------------------------------

OTEL = ("otel_genai/plain", "otel_genai/approved", "otel_genai/retried", "otel_genai/structured")
OTEL_PLANTED = {name: fault for name, fault in FAULTS.items() if name.startswith("otel: ")}


def exported(path: Path, whole: Any) -> Path:
    """A document, or a record on each line."""
    return written(path, whole) if isinstance(whole, list) else document(path, whole)


@pytest.mark.parametrize("form", OLDER)
@pytest.mark.parametrize("name", OTEL)
def test_messages_in_older_events_say_what_the_spans_say(form: str, name: str, tmp_path: Path) -> None:
    """Events of a span, and log records that name it."""
    found = audited(exported(tmp_path / "a.export", OLDER[form](records_in(name))))
    right = audited(RECORDINGS / f"{name}.jsonl")

    assert (broken(found), found.result.troubles, found.threads) == ({}, [], right.threads)
    assert verdicts(found) == verdicts(right)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("form", OLDER)
@pytest.mark.parametrize("name", OTEL_PLANTED)
def test_a_fault_is_found_in_older_events(form: str, name: str, tmp_path: Path) -> None:
    """Each fault that is found in the spans."""
    recording, plant, clause, says = OTEL_PLANTED[name]
    found = broken(audited(exported(tmp_path / "a.export", OLDER[form](plant(records_in(recording))))))

    assert says in found[clause]


def test_log_records_are_joined_with_spans_of_another_file(tmp_path: Path) -> None:
    """And say as much without them, but what tools did."""
    records = in_logs(records_in("otel_genai/retried"))
    logs = written(tmp_path / "logs.jsonl", [one for one in records if "resourceLogs" in one])
    spans = written(tmp_path / "spans.jsonl", [one for one in records if "resourceSpans" in one])
    right = audited(RECORDINGS / "otel_genai" / "retried.jsonl")

    assert verdicts(audited(logs, spans)) == verdicts(right)
    assert {verdicts(audited(logs))[one] for one in ("PAIR-1", "PAIR-2", "PAIR-3")} == {"held"}
    assert ["content was not recorded" in one.what for one in audited(spans).result.troubles] == [True]
