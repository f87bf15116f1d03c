"""The set of tools of a runner, with a version for each definition."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass
class Toolset:
    """Names with the version of their definition; `removed` are those taken out since the last request."""

    versions: dict[str, int] = field(default_factory=dict)
    given: dict[str, int] = field(default_factory=dict)  # definitions so far, also of tools that are gone
    removed: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, offered: Mapping[str, bool]) -> Toolset:
        """The initial set: the tools offered from the first request on."""
        first = {name: 1 for name, is_offered in offered.items() if is_offered}
        return cls(dict(first), dict(first))

    def remove(self, names: Iterable[str]) -> None:
        """Remove tools."""
        for name in names:
            if self.versions.pop(name, None) is not None:
                self.removed.add(name)

    def add(self, names: Iterable[str]) -> None:
        """Add tools; an existing tool gets a new version."""
        for name in names:
            self.given[name] = self.versions[name] = self.given.get(name, 0) + 1

    def names(self) -> list[str]:
        """The names of the offered tools."""
        return sorted(self.versions)

    def at_request(self) -> dict[str, int]:
        """The tools that the request sent now offers, with their versions."""
        self.removed.clear()
        return dict(self.versions)

    def version(self, name: str, then: Mapping[str, int], *, added: bool, removed: bool) -> int | None:
        """The version for a call whose request offered `then`; flags say which changes apply at once."""
        now = self.versions.get(name)
        if now == then.get(name):
            return now
        if name in self.removed and removed and not (now is not None and added):
            return None
        counts_now = removed if now is None else added
        return now if counts_now else then.get(name)
