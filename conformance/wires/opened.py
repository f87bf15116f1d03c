"""The runtimes behind wires that this process has reached: each is wired up once, and has many threads."""

from __future__ import annotations

from threading import Lock
from typing import Any, Final

from runlock.conformance.wires.address import Address
from runlock.conformance.wires.modules import module_of

_OPEN: Final[dict[str, Any]] = {}
_OPENING: Final = Lock()

MODULES: Final = {
    "ag-ui": (("ag_ui", "AgUi"), ("wire", "Wire")),
    "acp": (("acp", "Acp"), ("acp_wire", "AcpWire")),
}
"""By the name of a wire: its mouth, and what wires an application up."""


def wire_of(address: Address) -> Any:
    """The wire of an address in this process; raises an `AdapterError` that says what is not wired up."""
    name = str(address)
    with _OPENING:
        if name not in _OPEN:
            module, kind = MODULES[address.wire][1]
            _OPEN[name] = getattr(module_of(module), kind)(address)
        return _OPEN[name]


def mouth_at(address: Address) -> Any:
    """A new thread of the runtime at an address."""
    module, kind = MODULES[address.wire][0]
    return getattr(module_of(module), kind)(wire_of(address))
