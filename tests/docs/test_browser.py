"""The site in a real browser: nothing complains, everything can be reached, by keyboard as well.

It needs Chromium with its driver, and for the rules of accessibility (names, roles, contrast, focus)
axe-core, which is no part of the site: `npm install --no-save axe-core` in the root of the repository.
"""

import re
from pathlib import Path

import pytest
from browser import CHROMIUM, DRIVER, WHY_NOT
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

IDS = [
    ("GATE-2", "clauses/gate.html#gate-2"),
    ("gate-2", "clauses/gate.html#gate-2"),
    ("GATE2", "clauses/gate.html#gate-2"),
    ("gate 2", "clauses/gate.html#gate-2"),
    ("CALL-1", "clauses/call.html#call-1"),
    ("call-17", "clauses/call.html#call-17"),
    ("CANCEL5", "clauses/cancel.html#cancel-5"),
    ("decide 1", "clauses/decide.html#decide-1"),
    ("Decide-15", "clauses/decide.html#decide-15"),
    ("derive_6", "clauses/derive.html#derive-6"),
    ("FLOW-3", "clauses/flow.html#flow-3"),
    ("once 1", "clauses/once.html#once-1"),
    ("pair4", "clauses/pair.html#pair-4"),
    ("PHASE-1", "clauses/phase.html#phase-1"),
    ("recover 5", "clauses/recover.html#recover-5"),
    ("ROUND-3", "clauses/round.html#round-3"),
    ("run 3", "clauses/run.html#run-3"),
    ("STORE-12", "clauses/store.html#store-12"),
    ("LangGraph GATE-2", "clauses/gate.html#gate-2"),
    ("auth 5", "families/message-loop/clauses/auth.html#auth-5"),
    ("RUNNER-33", "families/tool-runner/clauses/runner.html#runner-33"),
]
WORDS = [
    ("--exhaustive", "every-schedule.html"),
    ("crash", "clauses/recover.html"),
    ("human in the loop", "clauses/decide.html"),
    ("approve", "clauses/decide.html"),
    ("idempotent", "clauses/once.html"),
    ("install", "index.html"),
    ("installation", "index.html"),
    ("langgraph", "runtimes/langgraph.html"),
]

RULES = """
const [asked, done] = arguments;
const shown = (rule) => rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ");
const told = (rule) => `${rule.id}: ${shown(rule)}`;
axe.run(document, { resultTypes: ["violations"], ...asked })
  .then((found) => done(found.violations.map(told)));
"""

EVERYTHING: dict = {}
STRUCTURE = {"rules": {"color-contrast": {"enabled": False}}}
CONTRAST = {"runOnly": ["color-contrast"]}
"""Which rules of axe are asked: all, all but that of contrast, or that of contrast alone."""

GENERATED = ("charts/", "clauses/", "families/", "runtimes/")
SHARE = 4
"""Of the pages in these folders, which the same generators make, one in SHARE is opened."""

# Tag and class of each element and its parent.
KINDS = """
const kind = (one) => [one.tagName, one.getAttribute("class") || ""];
const all = [...document.querySelectorAll("body *")].map((one) => [...kind(one.parentElement), ...kind(one)]);
return [...new Map(all.map((one) => [one.join(" "), one])).values()];
"""


@pytest.fixture(scope="module")
def pages(site):
    """The pages of the site, a share of those that are generated, and what is played on one."""
    built = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    generated = [page for page in built if page.startswith(GENERATED)]
    return sorted({*built, *LOOKED_AT} - {*generated} | {*generated[::SHARE]})


def test_the_pages_keep_the_rules(browser, dark_browser, address, pages):
    """No page logs an error, is wider than its window, wide or narrow, or breaks a rule of axe.

    All rules are asked where a page has a kind of element that no page before it has, and that of contrast in
    the dark; those of structure on one of four other pages, which the same generators and theme make.
    """
    dark_browser.size(WIDTHS["narrow"], 900)
    seen = set()
    for number, page in enumerate(pages):
        url = f"{address}/{page}"
        browser.size(WIDTHS["wide"], 900)
        assert (page, opened(browser, url), is_too_wide(browser)) == (page, [], False)
        kinds = {tuple(kind) for kind in browser.run(KINDS)}
        if not kinds <= seen:
            assert (page, opened(dark_browser, url)) == (page, [])
            assert (page, broken_rules(browser, EVERYTHING)) == (page, [])
            assert (page, broken_rules(dark_browser, CONTRAST)) == (page, [])
        elif number % 4 == 0:
            assert (page, broken_rules(browser, STRUCTURE)) == (page, [])
        seen |= kinds
        browser.size(WIDTHS["narrow"], 900)
        assert (page, is_too_wide(browser)) == (page, False)


def opened(browser, url):
    """What a page that has just been opened logs; one with a fragment is loaded anew."""
    if "#" in url:
        browser.open("about:blank")
    browser.open(url)
    return browser.console()


def is_too_wide(browser):
    """Whether the page is wider than the window."""
    return browser.run("return document.documentElement.scrollWidth > innerWidth")


def broken_rules(browser, asked):
    """Which of these rules of axe a page breaks with everything unfolded; none without axe-core."""
    if not AXE.is_file():
        return []
    browser.run("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    browser.run(f"{AXE.read_text('utf-8')}; return 1")
    return browser.run_later(RULES, asked)


def sought(browser, address, words):
    """Where the first result leads, and where Enter does."""
    browser.open(f"{address}/index.html")
    browser.press("/")
    browser.until("return document.activeElement.matches('.md-search__input')")
    browser.press(words)
    seen = "[...document.querySelectorAll('.md-search-result__link')].find((one) => one.offsetParent)"
    first = browser.until(f"return {seen}?.href")
    browser.press("Enter")
    gone = browser.until("return location.search && location.href")
    return [re.sub(r"\?[^#]*", "", one).removeprefix(f"{address}/") for one in (first, gone)]


def test_search_leads_to_a_clause(browser, address):
    """By its id, typed in different ways."""
    browser.size(1280, 900)
    found = {words: sought(browser, address, words) for words, _ in IDS}

    assert found == {words: [place, place] for words, place in IDS}


def test_search_leads_to_the_page_of_a_word(browser, address):
    """Words that readers look for lead to the page about them."""
    browser.size(1280, 900)
    found = {words: sought(browser, address, words) for words, _ in WORDS}

    assert found == {words: [place, place] for words, place in WORDS}


# For each picture, once it is scrolled to: whether its first state is in the window.
BEGINS = """[...document.querySelectorAll(".md-content .picture")].map((picture) => {
  picture.scrollIntoView();
  const { left, right, bottom } = picture.querySelector(".node:not(.state)").getBoundingClientRect();
  return [left >= 0, right <= innerWidth, bottom <= innerHeight];
})"""


def test_the_matrix_shows_only_what_is_broken(browser, address):
    """The switch hides each clause that nothing breaks, and a broken cell leads to its counterexample."""
    browser.open(f"{address}/matrix.html")
    rows = "[...document.querySelectorAll('.heat tbody tr')]"
    before = browser.run(f"return {rows}.length")
    browser.run("document.querySelectorAll('.only-broken').forEach((one) => one.click())")
    shown = browser.run(f"return {rows}.filter((row) => row.offsetParent).map((row) => row.outerHTML)")

    assert 0 < len(shown) < before
    assert all('class="cell broken"' in row for row in shown)
    leads = browser.run("return document.querySelector('.heat td.broken a').href")
    browser.open(leads)
    assert browser.run("return document.querySelector(':target').matches('a[id]')")


def test_the_kill_matrix_sorts_by_a_column(browser, address):
    """The head of a column is reached by Tab, and Enter sorts, the other way round when pressed again."""
    browser.size(1280, 900)
    browser.open(f"{address}/kills.html")
    browser.reach("killed at schedule")
    column = "[...document.querySelectorAll('.sorts tbody tr')].map((row) => +row.cells[1].textContent)"
    for way, turned in (("ascending", False), ("descending", True)):
        browser.press("Enter")
        shown = browser.run(f"return {column}")

        assert browser.run("return document.activeElement.closest('th').getAttribute('aria-sort')") == way
        assert shown == sorted(shown, reverse=turned)


@pytest.mark.parametrize("width", WIDTHS.values(), ids=WIDTHS)
def test_the_explored_graph_opens_at_its_start(browser, address, width):
    """The first state of each picture is in view when the picture is scrolled to."""
    browser.size(width, 900)
    browser.open(f"{address}/explored.html")

    assert browser.run(f"return {BEGINS}") == [[True, True, True]] * 4


def test_tooltips_say_the_sentence(browser, address):
    """Over the id of a clause, a picture shows its words."""
    browser.open(f"{address}/charts/ToolCall.html")
    tip = browser.run("return document.querySelector('.picture a[href$=\"#call-1\"] > title').textContent")

    assert tip.startswith("CALL-1: A call that nothing holds back")
