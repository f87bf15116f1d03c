"""The words of the spec as data: clauses, policies, profiles, errata, glossary; loaded once, checked whole.

Nothing here says which moves exist (the charts do) or how a clause is judged (the kit does).  A file that
does not fit is refused with one sentence that names the file and the place in it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Annotated, Any, Final, Literal, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from runlock.spec.text import known_words

__all__ = [
    "SEVERITIES", "Clause", "Erratum", "Place", "Policy", "Profile", "Question", "Retired", "Revision",
    "Severity", "Spec", "SpecError", "Term", "Value", "load_spec", "read_entries", "read_spec",
]  # fmt: skip

Level = Literal["MUST", "SHOULD", "MAY"]
Severity = Literal[
    "runs without consent",
    "runs twice",
    "wrong call or wrong arguments",
    "result lost or invented",
    "thread dead",
    "status wrong",
    "cosmetic",
]
"""What a broken clause means for those who use the runtime, the worst first; the list is closed."""

Value = str | list[str]
"""What a policy is set to: one of its values, or for a policy that is a set any of them."""

ClauseId = Annotated[str, Field(pattern=r"^[A-Z]+-[1-9][0-9]*$")]
Sentence = Annotated[str, Field(pattern=r"^\S.*\.$")]
Source = Annotated[str, Field(pattern=r"^\S+ § \S.*$")]
Words = Annotated[str, Field(pattern=r"^\S.*$")]
SEVERITIES: Final[tuple[Severity, ...]] = get_args(Severity)
FIRST: Final = "1.0"
"""The revision of a clause that names none."""

SENTENCES: Final = ("sentence", "intent", "meaning", "found", "decided", "why")


class SpecError(Exception):
    """The words of the spec, or a word that was asked of it, cannot be."""


class Word(BaseModel):
    """A part of the spec: immutable, strictly typed, and nothing in it that it does not know."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")


class Clause(Word):
    """One normative sentence: what it asks, why, under which policies, and what it takes to see it.

    Its `occasion` is something that a runtime shows if it likes: without it, the clause says nothing.
    `severity` is the worst that a violation can mean, and sorts the findings of every report.
    `official` has the requirements of other kits that ask for the same, by kit.
    """

    id: ClauseId
    level: Level
    severity: Severity
    sentence: Sentence
    intent: Sentence
    sources: Annotated[list[Source], Field(min_length=1)]
    core: bool = False
    applies: dict[str, list[str]] = Field(default_factory=dict)
    needs: list[str] = Field(default_factory=list)
    look_at: list[Words] = Field(default_factory=list)
    untestable: Words | None = None
    occasion: Words | None = None
    official: dict[str, list[Words]] = Field(default_factory=dict)
    since: Words = FIRST
    title: Words | None = None

    @property
    def area(self) -> str:
        """The family of the clause: CALL of CALL-4."""
        return self.id.rpartition("-")[0]

    @property
    def gravity(self) -> int:
        """The place of its severity in the list: 0 is the worst."""
        return SEVERITIES.index(self.severity)


class Retired(Word):
    """A clause that is not judged any more: what it said, and which clauses say it `instead`.

    It was retired with `revision`, and its id is never used again.
    """

    id: ClauseId
    sentence: Sentence
    why: Sentence
    instead: Annotated[list[ClauseId], Field(min_length=1)]
    revision: Words
    since: Words = FIRST

    @property
    def area(self) -> str:
        """The area of the clause that it was."""
        return self.id.rpartition("-")[0]

    def __str__(self) -> str:
        says = "says" if len(self.instead) == 1 else "say"
        return (
            f"{self.id} was retired with revision {self.revision}; {' and '.join(self.instead)} {says} it now"
        )


class Policy(Word):
    """A point where runtimes legitimately differ; `when` says under which other policies it matters.

    `costs` are values that a report names with what they cost.
    """

    key: str
    title: Words
    sentence: Sentence
    kind: Literal["one of", "set of"] = "one of"
    values: Annotated[list[str], Field(min_length=1)]
    sources: Annotated[list[Source], Field(min_length=1)]
    when: dict[str, list[str]] = Field(default_factory=dict)
    costs: dict[str, str] = Field(default_factory=dict)

    def ruled_out(self, policies: Mapping[str, Any]) -> str | None:
        """The policy under whose value this one says nothing, if there is one; an open one has any value."""
        met = (key for key, values in self.when.items() if policies.get(key, values[0]) not in values)
        return next(met, None)


class Question(Word):
    """What is asked of a runtime that declares no value of a policy, and shows a harm that rules one out."""

    policy: str
    without: str
    harm: Words


class Profile(Word):
    """A named choice for the policies; one that is left out is open."""

    name: str
    sentence: Sentence
    source: Source
    policies: dict[str, Value] = Field(default_factory=dict)


class Place(Word):
    """Where a source says something: the heading, and the line in the document."""

    document: Words
    section: Words
    line: Annotated[int, Field(ge=1)]


class Erratum(Word):
    """A contradiction in the sources: what was found, what the spec decides, and why."""

    id: Annotated[str, Field(pattern=r"^E-[1-9][0-9]*$")]
    title: Words
    places: Annotated[list[Place], Field(min_length=1)]
    found: Sentence
    decided: Sentence
    why: Sentence


class Revision(Word):
    """A set of clauses that is frozen: all that are as old as this revision, or older."""

    id: Annotated[str, Field(pattern=r"^[1-9][0-9]*\.[0-9]+$")]
    sentence: Sentence


class Term(Word):
    """A word of the project and the one thing that it means."""

    word: Words
    meaning: Sentence


@dataclass(frozen=True)
class Spec:
    """The whole spec, every part by its name, in the order of the files."""

    clauses: Mapping[str, Clause]
    policies: Mapping[str, Policy]
    profiles: Mapping[str, Profile]
    folder: Traversable

    @property
    def family(self) -> str:
        """The family of runtimes that it specifies, which is the name of its folder."""
        return self.folder.name.replace("_", "-")

    # Few commands read the next three, and TOML is slow to parse.

    @cached_property
    def retired(self) -> Mapping[str, Retired]:
        """The clauses that are not judged any more, by id; a family that retired none has no file of them."""
        file = self.folder / "retired.toml"
        retired = _by_name("id", _parts(file, "retired", Retired)) if file.is_file() else {}
        for one in retired.values():
            if complaint := _not_retired(one, self):
                raise SpecError(f"retired.toml, retired {one.id}: {complaint}")
        return retired

    @cached_property
    def errata(self) -> Mapping[str, Erratum]:
        """The contradictions of the sources, by id."""
        return _by_name("id", _parts(self.folder / "errata.toml", "erratum", Erratum))

    @cached_property
    def glossary(self) -> Mapping[str, Term]:
        """The words of every family and those of this one, which may give a word another meaning."""
        return {**_words(resources.files(__package__)), **_words(self.folder)}

    @cached_property
    def areas(self) -> Mapping[str, str]:
        """What the clauses of each area are about, by area; empty where neither file says so."""
        about = _toml(resources.files(__package__) / "areas.toml")
        own = self.folder / "areas.toml"
        about |= _toml(own) if own.is_file() else {}
        areas = {one.area for one in self.clauses.values()} | {one.area for one in self.retired.values()}
        return {area: about.get(area, "") for area in sorted(areas)}

    @cached_property
    def needs(self) -> Mapping[str, Sequence[str]]:
        """What a clause may need of a runtime: the first word, and the words that may follow it."""
        return _toml(self.folder / "needs.toml")

    @cached_property
    def questions(self) -> Sequence[Question]:
        """What is asked where a policy is not declared, the most harmful first; a family may ask nothing."""
        file = self.folder / "questions.toml"
        asked = list(_parts(file, "question", Question)) if file.is_file() else []
        for place, one in asked:
            if complaint := _unset(one.policy, one.without, self):
                raise SpecError(f"{place}: {complaint}")
        return [one for _, one in asked]

    @cached_property
    def revisions(self) -> Mapping[str, Revision]:
        """The revisions of the spec, the oldest first."""
        return _by_name("id", _parts(self.folder / "revisions.toml", "revision", Revision))

    def clauses_of(self, revision: str) -> list[str]:
        """Return the ids of a revision that are still judged: a clause that is younger is not in it."""
        _named("revision", revision, self.revisions)
        order = list(self.revisions)
        known = order[: order.index(revision) + 1]
        return [clause.id for clause in self.clauses.values() if clause.since in known]

    def clause(self, clause_id: str) -> Clause:
        """Return a clause by its id; one that was retired is refused with the clause that says the same."""
        if clause_id not in self.clauses and clause_id in self.retired:
            raise SpecError(f"{self.retired[clause_id]}.")
        return _named("clause", clause_id, self.clauses)

    def policy(self, key: str) -> Policy:
        """Return a policy by its key."""
        return _named("policy", key, self.policies)

    def profile(self, name: str) -> Profile:
        """Return a profile by its name."""
        return _named("profile", name, self.profiles)

    def costs_of(self, policies: Mapping[str, Any]) -> list[str]:
        """What the declared values cost that a report is to name."""
        known = {one.key: one.costs for one in self.policies.values()}
        return [
            f"{key} is {value}: {known[key][value]}"
            for key, value in policies.items()
            if isinstance(value, str) and value in known.get(key, {})
        ]

    def policies_of(self, profile: str, overrides: Mapping[str, Any] | None = None) -> dict[str, Value]:
        """Return what a profile and a SUT's own word set; a policy that neither sets is open, and absent."""
        declared = {**self.profile(profile).policies, **(overrides or {})}
        for key, value in declared.items():
            if complaint := _unfit(self.policy(key), value):
                raise SpecError(complaint)
        return {key: declared[key] for key in self.policies if key in declared}


Named = TypeVar("Named")


def _named(kind: str, name: str, known: Mapping[str, Named]) -> Named:
    if name in known:
        return known[name]
    raise SpecError(f"{name!r} names no {kind}; {known_words(name, known)}")


def _unfit(policy: Policy, value: object) -> str | None:
    """Say why a policy cannot have a value, if it cannot."""
    if policy.kind == "set of":
        if not isinstance(value, list):
            return f"policy {policy.key} is a set: its value is a list, not {value!r}"
        values = value
    else:
        values = [value]
    for one in values:
        if one not in policy.values:
            return f"policy {policy.key} has no value {one!r}; {known_words(one, policy.values)}"
    return None


@cache
def load_spec(family: str) -> Spec:
    """Read the spec of a family, which lies in the folder of its name; once."""
    return read_spec(resources.files(__package__) / family.replace("-", "_"))


def read_spec(folder: Traversable) -> Spec:
    """Read a spec from a folder laid out like this one, and refuse it if it does not hold together."""
    spec = Spec(
        clauses=_by_name("id", _all_clauses(folder)),
        policies=_by_name("key", _parts(folder / "policies.toml", "policy", Policy)),
        profiles=_by_name("name", _all_profiles(folder)),
        folder=folder,
    )
    for place, complaint in _complaints(spec):
        raise SpecError(f"{place}: {complaint}")
    return spec


def _words(folder: Traversable) -> Mapping[str, Term]:
    return _by_name("word", _parts(folder / "glossary.toml", "word", Term))


def _all_clauses(folder: Traversable) -> Iterator[tuple[str, Clause]]:
    for file in _toml_files(folder / "clauses"):
        for place, clause in _parts(file, "clause", Clause):
            if clause.area != file.name.removesuffix(".toml").upper():
                raise SpecError(
                    f"{place}: stands in the file of another area; move it to {clause.area.lower()}.toml."
                )
            yield place, clause


def _all_profiles(folder: Traversable) -> Iterator[tuple[str, Profile]]:
    for file in _toml_files(folder / "profiles"):
        place = f"profiles/{file.name}"
        profile = _part(place, _toml(file), Profile)
        if profile.name != file.name.removesuffix(".toml"):
            raise SpecError(f"{place}: holds profile {profile.name}; name the file {profile.name}.toml.")
        yield place, profile


def _toml_files(folder: Traversable) -> list[Traversable]:
    found = folder.iterdir() if folder.is_dir() else ()
    files = sorted((file for file in found if file.name.endswith(".toml")), key=lambda file: file.name)
    if not files:
        raise SpecError(f"{folder.name}: holds no TOML file; the spec is not whole without one.")
    return files


def _toml(file: Traversable) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SpecError(f"{file.name}: is missing; the spec is not whole without it.") from None
    except UnicodeDecodeError as error:
        raise SpecError(f"{file.name}: is no UTF-8 text, from byte {error.start} on.") from None
    except tomllib.TOMLDecodeError as error:
        raise SpecError(f"{file.name}: is no TOML: {error}.") from None


PartType = TypeVar("PartType", bound=Word)


def _parts(file: Traversable, table: str, model: type[PartType]) -> Iterator[tuple[str, PartType]]:
    """Yield each part of a file that is a list of them, with its place in words."""
    raw = _toml(file)
    if strange := sorted(raw.keys() - {table}):
        raise SpecError(f"{file.name}: holds {strange[0]!r}; it is a list of [[{table}]].")
    listed = raw.get(table, [])
    if not isinstance(listed, list) or not all(isinstance(part, dict) for part in listed):
        raise SpecError(f"{file.name}: {table} is no list of tables; write each under [[{table}]].")
    for number, part in enumerate(listed, start=1):
        name = next((part[key] for key in ("id", "key", "word") if key in part), f"number {number}")
        place = f"{file.name}, {table} {name}"
        yield place, _part(place, part, model)


def read_entries(file: Traversable, model: type[PartType]) -> Iterator[tuple[str, PartType]]:
    """Yield each part of a file that is a table of them, by its key."""
    for key, part in _toml(file).items():
        yield key, _part(f"{file.name}, {key}", part, model)


def _part(place: str, raw: dict[str, Any], model: type[PartType]) -> PartType:
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise SpecError(f"{place}: {_sentence(error.errors()[0], model)}") from None


def _sentence(error: ErrorDetails, model: type[Word]) -> str:
    where = ".".join(map(str, error["loc"]))
    match error["type"]:
        case "extra_forbidden":
            return f"has the unknown key {where!r}; {known_words(where, model.model_fields)}"
        case "missing":
            return f"lacks {where}."
        case "too_short" if where == "sources":
            return 'has no source; cite at least one as "document § section".'
        case "too_short":
            return f"has no {where}; it takes at least one."
        case "literal_error":
            return f"has {error['input']!r} as its {where}, which is one of {error['ctx']['expected']}."
        case "string_pattern_mismatch" if where == "id":
            like = "E-4" if model is Erratum else "CALL-4"
            return f"has {error['input']!r} as its id; an id is an area and a number, as in {like}."
        case "string_pattern_mismatch" if where.startswith("source"):
            return f'cites {error["input"]!r}; write a source as "document § section".'
        case "string_pattern_mismatch" if where in SENTENCES:
            return f"has {where} that is no sentence; begin it with a word and end it with a full stop."
        case "string_pattern_mismatch" if not str(error["input"]).strip():
            return f"has {error['input']!r} as its {where}, which says nothing; write words, or leave it out."
        case _:
            return f"has {error['input']!r} as its {where}; {error['msg'][0].lower()}{error['msg'][1:]}."


def _by_name(key: str, parts: Iterable[tuple[str, PartType]]) -> dict[str, PartType]:
    named: dict[str, PartType] = {}
    for place, part in parts:
        name = getattr(part, key)
        if name in named:
            raise SpecError(f"{place}: {name} is there twice; an id is never used again.")
        named[name] = part
    return named


def _complaints(spec: Spec) -> Iterator[tuple[str, str]]:
    for clause in spec.clauses.values():
        place = f"{clause.area.lower()}.toml, clause {clause.id}"
        yield from ((place, complaint) for complaint in _misapplied(clause.applies, spec))
        if clause.since != FIRST and clause.since not in spec.revisions:
            yield place, f"is since {clause.since!r}; {known_words(clause.since, spec.revisions)}"
        yield from (
            (place, complaint) for need in clause.needs if (complaint := _not_a_need(need, spec.needs))
        )
        for part in ("sources", "needs", "look_at"):
            yield from ((place, complaint) for complaint in _repeated(part, getattr(clause, part)))
    for policy in spec.policies.values():
        place = f"policies.toml, policy {policy.key}"
        yield from ((place, complaint) for complaint in _misapplied(policy.when, spec))
        yield from ((place, complaint) for complaint in _repeated("values", policy.values))
        if policy.key in policy.when:
            yield place, "matters under a value of its own; name another policy."
    for profile in spec.profiles.values():
        for key, value in profile.policies.items():
            if complaint := _unset(key, value, spec):
                yield f"profiles/{profile.name}.toml", complaint


def _not_retired(one: Retired, spec: Spec) -> str | None:
    """Say why a clause cannot have been retired like this, if it cannot."""
    if one.id in spec.clauses:
        return "is a clause still; an id is never used again."
    for clause in one.instead:
        if clause not in spec.clauses:
            return f"is said by {clause!r}, which is no clause; {known_words(clause, spec.clauses)}"
    for word in (one.revision, one.since):
        if word not in spec.revisions:
            return f"names the revision {word!r}; {known_words(word, spec.revisions)}"
    return None


def _not_a_need(need: str, known: Mapping[str, Sequence[str]]) -> str | None:
    """Say why two words are no need, if they are none."""
    word, _, what = need.partition(" ")
    if word not in known:
        return f"needs {need!r}, which begins with no word of needs; {known_words(word, known)}"
    if what not in known[word]:
        return f"needs {need!r}, but {what!r} does not follow {word}; {known_words(what, known[word])}"
    return None


def _repeated(part: str, words: list[str]) -> Iterator[str]:
    for word in dict.fromkeys(words):
        if words.count(word) > 1:
            yield f"says {word!r} twice in {part}; once is enough."


def _misapplied(applies: Mapping[str, list[str]], spec: Spec) -> Iterator[str]:
    for key, values in applies.items():
        if not values:
            yield f"asks for no value of {key}; name one, or leave it out."
        yield from _repeated(key, values)
        for value in values:
            one = [value] if key in spec.policies and spec.policies[key].kind == "set of" else value
            if complaint := _unset(key, one, spec):
                yield complaint


def _unset(key: str, value: Value, spec: Spec) -> str | None:
    if key not in spec.policies:
        return f"{key!r} names no policy; {known_words(key, spec.policies)}"
    return _unfit(spec.policies[key], value)
