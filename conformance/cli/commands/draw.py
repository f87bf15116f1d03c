"""`runlock draw`: charts, traces, coverage and kill matrices as text and as pictures."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from runlock.conformance import outputs
from runlock.conformance.campaign.audit import facts_of, the_scene
from runlock.conformance.campaign.rejudging import judged
from runlock.conformance.cli.commands.output_streams import results
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT, family_names
from runlock.conformance.family.recordings import read_recording
from runlock.conformance.inputs import json_of
from runlock.conformance.text import plain
from runlock.conformance.trace.scenario_file import ENDING
from runlock.conformance.trace.trace import Trace
from runlock.diagrams import matrix
from runlock.diagrams.charts.formats import FORMS
from runlock.diagrams.charts.picture import Picture, pictures
from runlock.diagrams.of_family import drawing
from runlock.diagrams.render import graphviz_layout as layout
from runlock.diagrams.render.png import painted

CHARTS: Final = Path("runlock-charts")
"""The default folder for charts."""

NAMES_MAX: Final = 8
"""Above this number, files are counted instead of named."""

STDOUT: Final = Path("-")

Made = tuple[str, bytes]
"""The name of a file, and its content."""


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
    folder = _folder(out or (files[0].parent if files and not charts else CHARTS))
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
    """A file for each chart and each format; only text formats if none is given."""
    known = _pictures()
    chosen = [_known("chart", name, known) for name in names] or list(pictures())
    asked = forms or [name for name, form in FORMS.items() if form.is_text]
    return [
        (f"{name}.{FORMS[form].ending}", FORMS[form].make(known[name])) for name in chosen for form in asked
    ]


def _pictures() -> dict[str, Picture]:
    """The charts of every family by name; the first family takes precedence."""
    return {name: one for family in reversed(family_names()) for name, one in pictures(family).items()}


# --- files --------------------------------------------------------------------------------------


def _of_file(path: Path, forms: Sequence[str]) -> list[Made]:
    """The drawings of a trace, or of a result of `check` or `selftest`; all of them if no format is given."""
    found = list(READERS[path.suffix](path))
    able = list(dict.fromkeys(form for form, _, _ in found))
    if lacking := [form for form in forms if form not in able]:
        raise UsageError(f"{path} is not drawn as {lacking[0]}.", f"It is drawn as {' or '.join(able)}.")
    return [(f"{path.stem}{rest}", content) for form, rest, content in found if form in (forms or able)]


def _of_trace(path: Path) -> Iterator[tuple[str, str, bytes]]:
    trace = the_scene(path, read_recording(path))
    because, family = _because(path, trace), _family(path, trace)
    timeline, sequence = drawing(family, "timeline_svg"), drawing(family, "sequence_svg")
    text = drawing(family, "sequence")
    if timeline is None and sequence is None and text is None:
        raise UsageError(
            f"Traces of the family {family} are not drawn.", "`runlock replay` shows one as text."
        )
    if timeline is not None:
        yield "svg", ".timeline.svg", timeline.drawn(trace, path.stem, because).text().encode()
    if sequence is not None:
        yield "svg", ".sequence.svg", sequence.drawn(trace, path.stem, because).text().encode()
    if text is not None:
        yield "mermaid", ".sequence.mmd", text.mermaid(trace, because).encode()


def _family(path: Path, trace: Trace) -> str:
    """The family of a trace; a scenario file without a handshake is of the default one."""
    return DEFAULT if next(trace.of("handshake"), None) is None else facts_of(path, trace).family.name


def _because(path: Path, trace: Trace) -> str:
    """What is wrong in the trace, as it was recorded or else as it is judged now."""
    if (recorded := trace.verdict_in_words) or next(trace.of("handshake"), None) is None:
        return recorded
    broken = judged(path, trace, facts_of(path, trace)).violation
    return f"{broken.clause}: {broken.reason}" if broken is not None else ""


def _of_json(path: Path) -> Iterator[tuple[str, str, bytes]]:
    try:
        yield from _drawn(path, _object(path))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is no whole result: {plain(error)}.", WRITTEN_BY) from None


def _drawn(path: Path, found: dict[str, Any]) -> Iterator[tuple[str, str, bytes]]:
    if "kills" in found:
        yield "svg", ".svg", matrix.drawn(found).text().encode()
    elif "coverage" in found:
        for name, source in painted(found):
            yield "svg", f".{name}.svg", layout.svg(source, f"{name}, as it was covered").text().encode()
    else:
        raise UsageError(f"{path} holds neither coverage nor kills.", WRITTEN_BY)


def _object(path: Path) -> dict[str, Any]:
    found = json_of(path, WRITTEN_BY)
    if not isinstance(found, dict):
        raise UsageError(f"{path} holds no object.", WRITTEN_BY)
    return found


WRITTEN_BY: Final = "Such a file is written by `check`, as result.json, and by `selftest --json`."

READERS: Final[dict[str, Callable[[Path], Iterator[tuple[str, str, bytes]]]]] = {
    ".jsonl": _of_trace,
    ENDING: _of_trace,
    ".json": _of_json,
}
"""How a file is drawn, by the ending of its name: the format, the rest of its name, and its content."""


# --- what was asked, and where it goes ----------------------------------------------------------


def _known(what: str, name: str, known: Mapping[str, object]) -> str:
    """The exact name for one that was given in any case."""
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
    outputs.refuse_link(out)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"Nothing can be written to {out}: {error.strerror}.", "-o names a folder."
        ) from None
    return out


def _write(path: Path, content: bytes) -> Path:
    try:
        return outputs.write(path, content)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}.", "-o names another folder.") from None
