"""Applications behind AG-UI, served once for a module."""

import pytest
from ag_ui_variants import VARIANTS
from served_apps import site

from runlock.conformance.families.lifecycle.mutants import MUTANTS
from runlock.conformance.wires.ag_ui_server import Served


@pytest.fixture(scope="module")
def apps():
    """The right ones by their names, and every mutant of the lifecycle by its own."""
    wrong = {mutant.name: Served(mutant, ("write",), ("read",)) for mutant in MUTANTS}
    with site({**VARIANTS, **wrong}) as found:
        yield found
