"""Applications behind AG-UI, served once for a module."""

import pytest
from ag_ui_variants import VARIANTS
from ag_ui_wrong import WRITERS
from served_apps import site
from served_ends import serving_ends

from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.wires.ag_ui_server import Served


@pytest.fixture(scope="module")
def ends():
    """The ends that agents and applications may ask."""
    with serving_ends() as found:
        yield found


@pytest.fixture(scope="module")
def apps():
    """The right ones by their names, every mutant of the lifecycle, and wrong event writers."""
    wrong = {mutant.name: Served(mutant, ("write",), ("read",)) for mutant in MUTANTS}
    written = {name: served for name, (served, _) in WRITERS.items()}
    with site({**VARIANTS, **wrong, **written}) as found:
        yield found
