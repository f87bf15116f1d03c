"""Where a runtime behind a wire is, and how it is to be asked: one line of text, which any process can read.

`ag-ui:URL` or `acp:COMMAND`, and after a `#` the settings as in a query:
`ag-ui:http://127.0.0.1:8000/agent#ask=write&free=read`, `acp:gemini --acp#recipe=gemini-cli`.
"""

from __future__ import annotations

import difflib
import json
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from runlock.conformance.errors import UsageError
from runlock.spec.model import SpecError, load_spec
from runlock.spec.text import known_words

WIRES: Final = ("ag-ui", "acp")
"""The protocols that the kit is a client of."""

PIPED: Final = "acp"
"""The one whose runtime is a child process of the kit."""

PROTOCOLS: Final = ("1", "2")
"""The versions of it that the kit speaks; the second one is a draft."""

PORT: Final = 8901
"""Where the ends are, unless the kit starts the application itself."""

DATA: Final = "RUNLOCK_DATA"
"""The variable with a folder for the data of an application that the kit starts: the same after a restart."""

FREE: Final = ("read",)
"""The tools that need no approval, but for those that are named in `ask`."""

READABLE: Final = " /{}:,.'\"[]"
"""Characters of a setting that stay as they are."""

PLACE: Final = "{port}"
"""What stands in a URL or a command for a port that the kit chooses."""

FAMILY: Final = "lifecycle"
BARE: Final = "core"
"""The family whose runtimes are behind wires, and its profile that settles no policy."""

BRACED: Final = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Address:
    """A runtime behind a wire.

    `url` is where it is: over a pipe, the command that starts it.  `ask` and `free` are tools of the kit, by
    the names under which its tool server offers them: a call of one in `ask` waits for an approval.
    `approve` and `reject` are what the runtime takes for an answer, and `declare` the policies that its
    author says of it.  `recipe` says how an agent is pointed at the ends.  `package`, as `pydantic-ai==2.0`,
    names what serves AG-UI, which has no word for it.  `protocol` is the version of ACP that is spoken.
    """

    url: str
    wire: str = "ag-ui"
    launch: str = ""
    ask: tuple[str, ...] = ("write",)
    free: tuple[str, ...] = FREE
    approve: Any = None
    reject: Any = None
    declare: Any = None
    ends: int = PORT
    recipe: str = ""
    package: str = ""
    protocol: str = ""

    def __str__(self) -> str:
        """The text that `address_of` reads; what is as usual is left out."""
        settings = [
            (one.name, _written(getattr(self, one.name)))
            for one in fields(self)
            if one.name not in ("url", "wire") and getattr(self, one.name) != one.default
        ]
        return f"{self.wire}:{self.url}" + (f"#{spelled(settings)}" if settings else "")

    @property
    def is_launched(self) -> bool:
        """Whether the kit starts the application."""
        return bool(self.launch) or self.is_piped

    @property
    def is_piped(self) -> bool:
        """Whether it is a child process, which is spoken to over its standard input and output."""
        return self.wire == PIPED

    @property
    def can_be_many(self) -> bool:
        """Whether the kit can start the application several times, each at a port of its own."""
        return self.is_launched and PLACE in self.url

    @property
    def command(self) -> list[str]:
        """The words of the command that starts the application."""
        return shlex.split(self.launch)


def spelled(settings: Iterable[tuple[str, str]]) -> str:
    """Settings as a query that a person can read: only what would end a setting is encoded."""
    return urlencode(list(settings), quote_via=quote, safe=READABLE)


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(value)
    return value if isinstance(value, str) else json.dumps(value)


def is_address(target: str) -> bool:
    """Whether the name of a target is meant as a runtime behind a wire."""
    return target.partition(":")[0] in (*WIRES, "http", "https")


def address_of(target: str) -> Address:
    """Read the name of a target; raises a `UsageError` that says what is wrong with it."""
    kind, _, rest = target.partition(":")
    wire, rest = ("ag-ui", target) if kind in ("http", "https") else (kind, rest)
    url, _, settings = rest.partition("#")
    return address_from(wire, url, dict(parse_qsl(settings, keep_blank_values=True)))


def address_from(wire: str, url: str, settings: Mapping[str, str]) -> Address:
    """An address, with its settings as texts; raises a `UsageError` for one that means nothing."""
    if wire not in WIRES:
        raise UsageError(f"There is no wire `{wire}`; {known_words(wire, WIRES)}")
    known = [one.name for one in fields(Address) if one.name not in ("url", "wire")]
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            right = f"Did you mean `{near[0]}`?" if near else f"There are {', '.join(known)}."
            raise UsageError(f"A wire has no setting `{name}`.", right)
    given = {name: _READ[name](name, text) for name, text in settings.items()}
    if "ask" in given and "free" not in given:
        given["free"] = tuple(one for one in FREE if one not in given["ask"])
    address = Address(url, wire, **given)
    _check(address)
    return address


def _check(address: Address) -> None:
    if address.is_piped:
        _check_piped(address)
    else:
        _check_url(address)
    refuse_both(address.ask, address.free)
    if not (address.ask or address.free):
        raise UsageError("No tool is named.", "Give `--ask TOOL` or `--free TOOL`.")


def refuse_both(ask: Sequence[str], free: Sequence[str]) -> None:
    """Raise a `UsageError` for a tool that needs an approval and needs none."""
    both = sorted({*ask} & {*free})
    if both:
        raise UsageError(
            f"The tool {both[0]} is in `ask` and in `free`.", "A tool needs an approval, or it does not."
        )


def _check_piped(address: Address) -> None:
    """A command is split here, so that what is no command is said at once."""
    for name in ("launch", "approve", "reject"):
        if getattr(address, name):
            raise UsageError(
                f"`{name}` is of a runtime that is reached at a URL, and `acp:` starts a command.",
                "A recipe says what an agent needs.",
            )
    if not (address.url or address.recipe):
        raise UsageError("`acp:` names no command.", "Write `acp:COMMAND ARGS`, or give `--recipe NAME`.")
    if address.url:
        _command("acp", address.url)


def _check_url(address: Address) -> None:
    if address.protocol:
        raise UsageError(
            "`protocol` is of an agent behind `acp:`.", "A server of AG-UI names its version itself."
        )
    if address.recipe:
        raise UsageError("A recipe is of an agent behind `acp:`.", "Name the command, as in `acp:my-agent`.")
    url = address.url.replace(PLACE, "1")
    if place := BRACED.search(url):
        raise UsageError(
            f"`{place[0]}` in `{address.url}` stands for nothing.",
            f"`{PLACE}` is a port that the kit chooses.",
        )
    if not _is_url(url):
        raise UsageError(
            f"`{address.url}` is no URL of an agent.", "Write `http://127.0.0.1:8000/agent`, with its path."
        )
    if PLACE in address.url and not address.is_launched:
        raise UsageError(
            f"`{address.url}` leaves its port to the kit, which starts no application.",
            "Name the port, or give `--launch` with the command that takes `{port}`.",
        )


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # its port is no number, or too large
        return False


def _tools(name: str, text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise UsageError(
            f"`{name}` is no JSON: {text}", 'It is what the runtime takes, as in `{"approved": true}`.'
        ) from error


def _policies(name: str, text: str) -> Any:
    found = _json(name, text)
    if not isinstance(found, dict):
        raise UsageError(
            f"`{name}` is no JSON object: {text}",
            'Write `{"decision.kept": "acceptance"}`; `runlock infer` finds them.',
        )
    try:
        load_spec(FAMILY).policies_of(BARE, found)
    except SpecError as error:
        raise UsageError(f"`{name}`: {error}") from None
    return found


def _port(name: str, text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise UsageError(f"`{name}` is no port: {text}", "It is a number up to 65535.")
    return int(text)


def protocol_of(text: str) -> str:
    """A version of ACP; raises a `UsageError` for one that the kit does not speak."""
    if text not in PROTOCOLS:
        raise UsageError(
            f"The kit speaks no version {text} of the Agent Client Protocol.",
            f"There are {' and '.join(PROTOCOLS)}; 2 is a draft.",
        )
    return text


def _command(name: str, text: str) -> str:
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    if not words:
        raise UsageError(f"`{name}` is no command: {text}", "It is split into words as a shell splits them.")
    return text


_READ: Final[Mapping[str, Any]] = {
    "launch": _command,
    "ask": _tools,
    "free": _tools,
    "approve": _json,
    "reject": _json,
    "declare": _policies,
    "ends": _port,
    "recipe": lambda name, text: text,
    "package": lambda name, text: text,
    "protocol": lambda name, text: protocol_of(text),
}


def exported(port: int) -> dict[str, str]:
    """The environment in which an application finds the ends that are served on a port."""
    base = f"http://127.0.0.1:{port}"
    return {
        "OPENAI_BASE_URL": f"{base}/v1",
        "OPENAI_API_KEY": "kit",
        "ANTHROPIC_BASE_URL": base,
        "ANTHROPIC_API_KEY": "kit",
        "RUNLOCK_MCP_URL": f"{base}/mcp",
    }
