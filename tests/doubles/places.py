"""Where the tests find the project and their own data."""

from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
DOUBLES: Final = ROOT / "tests" / "doubles"
BENCHMARKS: Final = ROOT / "tests" / "benchmarks"
DATA: Final = ROOT / "tests" / "data"
GOLDEN: Final = DATA / "golden"
TRANSCRIBED: Final = DATA / "transcribed"
FAULTY: Final = DOUBLES / "faulty_adapters"
MISBEHAVING: Final = FAULTY / "misbehaving.py"
LIFECYCLE: Final = ROOT / "conformance" / "families" / "lifecycle"
