"""A clause binds the source that it cites: it applies under a profile of it, or a line says why not."""

from __future__ import annotations

import pytest

from runlock.spec.model import Clause, load_spec

PROFILES = {
    "tirea": ("tirea", "tirea-stream"),
    "awaken-8": ("awaken-8", "awaken-concurrent"),
    "awaken-9": ("awaken-9",),
}

ELSEWHERE = {
    ("DECIDE-10", "tirea"): (
        "its stream commits each replay, so that DECIDE-24 says there what acts at once"
    ),
    ("ROUND-63", "tirea"): (
        "the arrow from Execute to WaitDecision is that of its running call, on a chart that tirea lacks; "
        "CALL-3 and PHASE-10 bind it there"
    ),
}
"""Clauses that cite a source and apply under none of its profiles, and what binds the source instead."""


def excluded(clause: Clause, profile: str) -> str:
    """The policy of a profile by which a clause does not apply, or an empty string."""
    policies = load_spec("lifecycle").profile(profile).policies
    for key, values in clause.applies.items():
        value = policies.get(key)
        chosen = value if isinstance(value, list) else [value]
        if value is not None and not set(map(str, chosen)) & set(values):
            return key
    return ""


def apart() -> set[tuple[str, str]]:
    """Each clause that applies under no profile of a source that it cites, with that source."""
    found = set()
    for clause in load_spec("lifecycle").clauses.values():
        for document in {source.partition(" § ")[0] for source in clause.sources} & PROFILES.keys():
            if all(excluded(clause, profile) for profile in PROFILES[document]):
                found.add((clause.id, document))
    return found


def test_a_clause_applies_under_a_profile_of_each_source_that_it_cites():
    """A citation under which no runtime is judged would be an ornament."""
    assert apart() == ELSEWHERE.keys()


def test_a_clause_that_is_kept_out_is_found():
    """A policy that the profile has another value for keeps the clause out, and is named."""
    clause = load_spec("lifecycle").clause("FLOW-1")

    assert excluded(clause, "tirea") == ""
    assert excluded(clause, "awaken-8") == "checkpoint.at"


@pytest.mark.parametrize("key", ELSEWHERE)
def test_a_reason_names_what_binds_the_source(key):
    """A reason is more than a word."""
    assert len(ELSEWHERE[key]) > 40
