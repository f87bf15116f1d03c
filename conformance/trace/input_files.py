"""Files that a user names: what cannot be read is wrong usage, said in one sentence."""

from __future__ import annotations

from pathlib import Path

from runlock.conformance.errors import UsageError


def text_of(path: Path, right: str = "", missing: str = "") -> str:
    """The text in a file; else the sentence says why, and `right` what would have been right.

    Where there is no file at all, `missing` may say so in its own words.
    """
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise UsageError(missing or _unreadable(path, error), right) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(_unreadable(path, error), "" if missing else right) from None


def _unreadable(path: Path, error: OSError | UnicodeDecodeError) -> str:
    return f"{path} cannot be read: {getattr(error, 'strerror', None) or error}."
