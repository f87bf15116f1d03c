"""The data of the page that plays charts: every chart, the clauses on them, the profiles, and traces."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any, Final
from urllib.parse import urlencode

from runlock.conformance.family.family import DEFAULT, families
from runlock.conformance.trace.trace import Trace
from runlock.diagrams.charts.data import as_object
from runlock.diagrams.charts.picture import of_table, pictures
from runlock.machines.catalogue import tables
from runlock.spec.model import Profile, load_spec

JOINED: Final = ("RUN-3", "RUN-17", "RUN-20")
"""Clauses that the joining of run and calls names, in addition to those on the charts."""


def playable() -> dict[str, Any]:
    """Everything as one object: the default family, and the charts of the others."""
    spec = load_spec(DEFAULT)
    return {
        **_charts(DEFAULT, JOINED),
        "profiles": {one.name: _choices(one) for one in spec.profiles.values() if one.policies},
        "families": {one.name: _charts(one.name) for one in families() if one.name != DEFAULT},
    }


def _charts(family: str, further: tuple[str, ...] = ()) -> dict[str, Any]:
    """The charts of a family, the sentences of the clauses on them, and the folder of its pages."""
    named = {clause for table in tables(family) for clause in pictures(family)[table.name].clauses}
    clauses = load_spec(family).clauses.values()
    return {
        "root": "" if family == DEFAULT else f"families/{family}/",
        "charts": {table.name: as_object(of_table(table, family)) for table in tables(family)},
        "clauses": {one.id: one.sentence for one in clauses if one.id in {*named, *further}},
    }


def _choices(profile: Profile) -> dict[str, str]:
    """The parts of a profile on which the joining of run and calls depends."""
    is_created = profile.policies.get("run.created") == "yes"
    mixed = profile.policies.get("round.mixed", "wait")
    return {"run": "RunWithCreated" if is_created else "Run", "mixed": str(mixed)}


def fragment(trace: Trace, because: str) -> str:
    """A trace and what it breaks, encoded for the fragment of the page's URL."""
    return urlencode({"trace": packed(trace), "because": because})


def packed(trace: Trace) -> str:
    """A trace in letters that may stand in a URL."""
    compressed = zlib.compress(trace.to_jsonl().encode("utf-8"), 9, -zlib.MAX_WBITS)
    return base64.urlsafe_b64encode(compressed).decode("ascii").rstrip("=")


def unpacked(letters: str) -> Trace:
    """The trace that was packed."""
    compressed = base64.urlsafe_b64decode(f"{letters}{'=' * (-len(letters) % 4)}")
    lines = zlib.decompress(compressed, -zlib.MAX_WBITS).decode("utf-8").splitlines()
    return Trace([json.loads(line) for line in lines])


def script() -> str:
    """The object as a script, which a page can load without a server."""
    text = json.dumps(playable(), separators=(",", ":"), ensure_ascii=False)
    return f"globalThis.RUNLOCK = {text};\n"
