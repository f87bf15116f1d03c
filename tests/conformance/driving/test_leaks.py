"""What a runtime still holds when its run is over breaks no clause, and is told."""

import json

import pytest
from command_line import run
from sample_result import RESULT

from runlock.conformance.driving.leaks import Leak, in_words
from runlock.conformance.driving.tally import Tally
from runlock.conformance.report.html import web
from runlock.conformance.report.markdown import markdown
from runlock.conformance.report.result_json import as_json
from runlock.conformance.report.stored_result import Stored
from runlock.conformance.trace.trace import Trace


def test_a_task_that_is_left_behind_is_told_with_a_schedule(capsys, tmp_path):
    """A person, and a machine, are told what leaked and how often, and the verdict stays what it is."""
    words = ("check", "py:cli_fakes:LeavesATask", "--examples", 0, "-o", tmp_path)
    read = run(capsys, *words)
    told = run(capsys, *words, "--json")
    (shown,) = [tmp_path / one for one in tmp_path.glob("leak-*.jsonl")]
    last = json.loads(shown.read_text("utf-8").splitlines()[-1])
    calm = run(capsys, "check", "py:cli_fakes:Tiny", "--examples", 0, "-o", tmp_path, "--json")
    (leak,) = told.json["leaks"]

    assert "a task is still alive: " in leak["what"]
    assert f"leaked, in {leak['times']} schedules, as in {leak['trace']}" in " ".join(read.out.split())
    assert last["end"]["leaks"]
    assert not shown.exists()
    assert (told.code, calm.json["leaks"]) == (calm.code, [])


@pytest.mark.parametrize(
    ("leak", "words"),
    [
        ({"gate": "g7", "on": "tool", "call": "c1"}, "a tool gate is still open"),
        ({"task": "Acme.loop"}, "a task is still alive: Acme.loop"),
        ({"close": "did not return"}, "close went wrong: did not return"),
        (["a thread", 3], '["a thread", 3]'),
        ("\x1b[2J" + "x" * 900, None),
    ],
)
def test_a_leak_is_told_in_few_words(leak, words):
    """Ids are left out, so that leaks of one kind are one; what an adapter makes up is cut, and is text."""
    assert in_words(leak) == words or (
        words is None and len(in_words(leak)) < 100 and in_words(leak).isprintable()
    )


def test_leaks_of_one_kind_add_up_and_the_shortest_schedule_stays():
    """However many workers found them."""
    short, long = Trace(), Trace()
    long.add("end", {"leaks": [1]})
    one, other = Tally(), Tally()
    one.leak(Leak("a task", 2, long))
    other.leak(Leak("a task", 1, short))
    one.add(other)

    assert one.leaks == {"a task": Leak("a task", 3, short)}


def test_every_report_tells_a_leak():
    """Reports that are made of a stored result tell it too, as text."""
    RESULT.leaks.append(Leak("<b>a task</b>", 3, Trace()))
    try:
        stored = Stored.model_validate(as_json(RESULT, {}, 1))
    finally:
        RESULT.leaks.clear()

    assert "Leaked 3 times: `<b>a task</b>`" in markdown(stored)
    assert "&lt;b&gt;a task&lt;/b&gt;" in web(stored)
