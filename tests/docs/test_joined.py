"""Pages that are read together are one page, and every link to one of them leads to its section."""

from importlib import import_module

import pytest
from places import ROOT

PART = """---
hide: toc
---
# Part

## A head of `code`

### Named { #named .clause }

<a id="here"></a> [self](#named) [other](../c.md#x) [file](../witnesses/a.txt) <a href="../d/p.html#named">

```md
# no head [link](../c.md)
```
"""


@pytest.fixture
def join(monkeypatch):
    """Joins a page with the parts `d/p` and `d/q`."""
    monkeypatch.syspath_prepend(str(ROOT))
    module = import_module("docs.generator.joined")
    whole = module.Whole(("d/p", "d/q"), "Both", "About both.")
    monkeypatch.setattr(module, "wholes", lambda: {"whole": whole})
    module.places.cache_clear()
    yield module.joined
    module.places.cache_clear()


@pytest.fixture
def page(join):
    """The page that has them."""
    return join({"d/p": PART, "d/q": "# Q\n\n[P](p.md#named)\n"})["whole"]


def test_a_part_is_a_section_with_anchors_of_its_own(page):
    """Its headings are one level deeper, and no anchor of another part can be the same."""
    assert "\n## Part { #p }\n" in page
    assert "\n### A head of `code` { #p-a-head-of-code }\n" in page
    assert "\n#### Named { #p-named .clause }\n" in page
    assert '<a id="p-here">' in page


def test_links_of_a_part_are_right_where_it_is_now(page):
    """To itself, to other pages and files, to another part; blocks of code are left alone."""
    links = '[self](#p-named) [other](c.md#x) [file](witnesses/a.txt) <a href="#p-named">'
    assert links in page
    assert "\n# no head [link](../c.md)\n" in page
    assert "\n[P](#p-named)\n" in page


def test_a_page_of_nothing_but_parts_has_a_title_and_contents(page):
    """And the width that a part asks for."""
    assert page.startswith("---\nhide: toc\n---\n# Both\n\nAbout both.\n\n[Part](#p) · [Q](#q)\n")


def test_links_to_a_part_lead_to_its_section(join):
    """From any page, in Markdown and in HTML; the part is no page any more."""
    linked = (
        '[P](../d/p.md) [N](../d/p.md#named) <a href="../d/p.html#named"> [R](../r.md) [S](https://d/p.md)'
    )
    pages = join({"d/p": PART, "d/q": "# Q", "e/f": linked})

    assert pages["e/f"] == (
        '[P](../whole.md#p) [N](../whole.md#p-named) <a href="../whole.html#p-named"> [R](../r.md) [S](https://d/p.md)'
    )
    assert pages.keys() == {"whole", "e/f"}


def test_an_old_address_leads_on(join, monkeypatch):
    """With its anchor."""
    moved = dict(import_module("docs.generator.joined").moved())

    assert moved.keys() == {"d/p.html", "d/q.html"}
    assert 'location.replace("../whole.html#p" + (anchor && "-" + anchor));' in moved["d/p.html"]


def test_the_family_of_a_page_is_not_said_again(join, monkeypatch):
    """The title of a part names it only where that of the page does not."""
    module = import_module("docs.generator.joined")
    whole = module.Whole(("d/p", "d/q"), "Both (some-loop)", "About both.")
    monkeypatch.setattr(module, "wholes", lambda: {"whole": whole})
    page = join({"d/p": "# P (some-loop)", "d/q": "# Q (other)"})["whole"]

    assert "[P](#p) · [Q (other)](#q)" in page
    assert "\n## P { #p }" in page
