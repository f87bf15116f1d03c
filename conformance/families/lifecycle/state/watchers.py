"""Who watches a run, and what was told: by the kit when it comes and goes, by the SUT as it publishes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from runlock.conformance.families.lifecycle.messages import Published, StreamClosed

if TYPE_CHECKING:
    from runlock.conformance.families.lifecycle.state.observed_state import ObservedState


def watched(state: ObservedState, params: Mapping[str, Any]) -> None:
    """Somebody comes to watch, by a stimulus of its own or in one request with another."""
    watcher, run = params.get("watcher"), state.run
    if watcher is None:
        return
    state.add_feature("a watcher")
    waits = run is not None and not run.is_done and not run.segment_open
    came = "first" if not state.audience.gone else "back" if waits else "anew"
    if state.audience.watcher is not None:
        came = "in place of another"
    if params.get("decisions"):
        came = "with a decision"
    state.audience.comes(watcher, params.get("stream") or "native", came, state.alone)


def unwatched(state: ObservedState, _params: Mapping[str, Any]) -> None:
    """Whoever watched does so no longer."""
    state.add_feature("a watcher")
    state.audience.comes(None, "native", "nobody", state.alone)


def published(state: ObservedState, seen: Published) -> None:
    """Whoever watches is told something."""
    if seen.watcher == state.audience.watcher:
        state.audience.told.append(seen)


def stream_closed(state: ObservedState, seen: StreamClosed) -> None:
    """Whoever watched has been told all of it."""
    audience = state.audience
    if seen.watcher == audience.watcher:
        audience.answered = audience.came == "with a decision" and len(audience.gone) > 0
        audience.comes(None, "native", "nobody", audience.is_sure)
