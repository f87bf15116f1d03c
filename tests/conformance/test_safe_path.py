"""Processes that the kit starts import nothing from the current folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from runlock.conformance.safe_path import spawned
from runlock.conformance.transport.guardian import end_with_parent


def _path() -> list[str]:
    return sys.path


def test_the_current_folder_is_not_on_the_path_of_a_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither by its name nor as the empty one, which Python takes for it."""
    monkeypatch.chdir(tmp_path)
    with spawned(1) as pool:
        theirs = pool.submit(_path).result()

    assert not {"", str(tmp_path)} & set(theirs)


def test_a_pool_leaves_the_environment_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The targets that a process of the pool starts find their own modules next to them."""
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    with spawned(1, end_with_parent) as pool:
        theirs = pool.submit(os.getenv, "PYTHONSAFEPATH").result()

    assert (theirs, os.environ.get("PYTHONSAFEPATH")) == (None, None)


def test_what_the_user_has_set_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """A user who wants a safe path everywhere gets it in the processes of a pool too."""
    monkeypatch.setenv("PYTHONSAFEPATH", "2")
    with spawned(1) as pool:
        assert pool.submit(os.getenv, "PYTHONSAFEPATH").result() == "2"
