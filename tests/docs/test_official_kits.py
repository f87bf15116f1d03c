"""The page about agents compares the kit with the official one of the protocol, by the ids of clauses."""

import re
from pathlib import Path

from runlock.spec.model import load_spec

PAGE = Path(__file__).parents[2] / "docs" / "check-an-agent.md"
ROWS = re.findall(r"^\| (.*) \| (.*) \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
CARRIED = [
    (clause.id, one)
    for clause in load_spec("lifecycle").clauses.values()
    for one in clause.official.get("acp-tck", ())
]


def test_each_id_that_a_clause_carries_has_a_row_that_names_the_clause():
    """A reader of either kit finds the other one's verdict."""
    missing = [
        (clause, one)
        for clause, one in CARRIED
        if not any(f"`{one}`" in what and f"`{clause}`" in ours for what, _, ours in ROWS)
    ]

    assert CARRIED and missing == []


def test_each_requirement_about_a_cancel_or_a_permission_is_compared_once():
    """Those that the official kit skips, or records alone, too."""
    named = [one for what, _, _ in ROWS for one in re.findall(r"ACP-[A-Z]+(?:-[A-Z]+)*-\d{3}", what)]
    about = {f"ACP-CANCEL-{n:03}" for n in (1, 2, *range(201, 209))}
    about |= {"ACP-PERM-201", "ACP-CLOSE-002", "ACP-INFO-CANCEL-201", "ACP-INFO-CANCEL-202"}

    assert about <= {*named}
    assert len(named) == len({*named})
