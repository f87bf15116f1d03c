"""The site holds every clause, leads nowhere that is not there, and needs no one else to be read."""

import json
import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from runlock.conformance.cli.app import app
from runlock.conformance.family.family import DEFAULT, families
from runlock.diagrams.charts.picture import pictures
from runlock.spec.model import load_spec

LOOKED_AT = Path(__file__).parent / "looked_at.md"

pytestmark = [pytest.mark.site, pytest.mark.long]


class Page(HTMLParser):
    """What a page links to, where, and what can be linked to in it."""

    def __init__(self, path):
        super().__init__()
        self.links, self.drawn, self.loads, self.ids = [], [], [], []
        self.depth = 0
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag, attrs):
        facts = dict(attrs)
        self.depth += tag == "svg"
        self.ids.append(facts.get("id"))
        if tag == "a" and facts.get("href"):
            (self.drawn if self.depth else self.links).append(facts["href"])
        if tag in ("script", "img", "iframe"):
            self.loads.append(facts.get("src"))
        if tag == "link" and facts.get("rel") in ("stylesheet", "icon", "preconnect", "preload"):
            self.loads.append(facts.get("href"))

    def handle_endtag(self, tag):
        self.depth -= tag == "svg"


@cache
def page(path):
    """A page, read once."""
    return Page(path)


@pytest.fixture
def pages(site, pages_of):
    """All pages of the site."""
    return pages_of(site)


def dead(site, path, links):
    """The links that lead to no file, or to no place in one; what is played is no place."""
    for link in links:
        where, anchor = urldefrag(re.sub(r"#\w+=.*", "", link))
        if re.match(r"[a-z]+:", where):
            continue
        target = (path.parent / unquote(where)).resolve() if where else path
        if not target.is_file() or (anchor and target.suffix == ".html" and anchor not in page(target).ids):
            yield f"{path.relative_to(site)}: {link}"


def test_links_in_pictures_lead_somewhere(site, pages):
    """The builder checks links in the text; those in pictures are checked here, file and anchor."""
    every = [one for path in pages for one in dead(site, path, page(path).drawn)]
    count = sum(len(page(path).drawn) for path in pages)

    assert count > 200
    assert every == []


def test_links_in_pictures_that_stand_alone_lead_somewhere(site):
    """A picture that is opened by itself leads to the same places."""
    found = sorted((site / "charts").glob("*.svg"))

    assert len(found) == len(pictures())
    assert [one for path in found for one in dead(site, path, page(path).drawn)] == []


@pytest.mark.parametrize(
    "name", ["index.html", "matrix.html", "libraries/langgraph.html", "tutorial.html", "families/index.html"]
)
def test_links_in_html_lead_somewhere(site, name):
    """The builder does not check links in HTML that a page brings along."""
    assert page(site / name).links
    assert list(dead(site, site / name, page(site / name).links)) == []


def test_a_hosted_site_says_where_its_pages_are(site, hosted, pages):
    """Each page has its address and a description of its own, and the sitemap lists it."""
    listed = (site / "sitemap.xml").read_text("utf-8")
    for path in pages:
        place, head = f"{hosted}{path.relative_to(site)}", path.read_text("utf-8").partition("</head>")[0]
        if path.name != "404.html":
            assert f'<link rel="canonical" href="{place}">' in head
            assert re.search('<meta name="description" content="[^"]{15,200}">', head), place
            assert f"<loc>{place}</loc>" in listed


def test_a_page_that_is_missing_leads_on_from_any_depth(site):
    """Its links are from the root of the host, for it is shown at whatever address was asked for."""
    links = [link for link in page(site / "404.html").links if not link.startswith("#")]

    assert f"/{site.name}/tutorial.html" in links
    assert list(dead(site.parent, site.parent / "404.html", [link.lstrip("/") for link in links])) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("concepts/verdicts.html", "index.html#verdicts"),
        ("runtimes/vercel-ai-6.html", "../libraries/vercel-ai.html#vercel-ai-6"),
        ("families/message-loop/reference/policies.html", "../reference.html#policies"),
        ("families/lifecycle/index.html", "../index.html#lifecycle"),
    ],
)
def test_an_old_address_leads_on(site, old, new):
    """A page that is a section now has a file where it was, which knows its section."""
    assert f'location.replace("{new}"' in (site / old).read_text("utf-8")


def test_every_old_address_leads_to_a_section(site, pages):
    """None leads to a place that is not there; and a reader has fewer pages than before."""
    old = sorted({*site.rglob("*.html")} - {*pages})
    links = {path: re.search(r'location.replace\("(.*?)"', path.read_text("utf-8"))[1] for path in old}

    assert len(old) > 80
    assert len(pages) < 150
    assert [one for path, link in links.items() for one in dead(site, path, [link])] == []


MOST_BYTES = 300_000


def test_no_page_is_heavy(site, pages):
    """A page can be read on a slow line; its pictures are in a store, loaded when needed."""
    heavy = {path.relative_to(site).as_posix(): path.stat().st_size for path in pages}

    assert {page: size for page, size in heavy.items() if size > MOST_BYTES} == {}
    assert sum(path.stat().st_size for path in (site / "assets" / "stores").iterdir()) > MOST_BYTES


def test_what_is_loaded_later_is_in_the_store(site, pages):
    """Each place of a page has its part in the store that it names."""
    for path in pages:
        places = re.findall(r'data-store="([^"]+)" data-part="(\d+)"', path.read_text("utf-8"))
        for store in {store for store, _ in places}:
            parts = json.loads(re.search(r"(\[.*\])\);$", (path.parent / store).read_text("utf-8"))[1])
            assert [int(part) for other, part in places if other == store] == list(range(len(parts)))
            assert all(part.startswith("<") for part in parts)


def test_every_page_was_looked_at_by_a_person(site, pages):
    """A page is in the table, or in the list of those that wait for a look; a line goes with its page."""
    listed = re.findall(r"^(?:\||-) ([^#| \n]+\.html)", LOOKED_AT.read_text("utf-8"), re.MULTILINE)

    assert sorted(set(listed)) == sorted(path.relative_to(site).as_posix() for path in pages)


def test_every_clause_has_a_place(site):
    """Each clause can be linked to, with its sentence."""
    for family in families():
        folder = site if family.name == DEFAULT else site / "families" / family.name
        for clause in family.spec.clauses.values():
            path = folder / "clauses" / f"{clause.area.lower()}.html"

            assert clause.id.lower() in page(path).ids


def test_every_chart_and_every_policy_has_a_place(site):
    """So can charts, policies, profiles and errata."""
    spec = load_spec("lifecycle")

    assert all((site / "charts" / f"{name}.html").is_file() for name in pictures())  # or leads on
    assert {key.replace(".", "-") for key in spec.policies} <= set(page(site / "reference/policies.html").ids)
    assert {one.replace(".", "-") for one in spec.profiles} <= set(page(site / "reference/profiles.html").ids)
    assert {key.lower() for key in spec.errata} <= set(page(site / "reference/errata.html").ids)


def test_every_command_has_a_place(site):
    """The page of the command line comes from the command line."""
    registered = {one.name or one.callback.__name__.strip("_") for one in app.registered_commands}

    assert registered <= set(page(site / "reference/command-line.html").ids)


def test_ids_are_unique(site, pages):
    """No two places of a page have one name."""
    for path in pages:
        ids = [one for one in page(path).ids if one]

        assert sorted(one for one in set(ids) if ids.count(one) > 1) == [], path


def test_nothing_is_loaded_from_elsewhere(site, pages):
    """A page brings its fonts, scripts and styles with it."""
    loaded = {one for path in pages for one in page(path).loads if one}
    styles = "".join(path.read_text("utf-8") for path in site.rglob("*.css"))

    assert [one for one in loaded if re.match(r"(?:[a-z]+:)?//", one)] == []
    assert re.findall(r"@import|url\((?!\"?data:|\"?#)[^)]*//[^)]*\)", styles) == []


@pytest.mark.parametrize("words", ["GATE-2", "rejected", "placeholder", "E-1"])
def test_search_finds(site, words):
    """The index of the search holds clauses by id and by word."""
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))

    assert any(words.lower() in f"{one['title']} {one['text']}".lower() for one in index["docs"])


def test_schemas_do_not_crowd_the_index(site):
    """One entry leads to the page of schemas; its definitions are left out."""
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    places = [one["location"] for one in index["docs"]]

    assert [one for one in places if one.startswith("reference/schemas.html")] == ["reference/schemas.html"]


def test_the_index_leaves_pictures_out(site):
    """What is written in a picture is not found a hundred times."""
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    of_clauses = [one["text"] for one in index["docs"] if one["location"].startswith("clauses/")]

    assert len(of_clauses) > len(load_spec("lifecycle").clauses)
    assert sum("what happened" in text for text in of_clauses) < 5


def test_no_source_of_the_site_is_published(site):
    """The builder's own files are left out; each program without the kit is published as text, alone."""
    assert [path for path in site.rglob("*") if path.suffix in (".py", ".pyc")] == []
    assert {path.name for path in (site / "standalone").glob("*.txt")} > {"strands_repeated_id.py.txt"}
