"""The names of the kit's tools as an agent offers them to its model: with the name of their server before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Names:
    """Translates names; one that is not of the scenario stays as it is."""

    prefix: str
    tools: Sequence[str]

    def is_ours(self, name: str) -> bool:
        """Whether a name is that of a tool of the kit."""
        return name.startswith(self.prefix)

    def short(self, name: str) -> str:
        """The name in the scenario."""
        return name.removeprefix(self.prefix)

    def long(self, name: str) -> str:
        """The name for the model."""
        return self.prefix + name if name in self.tools else name
