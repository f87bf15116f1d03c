"""The corpus: recordings of real libraries, and lists of messages as reports describe them.

`runlock audit --accept tests/data/corpus` wrote the verdicts of the recordings, after each was looked at.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from audited import audited, broken, put
from command_line import run
from places import DATA
from reported_lists import REPORTED

CORPUS = DATA / "corpus"


def test_recordings_of_real_libraries_keep_their_verdicts(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Fourteen conversations with eight libraries and agents, in nine formats."""
    pytest.importorskip("duckdb")
    ran = run(capsys, "audit", str(CORPUS), "--json", "-o", str(tmp_path / "out"))

    assert (ran.code, ran.json["accepted"]) == (0, {str(CORPUS): []})
    assert sum(ran.json["audit"]["read"].values()) == 210
    assert len(ran.json["audit"]["read"]) == 9


def test_the_corpus_names_no_machine() -> None:
    """Tracebacks and resources of spans would."""
    named = re.compile(r"/(?:root|home|tmp|Users)/|host\.name")

    assert [file.name for file in CORPUS.iterdir() if named.search(file.read_text())] == []


def is_result(message: dict[str, Any]) -> bool:
    """Whether it is a message with the results of a turn."""
    kinds = {part.get("part_kind") for part in message.get("parts", ())}
    return message.get("role") == "tool" or bool(kinds & {"tool-return", "retry-prompt"})


def test_a_result_that_is_taken_out_is_missed(tmp_path: Path) -> None:
    """In each recorded list of messages with a call."""
    for file in sorted(CORPUS.glob("*.messages.json")):
        listed = json.loads(file.read_text())
        at = next((at for at, one in enumerate(listed) if is_result(one)), None)
        if at is not None:
            cut = put(tmp_path / file.name, json.dumps([*listed[:at], *listed[at + 1 :]]))
            assert "PAIR-1" in broken(audited(cut)), file.name


@pytest.mark.parametrize("name", REPORTED)
def test_a_list_of_a_report_has_its_verdict(name: str, tmp_path: Path) -> None:
    """The clause that leads, or none."""
    records, clause = REPORTED[name]
    found = audited(put(tmp_path / "a.json", json.dumps(records)))

    assert (clause in broken(found)) == bool(clause)
    assert (bool(broken(found)), found.result.troubles) == (bool(clause), [])


def test_there_are_twenty_lists() -> None:
    """And some of them are right."""
    assert len(REPORTED) >= 20
    assert 5 <= sum(not clause for _, clause in REPORTED.values()) <= 10
