"""The options of a runtime behind a wire, which every command with such a target has."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any, Final, get_type_hints

import typer

Wire = Annotated[
    str | None,
    typer.Option("--wire", metavar="NAME", help="The protocol of a runtime behind a wire: ag-ui, acp."),
]
Ask = Annotated[
    list[str] | None,
    typer.Option("--ask", metavar="TOOL", help="A tool of the kit that needs an approval there; write."),
]
Free = Annotated[
    list[str] | None, typer.Option("--free", metavar="TOOL", help="A tool of the kit that needs none; read.")
]
SETTINGS: Final[dict[str, Any]] = {
    "launch": Annotated[
        str | None,
        typer.Option("--launch", metavar="COMMAND", help="Starts the application; {port} is a free port."),
    ],
    "ask": Ask,
    "free": Free,
    "approve": Annotated[
        str | None, typer.Option("--approve", metavar="JSON", help="What the application takes for a yes.")
    ],
    "reject": Annotated[
        str | None, typer.Option("--reject", metavar="JSON", help="What the application takes for a no.")
    ],
    "declare": Annotated[
        str | None,
        typer.Option("--declare", metavar="JSON", help="The policies that it promises to follow."),
    ],
    "ends": Annotated[
        str | None,
        typer.Option("--ends", metavar="PORT", help="Where the kit serves the model and the tools; 8901."),
    ],
    "recipe": Annotated[
        str | None,
        typer.Option("--recipe", metavar="NAME", help="How an agent is wired up: a name, or a file."),
    ],
    "protocol": Annotated[
        str | None,
        typer.Option("--protocol", metavar="NUMBER", help="The version of ACP: 1, or 2, which is a draft."),
    ],
}
"""By the name of the setting in an address."""


def at_an_address(command: Callable[..., int]) -> Callable[..., int]:
    """A command with these options, whose `target` has them as settings."""
    options = {"wire": Wire, **SETTINGS}

    @functools.wraps(command)
    def with_settings(*, target: str, wire: str | None, **given: Any) -> int:
        from runlock.conformance.wires.settings import with_options

        settings = {name: given.pop(name) for name in SETTINGS}
        return command(target=with_options(target, wire, settings), **given)

    hints = get_type_hints(command, include_extras=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
        for name, kind in options.items()
    ]
    own = [
        one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])
        for name, one in inspect.signature(command).parameters.items()
    ]
    with_settings.__signature__ = inspect.Signature([*own, *added])  # type: ignore[attr-defined]
    with_settings.__annotations__ = {**hints, **options}
    return with_settings
