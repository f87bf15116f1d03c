"""Five hundred random faults: none is held without a word, none is a bug of the kit, and nothing is left."""

import pytest
import random_faults


@pytest.mark.long
@pytest.mark.parametrize("seed", range(10))
def test_no_fault_is_forgotten(seed: int) -> None:
    """Fifty faults of each seed."""
    assert random_faults.main(50, seed) == 0
