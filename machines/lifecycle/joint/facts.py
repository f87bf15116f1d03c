"""What can be asked of a call in a joint state, and what happens to every call at once."""

from __future__ import annotations

from runlock.machines.joint.model import Change, Changed
from runlock.machines.lifecycle.joint.state import BUSY, FINAL, NOT_ASKED, Call, Kept


def is_busy(call: Call) -> bool:
    """Whether it has work before it."""
    return call.status in BUSY


def is_running(call: Call) -> bool:
    """Whether its tool is executing."""
    return call.status == "Running"


def is_suspended(call: Call) -> bool:
    """Whether it waits for a decision."""
    return call.status == "Suspended"


def is_live(call: Call) -> bool:
    """Whether it was asked for and is not over."""
    return bool(call.status) and call.status not in FINAL


def is_over(call: Call) -> bool:
    """Whether it has its outcome."""
    return call.status in FINAL


def is_undecided(call: Call) -> bool:
    """Whether it waits without a decision."""
    return is_suspended(call) and not call.decided


def is_unasked(call: Call) -> bool:
    """Whether the model has not asked for it."""
    return not call.status


def is_decided(call: Call) -> bool:
    """Whether a decision for it was taken that has not acted."""
    return call.decided in ("resume", "cancel")


def is_ready(call: Call) -> bool:
    """Whether it waits and its decision is there."""
    return is_suspended(call) and is_decided(call)


def is_acting(call: Call) -> bool:
    """Whether its replay is under way."""
    return call.decided == "acting"


def is_rejecting(call: Call) -> bool:
    """Whether a decision to cancel it is being carried out."""
    return call.decided == "rejecting"


def is_replayed(call: Call) -> bool:
    """Whether its replay is under way and has no outcome."""
    return is_acting(call) and is_live(call)


def is_held_again(call: Call) -> bool:
    """Whether its replay has suspended it again."""
    return is_acting(call) and is_suspended(call)


def busy_or_ready(call: Call) -> bool:
    """Whether it keeps a round with tasks from waiting."""
    return is_busy(call) or is_ready(call)


def busy_or_suspended(call: Call) -> bool:
    """Whether it keeps the wait of its run from being over."""
    return is_busy(call) or is_suspended(call)


def ready_or_rejecting(call: Call) -> bool:
    """Whether a batch of decisions is not over yet for it."""
    return is_ready(call) or is_rejecting(call)


def has_unkept_outcome(call: Call) -> bool:
    """Whether it has a result that no checkpoint holds."""
    return (is_over(call) or is_suspended(call)) and (call.kept is None or call.kept.status != call.status)


# --- what happens to every call at once ---------------------------------------------------------


def keep(call: Call) -> Changed:
    """A checkpoint holds the call as it is."""
    return Changed(call._replace(kept=Kept(call.status, call.waits, call.decided)) if call.status else call)


def clear(call: Call) -> Changed:
    """A decision that has acted is over."""
    return Changed(call._replace(decided="") if call.decided in ("acting", "rejecting") else call)


def restore(call: Call) -> Changed:
    """After a crash the call is what the checkpoint holds; a tool that was executing is entered again."""
    kept = call.kept
    if kept is None:
        return Changed(NOT_ASKED)
    was_decided = kept.decided == "acting"
    resting = {"Running": "Suspended" if was_decided else "New", "Resuming": "Suspended"}
    decided = {"acting": "resume", "rejecting": "cancel"}.get(kept.decided, kept.decided)
    status = resting.get(kept.status, kept.status)
    return Changed(Call(status, kept.waits, "" if status in FINAL else decided, kept))


def then(first: Change, second: Change) -> Change:
    """One change and then another."""

    def both(call: Call) -> Changed | None:
        once = first(call) or Changed(call)
        twice = second(once.call) or once
        return Changed(twice.call, once.rows + twice.rows if twice is not once else once.rows)

    return both
