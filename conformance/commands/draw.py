"""`interlock draw`: the charts as text and as pictures, generated and never drawn by hand."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from interlock.conformance.commands.streams import results
from interlock.conformance.exceptions import UsageError
from interlock.diagrams.forms import FORMS
from interlock.diagrams.picture import pictures

CHECKED_IN: Final = Path("docs/charts")
"""Where the text of the charts is kept in the repository of the kit, and written if nothing else is said."""

STDOUT: Final = Path("-")

Made = tuple[str, bytes]
"""The name of a file, and what is in it."""


def draw(names: Sequence[str], forms: Sequence[str], out: Path | None) -> int:
    """Run the whole command; the exit code."""
    wanted = [_known("format", form, FORMS) for form in forms]
    made = _charts(names, wanted)
    if out == STDOUT:
        return _print(list(made))
    folder = _folder(CHECKED_IN if out is None else out)
    written = [_write(folder / name, content) for name, content in made]
    with results() as stdout:
        print(f"{len(written)} files in {folder}/", file=stdout)
    return 0


def _charts(names: Sequence[str], forms: Sequence[str]) -> Iterator[Made]:
    """A file for each chart and each form; text alone if no form is asked for."""
    chosen = [_known("chart", name, pictures()) for name in names] or list(pictures())
    asked = forms or [name for name, form in FORMS.items() if form.is_text]
    return (
        (f"{name}.{FORMS[form].ending}", FORMS[form].make(pictures()[name]))
        for name in chosen
        for form in asked
    )


def _known(what: str, name: str, known: Mapping[str, object]) -> str:
    """The name as it is written there, in whatever case it was asked for."""
    written = {one.lower(): one for one in known}
    if name.lower() in written:
        return written[name.lower()]
    near = get_close_matches(name.lower(), written, n=1)
    right = f"Did you mean `{written[near[0]]}`?" if near else f"There are {', '.join(known)}."
    raise UsageError(f"There is no {what} {name}.", right)


def _print(made: Sequence[Made]) -> int:
    if len(made) != 1:
        raise UsageError(
            f"`-o -` writes one file to standard output, and this makes {len(made)}.",
            "Name one chart and one format, as in `draw Run --format svg -o -`.",
        )
    with results() as stdout:
        stdout.flush()
        getattr(stdout, "buffer", sys.stdout.buffer).write(made[0][1])
    return 0


def _folder(out: Path) -> Path:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Nothing can be written to {out}: {error.strerror}.", "-o names a folder."
        ) from None
    return out


def _write(path: Path, content: bytes) -> Path:
    try:
        path.write_bytes(content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", "-o names another folder.") from None
    return path
