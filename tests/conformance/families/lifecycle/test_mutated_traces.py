"""The judge of recorded traces objects to a trace in which one observation is not where it was."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any

import pytest
from mutated_traces import PROFILES, Mutation, label, mutations, objection, recorded
from places import DATA

RULES: list[dict[str, Any]] = tomllib.loads((DATA / "equivalent_traces.toml").read_text("utf-8"))["rule"]

EVERY = 101
"""One in this number of changes is judged: a prime, so that no pattern is favoured."""

WALKS = 4

OBJECTED_MIN = 0.93
EQUIVALENT_MAX = 1 / 3


def equivalent(profile: str, mutation: Mutation) -> dict[str, Any] | None:
    """The first rule by which the change leaves the trace right."""
    return next((rule for rule in RULES if _holds(rule, profile, mutation)), None)


def _holds(rule: dict[str, Any], profile: str, mutation: Mutation) -> bool:
    if rule["way"] != mutation.way or profile not in rule.get("profiles", PROFILES):
        return False
    if "status" in rule and mutation.status not in rule["status"]:
        return False
    if mutation.way != "swap":
        return _among(mutation.seen, rule["of"])
    if rule.get("calls") == "different" and not mutation.is_of_two_calls:
        return False
    pairs = ((mutation.seen, mutation.following), (mutation.following, mutation.seen))
    return any(_among(one, rule["of"]) and _among(other, rule["with"]) for one, other in pairs)


def _among(seen: dict[str, Any], patterns: list[str]) -> bool:
    return any(fnmatchcase(label(seen), pattern) for pattern in patterns)


def sampled(profile: str) -> Iterator[tuple[str, Mutation]]:
    """A part of all changes, spread evenly over the traces of a profile."""
    every = ((name, change) for name, trace in recorded(profile, WALKS) for change in mutations(trace))
    judged = (one for one in every if not _is_within_a_call(one[1]))
    return (one for index, one in enumerate(judged) if index % EVERY == 0)


def _is_within_a_call(mutation: Mutation) -> bool:
    """Whether a run within a call shows it, which the clauses of NEST alone judge."""
    return "/" in str(mutation.seen.get("run"))


@pytest.mark.nightly
@pytest.mark.long
def test_a_changed_trace_is_objected_to_unless_a_document_says_that_it_is_as_right() -> None:
    """Nearly all changes of one observation are seen, and those that are as right are no excuse for most."""
    seen, free, alarms, missed = 0, 0, [], Counter[str]()
    for profile in PROFILES:
        for name, mutation in sampled(profile):
            why = objection(mutation)
            if equivalent(profile, mutation) is not None:
                free += 1
                alarms += [f"{name}, {mutation}: {why}"] if why else []
            else:
                seen += bool(why)
                missed.update([] if why else [str(mutation)])
    judged = seen + missed.total()
    print(f"{judged} judged, {missed.total()} missed, {free} as right")
    print(*(f"{count:4} {what}" for what, count in missed.most_common()), sep="\n")

    assert alarms == []
    assert seen >= OBJECTED_MIN * judged
    assert free <= EQUIVALENT_MAX * (judged + free)


def test_every_rule_names_its_document() -> None:
    """A rule without a document would be an excuse."""
    assert all(rule["because"].endswith(".") and rule["source"] for rule in RULES)


@pytest.mark.sampled(1, nightly=5)
@pytest.mark.long
@pytest.mark.parametrize("profile", PROFILES)
def test_a_trace_that_was_not_changed_is_not_objected_to(profile: str) -> None:
    """What is objected to is the change."""
    for name, trace in recorded(profile, WALKS):
        assert objection(Mutation("none", 0, trace)) == "", name
