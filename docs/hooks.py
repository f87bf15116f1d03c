"""What mkdocs calls while it builds the site: the generator writes the pages, and mkdocs renders them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from generator import site
from mkdocs.config.defaults import MkDocsConfig

WRITTEN = Path(__file__).parent.parent / "build" / "pages"
"""Where the pages are written; mkdocs renders this folder in the place of `docs`."""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Write the pages, and put those that are generated into the navigation."""
    site.write(WRITTEN)
    config.docs_dir = str(WRITTEN)
    for entry in config.nav or []:
        for title, below in entry.items():
            below.extend(site.sections().get(title, []))
    return config


def on_post_page(output: str, config: MkDocsConfig, **_: Any) -> str:
    """Give names to what the theme leaves without."""
    return _named(output, config)


def on_post_template(output_content: str, config: MkDocsConfig, **_: Any) -> str:
    """Give them on the page of what is not there, too."""
    return _named(output_content, config)


def _named(output: str, config: MkDocsConfig) -> str:
    """The search has a name, and so have sections with a page of their own."""
    titles = [title for entry in config.nav or [] for title in entry]
    output = output.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    unnamed = r'aria-labelledby="__nav_(\d+)_label"'
    return re.sub(unnamed, lambda found: f'aria-label="{titles[int(found[1]) - 1]}"', output)
