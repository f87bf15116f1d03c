"""Revisions of the spec: a set of clauses that was published stays as it was, whatever is added later."""

from dataclasses import replace
from hashlib import sha256

import pytest

from runlock.conformance import protocol
from runlock.spec import model
from runlock.spec.model import Revision, SpecError, load_spec

FROZEN = {
    "1.0": "10e83c83d5682e69d82d43869ae8479ed935c5624bc89666d668694478bc7087",
    "1.1": "d5e21c5dde20a6887d34b4b1e2eaf3cebbf47b6a95a319c762441731ca76a425",
    "1.2": "fe58b1d3c1e689d2d7e7ff91e796677545bcfe9ac62f0f93255ea411981fac5c",
    "1.3": "7a28a7cd0dcf426f1f61bdbf00bc294382c09b2adb97ce8dd5a5d8d6214ac254",
}
"""The digest of the ids of each.  A clause that makes one differ is of a later revision: give it `since`."""


@pytest.fixture
def younger():
    """The spec with one revision and one clause more."""
    spec = load_spec("lifecycle")
    added = spec.clause("GATE-2").model_copy(update={"id": "GATE-999", "since": "1.4"})
    more = replace(spec, clauses={**spec.clauses, added.id: added})
    later = Revision(id="1.4", sentence="One more.")
    more.__dict__["revisions"] = {**spec.revisions, later.id: later}
    return more


def digest(spec, revision):
    """What a set of ids comes to, with those that were retired later."""
    order = list(spec.revisions)
    known = order[: order.index(revision) + 1]
    gone = [one.id for one in spec.retired.values() if one.since in known and one.revision not in known]
    return sha256("\n".join(sorted([*spec.clauses_of(revision), *gone])).encode()).hexdigest()


def test_every_revision_is_frozen():
    """The ids of a revision are the ones that it was published with."""
    spec = load_spec("lifecycle")

    assert {revision: digest(spec, revision) for revision in spec.revisions} == FROZEN


def test_a_younger_clause_leaves_an_older_revision_as_it_was(younger):
    """A clause belongs to its revision and to all later ones."""
    assert {revision: digest(younger, revision) for revision in FROZEN} == FROZEN
    assert set(younger.clauses_of("1.4")) - set(younger.clauses_of("1.3")) == {"GATE-999"}


def test_a_clause_that_is_slipped_in_is_seen(younger):
    """Without `since`, a clause would be of the first revision, which the digest does not let through."""
    slipped = younger.clause("GATE-999").model_copy(update={"since": model.FIRST})

    assert digest(replace(younger, clauses={**younger.clauses, slipped.id: slipped}), "1.0") != FROZEN["1.0"]


def test_the_protocol_speaks_of_the_newest_revision():
    """A handshake that names no revision means the newest."""
    assert list(load_spec("lifecycle").revisions)[-1] == protocol.SPEC_REVISION


def test_an_unknown_revision_is_told_the_known_ones():
    """A slip in the number is answered with what there is."""
    known = r"'1\.00' names no revision; did you mean '1\.0'\? Known: 1\.0, 1\.1, 1\.2, 1\.3\."
    with pytest.raises(SpecError, match=known):
        load_spec("lifecycle").clauses_of("1.00")
