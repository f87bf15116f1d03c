"""`runlock report`: one stored result, as JUnit, Markdown, a badge and a page; whatever a runtime named."""

import json
import re
from html import unescape
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from command_line import run
from sample_result import FILES, RESULT, TRACE

from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.report.clause_names import title
from runlock.conformance.report.markdown import block, code
from runlock.conformance.report.result_json import as_json

FORMATS = ("junit", "markdown", "badge", "html")
HOSTILE = (
    "</code></bdi><script>alert(1)</script> ```\n# @everyone | [x](javascript:y) ![](http://evil.example/p) "
    "`` ]]> & \" ' \x1b[31m \x00 \u202e \ud800 \ufffe <!-- https://evil.example"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a stored result in it."""
    monkeypatch.chdir(tmp_path)
    store(as_json(RESULT, FILES, 1))
    return tmp_path


def store(result, name="result.json"):
    """Store a result as `check` does."""
    with open(name, "w", encoding="utf-8") as file:
        json.dump(result, file)


def hostile(value, key=""):
    """The result with hostile words wherever a runtime can put some: in its keys, and in its values."""
    kept = ("verdict", "blame", "method", "kind", "action", "id", "clause", "level", "family")
    if isinstance(value, dict):
        named = {f"{one}{HOSTILE}" if key == "calls" else one: part for one, part in value.items()}
        return {one: hostile(part, one) for one, part in named.items()}
    if isinstance(value, list):
        return [hostile(part, key) for part in value]
    return f"{value}{HOSTILE}" if value and isinstance(value, str) and key not in kept else value


def report(capsys, wanted, *more):
    """The text of a report."""
    ran = run(capsys, "report", ".", "--format", wanted, *more)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


def test_a_testcase_for_each_clause(capsys):
    """Broken is a failure with its witness, untested is skipped; what cannot apply is no test."""
    suite = ElementTree.fromstring(report(capsys, "junit")).find("testsuite")
    cases = {case.get("name").partition(":")[0]: case for case in suite}

    others = ("a schedule could not be judged", "decision.kept is not declared")
    applicable = [one.id for one in RESULT.clauses if one.verdict != "not-applicable"]
    assert [name for name in cases if name not in others] == applicable != [one.id for one in RESULT.clauses]
    assert {key: suite.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "11", "failures": "1", "errors": "2", "skipped": "4",
    }  # fmt: skip
    failure = cases["DECIDE-5"].find("failure")
    assert failure.get("message") == "decision d1 names call c1, yet call c2 moved"
    assert "3  decide c1 resume with false (d1)\nrunlock replay runlock-results/DECIDE" in failure.text
    assert cases["CALL-24"].find("skipped").get("message") == "untested: no schedule reached it"
    assert list(cases["CALL-1"]) == []


@pytest.mark.parametrize("form", ["junit", "markdown", "html", "sarif"])
def test_a_question_is_in_every_report(capsys, form):
    """What to declare, and the evidence; it makes no report a failing one."""
    text = unescape(report(capsys, form))

    assert RESULT.questions[0].sentence in text
    assert "decision d1 had been accepted, yet call c1 waits" in text
    assert "runlock-results/question-1.jsonl" in text


def test_a_result_without_questions_is_read(capsys):
    """A result of an earlier version has none, and a later one may say more of each."""
    result = as_json(RESULT, FILES, 1)
    store({key: value for key, value in result.items() if key != "questions"})

    assert "decision.kept" not in report(capsys, "markdown")


def test_a_pull_request_is_told_all_that_broke(capsys):
    """The verdict, a row for each area, and the violation with its steps and how to see it again."""
    lines = report(capsys, "markdown").splitlines()

    assert lines[0].startswith("**broken**: `cmd:./acme-adapter --fast` is `acme-runtime 2.1`")
    assert "| DECIDE | 1 |  | 1 |  |  |" in lines
    assert f"### `DECIDE-5` broken: {title(FAMILY, FAMILY.spec.clauses['DECIDE-5'])}" in lines
    assert "3  decide c1 resume with false (d1)" in lines
    assert "runlock replay runlock-results/DECIDE-5.jsonl 'cmd:./acme-adapter --fast'" in lines


@pytest.mark.long
@pytest.mark.parametrize(
    ("verdict", "message", "colour"),
    [
        ("held", "4 of 8 clauses held", "brightgreen"),
        ("broken", "1 broken", "red"),
        ("undecided", "undecided, 4 of 8 clauses held", "yellow"),
    ],
)
def test_a_badge_says_the_verdict(capsys, folder, verdict, message, colour):
    """Shields reads the JSON; the drawing says the same."""
    store(as_json(RESULT, FILES, 1) | {"verdict": verdict})
    said = json.loads(report(capsys, "badge"))
    report(capsys, "badge", "-o", "badge.svg")
    drawing = ElementTree.parse(folder / "badge.svg").getroot()

    assert (said["schemaVersion"], said["label"]) == (1, "runlock awaken-8")
    assert (said["message"], said["color"]) == (message, colour)
    assert drawing.get("aria-label") == f"runlock awaken-8: {message}"


class Tags(HTMLParser):
    """The tags of a page, with their attributes, and its text."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def test_a_page_shows_everything_and_needs_nothing(capsys):
    """Verdict, timeline, witness, clauses and charts, with no script and nothing fetched."""
    page = Tags(report(capsys, "html"))

    assert not {"script", "link", "img", "iframe"} & set(page.tags)
    assert not [name for name, _ in page.attributes if name in ("src", "onload", "style")]
    assert {link[0] for name, link in page.attributes if name in ("href", "xlink:href")} == {"#"}
    assert ("id", "DECIDE-5") in page.attributes
    assert ("class", "status Suspended") in page.attributes
    for words in ("DECIDE-5", "Suspended", "decide c1 resume with false (d1)", "1 broken", "CALL-24", "Run"):
        assert words in page.text
    assert ("name", "viewport") in page.attributes
    assert "prefers-color-scheme: dark" in page.text


def test_a_page_folds_consequences_under_their_cause(capsys, folder):
    """One section for each cause, with the messages of its trace; what follows from it is folded in there."""
    path = folder / "DECIDE-5.jsonl"
    path.write_text(TRACE.to_jsonl())
    stored = as_json(RESULT, FILES | {"DECIDE-5": path}, 1)
    (cause,) = stored["violations"]
    stored["violations"] = [cause, {**cause, "clause": "GATE-1", "cause": "DECIDE-5"}]
    store(stored)
    text = report(capsys, "html")

    assert text.count('<section class="violation">') == 1
    section = text.partition('<section class="violation">')[2].partition("</section>")[0]
    assert "The same fault also breaks 1 more" in section.partition("GATE-1")[0]
    assert section.count("The messages as a picture") == 1
    assert ">tool c2 is entered</text>" in section


def test_a_page_shows_how_often_each_transition_was_taken(capsys):
    """The picture of a chart has a count at each transition; without a layout program the numbers stay."""
    assert "how often each transition was taken" in report(capsys, "html")


def test_a_page_without_a_layout_program_has_the_numbers(capsys, monkeypatch):
    """Then a chart is a row of numbers and a list of what was never taken."""
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    text = report(capsys, "html")

    assert "how often each transition was taken" not in text
    assert "transitions never taken" in text


def uncoloured(page):
    """The attributes of a page, without the colours of statuses, which hostile ones do not have."""
    return [(name, value.partition(" ")[0] if name == "class" else value) for name, value in page.attributes]


def test_hostile_names_are_text_in_a_page(capsys, monkeypatch):
    """No tag comes from a runtime, and what cannot be seen is shown by its code; no chart is drawn."""
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    expected = Tags(report(capsys, "html"))
    store(hostile(as_json(RESULT, FILES, 1)))
    text = report(capsys, "html")

    assert Tags(text).tags == expected.tags
    assert uncoloured(Tags(text)) == uncoloured(expected)
    assert "\\x1b[31m \\x00 \\u202e \\ud800 \\ufffe" in text
    assert not re.search("[\x00\x1b\u202e\ufffe]", text)


def test_hostile_names_are_text_in_junit(capsys):
    """The document can be read by any parser, with the elements that it has otherwise."""
    expected = [one.tag for one in ElementTree.fromstring(report(capsys, "junit")).iter()]
    store(hostile(as_json(RESULT, FILES, 1)))
    text = report(capsys, "junit")

    assert [one.tag for one in ElementTree.fromstring(text).iter()] == expected
    assert "\\x1b[31m \\x00 \\u202e" in text


def outside_code(text):
    """Markdown without its blocks of code and its inline code."""
    without = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", without)


def test_hostile_names_are_code_in_markdown(capsys):
    """Outside of code there is no markup, no link and no mention that a runtime brought along."""
    expected = outside_code(report(capsys, "markdown"))
    store(hostile(as_json(RESULT, FILES, 1)))
    text = report(capsys, "markdown")

    assert "@everyone" in text
    assert outside_code(text) == expected


def test_a_hostile_area_is_no_column():
    """Also the table holds, whatever stands in the place of an id."""
    from runlock.conformance.report.markdown import _cell

    assert _cell("A|`<b>@x") == "A&#124;&#96;&#60;b&#62;&#64;x"


def test_hostile_names_are_text_in_a_badge(capsys, folder):
    """A badge is cut to its size, and stays a drawing of two texts."""
    store(hostile(as_json(RESULT, FILES, 1)))
    said = json.loads(report(capsys, "badge"))
    report(capsys, "badge", "-o", "badge.svg")
    tags = [one.tag.rpartition("}")[2] for one in ElementTree.parse(folder / "badge.svg").getroot().iter()]

    assert len(said["label"]) <= 40
    assert tags == ["svg", "title", "clipPath", "rect", "g", "rect", "rect", "g", "text", "text"]


@pytest.mark.parametrize("text", ["", "`", "``a", "a ``` b", " a ", "a\nb"])
def test_code_is_closed_by_its_own_fence_alone(text):
    """No run of backticks in a text is as long as the fences around it."""
    shown = code(text)
    fence = re.match("`+", shown)[0]

    assert shown.endswith(fence)
    assert fence not in re.findall("`+", shown[len(fence) : -len(fence)])
    assert "\n" not in shown


def test_a_block_is_longer_fenced_than_its_lines():
    """A line of backticks does not end a block."""
    assert block(["````"]) == ["`````text", "````", "`````"]


def test_a_clause_of_another_spec_has_no_title(capsys):
    """A result that a younger kit stored is still told."""
    stored = as_json(RESULT, FILES, 1)
    stored["violations"][0]["clause"] = "NEWER-1"
    store(stored)

    assert "### `NEWER-1` broken\n" in report(capsys, "markdown")


@pytest.mark.long
def test_the_result_of_a_check_can_be_reported(capsys):
    """What `check` leaves in its folder makes every report, timeline included."""
    run(capsys, "check", "py:cli_fakes:ExecutesRejected", "--examples", 20, "-o", ".")

    assert {wanted: bool(report(capsys, wanted)) for wanted in FORMATS} == dict.fromkeys(FORMATS, True)
    assert "what happened" in Tags(report(capsys, "html")).text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "not json",
            (
                "result.json is no JSON (Expecting value at position 0). "
                "`runlock check TARGET -o DIR` leaves one in DIR."
            ),
        ),
        ("[1]", "result.json is no result of `runlock check`. A folder of results has a result.json."),
        ('{"schema": 2}', "result.json is of schema 2. This kit reads schema 1."),
        ('{"schema": 1}', "result.json is no whole result: it lacks target. Run `runlock check` again."),
    ],
)
def test_what_is_no_result_is_refused(capsys, folder, text, said):
    """One sentence names the file and what it should have been."""
    (folder / "result.json").write_text(text)
    ran = run(capsys, "report", ".", "--format", "junit")

    assert (ran.code, ran.out, ran.err) == (2, "", f"runlock: {said}\n")


@pytest.mark.parametrize("form", ["junit", "markdown", "html"])
def test_an_exception_comes_first(capsys, form):
    """A result in which something raised says so before anything else, and JUnit counts an error."""
    raised = {"error": "KeyError: “lost” (bad.py:3)", "verb": "start", "times": 2, "trace": None}
    store({**as_json(RESULT, FILES, 1), "exceptions": [raised], "warnings": []})
    out = run(capsys, "report", "result.json", "--format", form).out

    assert "KeyError: “lost” (bad.py:3) in start" in out
    assert out.index("KeyError") < out.index({"junit": "<failure"}.get(form, " stimuli"))
    assert form != "junit" or 'errors="0"' not in out
