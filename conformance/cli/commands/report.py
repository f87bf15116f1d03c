"""`runlock report`: writes a stored result in another format."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from runlock.conformance import outputs
from runlock.conformance.errors import UsageError
from runlock.conformance.report.badge import badge, drawn
from runlock.conformance.report.html import web
from runlock.conformance.report.junit import junit
from runlock.conformance.report.markdown import markdown
from runlock.conformance.report.pictures import pictures_of
from runlock.conformance.report.sarif import sarif
from runlock.conformance.report.stored_result import Stored, read_stored

FORMATS: Final[Mapping[str, Callable[[Stored], str]]] = {
    "junit": junit,
    "markdown": markdown,
    "badge": badge,
    "html": web,
    "sarif": sarif,
}


def report(path: Path, wanted: str | None, out: Path | None) -> int:
    """Run the whole command; the exit code does not depend on the verdict."""
    make = _format(wanted, out)
    result = read_stored(path)
    folder = path if path.is_dir() else path.parent
    write(web(result, pictures_of(result, folder)) if make is web else make(result), out)
    return 0


def _format(wanted: str | None, out: Path | None) -> Callable[[Stored], str]:
    if wanted is None:
        raise UsageError("No format was named.", f"`--format` is one of {', '.join(FORMATS)}.")
    if wanted not in FORMATS:
        near = get_close_matches(wanted.lower(), FORMATS, n=1)
        right = f"Did you mean `{near[0]}`?" if near else f"It is one of {', '.join(FORMATS)}."
        raise UsageError(f"There is no format `{wanted}`.", right)
    is_drawn = wanted == "badge" and out is not None and out.suffix == ".svg"
    return drawn if is_drawn else FORMATS[wanted]


def write(text: str, out: Path | None) -> None:
    """Write a text to a file, or to standard output; always in UTF-8."""
    if out is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "backslashreplace"))
        sys.stdout.buffer.flush()
        return
    try:
        outputs.write(out, text)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageError(f"{out} cannot be written: {why}.", "Name another file with `-o`.") from None
