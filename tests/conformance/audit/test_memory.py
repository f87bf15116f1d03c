"""An audit takes as much memory for many recordings as for few."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command_line import IMPORTED
from large_recordings import KINDS, memory

FLAT = 1.5
"""Ten times as much may take this many times the memory: DuckDB fills its buffers, and nothing else grows."""


@pytest.mark.sampled(1, nightly=3)
@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_flat(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file of 300 MB, and a folder of 5,000 files, next to a tenth of that."""
    pytest.importorskip("duckdb")
    monkeypatch.setenv("PYTHONPATH", IMPORTED)
    write, number = KINDS[kind]
    taken = []
    for many in (number // 10, number):
        write(tmp_path / str(many), many)
        taken.append(memory(tmp_path / str(many)))
    shutil.rmtree(tmp_path)

    assert taken[1] <= FLAT * taken[0]
