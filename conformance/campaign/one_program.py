"""One bug of a file of programs: what that bug needs of the file, and nothing else.

A file of `docs/standalone` may show several bugs of a runtime, each in a function of its table `PROGRAMS`,
with a scripted model that they share.  A report to a maintainer needs one of them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

TABLE: Final = {".py": '\n\nPROGRAMS = {{"{0}": {0}}}\n', ".mjs": "\nconst programs = {{ {0} }};\n"}
"""The table with one program, in each language."""

CHOICE: Final = {".py": "A name on the command line shows one bug.\n\n", ".mjs": " [NAME]"}
"""What the head of a file with several programs says of their names."""

WORD: Final = re.compile(r"[A-Za-z_$][\w$]*")
DEFINITION: Final = re.compile(r"(?:async )?(?:function\*?|class|const|let) ([\w$]+)")
IMPORT: Final = re.compile(r"import ([^;]+) from ")


class Statement(NamedTuple):
    """A statement at the top level, with the blank lines and comments above it, and the names it defines."""

    text: str
    names: frozenset[str]

    @property
    def words(self) -> set[str]:
        """All words in it, of which some are names that others define."""
        return set(WORD.findall(self.text))


def text_of(program: str, folder: Path) -> str:
    """A program, as `show_agno.py repeated_id`, as a file of its own; LookupError if it is not there."""
    file, _, name = program.partition(" ")
    text = (folder / file).read_text("utf-8")
    return _alone(text, name, Path(file).suffix).replace(file, file_name(program)) if name else text


def _alone(text: str, name: str, suffix: str) -> str:
    head, *statements = SPLIT[suffix](text)
    table = next((one for one in statements if one.names & {"PROGRAMS", "programs"}), None)
    if table is None or name not in table.words:
        raise LookupError(f"The file has no program {name}.")
    alone = Statement(TABLE[suffix].format(name), table.names)
    statements = [alone if one is table else one for one in statements]
    used = _used(statements)
    kept = "".join(one.text for one in statements if not one.names or one.names & used)
    return head.text.replace(CHOICE[suffix], "") + "\n" + kept.lstrip("\n")


def file_name(program: str) -> str:
    """The name of a file with one program: agno_repeated_id.py for `show_agno.py repeated_id`."""
    file, _, name = program.partition(" ")
    stem, dot, suffix = file.removeprefix("show_").rpartition(".")
    return f"{stem}_{name}{dot}{suffix}" if name else file


def _used(statements: list[Statement]) -> set[str]:
    """The names that are used by the statements that define nothing, and by what defines those, and so on."""
    used: set[str] = set()
    found = {word for one in statements if not one.names for word in one.words}
    while not found <= used:
        used |= found
        found = {word for one in statements if one.names & used for word in one.words}
    return used


def _python(text: str) -> Iterator[Statement]:
    lines, end = text.splitlines(keepends=True), 0
    for node in ast.parse(text).body:
        begin, end = end, node.end_lineno or 0
        yield Statement("".join(lines[begin:end]), frozenset(_defined(node)))


def _defined(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            yield from ((one.asname or one.name).partition(".")[0] for one in names)
        case ast.Assign(targets=[ast.Name(id=name)]):
            yield name


def _javascript(text: str) -> Iterator[Statement]:
    """A statement begins in the first column, and the comments and blank lines above it belong to it."""
    lines = text.splitlines(keepends=True)
    ends = [at for at, line in enumerate(lines, 1) if re.match(r"[^\s/}].*;$|[})].*;?$", line)]
    head = next(at for at, line in enumerate(lines) if not line.startswith("//"))
    for begin, end in pairwise([0, head, *ends]):
        part = "".join(lines[begin:end])
        code = re.sub(r"^(//.*|/\*\*.*)?\n", "", part, flags=re.MULTILINE)
        imported, defined = IMPORT.match(code), DEFINITION.match(code)
        names = WORD.findall(imported[1]) if imported else [defined[1]] if defined else []
        yield Statement(part, frozenset(names))


SPLIT: Final = {".py": _python, ".mjs": _javascript}
