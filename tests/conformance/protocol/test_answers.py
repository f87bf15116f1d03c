"""Whatever a runtime answers, the kit says one thing of it: what it means, or what is wrong with it."""

import copy
import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.strategies.scripted import applicable, corpus, play
from runlock.conformance.driving.tally import Tally
from runlock.conformance.errors import AdapterError
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.families.lifecycle.messages import LISTED
from runlock.conformance.families.lifecycle.wording import shown
from runlock.conformance.protocol import ProtocolError
from runlock.conformance.protocol.answers import fitted_report
from runlock.conformance.transport.child_process import EndlessLine, Silent
from runlock.conformance.transport.stdio import Pipe

FUZZ = settings(
    derandomize=True, deadline=None, database=None, suppress_health_check=list(HealthCheck), max_examples=80
)

TEXT = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["c1", "g1", "r1", "Running", "Done", "model", "tool", "turn", "\x1b[31m"]),
)
JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXT
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXT, inner, max_size=3)),
    max_leaves=6,
)


class Said:
    """A child that has written some bytes, and says no more."""

    def __init__(self, raw):
        self.unread = bytearray()
        self.raw = raw

    def read_what_is_there(self):
        """It writes when it is asked."""

    def converse(self, line, limit_seconds):
        """The first line of what it wrote."""
        self.unread += self.raw
        if b"\n" not in self.unread:
            raise Silent(is_closed=True)
        return self.take_line()

    def take_line(self):
        """As a real child gives its lines."""
        line, _, rest = bytes(self.unread).partition(b"\n")
        if len(line) > 4 * 1024 * 1024:
            raise EndlessLine
        self.unread = bytearray(rest)
        return line

    def exit_code(self):
        """It has ended."""
        return 0

    def last_words(self):
        """It has none."""
        return b""

    def end(self):
        """It has ended."""


def answered(raw):
    """What comes of some bytes in the place of an answer."""
    pipe = Pipe(["./adapter"])
    pipe._child = Said(raw)
    try:
        return pipe.request("settle", {})
    except (AdapterError, ProtocolError) as error:
        return error


ENVELOPES = st.fixed_dictionaries(
    {}, optional={"jsonrpc": st.sampled_from(["2.0", "1.0", 2]), "id": st.sampled_from([1, 2, "1", None]),
                  "result": JSON, "error": JSON, "method": TEXT}
)  # fmt: skip
LINES = st.one_of(
    st.binary(max_size=60),
    JSON.map(lambda value: json.dumps(value).encode()),
    ENVELOPES.map(lambda value: json.dumps(value).encode()),
    ENVELOPES.map(lambda value: json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")),
)


@FUZZ
@given(st.lists(LINES, max_size=3), st.booleans())
def test_any_bytes_are_an_answer_or_a_sentence(lines, is_whole):
    """Bytes on standard output are a result, an error of the protocol, or the adapter's fault in words."""
    told = answered(b"\n".join(lines) + (b"\n" if is_whole else b""))

    assert isinstance(told, dict) or str(told).isprintable() or isinstance(told, ProtocolError)


class Tampered:
    """A runtime of which one answer is tampered with."""

    def __init__(self, sut, at, change):
        self.sut, self.at, self.change = sut, at, change
        self.kill, self.close = sut.kill, sut.close

    def request(self, method, params):
        """Pass a verb on, and change what comes back, once."""
        answer = self.sut.request(method, params)
        if method in ("initialize", "scenario.open"):
            return answer
        self.at -= 1
        return self.change(copy.deepcopy(answer)) if self.at == 0 else answer


def changes(value):
    """Ways to change one part of a JSON value, drawn anew at each place."""

    @st.composite
    def changed(draw):
        whole = copy.deepcopy(value)
        owner, key = draw(st.sampled_from(list(_places(whole)) or [(whole, None)]))
        if key is None:
            return draw(JSON.filter(lambda one: isinstance(one, dict)))
        way = draw(st.sampled_from(["replace", "drop", "copy"]))
        if way == "replace":
            owner[key] = draw(JSON)
        elif way == "drop":
            del owner[key]
        else:
            other, there = draw(st.sampled_from(list(_places(whole))))
            owner[key] = copy.deepcopy(other[there])
        return whole

    return changed()


def _places(value):
    for key in (
        list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    ):
        yield value, key
        yield from _places(value[key])


BENCHES = {}


def bench_of(profile):
    """One bench for each profile; each example puts a runtime of its own on it."""
    if profile not in BENCHES:
        BENCHES[profile] = Bench(resolve(f"reference:{profile}").open)
    return BENCHES[profile]


def played(profile, script, at, change, begin=Bench.session):
    """A script on a runtime that is tampered with: the session, or what is said of the runtime."""
    bench = bench_of(profile)
    bench.sut = Tampered(resolve(f"reference:{profile}").open(), at, change)
    try:
        session = begin(bench, script.scenario)
        play(script)(session)
    except AdapterError as error:
        return error, None
    finally:
        bench.sut.close()
    bench.enter(session, Tally())
    return None, session


SCRIPTS = {
    profile: [one for one in corpus(FAMILY) if not applicable(FAMILY, one, bench_of(profile).handshake)]
    for profile in ("awaken-9", "tirea-stream")
}


@pytest.mark.long
@pytest.mark.parametrize("begin", [Bench.session, Bench.session_judged_later])
@pytest.mark.parametrize("profile", SCRIPTS)
def test_any_answer_is_judged_or_blamed(profile, begin):
    """An answer with any part changed is judged, or blamed on the adapter in a sentence.

    It is also so where judging goes on after the first violation.
    """

    @FUZZ
    @given(st.data())
    def fuzzed(data):
        script = data.draw(st.sampled_from(SCRIPTS[profile]))
        at = data.draw(st.integers(1, 8))
        error, session = played(profile, script, at, lambda answer: data.draw(changes(answer)), begin)

        if error is not None:
            assert (error.blame, str(error).isprintable()) == ("adapter", True)
        else:
            assert all(shown(seen).isprintable() for seen in session.trace.of("observation"))
            assert session.violation is None or session.violation.reason

    fuzzed()


def test_a_place_is_printable_whatever_it_is_called():
    """Where an answer does not fit is said in visible characters, though the runtime named the place."""
    stored = {"run": {"status": "Done"}, "decisions": {"\x1b": None}}
    seen = {"kind": "checkpoint", "run": "r1", "trigger": "UserMessage", "state": stored}

    with pytest.raises(AdapterError, match=r"state\.decisions\.\\x1b of a checkpoint") as raised:
        fitted_report(FAMILY.vocabulary, {"observations": [seen]}, "run.start")

    assert str(raised.value).isprintable()


def test_what_is_repeated_is_read_once():
    """An answer that is the same as one before it is the very same report."""
    raw = {"observations": [{"kind": "gate.open", "gate": "g1", "on": "model", "run": "r1"}]}

    assert fitted_report(FAMILY.vocabulary, raw, "settle") is fitted_report(
        FAMILY.vocabulary, copy.deepcopy(raw), "settle"
    )


@pytest.mark.parametrize("wrong", [{"quiescent": 1}, {"quiescent": 1.0}, {"refused": ()}])
def test_what_python_takes_for_equal_is_not_the_same_answer(wrong):
    """What was read before does not let a number pass for a truth value."""
    fitted_report(FAMILY.vocabulary, {"quiescent": True}, "settle")
    fitted_report(FAMILY.vocabulary, {"refused": []}, "settle")

    with pytest.raises(AdapterError):
        fitted_report(FAMILY.vocabulary, wrong, "settle")


class Greeting:
    """A runtime that shakes hands, and no more."""

    def __init__(self, handshake):
        self.handshake = handshake

    def request(self, method, params):
        """The handshake, whatever is asked."""
        return self.handshake

    def kill(self):
        """Nothing is held."""

    def close(self):
        """Nothing is held."""


@settings(FUZZ, max_examples=30)
@given(st.data())
def test_any_handshake_is_taken_or_blamed(data):
    """A handshake with any part changed is one that clauses can stand on, or the adapter's fault in words."""
    handshake = bench_of("awaken-9").handshake.to_wire()
    for _ in range(data.draw(st.integers(1, 3))):
        handshake = data.draw(changes(handshake))
    try:
        Bench(lambda: Greeting(handshake)).close()
    except AdapterError as error:
        assert (error.blame, str(error).isprintable()) == ("adapter", True)


@pytest.mark.long
@pytest.mark.parametrize("profile", SCRIPTS)
def test_what_is_not_listed_is_legal(profile):
    """Kinds and fields that the protocol does not list are kept, and change nothing."""
    own = st.dictionaries(TEXT.map(lambda name: f"x-{name}"), JSON, max_size=3)

    @FUZZ
    @given(st.data())
    def fuzzed(data):
        def change(answer):
            for one in answer.get("observations", ()):
                one.update(data.draw(own))
            kind = data.draw(TEXT.filter(lambda name: name not in LISTED))
            answer.setdefault("observations", []).insert(0, {"kind": kind, "run": "r1", **data.draw(own)})
            return {**answer, **data.draw(own)}

        script = data.draw(st.sampled_from(SCRIPTS[profile]))
        error, session = played(profile, script, data.draw(st.integers(1, 4)), change)

        assert error is None or "without a stimulus" in str(error)
        assert session is None or session.violation is None

    fuzzed()
