"""What is asked about an observation goes by its name."""

from runlock.conformance.families.lifecycle.invariants import INVARIANTS
from runlock.conformance.families.lifecycle.invariants.selectors import NEWEST


def test_every_name_is_one_that_an_observation_can_bear():
    """A check that named something else would never be asked."""
    for check in INVARIANTS:
        names = (*check.at, *check.after)
        assert check.seeing is not None or not names
        shown = repr(check.seeing.model_json_schema()) if names else ""
        free = check.seeing.__name__ in {"GateOpened", "Checkpointed", "Published"} if names else True
        assert free or all(f"'{name}'" in shown for name in names if name), check.title
        assert not check.after or check.seeing in NEWEST, check.title
