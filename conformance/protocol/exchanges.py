"""What an observation of an exchange keeps of the events of AG-UI."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

UNREAD: Final = frozenset(
    {"timestamp", "rawEvent", "raw_event", "input", "snapshot", "messages", "patch", "value", "event"}
)
"""Fields of events of AG-UI that no clause about an exchange reads."""


def of_exchange(event: Mapping[str, Any]) -> dict[str, Any]:
    """An event as an exchange has it: without what may be large, or new each time, and is not judged."""
    is_patch = not isinstance(event.get("delta", ""), str)
    left_out = UNREAD | {"delta"} if is_patch else UNREAD
    return {key: value for key, value in event.items() if key not in left_out}
