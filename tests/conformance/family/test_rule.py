"""Rules: each row judges what its view shows, and each reason names what its view has."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pytest

from runlock.conformance.family.family import families
from runlock.conformance.family.invariant import HELD, Invariant, broken
from runlock.conformance.family.rank import Rank
from runlock.conformance.family.rule import Occasion, Rule, table

RULES = [one.check for family in families() for one in family.invariants if isinstance(one.check, Rule)]


class Annotated:
    """Stands in for a value of a type, and has the attributes that are annotated there."""

    def __init__(self, kind: Any) -> None:
        self.kinds = [one for one in get_args(kind) if one is not type(None)] if _is_union(kind) else [kind]

    def __getattr__(self, name: str) -> "Annotated":
        (kind,) = {_annotation(kind, name) for kind in self.kinds}
        return Annotated(kind)


def _is_union(kind: Any) -> bool:
    return get_origin(kind) in (Union, UnionType)


def _annotation(kind: Any, name: str) -> Any:
    asked = getattr(kind, name, None)
    return get_type_hints(asked.fget)["return"] if isinstance(asked, property) else get_type_hints(kind)[name]


def view_of(rule: Rule[Any]) -> Any:
    """The class of what a rule reads: its views are annotated as an iterable of it."""
    (view,) = get_args(get_type_hints(rule.occasion.views)["return"])
    return view


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.clause}-{rule.title}")
def test_what_a_reason_names_is_there(rule: Rule[Any]) -> None:
    """A reason is built only where a clause is broken, so a wrong name in it would not show before that."""
    said = rule.why.format(v=Annotated(view_of(rule)))

    assert bool(said) == bool(rule.why)


def test_a_wrong_name_in_a_reason_is_found() -> None:
    """The test above would fail."""
    with pytest.raises(KeyError, match="nothing"):
        test_what_a_reason_names_is_there(Rule("N-1", "numbers are even", ASKED, None, "{v.nothing}"))


@dataclass(frozen=True)
class Number:
    """A view of a number of the state."""

    value: int


def numbers(state: list[int]) -> Iterator[Number]:
    """Each number of the state."""
    return map(Number, state)


ASKED = Occasion(numbers)
IS_EVEN = Rule("N-1", "numbers are even", ASKED, lambda v: v.value % 2 == 0, "{v.value} is odd")


def test_a_rule_judges_each_view_for_which_it_stands() -> None:
    """What `when` leaves out is not judged."""
    above = Rule(
        "N-1", "great numbers are even", ASKED, IS_EVEN.holds, "{v.value} is odd", lambda v: v.value > 2
    )

    assert list(IS_EVEN([1, 2])) == [broken("1 is odd"), HELD]
    assert list(above([1, 2, 3, 4])) == [broken("3 is odd"), HELD]


def test_a_rule_may_only_count_or_only_break() -> None:
    """One without a reason counts; one whose `holds` is None is broken wherever it is asked."""
    assert list(Rule("N-2", "numbers come", ASKED, None)([7])) == [HELD]
    assert list(Rule("N-3", "no numbers come", ASKED, None, "{v.value} came")([7])) == [broken("7 came")]


def test_a_table_gives_its_rows_their_rank_and_leaves_their_order() -> None:
    """Its rows are invariants, and so is a check that stands among them."""

    def other(state: list[int]) -> Iterator[Any]:
        yield HELD

    first, second = table(Rank.STREAM, IS_EVEN, Invariant("N-4", other))

    assert (first.clause, first.title, first.rank) == ("N-1", "numbers are even", Rank.STREAM)
    assert (second.clause, second.rank) == ("N-4", Rank.STREAM)
    assert first.first_reason([2, 5]) == "5 is odd"
