"""Witness files: for each mutant the shortest known schedule that breaks its clause, as moves alone.

The witnesses of one area of clauses stand in one file, by the names of their mutants:

    mutant ConcludesFromOne breaks RUN-2: the run is Done, yet call c2 is Suspended
    needs decisions live
    scenario ConcludesFromOne
      tool write ask
    start r1 "write both"
    release model turn c1:write

A line that begins with `mutant` begins a witness: it names the mutant, the clause that is broken, and the
reason that the judge gives.  Everything up to the next such line is a scenario file without observations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from typing import Any, Final

from runlock.conformance.errors import UsageError
from runlock.conformance.protocol.vocabulary import Vocabulary
from runlock.conformance.trace.document import Document, Entry
from runlock.conformance.trace.line_formats import LineFormats
from runlock.conformance.trace.moves import Move, moves_of, record_of
from runlock.conformance.trace.scenario_file import parse, render

ENDING: Final = ".scenarios"

_BEGINS: Final = re.compile(r"mutant (\S+) breaks (\S+-\d+): (.+)")


@dataclass(frozen=True, slots=True)
class Witness:
    """A schedule that breaks a clause on one mutant, the reason, and what the moves need at their moment."""

    mutant: str
    clause: str
    reason: str
    scenario: Any
    moves: tuple[Move, ...]
    needs: tuple[str, ...] = ()

    @property
    def area(self) -> str:
        """The area of its clause, which names its file."""
        return self.clause.rpartition("-")[0].lower()

    @property
    def document(self) -> Document:
        """The schedule as a scenario file without observations."""
        records = [{"scenario": self.scenario.as_sent}, *map(record_of, self.moves)]
        return Document([Entry(record) for record in records], needs=self.needs)


def read_witnesses(
    folder: Traversable, vocabulary: Vocabulary, formats: LineFormats
) -> Mapping[str, Witness]:
    """Every witness in the files of a folder, by the names of the mutants."""
    files = [one for one in folder.iterdir() if one.name.endswith(ENDING)] if folder.is_dir() else []
    found = [
        one
        for file in files
        for one in parse_witnesses(file.read_text("utf-8"), file.name, vocabulary, formats)
    ]
    return {one.mutant: one for one in sorted(found, key=lambda one: one.mutant)}


def parse_witnesses(
    text: str, source: str, vocabulary: Vocabulary, formats: LineFormats
) -> Iterator[Witness]:
    """The witnesses in the text of a file."""
    lines = text.split("\n")
    starts = [at for at, line in enumerate(lines) if line.startswith("mutant ")]
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        began = _BEGINS.fullmatch(lines[start])
        if began is None:
            raise UsageError(
                f"{source}:{start + 1}: a witness begins with its mutant, clause and reason.",
                "Write `mutant NAME breaks CLAUSE: REASON`.",
            )
        padding = [""] * (start + 1)  # so that an error names the right line of the file
        document = parse("\n".join([*padding, *lines[start + 1 : end]]), formats, source)
        given = next(document.trace.of("scenario"), None)
        if given is None:
            raise UsageError(f"{source}:{start + 1}: the witness has no scenario.", "Write `scenario NAME`.")
        moves = tuple(moves_of(document.trace, formats.gate_name))
        yield Witness(
            began[1], began[2], began[3], vocabulary.scenario.model_validate(given), moves, document.needs
        )


def render_witnesses(area: str, witnesses: Iterable[Witness], formats: LineFormats) -> str:
    """The text of a file with those of the witnesses that are of an area."""
    about = f"# The shortest known schedules that break a clause of {area.upper()}, one for each mutant.\n"
    kept = sorted((one for one in witnesses if one.area == area), key=lambda one: one.mutant)
    return "\n".join([about, *(_text(one, formats) for one in kept)])


def _text(witness: Witness, formats: LineFormats) -> str:
    begins = f"mutant {witness.mutant} breaks {witness.clause}: {witness.reason}"
    body = [line for line in render(witness.document, formats).splitlines() if line]
    return "\n".join([begins, *body]) + "\n"
