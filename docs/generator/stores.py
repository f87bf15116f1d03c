"""The stores: what a page loads when it is about to be seen, in one file for each page.

The pictures of a page can be larger than all else in it, and most of them are in blocks that are closed.
"""

from __future__ import annotations

import json
import re
from typing import Final

LATER: Final = re.compile(r"<!--later-->(.*?)<!--/later-->")
FOLDER: Final = "assets/stores"


def split(name: str, markdown: str) -> tuple[str, dict[str, str]]:
    """A page with a place for each part that is loaded later, and its store as a file, if there is one."""
    parts: list[str] = []
    store = f"{FOLDER}/{name.replace('/', '-')}.js"
    root = "../" * name.count("/")

    def place(found: re.Match[str]) -> str:
        parts.append(found[1])
        return f'<div class="later" data-store="{root}{store}" data-part="{len(parts) - 1}"></div>'

    page = LATER.sub(place, markdown)
    script = f"runlockStore({json.dumps(store)}, {json.dumps(parts, ensure_ascii=False)});\n"
    return page, {store: script} if parts else {}
