"""Usage errors in one sentence: what typer found, in the words of the kit."""

from __future__ import annotations

from typing import Any, Final

import typer

TOO_MANY: Final = "Got unexpected extra argument"
NUMBERS: Final = {"valid integer": "whole number", "valid number": "number"}


def misuse_in_words(error: typer.TyperException) -> str:
    """What is wrong with the command line, and which command shows what is right."""
    context = _context(error)
    command = context.command_path if context is not None else "runlock"
    return f"{_wrong(error)} `{command} --help` lists what there is."


def _context(error: typer.TyperException) -> Any:
    return getattr(error, "ctx", None)


def _wrong(error: typer.TyperException) -> str:
    if hasattr(error, "option_name") and hasattr(error, "possibilities"):
        return _no_option(str(error.option_name), error.possibilities or ())
    if error.message.startswith(TOO_MANY):
        extra = error.message.removeprefix(TOO_MANY).removeprefix("(s)")
        return f"No command or option takes {extra.strip(' ()')}."
    param = getattr(error, "param", None)
    if param is None or not error.message:
        return f"{error.format_message().rstrip('.?')}{'?' if error.message.endswith('?') else '.'}"
    return _wrong_value(param, error)


def _no_option(name: str, near: Any) -> str:
    meant = f" Did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
    return f"There is no option {name}.{meant}"


def _wrong_value(param: Any, error: typer.TyperException) -> str:
    name = param.opts[0] if param.param_type_name == "option" else param.make_metavar(_context(error))
    expected = error.message.partition(",")[0].rstrip(".")
    if not expected.startswith("Input "):
        return f"{name}: {expected}."
    for theirs, ours in NUMBERS.items():
        expected = expected.replace(theirs, ours)
    return f"{name} {expected.removeprefix('Input ')}."
