"""Resolves the name of a runtime under test to a factory.

`reference`, `reference:PROFILE`, `reference:PROFILE,POLICY=VALUE`, `mutant:NAME`, `variant:NAME`,
`py:package.module:factory`, `cmd:./adapter --flag`, `trace:file.jsonl`, and `ag-ui:URL` for a runtime behind
a protocol of its own.  Everything that can be checked without starting anything is checked when the name is
resolved; the factory is called, and the command started, when the target is opened.
"""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module, invalidate_caches
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, Final, Literal

from runlock.conformance.errors import AdapterError, UsageError
from runlock.conformance.family.family import (
    DEFAULT,
    Family,
    families,
    family_named,
    family_names,
    family_of_answer,
    family_of_profile,
)
from runlock.conformance.protocol import Handshake
from runlock.conformance.protocol.unknown_keys import unknown_keys
from runlock.conformance.transport.exceptions import error_in_words
from runlock.conformance.transport.hosting import has_handshake, refuse_incomplete
from runlock.conformance.transport.in_process import MANDATORY, InProcess
from runlock.conformance.transport.stdio import Pipe
from runlock.conformance.transport.sut import Sut, SutFactory
from runlock.conformance.wires.address import Address
from runlock.conformance.wires.opened import mouth_at
from runlock.conformance.wires.settings import address_named
from runlock.spec.model import SpecError
from runlock.spec.text import known_words

Kind = Literal["reference", "mutant", "variant", "py", "cmd", "trace", "wire"]

FORMS: Final = (
    "A target is `reference`, `reference:PROFILE`, `reference:PROFILE,POLICY=VALUE`, `mutant:NAME`, "
    "`variant:NAME`, `py:package.module:factory`, `cmd:./adapter --flag`, `ag-ui:URL` or `trace:file.jsonl`."
)
_KINDS: Final = ("reference", "mutant", "variant", "py", "cmd", "trace", "ag-ui")
HOSTED: Final = ("open", "start", "run")
"""Methods by which an adapter of the hosted interface is known."""
_ALSO_WRITTEN: Final = {"python": "py", "command": "cmd"}


@dataclass(frozen=True, slots=True)
class Target:
    """A runtime under test by name; `open` creates a fresh one, `path` is the file of a recorded trace."""

    name: str
    kind: Kind
    open: SutFactory
    path: Path | None = None
    family: Family | None = None  # of a runtime that the kit derives; another one names it in its handshake
    address: Address | None = None  # of a runtime behind a wire

    @property
    def is_single(self) -> bool:
        """Whether it is one application, whose model and tools one process of the kit can be."""
        return self.address is not None and not self.address.can_be_many

    @property
    def is_shared(self) -> bool:
        """Whether it is one application that several threads can play on: no schedule ends it."""
        return self.address is not None and (self.address.is_piped or not self.address.is_launched)

    @property
    def has_process(self) -> bool:
        """Whether it runs in a process of its own, not in that of the kit."""
        return self.kind not in ("py", "wire")


def resolve(target: str, *, timeout_scale: float = 1.0, own_store: bool = False) -> Target:
    """The target with this name; `UsageError` or `AdapterError` if there is none.

    With `own_store` it is the reference with its own store for checkpoints.
    """
    kind, colon, rest = target.partition(":")
    if kind == "reference":
        family, opened = _reference(rest if colon else default_profile(), own_store)
        return Target(target, "reference", opened, family=family)
    if own_store:
        raise UsageError(
            f"`{target}` is not the reference, which alone can be told where its store is.",
            "What another runtime does with its checkpoints, its own handshake says.",
        )
    if kind == "mutant" and colon:
        family, opened = _mutant(rest)
        return Target(target, "mutant", opened, family=family)
    if kind == "variant" and colon:
        family, opened = _variant(rest)
        return Target(target, "variant", opened, family=family)
    if kind == "py" and colon:
        return Target(target, "py", _python(rest))
    if kind == "cmd" and colon:
        return Target(target, "cmd", _command(rest, timeout_scale))
    if kind == "trace" and colon:
        return Target(target, "trace", *_trace(rest))
    address = address_named(target)
    if address is not None:
        return Target(target, "wire", partial(_behind, address), address=address)
    raise UsageError(f"`{target}` names no target.", _meant(target) or FORMS)


def _meant(target: str) -> str | None:
    kind, colon, rest = target.partition(":")
    near = difflib.get_close_matches(_ALSO_WRITTEN.get(kind, kind), _KINDS, n=1)
    if near and kind not in _KINDS and (colon or near[0] == "reference"):
        return f"Did you mean `{near[0]}{colon}{rest}`?"
    if kind in _KINDS:
        return f"Something follows the colon. {FORMS}"
    if target.endswith(".jsonl"):
        return f"Did you mean `trace:{target}`?"
    if colon and all(part.isidentifier() for part in kind.split(".")) and rest.isidentifier():
        return f"Did you mean `py:{target}`?"
    words = target.split()
    if words and shutil.which(words[0]):
        return f"Did you mean `cmd:{target}`?"
    return None


def _behind(address: Address) -> Sut:
    """A runtime behind a wire; opens the kit's ends, and starts the application if it is to be started."""
    return family_named(DEFAULT).host(lambda: mouth_at(address))


def default_profile() -> str:
    """The profile of the target `reference`: that of the first family."""
    return family_named(DEFAULT).default_profile


def _reference(words: str, own_store: bool) -> tuple[Family, SutFactory]:
    profile, *settings = words.split(",")
    family = family_of_profile(profile)
    if family is None:
        raise UsageError(f"{profile!r} names no profile; {known_words(profile, _profiles())}")
    policies = dict(_setting(family, profile, setting) for setting in settings)
    try:
        family.spec.policies_of(profile, policies)
    except SpecError as error:
        raise UsageError(str(error)) from None
    if not family.spec.profile(profile).policies:
        kept = ", ".join(one.name for one in family.spec.profiles.values() if one.policies)
        raise UsageError(
            f"The profile {profile} settles no policy, so that there is no reference for it.",
            f"The reference keeps {kept}.",
        )
    make = family.made.durable if own_store else family.made.reference
    if make is None:
        raise UsageError(f"The reference of {family.name} has no store of its own.", "Leave --store out.")
    return family, lambda: family.host(make(profile, policies))


def _profiles() -> list[str]:
    return [profile for family in families() for profile in family.spec.profiles]


def _setting(family: Family, profile: str, setting: str) -> tuple[str, Any]:
    """`tool.raises=end_run`, and a set's values with a plus between them."""
    key, equals, value = setting.partition("=")
    if not equals:
        what = f"`{setting}` settles no policy." if setting else "Nothing follows the comma."
        raise UsageError(what, f"After the profile stand policies and values: {_settled(family, profile)}.")
    policy = family.spec.policies.get(key)
    if policy is not None and policy.kind == "set of":
        return key, value.split("+")
    return key, value


def _settled(family: Family, profile: str) -> str:
    """A name of the reference with a setting, which can be typed as it stands."""
    known = family.spec.profile(profile).policies
    profile = profile if known else family.default_profile
    key, value = next(
        (key, value) for key, value in family.spec.profile(profile).policies.items() if isinstance(value, str)
    )
    return f"`reference:{profile},{key}={value}`"


def _mutant(name: str) -> tuple[Family, SutFactory]:
    return _made_by_the_kit("mutant", name, lambda family: family.made.mutants())


def _variant(name: str) -> tuple[Family, SutFactory]:
    return _made_by_the_kit("variant", name, lambda family: family.made.variants())


def _made_by_the_kit(
    kind: str, name: str, made: Callable[[Family], Mapping[str, Any]]
) -> tuple[Family, SutFactory]:
    wanted, slash, bare = name.rpartition("/")
    some = (family_named(wanted),) if wanted in family_names() else families()
    known = [(family, one, make) for family in some for one, make in made(family).items()]
    found = [one for one in known if one[1] == bare and wanted in (one[0].name, "")]
    if not found or (slash and not wanted):
        near = difflib.get_close_matches(bare, [one for _, one, _ in known], n=1)
        right = f"Did you mean `{kind}:{near[0]}`?" if near else f"`runlock list {kind}s` shows them all."
        raise UsageError(f"There is no {kind} `{name}`.", right)
    if len(found) > 1:
        which = " or ".join(f"`{kind}:{family.name}/{bare}`" for family, _, _ in found)
        raise UsageError(f"Several families have a {kind} `{bare}`.", f"Say {which}.")
    ((family, _, make),) = found
    return family, lambda: family.host(make)


def _python(path: str) -> SutFactory:
    module_name, _, attribute = path.partition(":")
    if not module_name or not attribute:
        name = f"`py:{path}` names no factory" if module_name else f"`py:{path}` names no module"
        raise UsageError(
            f"{name}.", f"Write `py:{module_name or 'package.module'}:{attribute or 'factory'}`."
        )
    make = _called(path, _attribute(_imported(path, module_name), attribute))
    return lambda: _in_process(path, make)


def _in_process(path: str, make: Callable[[], Any]) -> Sut:
    adapter = make()
    factory = _starting_with(adapter, make)
    if has_handshake(adapter) and not hasattr(adapter, "initialize"):
        return _family_of(adapter).host(factory)
    if any(hasattr(adapter, verb.replace(".", "_")) for verb in MANDATORY):
        return _Verbs(factory(), again=factory)
    if any(hasattr(adapter, method) for method in HOSTED):
        refuse_incomplete(adapter, ())
    raise AdapterError(
        f"`{path}` gave an object of type {type(adapter).__name__}, which is no adapter.",
        "An adapter has `handshake` and `open` (the hosted interface), or the protocol's verbs as methods.",
    )


class _Verbs(InProcess):
    """An object with the verbs, whose handshake has known keys only."""

    def request(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        answer = super().request(method, params)
        if method == "initialize":
            for sentence in unknown_keys(family_of_answer(answer).vocabulary.handshake, answer):
                raise AdapterError(sentence)
        return answer


def _family_of(adapter: Any) -> Family:
    """The family that a hosted adapter's handshake names."""
    try:
        handshake = adapter.handshake
    except Exception as error:
        raise AdapterError(
            f"The handshake of {type(adapter).__name__} raised {error_in_words(error)}."
        ) from error
    if not isinstance(handshake, Handshake):
        raise AdapterError(
            f"The handshake of {type(adapter).__name__} is of type {type(handshake).__name__}.",
            "It is an attribute or a property that gives a Handshake.",
        )
    name = handshake.family
    try:
        return family_named(name)
    except LookupError as error:
        raise AdapterError(
            f"The handshake of {type(adapter).__name__} names a family of its own.", str(error)
        ) from error


def _starting_with(adapter: Any, make: Callable[[], Any]) -> Callable[[], Any]:
    """A factory that first returns the adapter that was created for its handshake, and then new ones."""
    made = [adapter]
    return lambda: made.pop() if made else make()


def _imported(path: str, name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise UsageError(f"`py:{path}` names no module: {name} is not a dotted name.", _dotted(name))
    first = name.partition(".")[0]
    _refuse_name_of_python(first)
    try:
        _import_from_here(first)
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{name}.".startswith(f"{error.name}."):
            raise UsageError(f"There is no module {error.name}.", _near_module(name)) from None
        raise _raised_while_importing(name, error) from error
    except (Exception, SystemExit) as error:
        raise _raised_while_importing(name, error) from error


def _raised_while_importing(name: str, error: BaseException) -> AdapterError:
    return AdapterError(
        f"The module {name} raised {error_in_words(error)} while it was imported.",
        "An adapter's module only defines; what it needs is installed next to the kit.",
    )


def _refuse_name_of_python(name: str) -> None:
    """Raise a `UsageError` if a module of the current folder has the name of a module of Python."""
    found = _found_here(name) if name in sys.stdlib_module_names else None
    if found is not None and found.origin is not None:
        other = Path(found.origin).relative_to(Path.cwd())
        raise UsageError(
            f"`{name}` is a module of Python, and {other} in this folder is another one.",
            "Rename it: no file of this folder takes the place of a module of Python.",
        )


def _found_here(name: str) -> ModuleSpec | None:
    """The module of that name in the current folder; a folder without `__init__.py` is none."""
    invalidate_caches()  # so that a module that was just written is found
    spec = PathFinder.find_spec(name, [str(Path.cwd())])
    return spec if spec is not None and spec.loader is not None else None


def _import_from_here(name: str) -> None:
    """Import a module of the current folder rather than an installed one of that name.

    What it imports in turn is found there too, but after the modules of Python: any file may lie there.
    """
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(_end_of_standard_library(), here)
    spec = _found_here(name)
    if spec is None or spec.loader is None or name in sys.modules:
        return
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


def _end_of_standard_library() -> int:
    """The place of the first folder with installed packages on the path of modules."""
    installed = (
        at for at, one in enumerate(sys.path) if Path(one).name in ("site-packages", "dist-packages")
    )
    return next(installed, len(sys.path))


def _dotted(name: str) -> str:
    dotted = name.removeprefix("./").removesuffix(".py").strip("/").replace("/", ".")
    if all(part.isidentifier() for part in dotted.split(".")):
        return f"Did you mean `py:{dotted}:factory`?"
    return "Write `py:package.module:factory`."


def _near_module(name: str) -> str:
    first = name.partition(".")[0]
    here = [path.stem for path in Path.cwd().glob("*") if path.suffix == ".py" or path.is_dir()]
    near = difflib.get_close_matches(first, here, n=1)
    if near and near[0] != first:
        return f"Did you mean `{near[0]}{name[len(first) :]}`?"
    return "It is installed next to the kit, or lies in the current folder."


def _attribute(module: ModuleType, dotted: str) -> Any:
    found: Any = module
    for name in dotted.split("."):
        if not hasattr(found, name):
            raise UsageError(f"{_name_of(found)} has no {name}.", _near_attribute(found, name))
        found = getattr(found, name)
    return found


def _near_attribute(owner: Any, name: str) -> str:
    offered = [key for key in dir(owner) if not key.startswith("_") and callable(getattr(owner, key, None))]
    near = difflib.get_close_matches(name, offered, n=3)
    if near:
        return f"Did you mean {' or '.join(f'`{key}`' for key in near)}?"
    return f"Define `def {name}():` there; it gives the adapter."


def _name_of(owner: Any) -> str:
    if isinstance(owner, ModuleType):
        return f"The module {owner.__name__}"
    return f"The {type(owner).__name__} {getattr(owner, '__qualname__', '')}".strip()


def _called(path: str, factory: Any) -> Callable[[], Any]:
    if not callable(factory):
        raise UsageError(
            f"`py:{path}` names an object of type {type(factory).__name__}, which cannot be called.",
            "Name a class, or a function that gives a new adapter at each call.",
        )
    demanded = _demanded(factory)
    if demanded:
        raise UsageError(
            f"`py:{path}` demands arguments: {', '.join(demanded)}.", "A factory is called with none."
        )

    def make() -> Any:
        try:
            adapter = factory()
        except (Exception, SystemExit) as error:
            raise AdapterError(
                f"The factory `py:{path}` raised {error_in_words(error)}.",
                "It gives a new adapter at each call, and starts nothing.",
            ) from error
        if inspect.iscoroutine(adapter):
            adapter.close()  # or Python warns about it later, far from here
            raise AdapterError(
                f"The factory `py:{path}` is a coroutine function.", "Write it with a plain `def`."
            )
        return adapter

    return make


def _demanded(factory: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(factory).parameters.values()
    except (TypeError, ValueError):  # builtins have no signature
        return []
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in optional]


def _command(words: str, timeout_scale: float) -> SutFactory:
    try:
        argv = shlex.split(words)
    except ValueError:
        raise UsageError(
            f"`cmd:{words}` opens a quote, or ends in a backslash, that nothing closes.",
            "It is split into words as a shell splits them.",
        ) from None
    if not argv or not argv[0]:
        raise UsageError("`cmd:` names no command.", "Write `cmd:./adapter --flag`.")
    if shutil.which(argv[0]) is None:
        raise _not_a_command(argv[0], words)
    return lambda: Pipe(argv, timeout_scale=timeout_scale)


def _not_a_command(first: str, words: str) -> UsageError:
    path = Path(first)
    if "/" not in first and path.is_file():
        return UsageError(
            f"There is no command `{first}`, only a file of that name here.", f"Did you mean `cmd:./{words}`?"
        )
    if "/" not in first:
        return UsageError(
            f"There is no command `{first}`.",
            "It is found on the PATH, or named by its path, as in `cmd:./adapter`.",
        )
    if path.is_dir():
        return UsageError(f"`{first}` is a folder.", "A command is an executable file.")
    if path.exists():
        return UsageError(
            f"`{first}` is not executable.", f"Run `chmod +x {first}`, or put its interpreter before it."
        )
    return UsageError(f"There is no file `{first}`.", _near_file(first))


def _near_file(missing: str) -> str:
    path = Path(missing)
    names = [entry.name for entry in path.parent.glob("*")] if path.parent.is_dir() else []
    near = difflib.get_close_matches(path.name, names, n=1)
    if near:
        return f"Did you mean `{missing.removesuffix(path.name)}{near[0]}`?"
    return f"Paths start from {Path.cwd()}."


def _trace(name: str) -> tuple[SutFactory, Path]:
    path = Path(name)
    if not name:
        raise UsageError("`trace:` names no file.", "Write `trace:file.jsonl`.")
    if path.is_dir():
        raise UsageError(f"`{name}` is a folder.", "A trace is one file of JSON Lines.")
    if not path.is_file():
        raise UsageError(f"There is no file `{name}`.", _near_file(name))

    def cannot_open() -> Sut:
        raise UsageError(
            f"`trace:{name}` is a recorded trace, and not a runtime.",
            f"`runlock check trace:{name}` judges it.",
        )

    return cannot_open, path
