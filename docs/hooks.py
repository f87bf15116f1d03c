"""Hooks of mkdocs: the generator writes the pages, and mkdocs renders them."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

from generator import descriptions, search, site
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.pages import Page

WRITTEN = Path(__file__).parent.parent / "build" / "pages"
"""The folder of the pages, which mkdocs renders instead of `docs`."""

ABSOLUTE = re.compile(r'((?:href=|src=|"base": |new URL\()")/(?!/)')
"""Where the page for missing URLs says that something is at the root of the host."""

COMMANDS = re.compile(
    r'(?<!</span>)<code>[^<]*</code>|<div class="language-sh highlight">.*?</div>', re.DOTALL
)
OPTION = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
"""Code within a line and commands, and an option in them, which a browser would break after its dashes."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Write the pages, and add the generated ones to the navigation."""
    site.write(WRITTEN)
    config.docs_dir = str(WRITTEN)
    site.extend(config.nav or [])
    return config


def on_page_markdown(markdown: str, page: Page, **_: Any) -> None:
    """Describe a page by its first sentences, escaped, for the theme writes them as they are."""
    page.meta.setdefault("description", escape(descriptions.description(markdown)))


def on_page_content(html: str, **_: Any) -> str:
    """Keep each option on one line."""
    return COMMANDS.sub(lambda code: OPTION.sub(r'<span class="whole">\g<0></span>', code[0]), html)


@event_priority(-100)
def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """Tag the index of the search, which the builder has written by now."""
    path = Path(config.site_dir) / "search" / "search_index.json"
    index = json.loads(path.read_text("utf-8"))
    index["docs"] = search.tagged(index["docs"])
    path.write_text(json.dumps(index, separators=(",", ":")), "utf-8")


def on_post_page(output: str, config: MkDocsConfig, **_: Any) -> str:
    """Add accessible names that the theme lacks."""
    return _named(output, config)


def on_post_template(output_content: str, config: MkDocsConfig, **_: Any) -> str:
    """Add them to the page for missing URLs, too, and make its links relative if the site has no address."""
    output = _named(output_content, config)
    return output if config.site_url else ABSOLUTE.sub(r"\1./", output)


def _named(output: str, config: MkDocsConfig) -> str:
    """Name the search, and the sections, whose labels are empty where a section has a page of its own."""
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    unnamed = r'aria-labelledby="__nav_([\d_]+)_label"'
    return re.sub(unnamed, lambda found: f'aria-label="{_title(found[1], config.nav)}"', output)


def _title(path: str, nav: Any) -> str:
    """The titles that lead to a section; `path` counts the items of each level from 1, as in `7_3`."""
    titles = []
    for number in path.split("_"):
        [(title, nav)] = nav[int(number) - 1].items()
        titles.append(title)
    return ": ".join(titles)
