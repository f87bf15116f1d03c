"""A Python object as a runtime under test: its methods are the verbs, and nothing it does is a traceback."""

import json
import sys
from pathlib import Path

import pytest

from runlock.conformance.errors import AdapterError, TimedOut
from runlock.conformance.protocol import NO_SUCH_GATE, UNSUPPORTED, ProtocolError
from runlock.conformance.transport.exceptions import error_in_words
from runlock.conformance.transport.in_process import MANDATORY, InProcess

HERE = Path(__file__).name


class Whole:
    """Every mandatory verb, each answering what the test put there."""

    answer: object = {}

    def initialize(self, params):
        return {"protocol": 1}

    def scenario_open(self, params):
        params["tools"].append("changed by the adapter")
        return {}

    def scenario_close(self, params):
        return {}

    def run_start(self, params):
        raise KeyError("r1")

    def gate_release(self, params):
        raise ProtocolError(NO_SUCH_GATE, "no gate g1 is open")

    def settle(self, params):
        return self.answer


def answering(answer):
    """An adapter that settles with the given answer."""
    verbs = Whole()
    verbs.answer = answer
    return InProcess(verbs)


def test_a_verb_is_a_method_with_underscores():
    """`scenario.open` is the method scenario_open, and its dict comes back."""
    assert InProcess(Whole()).request("initialize", {}) == {"protocol": 1}


@pytest.mark.parametrize("verb", MANDATORY)
def test_a_missing_mandatory_verb_is_named(verb):
    """What cannot be driven at all is said when the adapter is given, with what to write."""
    attribute = verb.replace(".", "_")
    partial = type("Partial", (), {name: value for name, value in vars(Whole).items() if name != attribute})

    with pytest.raises(AdapterError, match=rf"Partial has no method {attribute}\.") as caught:
        InProcess(partial())

    assert f"`def {attribute}(self, params: dict) -> dict`" in caught.value.right


def test_all_missing_verbs_are_named_at_once():
    """One run tells everything that is missing."""
    with pytest.raises(AdapterError, match="initialize, scenario_open, scenario_close, run_start, settle"):
        InProcess(object())


def test_a_missing_optional_verb_is_unsupported():
    """A verb that the adapter does not have answers -32001, as it would over a pipe."""
    with pytest.raises(ProtocolError, match="the adapter has no method clock_advance") as caught:
        InProcess(Whole()).request("clock.advance", {"ms": 1})

    assert caught.value.code == UNSUPPORTED


def test_a_protocol_error_is_the_adapters_answer():
    """An adapter answers with an error by raising one."""
    with pytest.raises(ProtocolError, match="no gate g1 is open"):
        InProcess(Whole()).request("gate.release", {})


def test_an_exception_is_told_with_its_type_words_and_place():
    """Whatever else an adapter raises is its fault, and where it did is a file and a line."""
    with pytest.raises(
        AdapterError, match=rf"raised KeyError: “'r1'” \(.*{HERE}:\d+\) in run_start\."
    ) as caught:
        InProcess(Whole()).request("run.start", {})

    assert "comes back in `refused`" in caught.value.right


@pytest.mark.parametrize("error", [SystemExit(3), GeneratorExit(), RecursionError("deep")], ids=repr)
def test_no_exception_of_an_adapter_ends_the_kit(error):
    """An adapter that exits, exits alone."""

    class Exits(Whole):
        def settle(self, params):
            raise error

    with pytest.raises(AdapterError, match=f"raised {type(error).__name__}"):
        InProcess(Exits()).request("settle", {})


@pytest.mark.parametrize("error", [KeyboardInterrupt(), TimedOut("No answer came.")], ids=repr)
def test_what_is_not_the_adapters_passes(error):
    """The user's interrupt, and the diagnosis of a pipe behind the object, stay what they are."""

    class Passes(Whole):
        def settle(self, params):
            raise error

    with pytest.raises(type(error)):
        InProcess(Passes()).request("settle", {})


CYCLE: list[object] = []
CYCLE.append(CYCLE)
DEEP: list[object] = []
for _ in range(5000):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (None, "adapter's settle answered None."),
        ([], "adapter's settle answered a list."),
        ({"v": {1}}, "answer of the adapter's settle is no JSON (Object of type set"),
        ({"v": float("inf")}, "is no JSON (Out of range float"),
        ({"v": CYCLE}, "is no JSON (Circular reference"),
        ({"v": DEEP}, "is nested deeper than 200 levels"),
        ({"v": "\ud800"}, "holds half a surrogate pair, which is no text"),
        ({(1, 2): 3}, "is no JSON (keys must be"),
    ],
    ids=["None", "list", "set", "infinity", "cycle", "deep", "surrogate", "tuple key"],
)
def test_an_answer_that_is_no_json_object_is_explained(answer, what):
    """What could not cross a pipe does not cross in process either."""
    with pytest.raises(AdapterError) as caught:
        answering(answer).request("settle", {})

    assert what in caught.value.what
    assert caught.value.right == "It answers one dict of JSON values, as the protocol's settle says."


def test_an_async_verb_is_explained():
    """A coroutine is no answer; no one here would await it."""

    class Async(Whole):
        async def settle(self, params):
            return {}

    with pytest.raises(AdapterError, match="adapter's settle is a coroutine function"):
        InProcess(Async()).request("settle", {})


def test_neither_side_can_change_what_the_other_keeps():
    """Parameters and answers are copies, as they would be over a pipe."""
    params = {"tools": ["t0"]}
    kept = {"observations": []}
    sut = answering(kept)
    sut.request("scenario.open", params)
    sut.request("settle", {})["observations"].append("changed by the kit")

    assert (params, kept) == ({"tools": ["t0"]}, {"observations": []})


def test_a_killed_object_is_made_again():
    """With a factory, the life after a kill is a new object; without one, that is said."""
    made = []

    def again():
        made.append(Whole())
        return made[-1]

    sut = InProcess(Whole(), again=again)
    sut.kill()

    assert sut.request("initialize", {}) == {"protocol": 1}
    assert len(made) == 1


def test_a_killed_object_without_a_factory_is_gone():
    """An object that the kit did not make cannot be made again."""
    sut = InProcess(Whole())
    sut.close()

    with pytest.raises(AdapterError, match=r"dropped by a kill and cannot be made again\. Give a factory"):
        sut.request("settle", {})


def test_an_exception_whose_words_cannot_be_read_is_told():
    """An exception may lie or fail in its own words; the sentence stands all the same."""

    class Mute(Exception):
        def __str__(self):
            raise RuntimeError

    assert error_in_words(Mute()) == "Mute: words that cannot be read (at its call)"
    assert error_in_words(ValueError()) == "ValueError: without words (at its call)"
    assert error_in_words(ValueError("two\nlines \x07")) == "ValueError: “two lines \\x07” (at its call)"


def test_the_place_is_the_adapters_and_not_the_librarys():
    """An exception deep in a library is reported with the adapter's line that led there."""
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads("{")

    assert f"{HERE}:{sys._getframe().f_lineno - 2})" in error_in_words(caught.value)
