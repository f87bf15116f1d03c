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
    ("how do I resume after a crash?", "clauses/recover.html"),
    ("human in the loop", "clauses/decide.html"),
    ("approve", "clauses/decide.html"),
    ("idempotent", "clauses/once.html"),
    ("tool call runs twice", "clauses/once.html"),
    ("install", "install.html"),
    ("installation", "install.html"),
    ("docker", "install.html"),
    ("quickstart", "one-minute.html"),
    ("langgraph", "libraries/langgraph.html"),
    ("google-adk", "libraries/google-adk.html"),
    ("Google ADK", "libraries/google-adk.html"),
    ("pydantic-ai", "libraries/pydantic-ai.html"),
    ("openai-agents", "libraries/openai-agents.html"),
    ("Vercel AI SDK", "libraries/vercel-ai.html"),
    ("claude code", "audit/index.html#claude-code"),
    ("AG-UI", "check-a-url.html"),
    ("how do I check an AG-UI server?", "check-a-url.html"),
    ("audit a session", "audit/index.html"),
    ("opentelemetry", "audit/index.html#otel-genai"),
    ("RESUME_TOOL_CALL", "charts/ResumeToolCall.html"),
    ("TOOL_CALL", "charts/ToolCallPhases.html"),
    ("ToolCall", "charts/ToolCall.html"),
    ("how does an agent loop behave", "how-loops-behave.html"),
    ("message-loop", "families/message-loop/index.html"),
    ("exit codes", "reference/command-line.html#exit-codes"),
    ("SSE", "clauses/stream.html"),
    ("policy", "reference/policies.html"),
    ("which runtime is safest for approvals?", "questions.html"),
    ("junit", "ci.html"),
    ("adapter", "adapters.html"),
    ("playground", "play.html"),
]

RULES = """
const [scope, asked, done] = arguments;
const shown = (rule) => rule.nodes.slice(0, 3).map((node) => node.html.slice(0, 120)).join(" | ");
const told = (rule) => `${rule.id}: ${shown(rule)}`;
axe.run(scope ?? document, { resultTypes: ["violations"], preload: false, ...asked })
  .then((found) => done(found.violations.map(told)));
"""

EVERYTHING: dict = {}
STRUCTURE = {"rules": {"color-contrast": {"enabled": False}}}
CONTRAST = {"runOnly": ["color-contrast"]}
"""Which rules of axe are asked: all, all but that of contrast, or that of contrast alone."""

GENERATED = ("charts/", "clauses/", "families/", "libraries/")
SHARE = 15
"""Of the pages in these folders, which the same generators make, one in SHARE is opened."""

# Marks the elements whose kind was not seen before: tag and class of an element and of its parent.
FRESH = """
const seen = new Set(arguments[0]), fresh = new Set();
const kind = (one) => `${one.tagName} ${one.getAttribute("class") || ""}`;
for (const one of document.querySelectorAll("body *")) {
  const found = `${kind(one.parentElement)} > ${kind(one)}`;
  if (seen.has(found)) continue;
  one.dataset.fresh = "";
  fresh.add(found);
}
return [...fresh];
"""

# Everything is unfolded, and colours change at once.
READY = """
document.querySelectorAll("details").forEach((one) => { one.open = true; });
const still = { textContent: "* { transition: none !important }" };
document.head.append(Object.assign(document.createElement("style"), still));
"""


@pytest.fixture(scope="module")
def pages(site, pages_of):
    """The pages of the site, a share of those that are generated, and what is played on one."""
    built = [path.relative_to(site).as_posix() for path in pages_of(site)]
    generated = [page for page in built if page.startswith(GENERATED)]
    return sorted({*built, *LOOKED_AT} - {*generated} | {*generated[::SHARE]})


def test_the_pages_keep_the_rules(browser, address, pages):
    """No page logs an error, is wider than its window, wide or narrow, or breaks a rule of axe.

    All rules are asked of the elements of a kind that no page before has, and that of contrast in the dark;
    those of structure of one page in four, for the same generators and theme make all of them.
    """
    seen = []
    for number, page in enumerate(pages):
        browser.size(WIDTHS["wide"], 900)
        assert (page, opened(browser, f"{address}/{page}"), is_too_wide(browser)) == (page, [], False)
        seen += (fresh := browser.run(FRESH, seen))
        if fresh:
            assert (page, broken_rules(browser, EVERYTHING, "[data-fresh]")) == (page, [])
        if number % 4 == 0:
            assert (page, broken_rules(browser, STRUCTURE)) == (page, [])
        browser.size(WIDTHS["narrow"], 900)
        assert (page, is_too_wide(browser)) == (page, False)
        if fresh:
            assert (page, broken_in_the_dark(browser), browser.console()) == (page, [], [])


def opened(browser, url):
    """What a page that has just been opened and unfolded logs; one with a fragment is loaded anew."""
    if "#" in url:
        browser.open("about:blank")
    browser.open(url)
    browser.run(READY)
    browser.until("return !document.querySelector('.later')")
    return browser.console()


def is_too_wide(browser):
    """Whether the page is wider than the window."""
    return browser.run("return document.documentElement.scrollWidth > innerWidth")


def broken_rules(browser, asked, scope=None):
    """Which of these rules of axe a page breaks, or a part of it, all unfolded; none without axe-core."""
    if not AXE.is_file():
        return []
    browser.run(READY)
    browser.until("return !document.querySelector('.later')")
    if not browser.run("return globalThis.axe !== undefined"):
        browser.run(f"{AXE.read_text('utf-8')}; return 1")
    return browser.run_later(RULES, scope, asked)


def broken_in_the_dark(browser):
    """Whether new elements have enough contrast for a reader who likes it dark."""
    browser.prefer("dark")
    browser.until("return document.body.dataset.mdColorScheme === 'slate'")
    broken = broken_rules(browser, CONTRAST, "[data-fresh]")
    browser.prefer("light")
    return broken


RESULT = "[...document.querySelectorAll('.md-search-result__link')].find((one) => one.offsetParent)"
FIELD = "document.querySelector('.md-search__input')"
FOCUSED = "return document.activeElement.matches('.md-search__input')"
ASK = f"{FIELD}.value = arguments[0]; {FIELD}.dispatchEvent(new KeyboardEvent('keyup', {{ bubbles: true }}))"


@pytest.fixture
def search(browser, address):
    """The home page, with its search opened by a key."""
    browser.size(WIDTHS["wide"], 900)
    browser.open(f"{address}/index.html")
    for _ in range(20):  # the page listens once its scripts have run
        if browser.run(FOCUSED):
            break
        browser.press("/")
    browser.until(FOCUSED)
    return browser


def place(address, url):
    """Where an address leads, without the words to be lit there."""
    return re.sub(r"\?[^#]*", "", url).removeprefix(f"{address}/")


def first_result(search, address, words):
    """Where the first result leads; the one before is gone when these words are asked for."""
    search.run(ASK, "")
    search.until(f"return !{RESULT}")
    search.run(ASK, words)
    return place(address, search.until(f"return {RESULT}?.href"))


def test_search_leads_to_a_clause(search, address):
    """By its id, typed in different ways."""
    assert {words: first_result(search, address, words) for words, _ in IDS} == dict(IDS)


def test_search_leads_to_the_page_of_a_word(search, address):
    """Words that readers look for lead to the page about them."""
    assert {words: first_result(search, address, words) for words, _ in WORDS} == dict(WORDS)


@pytest.mark.parametrize(("words", "leads"), [IDS[0], WORDS[0]], ids=["a clause", "a word"])
def test_enter_leads_to_the_first_result(search, address, words, leads):
    """What is typed key by key is found, and Enter goes there."""
    search.press(words)
    search.until(f"return {RESULT}?.href.includes({leads.rpartition('/')[2].rpartition('#')[2]!r})")
    search.press("Enter")

    assert place(address, search.until("return location.search && location.href")) == leads


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
    assert all('class="broken"' in row for row in shown)
    leads = browser.run("return document.querySelector('.heat td.broken a').href")
    browser.open(leads)
    assert browser.until("return document.querySelector(':target')?.matches('a[id]')")


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

    browser.until("return document.readyState === 'complete' && document.fonts.status === 'loaded'")
    assert browser.until(f"const seen = {BEGINS}.flat(); return seen.length === 12 && seen.every(Boolean)")


def test_tooltips_say_the_sentence(browser, address):
    """Over the id of a clause, a picture shows its words."""
    browser.open(f"{address}/charts/ToolCall.html")
    tip = browser.run("return document.querySelector('.picture a[href$=\"#call-1\"] > title').textContent")

    assert tip.startswith("CALL-1: A call that nothing holds back")
