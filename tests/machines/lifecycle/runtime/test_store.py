"""The store: what was put is there, and whatever cannot be used is refused in words and left as it is."""

import json
import shutil
import sqlite3
from contextlib import closing

import pytest

from runlock.machines.lifecycle.runtime.state import Call, Decision, RunState
from runlock.machines.lifecycle.runtime.store import SCHEMA_VERSION, Store, StoreRefused


def a_run(number=1, status="Waiting"):
    """A run with one call that is over and one that waits, already decided."""
    run = RunState(number=number, status=status, step=1, history_of_calls=[["read", {}], ["write", {}]])
    run.calls["c1"] = Call("c1", "read", {"k": "c1"}, status="Succeeded", step=1, committed=True)
    run.calls["c2"] = Call("c2", "write", {"k": "c2"}, status="Suspended", suspension=1, step=1)
    run.decisions["c2"] = Decision("d1", "c2", "resume", {"deep": [1, None, "\ud800 é"]}, 1)
    asked = [{"id": call.id, "name": call.name, "args": call.args} for call in run.calls.values()]
    run.messages = [
        {"role": "user", "text": "hello"},
        {"role": "assistant", "text": "", "tool_calls": asked},
        {"role": "tool", "call": "c1", "status": "ok", "text": "x" * 9000},
    ]
    return run.to_checkpoint()


@pytest.fixture
def path(tmp_path):
    """A store with one checkpoint, closed."""
    with closing(Store(tmp_path / "runs.sqlite")) as store:
        store.put("t1", "r1", "StepEnd", "suspend", a_run())
    return tmp_path / "runs.sqlite"


def refusal(path):
    """Why the store, or the checkpoint in it, is refused; the file is the same before and after."""
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(StoreRefused) as refused, closing(Store(path)) as store:
        store.last("t1")
    assert before is None or path.read_bytes() == before
    assert str(path) in str(refused.value)
    return str(refused.value)


def test_a_new_store_holds_nothing(tmp_path):
    """It is one file, and nothing is left of its making."""
    with closing(Store(tmp_path / "runs.sqlite")) as store:
        assert (store.last("t1"), store.threads()) == (None, [])
    assert [file.name for file in tmp_path.iterdir()] == ["runs.sqlite"]


def test_a_checkpoint_comes_back_as_it_was_put(path):
    """Whatever JSON can say survives, text that no encoding takes included."""
    with closing(Store(path)) as store:
        assert store.last("t1") == store.last("t1", "r1") == a_run()
        assert store.last("t1", "r2") is store.last("t2") is None


def test_arguments_that_do_not_parse_come_back_as_text(path):
    """As they stand in the turn that was cut off."""
    cut = a_run()
    asked = next(one["tool_calls"][0] for one in cut["messages"] if one.get("tool_calls"))
    asked["args"] = '{"k'
    with closing(Store(path)) as store:
        store.put("t1", "r1", "RunFinished", "end", cut)
        assert store.last("t1", "r1") == cut


def test_each_run_keeps_its_newest_checkpoint(path):
    """Threads and runs do not touch each other; the newest run of a thread is the one begun last."""
    with closing(Store(path)) as store:
        store.put("t1", "r1", "StepEnd", "end", a_run(status="Done"))
        store.put("t1", "r2", "UserMessage", "run_start", a_run(2, "Running"))
        store.put("t2", "r1", "StepEnd", "suspend", a_run())
    with closing(Store(path)) as store:
        assert store.last("t1", "r1")["run"]["status"] == "Done"
        assert store.last("t1")["run"]["number"] == 2
        assert store.threads() == ["t1", "t2"]


def test_between_two_commits_the_file_alone_is_the_whole_store(path, tmp_path):
    """A copy of it is a store, although the owner has it open and would not have closed it."""
    with closing(Store(path)) as store:
        store.put("t1", "r2", "StepEnd", "suspend", a_run(2))
        shutil.copy(path, tmp_path / "copy")
    with closing(Store(tmp_path / "copy")) as copy:
        assert copy.last("t1")["run"]["number"] == 2


def test_a_file_that_was_cut_short_is_refused_wherever_it_was_cut(path, tmp_path):
    """Not one byte may be missing, and nothing at all is not a new store."""
    whole = path.read_bytes()
    for size in {0, 1, 99, *range(100, len(whole), 512), len(whole) - 1}:
        cut = tmp_path / "cut"
        cut.write_bytes(whole[:size])
        assert "cut short" in refusal(cut)


def test_a_damaged_file_is_refused_with_the_place(path):
    """A page that makes no sense is found when the store is opened, and not when a run needs it."""
    whole = bytearray(path.read_bytes())
    whole[4096:4104] = b"\xff" * 8
    path.write_bytes(whole)
    assert "cut short or damaged" in refusal(path)


def test_what_is_no_store_is_refused(path, tmp_path):
    """Neither text, nor a folder, nor a database of something else is taken over."""
    (tmp_path / "text").write_text("hello\n" * 200)
    (tmp_path / "folder").mkdir()
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE t (x)")
    assert "is not a database" in refusal(tmp_path / "text")
    assert "is not a file" in refusal(tmp_path / "folder")
    assert "is a database of something else" in refusal(tmp_path / "other")
    assert "there is no folder" in refusal(tmp_path / "nowhere" / "runs.sqlite")


def test_a_store_that_cannot_be_made_is_refused(tmp_path, monkeypatch):
    """A disk without room holds no store, which is said at once."""

    def is_full(*_):
        raise OSError("no room is left")

    monkeypatch.setattr("os.link", is_full)
    assert "could not be made: no room is left" in refusal(tmp_path / "runs.sqlite")


def test_a_store_of_another_version_is_refused(path):
    """A later version may mean something else by the same tables."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    assert f"its user_version is {SCHEMA_VERSION + 1}, and should be {SCHEMA_VERSION}" in refusal(path)


def test_a_store_that_somebody_has_is_refused(path):
    """One owner at a time: two would both execute the calls of its runs; the first one is not disturbed."""
    with closing(Store(path)) as store:
        assert "is locked" in refusal(path)
        store.put("t1", "r2", "StepEnd", "suspend", a_run(2))
    with closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert "is locked" in refusal(path)


def test_a_read_only_store_is_refused(path):
    """A run that could not be stored would go on without a way back."""
    path.chmod(0o444)
    assert "is read-only" in refusal(path)


def test_a_checkpoint_that_cannot_be_written_is_refused(path):
    """What is no JSON, and whatever comes after the end, is turned down; what was durable stays."""
    store = Store(path)
    with pytest.raises(StoreRefused, match="run r1 on thread t1, which is no JSON"):
        store.put("t1", "r1", "StepEnd", "step", a_run() | {"more": {1, 2}})
    store.close()
    with pytest.raises(StoreRefused, match="could not be written, at the checkpoint of run r1"):
        store.put("t1", "r1", "StepEnd", "step", a_run())
    with closing(Store(path)) as store:
        assert store.last("t1") == a_run()


def _without(*places):
    def change(state):
        for place in places[:-1]:
            state = state[place]
        del state[places[-1]]

    return change


def _with(value, *places):
    def change(state):
        for place in places[:-1]:
            state = state[place]
        state[places[-1]] = value

    return change


ORPHAN = {"role": "tool", "call": "c9", "status": "ok", "text": "whose?"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_without("calls", "c2"), "a decision names call c2, which is not in the checkpoint"),
        (_without("calls", "c1"), "a turn of the model names call c1, which is not in the checkpoint"),
        (_with(ORPHAN, "messages", 2), "a message answers call c9, which is not in the checkpoint"),
        (_without("messages", 2), "c1 is Succeeded, but the message with its result is not in the"),
        (_without("messages", 1), "a message answers call c1, which is not in the checkpoint"),
        (_without("own", "seen_decisions"), "lacks own.seen_decisions"),
        (_without("run"), "lacks run"),
        (_with("Paused", "calls", "c2", "status"), "call c2 is Paused, which is none of New, "),
        (_with("Asleep", "run", "status"), "the run is Asleep, which is none of Created, "),
        (_with("one", "run", "step"), "does not fit at run.step, which is 'one'"),
    ],
    ids=lambda value: value.replace(" ", "-")[:40] if isinstance(value, str) else "",
)
def test_half_a_checkpoint_is_refused(path, change, says):
    """The refusal names the run and its thread, and what only half of the checkpoint knows of."""
    state = a_run()
    change(state)
    _rewrite(path, "state", json.dumps(state))
    words = refusal(path)
    assert "run r1 on thread t1" in words
    assert says in words


def test_a_checkpoint_that_is_no_checkpoint_is_refused(path):
    """Neither another format nor text that was cut off is guessed at."""
    _rewrite(path, "format", 7)
    assert "the checkpoint has format 7, and this runtime reads 1" in refusal(path)
    _rewrite(path, "format", 1)
    _rewrite(path, "state", json.dumps(a_run())[:100])
    assert "the checkpoint is no JSON" in refusal(path)


def _rewrite(path, column, value):
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"UPDATE checkpoint SET {column} = ?", (value,))
