"""Reads files that a user names; a file that cannot be read is a usage error in one sentence."""

from __future__ import annotations

from pathlib import Path

from runlock.conformance.errors import UsageError


def text_of(path: Path, right: str = "", missing: str = "") -> str:
    """The text of a file; the error says why it cannot be read, and `right` what would have been right.

    `missing` replaces the sentence for a file that does not exist.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(missing or _unreadable(path, error), right) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(_unreadable(path, error), "" if missing else right) from None


def _unreadable(path: Path, error: OSError | UnicodeDecodeError) -> str:
    return f"{path} cannot be read: {getattr(error, 'strerror', None) or error}."
