"""Pages that a reader reads together are one page of the site, with a section for each.

`docs/joined.toml` says which.  Every anchor of a part begins with the name of the part, every link to a part
leads to its section, and a small file at its old address leads there too.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from posixpath import dirname, join, normpath, relpath
from typing import Final, NamedTuple

from markdown.extensions.toc import slugify

from .libraries import judged

TABLE: Final = Path(__file__).parent.parent / "joined.toml"
FRONT: Final = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
FENCED: Final = re.compile(r"(^ *(```|~~~).*?^ *\2 *$)", re.MULTILINE | re.DOTALL)
HEADING: Final = re.compile(r"^(#+) +(.*?)(?: *\{ *#([\w.-]+)([^{}]*)\})? *$", re.MULTILINE)
ANCHOR: Final = re.compile(r'(<a id=")([^"]+)(?=")')
LINK: Final = re.compile(r'(\]\(|(?:href|src)=")(?![a-z]+:)([^()\s"#]*)(#[^()\s"]*)?(?=[)"])')
MARKED: Final = re.compile(r"\[([^]]*)\]\([^)]*\)(?:\{[^}]*\})?|[`*]|<[^>]+>")
"""The front matter, code, headings, anchors and relative links of Markdown, and marks in a heading."""

SUFFIX: Final = re.compile(r" \([\w-]+\)$")
"""The family in a title."""

NUMBERED: Final = re.compile(r' id="(?:node|edge)\d+"')
"""The id of a part of a picture that no one named, which each picture may have."""

Pages = Mapping[str, str]
"""Markdown, by the name of the page, without `.md`."""


class Place(NamedTuple):
    """Where a page is in the site: the page that it is part of, and what its anchors begin with."""

    page: str
    part: str

    def at(self, anchor: str) -> str:
        """The anchor in the site of an anchor of the page; an empty one is its beginning."""
        return f"{self.part}-{anchor}".rstrip("-") if anchor else self.part


class Whole(NamedTuple):
    """A page with its parts; one without a title is written by another module or by hand."""

    parts: tuple[str, ...]
    title: str = ""
    about: str = ""


@cache
def wholes() -> Mapping[str, Whole]:
    """All pages that have parts, by name."""
    listed = tomllib.loads(TABLE.read_text("utf-8"))
    found = {name: Whole(tuple(one.pop("parts")), **one) for name, one in listed.items()}
    for library, configurations in judged().items():
        found[f"libraries/{library}"] = Whole(tuple(f"runtimes/{one.name}" for one in configurations))
    return found


@cache
def places() -> Mapping[str, Place]:
    """Where each part is."""
    return {part: Place(name, _name(part)) for name, one in wholes().items() for part in one.parts}


def _name(part: str) -> str:
    """What the anchors of a part begin with: its last name, or that of the folder that it opens."""
    return part.removesuffix("/index").rpartition("/")[2]


def joined(pages: Pages) -> dict[str, str]:
    """The pages of the site: those with parts have them, and all links lead to where their targets are."""
    led = {name: _relinked(name, text) for name, text in pages.items()}
    for name, whole in wholes().items():
        first = led.get(name) or _first(whole, pages)
        front = "" if FRONT.match(first) else _front(whole, pages)
        shared = SUFFIX.search(_title(first))
        sections = (_section(_without(led.pop(part), shared), part) for part in whole.parts)
        led[name] = front + "\n\n".join((first.rstrip(), *sections))
    return led


def _first(whole: Whole, pages: Pages) -> str:
    """The beginning of a page that is nothing but its parts."""
    shared = SUFFIX.search(whole.title)
    links = (f"[{_title(_without(pages[one], shared))}](#{places()[one].at('')})" for one in whole.parts)
    return f"# {whole.title}\n\n{whole.about}\n\n{' · '.join(links)}\n"


def _front(whole: Whole, pages: Pages) -> str:
    """The front matter of a part, such as that it needs much space."""
    return next((found[0] for part in whole.parts if (found := FRONT.match(pages[part]))), "")


def _without(page: str, shared: re.Match[str] | None) -> str:
    """A part without the family in its title, where the whole page names it."""
    return page.replace(shared[0], "", 1) if shared and _title(page).endswith(shared[0]) else page


def _title(page: str) -> str:
    found = HEADING.search(page)
    assert found is not None, "a page begins with its title"
    return found[2]


def _section(page: str, part: str) -> str:
    """A page as a section of another one: without front matter, its headings one level deeper."""
    place = places()[part]

    def heading(found: re.Match[str]) -> str:
        marks, words, anchor, more = found.groups()
        at = place.at("" if marks == "#" else anchor or slugify(MARKED.sub(r"\1", words), "-"))
        return f"#{marks} {words} {{ #{at}{(more or '').rstrip()} }}"

    def inside(text: str) -> str:
        text = NUMBERED.sub("", text)
        return HEADING.sub(heading, ANCHOR.sub(lambda one: one[1] + place.at(one[2]), text))

    return _outside_of_code(FRONT.sub("", page), inside)


def _outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """The text with its blocks of code as they are, and the rest changed."""
    parts = FENCED.split(text)
    blocks = [*parts[1::3], ""]
    return "".join(change(part) + block for part, block in zip(parts[::3], blocks, strict=True))


def _relinked(name: str, text: str) -> str:
    """A page whose relative links are right where the page is in the site."""
    here = places().get(name, Place(name, ""))

    def link(found: re.Match[str]) -> str:
        before, path, anchor = found[1], found[2], (found[3] or "")[1:]
        if not path:
            return f"{before}#{here.at(anchor)}" if here.part and anchor else found[0]
        stem, dot, ending = normpath(join(dirname(name), path)).rpartition(".")
        there = places().get(stem) if ending in ("md", "html") else None
        page, anchor = (there.page, there.at(anchor)) if there else (stem, anchor)
        if there is None and here.page == name:
            return found[0]
        to = "" if page == here.page else relpath(f"{page}{dot}{ending}", dirname(here.page) or ".")
        return f"{before}{to}{'#' if anchor else ''}{anchor}"

    return _outside_of_code(text, lambda part: LINK.sub(link, part))


MOVED: Final = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>This page has moved</title>
<meta http-equiv="refresh" content="0; url={to}#{part}">
<link rel="canonical" href="{to}">
<script>
const anchor = location.hash.slice(1);
location.replace("{to}#{part}" + (anchor && "-" + anchor));
</script>
</head>
<body><p>This page is now <a href="{to}#{part}">a section of another page</a>.</p></body>
</html>
"""
"""A file at the address of a page that is a section now."""


def moved() -> Iterator[tuple[str, str]]:
    """For each part, the file at its address."""
    for name, place in places().items():
        to = relpath(f"{place.page}.html", dirname(name) or ".")
        yield f"{name}.html", MOVED.format(to=to, part=place.part)
