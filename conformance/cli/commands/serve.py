"""`runlock serve` and `serve-ends`: serve a runtime over a pipe or behind a wire, and the ends of a wire."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import Any, Final

from runlock.conformance.campaign.targets import resolve
from runlock.conformance.errors import UsageError
from runlock.conformance.family.family import DEFAULT, family_named
from runlock.conformance.transport.server import Methods, serve
from runlock.conformance.wires.address import PIPED, WIRES, exported, refuse_both
from runlock.conformance.wires.modules import module_of
from runlock.spec.text import known_words

HOLDERS: Final = ("kit", "own")
"""The possible holders of the reference's checkpoints."""

OPTIONS: Final = ("store", "port", "ask", "free")
"""What a runtime or the wire in front of it can be told."""


def refuse_idle(wire: str | None, given: Collection[str]) -> None:
    """Raise a `UsageError` for an option that would change nothing; `given` are those on the command line."""
    has_effect = ("store",) if wire is None else ("ask", "free", *(["port"] if wire != PIPED else []))
    for option in OPTIONS:
        if option in given and option not in has_effect:
            how = "without `--wire`" if wire is None else f"with `--wire {wire}`"
            raise UsageError(f"`--{option}` has no effect {how}.", "Leave it out.")


def run(target: str, store: str) -> int:
    """Answer requests on standard input until they end; the exit code."""
    if store not in HOLDERS:
        raise UsageError(f"There is no store `{store}`.", f"It is {' or '.join(HOLDERS)}.")
    resolved = resolve(target, own_store=store == "own")
    if resolved.path is not None:
        raise UsageError(f"`{target}` is a recorded trace, and not a runtime.", "Serve a runtime.")
    if resolved.kind in ("cmd", "wire"):
        raise UsageError(
            f"`{target}` has a process of its own.", f"Check it as it is: `runlock check {target}`."
        )
    serve(resolved.open(), _methods_of, sys.stdin.buffer, sys.stdout.buffer)
    return 0


def behind_a_wire(target: str, wire: str, port: int, ask: Sequence[str], free: Sequence[str]) -> int:
    """Serve an adapter of the hosted interface as an application, until the process ends; the exit code."""
    if wire not in WIRES:
        raise UsageError(f"There is no wire `{wire}`; {known_words(wire, WIRES)}")
    refuse_both(ask, free)
    sut: Any = resolve(target).open()
    factory = getattr(sut, "factory", None)
    adapter = factory() if factory is not None else None
    if adapter is None or adapter.handshake.family != DEFAULT:
        raise UsageError(
            f"`{target}` cannot be served behind a wire.",
            f"What can be is the reference, a mutant, a variant or a Python adapter of the family {DEFAULT}.",
        )
    if wire == PIPED:
        _refuse_no_pipe(target)
        agent = module_of("acp_server")
        agent.serve(agent.ServedAs(factory, tuple(ask), tuple(free)))
    else:
        server = module_of("ag_ui_server")
        server.serve(server.Served(factory, tuple(ask), tuple(free)), port)
    return 0


def _refuse_no_pipe(target: str) -> None:
    """Raise a `UsageError` unless a client can speak over the standard streams."""
    for stream in (sys.stdin, sys.stdout):
        kind = os.fstat(stream.fileno()).st_mode
        if not (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or os.isatty(stream.fileno())):
            raise UsageError(
                "An agent speaks over its standard input and output, and one of them is no pipe.",
                f"Its client starts it: `runlock check 'acp:runlock serve {target} --wire acp'`.",
            )


def ends(port: int, ask: Sequence[str], free: Sequence[str]) -> int:
    """Serve a model that says `ok` and tools that do nothing, until the process ends; the exit code."""
    refuse_both(ask, free)
    tools = [*ask, *free]
    print("The model and the tools of the kit are served.  Set these in the application:")
    for name, value in exported(port).items():
        print(f"  {name}={value}")
    print(
        f"Its MCP server offers {', '.join(tools)}.  What is asked is shown here; end it with Ctrl-C.",
        flush=True,
    )
    with suppress(KeyboardInterrupt):  # which is how it ends
        module_of("ends").serve_alone(tools, port)
    return 0


def _methods_of(family: str | None) -> Methods:
    return family_named(family or DEFAULT).vocabulary.methods
