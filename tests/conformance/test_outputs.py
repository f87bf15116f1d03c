"""Output files are written where they were named, and never through a symbolic link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runlock.conformance.errors import UsageError
from runlock.conformance.outputs import no_link, refuse_link, replace, write


@pytest.fixture
def link(tmp_path: Path) -> Path:
    """A link to a file of the user."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "mine")
    return tmp_path / "link"


def test_a_file_is_written_and_written_again(tmp_path: Path) -> None:
    """In UTF-8; what UTF-8 cannot encode is escaped."""
    file = tmp_path / "file"
    assert write(file, b"a longer text") == file
    write(file, "\u00e9\ud800")

    assert file.read_bytes() == b"\xc3\xa9\\ud800"


def test_nothing_is_written_through_a_link(link: Path) -> None:
    """The error says what is wrong, and the file behind the link stays as it is."""
    with pytest.raises(OSError, match="it is a link, which is not followed"):
        write(link, "theirs")

    assert (link.parent / "mine").read_text() == "mine"


def test_a_stream_of_the_command_can_be_named() -> None:
    """`-o /dev/stdout`, and what a shell writes for `-o >(command)`, are links of the system."""
    reads, writes = os.pipe()
    write(Path(f"/dev/fd/{writes}"), "shown")
    os.close(writes)

    assert os.read(reads, 99) == b"shown"
    os.close(reads)


@pytest.mark.parametrize("place", ["/dev/shm/link", "/dev/fd/../shm/link"])
def test_a_link_in_another_folder_of_devices_is_refused(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anyone may put one into `/dev/shm`."""
    asked: list[int] = []
    monkeypatch.setattr(os, "open", lambda _path, flags, _mode: asked.append(flags) or 0)
    no_link(place, os.O_WRONLY)

    assert asked == [os.O_WRONLY | os.O_NOFOLLOW]


def test_a_link_is_replaced(link: Path) -> None:
    """A result takes the place of the link; so it does of a file that a killed process left half-written."""
    (link.parent / f".link.{os.getpid()}").symlink_to(link.parent / "mine")
    replace(link, "new")

    assert (link.is_symlink(), link.read_text(), (link.parent / "mine").read_text()) == (False, "new", "mine")
    assert sorted(path.name for path in link.parent.iterdir()) == ["link", "mine"]


def test_a_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    """A folder itself is taken, whether it is there or not."""
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(UsageError, match="is a link, which is not followed"):
        refuse_link(tmp_path / "link")

    refuse_link(tmp_path)
    refuse_link(tmp_path / "new")
