"""Who watches a run, and what was told: by the kit when it comes and goes, by the SUT as it publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runlock.conformance.protocol import Published, StreamClosed

if TYPE_CHECKING:
    from runlock.conformance.families.lifecycle.state.account import Account


def watched(account: Account, params: Mapping[str, Any]) -> None:
    """Somebody comes to watch, by a stimulus of its own or in one request with another."""
    watcher, run = params.get("watcher"), account.run
    if watcher is None:
        return
    account.comes_to("a watcher")
    waits = run is not None and not run.is_done and not run.segment_open
    came = "first" if not account.audience.gone else "back" if waits else "anew"
    if account.audience.watcher is not None:
        came = "in place of another"
    if params.get("decisions"):
        came = "with a decision"
    account.audience.comes(watcher, params.get("stream") or "native", came, account.alone)


def unwatched(account: Account, _params: Mapping[str, Any]) -> None:
    """Whoever watched does so no longer."""
    account.comes_to("a watcher")
    account.audience.comes(None, "native", "nobody", account.alone)


def published(account: Account, seen: Published) -> None:
    """Whoever watches is told something."""
    if seen.watcher == account.audience.watcher:
        account.audience.told.append(seen)


def stream_closed(account: Account, seen: StreamClosed) -> None:
    """Whoever watched has been told all of it."""
    audience = account.audience
    if seen.watcher == audience.watcher:
        audience.answered = audience.came == "with a decision" and len(audience.gone) > 0
        audience.comes(None, "native", "nobody", audience.is_sure)
