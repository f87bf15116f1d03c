"""Reads and writes scenario files and traces of any family; each file names its family."""

from __future__ import annotations

from pathlib import Path

from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import family_named, family_names
from runlock.conformance.family.fitting import check_fits
from runlock.conformance.family.formats import formats_of
from runlock.conformance.inputs import text_of
from runlock.conformance.trace import scenario_file
from runlock.conformance.trace.document import Document
from runlock.conformance.trace.scenario_file import DEFAULT_FAMILY, ENDING, family_of
from runlock.conformance.trace.trace import Trace, numbered_records


def parse(text: str, source: str = "scenario") -> Document:
    """A scenario file with its comments."""
    try:
        formats = formats_of(family_of(text))
    except UsageError as error:
        raise UsageError(f"{source}: {error.what}", error.right) from None
    return scenario_file.parse(text, formats, source)


def from_text(text: str, source: str = "scenario") -> Trace:
    """The trace in a scenario file; a `UsageError` names the line that cannot be read."""
    return parse(text, source).trace


def read_scenario(path: Path) -> Trace:
    """Read a scenario file, whose moves fit the protocol of its family."""
    document = parse(text_of(path, "A scenario file is UTF-8 text."), str(path))
    check_fits(family_named(document.family), document.numbered, str(path), observations=False)
    return document.trace


def read_recording(path: Path) -> Trace:
    """Read a scenario file or a trace file, by the ending of its name; its moves fit the protocol."""
    if path.suffix == ENDING:
        return read_scenario(path)
    numbered = numbered_records(path)
    trace = Trace([record for _, record in numbered])
    if any(trace.of("handshake")) and (name := family_of_trace(trace)) in family_names():
        check_fits(family_named(name), numbered, str(path), observations=False)
    return trace


def to_text(trace: Trace) -> str:
    """The scenario file of a trace."""
    return scenario_file.to_text(trace, formats_of(family_of_trace(trace)))


def render(document: Document) -> str:
    """The text of a scenario file."""
    family = document.family or family_of_trace(document.trace)
    return scenario_file.render(document, formats_of(family))


def family_of_trace(trace: Trace) -> str:
    """The family that the handshake of a trace names, or the default one."""
    named = next((str(handshake.get("family", "")) for handshake in trace.of("handshake")), "")
    return named or DEFAULT_FAMILY
