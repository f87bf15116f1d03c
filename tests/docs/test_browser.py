"""The site in a real browser: nothing complains, everything can be reached, by keyboard as well.

It needs Chromium with its driver, and for the rules of accessibility axe-core, which is no part of the site:
`npm install --no-save axe-core` in the root of the repository.
"""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from browser import CHROMIUM, DRIVER, WHY_NOT, Browser
from places import ROOT

HERE = Path(__file__).parent
LIST = (HERE / "looked_at.md").read_text("utf-8")
LOOKED_AT = re.findall(r"^\| (\S+\.html\S*) \|", LIST, re.MULTILINE)
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
WIDTHS = {"wide": 1280, "narrow": 420}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=WHY_NOT),
]

RULES = """
const done = arguments[arguments.length - 1];
const shown = (rule) => rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ");
const told = (rule) => `${rule.id}: ${shown(rule)}`;
axe.run(document, { resultTypes: ["violations"] }).then((found) => done(found.violations.map(told)));
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Nobody reads along."""


@pytest.fixture(scope="module")
def address(site):
    """Where the built site is served, on this machine alone."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module", params=["light", "dark"])
def browser(request):
    """A window of a reader who likes it light, and one who likes it dark."""
    opened = Browser(is_dark=request.param == "dark")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def pages(site):
    """Every page of the site, and what is played on one."""
    built = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return sorted({*built, *LOOKED_AT})


def test_every_page_is_at_ease(browser, address, pages):
    """No page logs an error, and none is wider than its window; the dark window is the narrow one."""
    browser.size(WIDTHS["narrow" if browser.is_dark else "wide"], 900)
    for page in pages:
        browser.open(f"{address}/{page}")
        over = browser.run("return document.documentElement.scrollWidth - innerWidth")

        assert (page, browser.console(), over <= 0) == (page, [], True)


def test_every_page_keeps_the_rules_of_accessibility(browser, address, pages):
    """Names, roles, contrast, focus: no rule of axe is broken, with everything unfolded."""
    if not AXE.is_file():
        pytest.skip("axe-core is not here: `npm install --no-save axe-core` brings it")
    browser.size(WIDTHS["narrow" if browser.is_dark else "wide"], 900)
    for page in pages:
        browser.open(f"{address}/{page}")
        browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        browser.run(f"{AXE.read_text('utf-8')}; return 1")

        assert (page, browser.run_later(RULES)) == (page, [])


@pytest.mark.parametrize(
    ("words", "found"),
    [("GATE-2", "gate-2"), ("call-4", "call-4"), ("announces", "run-21"), ("orphaned", "pair-")],
)
def test_search_finds_a_clause(browser, address, words, found):
    """By its id, or by a word of its sentence; typed, not clicked."""
    browser.size(1280, 900)
    browser.open(f"{address}/index.html")
    browser.press("/")
    browser.until("return document.activeElement.matches('.md-search__input')")
    browser.press(words)
    seen = "[...document.querySelectorAll('.md-search-result__link')].map((one) => one.href)"

    assert browser.until(f"return {seen}.find((one) => one.includes('clauses/') && one.includes('#{found}'))")


TEXTS = "[...document.querySelectorAll('.play tbody tr')].map((row) => row.textContent)"


def reach(browser, words):
    """Go by Tab alone until what is focused bears these words."""
    for _ in range(120):
        browser.press("Tab")
        if browser.run("return document.activeElement.textContent.trim()") == words:
            return
    raise AssertionError(f"no Tab leads to {words}")


def test_a_chart_is_played_by_keyboard(browser, address):
    """Tab goes to an event, Enter sends it; a refusal is said, with its clause, and the focus stays."""
    browser.size(1280, 900)
    browser.open(f"{address}/play.html#profile=awaken-8&calls=1")
    reach(browser, "start")
    browser.press("Enter")
    browser.press("Enter")

    assert [row[:1] for row in browser.run(f"return {TEXTS}")] == ["0", "1", "2"]
    assert "a call in Running takes suspend" in browser.run(
        "return document.querySelector('.said').textContent"
    )
    assert browser.run("return document.activeElement.textContent") == "start"


def test_profile_and_calls_are_chosen(browser, address):
    """The page remembers in its address what was chosen."""
    browser.open(f"{address}/play.html#profile=awaken-9&calls=3")

    assert browser.run(f"return {TEXTS}")[0] == "0NewNewNewCreatedthe model asks for c1, c2, c3"


def test_a_witness_opens_from_a_link(browser, address):
    """The link beside a clause plays its trace, step by step, and ends with what is broken."""
    browser.open(f"{address}/clauses/gate.html")
    link = browser.run("return document.querySelector('#gate-2 ~ details a[href*=\"#trace=\"]').href")
    browser.open(link)
    browser.until("return document.querySelector('.play .panel button')")
    for _ in range(20):
        browser.run("document.querySelector('.play .panel button').click()")

    assert "GATE-2: call" in browser.run("return document.querySelector('.said').textContent")
    assert len(browser.run(f"return {TEXTS}")) >= 3


def test_a_link_that_was_cut_off_is_told(browser, address):
    """Half a trace is no trace, and the page says so."""
    browser.open(f"{address}/play.html#trace=7Vrbb")

    assert "no trace that can be read" in browser.until(
        "return document.querySelector('.refused')?.textContent"
    )


def test_tooltips_say_the_sentence(browser, address):
    """Over the id of a clause, a picture shows its words."""
    browser.open(f"{address}/charts/ToolCall.html")
    tip = browser.run("return document.querySelector('.picture a[href$=\"#call-1\"] > title').textContent")

    assert tip.startswith("CALL-1: A call that nothing holds back")
