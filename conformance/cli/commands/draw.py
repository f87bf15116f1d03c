"""`runlock draw`: charts, traces, coverage and kills as text and as pictures, never drawn by hand."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from runlock.conformance.campaign.audit import facts_of, judged, the_scene
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.family.recordings import read_recording
from runlock.conformance.trace.input_files import text_of
from runlock.conformance.trace.scenario_file import ENDING
from runlock.conformance.trace.trace import Trace
from runlock.diagrams import matrix
from runlock.diagrams.charts.formats import FORMS
from runlock.diagrams.charts.picture import pictures
from runlock.diagrams.lifecycle import sequence
from runlock.diagrams.lifecycle import sequence_svg as drawn_sequence
from runlock.diagrams.lifecycle import timeline_svg as drawn_timeline
from runlock.diagrams.render import graphviz_layout as layout
from runlock.diagrams.render.png import painted

CHECKED_IN: Final = Path("docs/charts")
"""Where the text of the charts is kept in the repository of the kit, and written if nothing else is said."""

NAMES_MAX: Final = 8
"""More files than this are counted, not named."""

STDOUT: Final = Path("-")

Made = tuple[str, bytes]
"""The name of a file, and what is in it."""


def draw(names: Sequence[str], forms: Sequence[str], out: Path | None) -> int:
    """Run the whole command; the exit code."""
    wanted = [_known("format", form, FORMS) for form in forms]
    files = [Path(name) for name in names if Path(name).suffix in READERS]
    charts = [name for name in names if Path(name).suffix not in READERS]
    made = [one for file in files for one in _of_file(file, wanted)]
    if charts or not files:
        made += _charts(charts, wanted)
    if out == STDOUT:
        return _print(made)
    folder = _folder(out or (files[0].parent if files and not charts else CHECKED_IN))
    for name, content in made:
        _write(folder / name, content)
    with results() as stdout:
        stdout.write(_told(folder, [name for name, _ in made]))
    return 0


def _told(folder: Path, names: Sequence[str]) -> str:
    if len(names) > NAMES_MAX:
        return f"{len(names)} files in {folder}/\n"
    return "".join(f"{folder / name}\n" for name in names)


def _charts(names: Sequence[str], forms: Sequence[str]) -> list[Made]:
    """A file for each chart and each form; text alone if no form is asked for."""
    chosen = [_known("chart", name, pictures()) for name in names] or list(pictures())
    asked = forms or [name for name, form in FORMS.items() if form.is_text]
    return [
        (f"{name}.{FORMS[form].ending}", FORMS[form].make(pictures()[name]))
        for name in chosen
        for form in asked
    ]


# --- files --------------------------------------------------------------------------------------


def _of_file(path: Path, forms: Sequence[str]) -> list[Made]:
    """What is drawn of a trace, or of what `check` or `selftest` wrote; all of it if no form is asked for."""
    found = list(READERS[path.suffix](path))
    able = list(dict.fromkeys(form for form, _, _ in found))
    if lacking := [form for form in forms if form not in able]:
        raise UsageError(f"{path} is not drawn as {lacking[0]}.", f"It is drawn as {' or '.join(able)}.")
    return [(f"{path.stem}{rest}", content) for form, rest, content in found if form in (forms or able)]


def _of_trace(path: Path) -> Iterator[tuple[str, str, bytes]]:
    trace = the_scene(path, read_recording(path))
    because = _because(path, trace)
    yield "svg", ".timeline.svg", drawn_timeline.drawn(trace, path.stem, because).text().encode()
    yield "svg", ".sequence.svg", drawn_sequence.drawn(trace, path.stem, because).text().encode()
    yield "mermaid", ".sequence.mmd", sequence.mermaid(trace, because).encode()


def _because(path: Path, trace: Trace) -> str:
    """What the trace breaks; a recording without a handshake says too little to be judged."""
    if next(trace.of("handshake"), None) is None:
        return ""
    broken = judged(path, trace, facts_of(path, trace)).violation
    return f"{broken.clause}: {broken.because}" if broken is not None else ""


def _of_json(path: Path) -> Iterator[tuple[str, str, bytes]]:
    found = _object(path)
    if "kills" in found:
        yield "svg", ".svg", matrix.drawn(found).text().encode()
    elif "coverage" in found:
        for name, source in painted(found):
            yield "svg", f".{name}.svg", layout.svg(source, f"{name}, as it was covered").text().encode()
    else:
        raise UsageError(f"{path} holds neither coverage nor kills.", WRITTEN_BY)


def _object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(text_of(path, WRITTEN_BY))
    except ValueError as error:
        raise UsageError(f"{path} cannot be read: {error}.", WRITTEN_BY) from None
    if not isinstance(found, dict):
        raise UsageError(f"{path} holds no object.", WRITTEN_BY)
    return found


WRITTEN_BY: Final = "Such a file is written by `check`, as result.json, and by `selftest --json`."

READERS: Final[dict[str, Callable[[Path], Iterator[tuple[str, str, bytes]]]]] = {
    ".jsonl": _of_trace,
    ENDING: _of_trace,
    ".json": _of_json,
}
"""How a file is drawn, by the ending of its name: the format, the rest of its name, and what is in it."""


# --- what was asked, and where it goes ----------------------------------------------------------


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
