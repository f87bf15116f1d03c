"""Generates Markdown: tables, links and pictures, with all special characters escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from html import escape

from runlock.conformance.family.family import DEFAULT
from runlock.conformance.text import in_markdown
from runlock.diagrams.render.svg import Drawing
from runlock.spec.model import load_spec

LEAST_PIXELS = 10.03
"""Pictures are not scaled below the size at which their smallest text is this high; wider ones scroll."""

WIDE = "---\nhide:\n  - toc\n---\n"
"""The front matter of a page that needs the space of its table of contents."""

FONT_SIZE = re.compile(r' font-size="([\d.]+)"')
CODE = re.compile(r"(`[^`|]+`)")
ID = re.compile(r"\b([A-Z]+-[1-9][0-9]*)\b")


def text(words: str) -> str:
    """Text with special characters escaped, except for code in backquotes."""
    return "".join(part if _is_code(part) else in_markdown(part) for part in CODE.split(words))


def _is_code(part: str) -> bool:
    return CODE.fullmatch(part) is not None


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table whose cells are Markdown already."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * len(head)}"]
    lines += [f"| {' | '.join(cell.replace(chr(10), ' ') for cell in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def clause(clause_id: str, root: str = "..", family: str = DEFAULT) -> str:
    """A link to a clause of a family, or to a retired one; a word that only looks like an id stays a word."""
    spec = load_spec(family)
    if clause_id not in spec.clauses and clause_id not in spec.retired:
        return clause_id
    area = clause_id.rpartition("-")[0].lower()
    return f"[{clause_id}]({root}/clauses/{area}.md#{clause_id.lower()}){{ .id }}"


def clauses(words: str, root: str = "..", family: str = DEFAULT) -> str:
    """Text in which each clause id is a link."""
    parts = CODE.split(words)
    return "".join(
        part if _is_code(part) else ID.sub(lambda found: clause(found[1], root, family), in_markdown(part))
        for part in parts
    )


def source(words: str, family: str, root: str = "..") -> str:
    """A document and a section of it; an erratum of the family is a link."""
    document, _, section = words.partition(" § ")
    if section not in load_spec(family).errata:
        return text(words)
    return f"{document} § [{section}]({root}/reference/errata.md#{section.lower()}){{ .id }}"


def chart(name: str, root: str = "..") -> str:
    """A link to a chart."""
    return f"[{name}]({root}/charts/{name}.md)"


def policy(key: str, root: str = "..") -> str:
    """A link to a policy."""
    return f"[`{key}`]({root}/reference/policies.md#{anchor(key)})"


def folder_of(family: str) -> str:
    """The folder of a family's pages; those of the default family are at the root of the site."""
    return "" if family == DEFAULT else f"families/{family}/"


def in_family(title: str, family: str) -> str:
    """A title that names its family, unless that is the default."""
    return title if family == DEFAULT else f"{title} ({family})"


def anchor(name: str) -> str:
    """A name as a URL fragment."""
    return name.lower().replace(".", "-")


def picture(drawing: Drawing, *, is_graph: bool = False) -> str:
    """A picture in a page, on one line, so that Markdown leaves it unchanged; search does not index it.

    A graph can be zoomed.
    """
    inner = re.sub(r"\s*\n\s*", "", drawing.text(is_alone=False))
    smallest = min(map(float, FONT_SIZE.findall(inner)), default=LEAST_PIXELS)
    least = round(drawing.width * min(LEAST_PIXELS / smallest, drawing.scale))
    inner = inner.replace("<svg ", f'<svg style="min-width: {least}px" ', 1)
    label = escape(drawing.label)
    kind = "picture graph" if is_graph else "picture"
    frame = f'class="{kind}" role="group" tabindex="0" aria-label="{label}" data-search-exclude'
    return f"<div {frame}>{inner}</div>\n"


def played(what: str, root: str, words: str) -> str:
    """A link to the page that plays charts, with the input in the fragment."""
    return f'<a href="{root}/play.html#{escape(what)}">{words}</a>'


def script_of(table: str, name: str, data: object) -> str:
    """Data for the page that plays, under a name in a table, as a script that needs no server."""
    return f"(globalThis.{table} ??= {{}})[{json.dumps(name)}] = {json.dumps(data)};\n"


def later(html: str) -> str:
    """HTML on one line that a page loads when it is about to be seen; it goes to the store of the page."""
    line = re.sub(r"\s*\n\s*", "", html)
    return f"<!--later-->{line}<!--/later-->\n"


def indented(block: str) -> str:
    """An indented block."""
    return "".join(f"    {line}\n" if line else "\n" for line in block.splitlines())


def fold(title: str, block: str, kind: str = "note") -> str:
    """A collapsible block."""
    return f'??? {kind} "{title.replace(chr(34), chr(39))}"\n\n{indented(block)}\n'
