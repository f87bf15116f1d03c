"""The playground in a real browser: everything is in its address, the keyboard is enough, the focus stays."""

import pytest
from browser import CHROMIUM, DRIVER, WHY_NOT
from witness_traces import trace_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.long,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason=WHY_NOT),
]

ROWS = "[...document.querySelectorAll('.play tbody tr')].map((row) => row.textContent)"
STATUSES = "[...document.querySelectorAll('.play tbody tr:last-child .status')].map((one) => one.textContent)"
SAID = "document.querySelector('.play .said').textContent"
FOCUSED = "document.activeElement.textContent"
LIT = "[...document.querySelectorAll('.play .picture .here')].map((one) => one.id)"


@pytest.fixture
def play(browser, address):
    """Opens the page with something in its address, and waits until it plays."""

    def opened(wish="", width=1280):
        browser.size(width, 900)
        browser.open("about:blank")
        browser.open(f"{address}/play.html#{wish}")
        browser.until("return document.querySelector('.play .ledger, .play [role=alert]')")
        return browser

    return opened


def click(browser, words):
    """Press the button that bears these words."""
    found = "[...document.querySelectorAll('.play button')].find((one) => one.textContent === arguments[0])"
    browser.run(f"{found}.click()", words)


def fragment(browser):
    """What the address holds."""
    return browser.run("return location.hash.slice(1)")


def test_a_chart_is_played_by_keyboard(play):
    """Tab goes to an event, Enter sends it; a refusal is said, with its clause, and the focus stays."""
    browser = play("profile=awaken-8&calls=1")
    browser.reach("start")
    browser.press("Enter")
    browser.press("Enter")

    assert [row[:1] for row in browser.run(f"return {ROWS}")] == ["0", "1", "2"]
    assert "a call in Running takes suspend" in browser.run(f"return {SAID}")
    assert browser.run(f"return {FOCUSED}") == "start"


def test_what_a_runtime_did_is_loaded_and_played(play):
    """Its verdict stands above, and it broke at its last step; one that there is not is said."""
    browser = play("runtime=langgraph&clause=DERIVE-6")
    click(browser, "where it broke")

    assert "what LangGraph, ToolNode did" in browser.run("return document.querySelector('.play').textContent")
    assert "DERIVE-6" in browser.run("return document.querySelector('.play .ruling').textContent")
    assert "it broke here" in browser.run(f"return {ROWS}.at(-1)")
    assert fragment(browser).startswith("runtime=langgraph&clause=DERIVE-6&at=")
    assert "holds no trace" in play("runtime=none&clause=A-1").run(
        "return document.querySelector('.play').textContent"
    )


def test_keys_undo_and_begin_again(play):
    """u takes back one move, b all; arrows go from button to button, and the focus stays."""
    browser = play("profile=awaken-8&calls=1")
    browser.reach("start")
    browser.press("ArrowRight", "Enter", "ArrowLeft")
    assert browser.run(f"return [{FOCUSED}, {STATUSES}]") == ["start", ["Suspended", "Waiting"]]

    browser.press("Enter", "u")
    assert browser.run(f"return [{FOCUSED}, {STATUSES}]") == ["start", ["Suspended", "Waiting"]]
    assert fragment(browser) == "profile=awaken-8&calls=1&moves=c1.suspend"

    browser.press("b")
    assert browser.run(f"return [{FOCUSED}, {STATUSES}]") == ["start", ["New", "Running"]]
    assert fragment(browser) == "profile=awaken-8&calls=1"


def test_undo_is_a_button(play):
    """It takes back a refused move too, and does nothing at the start."""
    browser = play("chart=ToolCall&moves=suspend-start")
    seen = []
    for _ in range(3):
        click(browser, "undo")
        seen.append(fragment(browser))

    assert seen == ["chart=ToolCall&moves=suspend", "chart=ToolCall", "chart=ToolCall"]
    off = "document.querySelector('.play [data-key=undo]').getAttribute('aria-disabled')"
    assert browser.run(f"return {off}") == "true"


def test_a_call_is_approved_and_rejected(play):
    """Each suspended call has both buttons, and a call that is not has neither; the focus goes on."""
    browser = play("profile=awaken-8&calls=2&moves=c1.suspend-c2.suspend")
    named = "[...document.querySelectorAll('.play .decide')].map((one) => one.textContent)"
    assert browser.run(f"return {named}") == ["Approve", "Reject"] * 2

    browser.reach("Approve")
    browser.press("Enter")
    assert browser.run(f"return {STATUSES}") == ["Resuming", "Suspended", "Running"]
    assert browser.run("return document.activeElement.matches('.play .side button')")

    click(browser, "Reject")
    assert browser.run(f"return {STATUSES}") == ["Resuming", "Cancelled", "Running"]
    assert browser.run(f"return {named}") == []


def test_a_prompt_of_a_message_loop_is_answered(play):
    """Both buttons come with the prompt, and go with the answer, which stands in the timeline."""
    asked = "the_input_is_taken-the_request_is_composed-the_request_is_sent-the_model_asks_for_the_calls"
    unlisted = "is_judged_and_its_tool_is_not_on_the_list-is_put_to_the_interactors"
    browser = play(f"joint=message-loop&moves={asked}-{unlisted}")
    named = "[...document.querySelectorAll('.play .decide')].map((one) => one.textContent)"
    assert browser.run(f"return {named}") == ["Approve", "Reject"]

    browser.reach("Reject")
    browser.press("Enter")
    assert browser.run(f"return {STATUSES}")[:3] == ["TOOL_CALL", "Denied", "Failed"]
    assert browser.run(f"return {ROWS}")[-1].endswith("is denied (GATE-2, CALL-15)")
    assert browser.run(f"return {named}") == []


def test_a_link_brings_the_position_back(play):
    """What the address holds after some moves leads to the same place when it is opened anew."""
    browser = play("joint=tool-runner")
    for words in ("a request is sent", "the model answers with tool_use", "the turn is yielded"):
        click(browser, words)
    before = browser.run(f"return [{ROWS}, location.hash.slice(1)]")

    assert play(before[1]).run(f"return {ROWS}") == before[0]
    assert before[0][-1].startswith("3NewYieldedEmpty")


def test_facts_come_back_with_a_link(play):
    """A fact that held in the last move holds when its link is opened."""
    browser = play("family=tool-runner&chart=RunnerIteration&moves=request-answer*paused")

    checked = "[...document.querySelectorAll('.play input:checked')].map((one) => one.dataset.key)"
    assert browser.run(f"return {checked}") == ["fact paused"]


def test_every_preset_plays(play):
    """Each link above the playground leads to a line for each of its moves."""
    browser = play()
    links = browser.run("return [...document.querySelectorAll('.play .presets a')].map((one) => one.hash)")

    assert len(links) >= 5
    for link in links:
        rows = play(link.removeprefix("#")).run(f"return {ROWS}")
        assert (link, len(rows)) == (link, link.count("-", link.index("moves=")) + 2)


def test_each_preset_says_what_it_teaches(play):
    """While it is played, and also after further moves; another choice has no lesson."""
    said = "return document.querySelector('.play .lesson')?.textContent ?? ''"
    links = play().run("return [...document.querySelectorAll('.play .presets a')].map((one) => one.hash)")
    lessons = [play(link.removeprefix("#")).run(said) for link in links]

    assert all(one.startswith("What this shows: ") and one.endswith(".") for one in lessons)
    assert len({*lessons}) == len(lessons)
    assert play("profile=awaken-8&calls=2").run(said) == ""


def test_a_picture_opens_with_all_of_it_in_view(play):
    """The first chart fits its frame in a wide window."""
    browser = play()
    browser.until("return document.querySelector('.play svg')?.style.width")
    hidden = (
        "const frame = document.querySelector('.play .picture'); return frame.scrollWidth - frame.clientWidth"
    )

    assert browser.run(hidden) <= 1


def test_approve_then_crash(play):
    """The call was at work again; after the crash it waits as the store has it, undecided."""
    browser = play()
    browser.reach("approve, then crash")
    browser.press("Enter")
    browser.until("return document.querySelector('.play .stands')")
    rows = browser.run(f"return {ROWS}")

    assert "the runtime crashes and recovers" in rows[-1]
    assert rows[-2].startswith("11RunningRunning")
    assert browser.run("return document.querySelector('.play .stands').innerText").endswith("stored: Waiting")
    assert browser.run("return document.querySelector('.play .decide').textContent") == "Approve"


def test_what_is_played_is_lit(play):
    """The picture shows where each call is, by name, and scrolls to it; its chart is chosen by a button."""
    browser = play("profile=awaken-8&calls=2&moves=c1.suspend-c2.suspend-c2.resume-c2.start")
    browser.until(f"return {LIT}.length === 2")
    assert browser.run(f"return {LIT}") == ["ToolCall-Running", "ToolCall-Suspended"]
    who = "[...document.querySelectorAll('.play .picture .who')].map((one) => one.textContent)"
    assert browser.run(f"return {who}") == ["c2", "c1"]
    inside = """
    const outer = document.querySelector(".play .picture").getBoundingClientRect();
    const inner = document.querySelector("#ToolCall-Running").getBoundingClientRect();
    return outer.left <= inner.left && inner.right <= outer.right && outer.top <= inner.top;
    """
    assert browser.run(inside)

    click(browser, "Run")
    assert browser.until(f"return {LIT}.includes('Run-Running') && {LIT}") == ["Run-Running"]


@pytest.mark.parametrize(("width", "is_next_to"), [(1440, True), (500, False)])
def test_the_picture_is_next_to_the_buttons(play, width, is_next_to):
    """On a wide screen; on a narrow one it is above them."""
    browser = play("chart=ToolCall", width)
    lit = browser.until(
        "return document.querySelector('.play .picture .here')?.getBoundingClientRect().bottom"
    )
    assert lit < browser.run("return innerHeight"), "where it stands is in view at once"
    found = """
    const parts = [".pictures", ".side"].map((one) => document.querySelector(`.play ${one}`));
    const [picture, side] = parts.map((one) => one.getBoundingClientRect());
    return [picture.right <= side.left, picture.bottom <= side.top];
    """
    assert browser.run(found) == [is_next_to, not is_next_to]


def test_profile_and_calls_are_chosen(play):
    """The page remembers in its address what was chosen."""
    browser = play("profile=awaken-9&calls=3")

    assert browser.run(f"return {ROWS}")[0] == "0NewNewNewCreatedthe model asks for c1, c2, c3"


def test_what_is_chosen_is_played(play):
    """A choice from the list goes to the address; the list keeps the focus."""
    browser = play()
    choose = """
    const list = document.querySelector(".play [data-key=play]");
    list.focus();
    list.value = "tool-runner: RunnerIteration";
    list.dispatchEvent(new Event("change"));
    """
    browser.run(choose)
    browser.until("return document.querySelector('.play legend').textContent.includes('runner')")

    assert fragment(browser) == "family=tool-runner&chart=RunnerIteration"
    assert browser.run("return document.activeElement.dataset.key") == "play"


def test_a_witness_opens_from_a_link(browser, address):
    """The link next to a clause plays its trace, step by step, and ends with what is broken."""
    browser.size(1280, 900)
    browser.open(f"{address}/clauses/gate.html#gate-2")
    browser.run("document.querySelector('#gate-2 ~ details.clause details.failure').open = true")
    played = "document.querySelector('#gate-2 ~ details a[href*=\"#trace=\"]')"
    link = browser.until(f"return {played}?.href")
    browser.open(link)
    browser.until("return document.querySelector('.play .panel button')")
    assert "GATE-2: call" in browser.run("return document.querySelector('.play .ruling').textContent")
    for _ in range(20):
        click(browser, "next step")

    assert len(browser.run(f"return {ROWS}")) >= 3
    assert browser.run("return document.querySelector('.play tbody tr:last-child').className") == "broke"


OPEN = """
const files = new DataTransfer();
files.items.add(new File([arguments[0]], "GATE-2.jsonl"));
const input = document.querySelector(".play [type=file]");
input.files = files.files;
input.dispatchEvent(new Event("change"));
"""


def test_an_opened_trace_shows_where_it_broke(play):
    """The verdict has a link to its clause; the step at which it broke is lit, and so is its state."""
    browser = play()
    trace = trace_of("RunsTheRejected").with_verdict("GATE-2", "call c1 was cancelled, yet it was executed")
    browser.run(OPEN, trace.to_jsonl())
    ruling = browser.until("return document.querySelector('.play .ruling')?.innerHTML")
    assert 'href="clauses/gate.html#gate-2"' in ruling
    assert "yet it was executed" in ruling

    click(browser, "where it broke")
    browser.until("return document.querySelector('.play .picture .here.ill')")
    assert browser.run(f"return {LIT}") == ["ToolCall-Running"]
    broke = browser.run("return document.querySelector('.play tbody tr.broke:last-child').textContent")
    assert broke.endswith("it broke here")

    click(browser, "step back")
    assert browser.run("return document.querySelector('.play tr.broke, .play .ill')") is None


def test_a_trace_without_a_verdict_says_so(play):
    """It names the command that gives one."""
    browser = play()
    browser.run(OPEN, trace_of("RunsTheRejected").to_jsonl())

    assert "holds no verdict" in browser.until("return document.querySelector('.play .ruling')?.textContent")


def test_a_link_that_was_cut_off_is_told(play):
    """Half a trace is no trace, and the page says so."""
    browser = play("trace=7Vrbb")

    assert "no trace that can be read" in browser.run("return document.querySelector('.refused').textContent")


def test_a_chart_of_a_further_family_is_played(play):
    """Its picture is shown, and its clauses lead to the pages of its family."""
    browser = play("family=message-loop&chart=ToolInvocation")
    browser.until("return document.querySelector('.play .picture svg .here')")
    found = browser.run("return document.querySelector('.play .picture a').getAttribute('href')")

    assert found.startswith("families/message-loop/clauses/")


def test_nothing_is_wider_than_a_phone(play):
    """Neither while a run is played, nor a joint state, nor a trace."""
    browser = play()
    browser.run(OPEN, trace_of("RunsTheRejected").to_jsonl())
    browser.until("return location.hash.includes('trace=')")
    for wish in ("calls=4", "joint=lifecycle", "joint=tool-runner", "joint=message-loop", fragment(browser)):
        width = play(wish, 390).run("return document.documentElement.scrollWidth")
        assert (wish[:20], width <= 390) == (wish[:20], True)
