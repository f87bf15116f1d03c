"""The order of blame: golden/order_of_blame.txt has every check, from the first to be blamed to the last.

`pytest --rewrite` writes it anew; read the difference before committing it: a mutant may be blamed on another
clause afterwards.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import chain

from places import GOLDEN

from runlock.conformance.families.lifecycle.invariants import AREAS, INVARIANTS
from runlock.conformance.families.lifecycle.invariants.blame import Rank
from runlock.conformance.family.invariant import Invariant, in_order_of_blame

ORDER = GOLDEN / "order_of_blame.txt"


def named(check: Invariant) -> str:
    """The rank, the clause and the name of a check, and the kind of observation that it judges."""
    kind = check.seeing.__name__ if check.seeing is not None else "at rest"
    return f"{Rank(check.rank).name}: {check.clause} {check.check.__name__} ({kind})"


def test_the_order_of_blame_is_the_stored_one(rewrites: bool) -> None:
    """A check that moves shows in the difference."""
    order = "".join(f"{named(check)}\n" for check in INVARIANTS)
    if rewrites:
        ORDER.write_text(order, encoding="utf-8")
    assert order == ORDER.read_text("utf-8")


def test_the_order_of_the_modules_has_no_meaning() -> None:
    """Ranks alone decide, since each rank is of one module."""
    assert in_order_of_blame(chain.from_iterable(reversed(AREAS))) == INVARIANTS


def test_each_rank_is_of_one_module() -> None:
    """Else the order within a rank would depend on which module comes first."""
    modules = defaultdict(set)
    for check in INVARIANTS:
        modules[Rank(check.rank)].add(check.check.__module__)
    assert {rank: len(found) for rank, found in modules.items()} == dict.fromkeys(Rank, 1)


def test_each_check_is_in_the_order_once() -> None:
    """No module is left out, and none is added twice."""
    assert len(INVARIANTS) == sum(map(len, AREAS)) == len({id(check) for check in chain.from_iterable(AREAS)})
