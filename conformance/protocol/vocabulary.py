"""What the kit speaks."""

from typing import Final

PROTOCOL_VERSION: Final = 1
SPEC_REVISION: Final = "1.1"
