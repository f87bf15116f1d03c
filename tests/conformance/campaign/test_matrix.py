"""The matrix of real runtimes: its list is sound, its page is of that list, and it says what is missing.

`docs/matrix.json` is committed, since the runtimes are not there everywhere; the site makes its page of it.
"""

import ast
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from places import ROOT

from runlock.conformance.campaign import matrix as campaign
from runlock.conformance.campaign.entries import ThirdParty, entry_in
from runlock.conformance.campaign.environments import ADAPTERS, BIN, ENVIRONMENTS, Packages
from runlock.conformance.campaign.matrix import Column, unless_hidden
from runlock.conformance.campaign.order import Inferring, Order, Sampled
from runlock.conformance.campaign.programs import can_run, programs_of, run
from runlock.conformance.campaign.result import THIN, ClauseVerdict, Result
from runlock.conformance.campaign.runtimes import runtimes
from runlock.conformance.cli.main import main
from runlock.conformance.driving.strategies.scripted import script_of
from runlock.conformance.family.family import DEFAULT, family_named
from runlock.conformance.family.recordings import from_text, parse
from runlock.conformance.report import undeclared
from runlock.conformance.report.matrix import (
    as_json,
    as_markdown,
    causes,
    dumped,
    share_tested,
    witness_files,
)
from runlock.spec.model import load_spec

STANDALONE = ROOT / "docs/standalone"
MADE = ROOT / ENVIRONMENTS
RUNTIMES = runtimes()
PERMISSION = "AUTH-31"
"""A clause that only a permission that was asked for can reach."""


def by_name(entries):
    return {one["name"]: one for one in entries}


def defined_in(path):
    """The names of the functions and classes of a program, and of what it assigns."""
    if path.suffix == ".mjs":
        return set(
            re.findall(r"^(?:async )?(?:function|class|const) (\w+)", path.read_text("utf-8"), re.MULTILINE)
        )
    body = ast.parse(path.read_text("utf-8")).body
    assigned = {target.id for node in body if isinstance(node, ast.Assign) for target in node.targets}
    return (
        assigned
        | {node.name for node in body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        | {node.name for node in body if isinstance(node, ast.AsyncFunctionDef)}
    )


def serves(runtime):
    """Whether the adapter of a runtime, or the entry of one behind a wire, is one of the kit's."""
    if isinstance(runtime, ThirdParty):
        return entry_in(ROOT / Path(runtime.adapter_file).parent).name == runtime.name
    if isinstance(runtime.lives_in, Packages):
        text = (ROOT / "conformance/adapters" / runtime.adapter).read_text("utf-8")
        return re.search(r"^serve(Runner)?\(", text, re.MULTILINE) is not None
    module, _, name = runtime.adapter.partition(":")
    return name in defined_in(ROOT / (module.removeprefix("runlock.").replace(".", "/") + ".py"))


def beyond_its_profile(entry):
    """The policies of a runtime that its profile does not settle, or settles in another way."""
    profile = load_spec(entry.get("family", DEFAULT)).profile(entry["profile"])
    return {key for key, value in entry["policies"].items() if profile.policies.get(key) != value}


@pytest.fixture
def committed():
    """The matrix as it is committed."""
    return json.loads((ROOT / "docs/matrix.json").read_text("utf-8"))


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda one: one.name)
def test_a_runtime_is_pinned_and_its_adapter_is_there(runtime):
    """An environment is made of versions, never of an address, and the adapter is one of the kit's."""
    assert all(re.fullmatch(r"(@[a-z-]+/)?[a-z-]+(==|@)[0-9.]+", one) for one in runtime.requirements)
    assert serves(runtime)


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda one: one.name)
def test_what_is_known_of_a_violation_can_be_run(runtime):
    """Each program is there, with the part that it names; its clause is of the core, or of a policy."""
    for known in runtime.seen:
        clause = load_spec(runtime.family).clauses[known.clause]
        assert clause.core or clause.applies
    for file, _, part in (program.partition(" ") for program in programs_of([runtime])):
        assert part in {"", *defined_in(STANDALONE / file)}


@pytest.mark.parametrize(("settles_exactly", "examples"), [(True, campaign.INFERRED), (False, 0)])
def test_policies_are_inferred_in_real_time_from_the_scripted_schedules_alone(
    settles_exactly, examples, monkeypatch
):
    """A runtime that settles exactly plays random schedules too."""
    result = Result("py:x", {}, "core", {}, "1", DEFAULT, {}, settles_exactly=settles_exactly)
    monkeypatch.setattr(campaign, "_judged", lambda runtime, order: Column(runtime, result))
    monkeypatch.setattr(campaign, "infer", lambda order: order.plan)

    assert campaign._inferred(RUNTIMES[0], Order("", Sampled(250))).inferred == Inferring(examples)


def test_each_program_is_about_a_violation():
    """A program whose violation is gone goes with it; some wait for the column of their runtime."""
    named = {program.partition(" ")[0] for program in programs_of(RUNTIMES)}
    named |= tomllib.loads(ADAPTERS.joinpath("runtimes.toml").read_text("utf-8"))["waiting"].keys()

    assert {path.name for path in STANDALONE.iterdir() if path.suffix in (".py", ".mjs")} == named


def test_what_is_broken_is_known_and_what_is_known_is_broken(committed):
    """On the committed page, each violation can be shown without the kit, and nothing else is claimed."""
    seen = {one.name: {known.clause for known in one.seen} for one in RUNTIMES}

    assert {one["name"] for one in committed["runtimes"]} == seen.keys()
    for one in committed["runtimes"]:
        causing, broken = ({found["clause"] for found in some} for some in (causes(one), one["violations"]))
        assert causing <= seen[one["name"]] <= broken


@pytest.mark.parametrize(
    ("is_exact", "counts"), [(True, [40, 3]), (False, [THIN, 3])], ids=["exact", "observed"]
)
def test_how_often_a_clause_was_exercised_does_not_depend_on_the_machine(is_exact, counts):
    """Where a pause shows that a runtime is at rest, its pace decides how often: it is counted to THIN."""
    verdicts = [
        ClauseVerdict(name, "MUST", "held", exercised=count)
        for name, count in (("GATE-2", 40), ("ONCE-1", 3))
    ]
    result = Result("py:x", {}, "core", {}, "1", DEFAULT, {}, settles_exactly=is_exact, clauses=verdicts)
    (column,) = as_json([Column(RUNTIMES[0], result)], {})["runtimes"]

    assert list(column["exercised"].values()) == counts
    assert column.get("counted_up_to") == (None if is_exact else THIN)


def test_the_committed_matrix_is_of_the_pinned_versions(committed):
    """No version moves on without the matrix."""
    pinned = {one.name: list(one.requirements) for one in RUNTIMES}

    assert {one["name"]: one["requirements"] for one in committed["runtimes"]} == pinned
    for one in committed["runtimes"]:
        assert one["implementation"]["version"] in {re.split("==|@", pin)[-1] for pin in one["requirements"]}


def test_each_policy_that_is_declared_has_its_page(committed):
    """A documented difference names the documentation; the source of a profile documents what it settles."""
    pages = {one.name: set(one.pages) for one in RUNTIMES}

    assert {one["name"]: beyond_its_profile(one) for one in committed["runtimes"]} == pages


def test_what_an_adapter_hides_is_not_held(committed):
    """It is untested, with the reason of the file; a violation is reported all the same."""
    for runtime, one in zip(RUNTIMES, committed["runtimes"], strict=True):
        held = {clause for some in one["clauses"].get("held", {}).values() for clause in some}
        untested = one["clauses"].get("untested", {})

        assert held.isdisjoint(runtime.hidden)
        assert all(clause in untested.get(why, ()) for clause, why in runtime.hidden.items())


@pytest.mark.parametrize(("verdict", "left"), [("held", "untested"), ("broken", "broken")])
def test_only_what_would_be_held_is_hidden(verdict, left):
    """A violation is shown, whatever the adapter hides."""
    runtime = replace(RUNTIMES[0], hidden={"RUN-3": "the adapter does it"})
    seen = unless_hidden(runtime, ClauseVerdict("RUN-3", "MUST", verdict, exercised=4))

    assert seen.verdict == left
    assert unless_hidden(runtime, replace(seen, id="RUN-4", verdict=verdict)).verdict == verdict


def test_the_committed_matrix_says_something_of_every_clause(committed):
    """Each clause has one verdict for each runtime, and each that is broken has a witness."""
    for one in committed["runtimes"]:
        named = [
            clause for by_reason in one["clauses"].values() for some in by_reason.values() for clause in some
        ]

        assert len(named) == len(set(named))
        assert set(named) <= load_spec(one.get("family", DEFAULT)).clauses.keys()
        broken = one["clauses"].get("broken", {})
        assert {clause for some in broken.values() for clause in some} == {
            found["clause"] for found in one["violations"]
        }


def test_no_agent_has_a_verdict_without_a_permission_that_was_asked_for(committed):
    """An agent that never asks, or never offers its tools, breaks nothing."""
    agents = [one for one in committed["runtimes"] if one.get("family") == "message-loop"]

    assert agents
    for one in agents:
        assert one["exercised"].get(PERMISSION, 0) > 0


@pytest.mark.long
def test_each_witness_can_be_replayed(committed):
    """The page says which file replays a violation, and the file is a scenario that fits the protocol."""
    page, files = as_markdown(committed), dict(witness_files(committed))

    assert len(files) == sum(len(one["violations"]) for one in committed["runtimes"]) > 0
    for path, text in files.items():
        name = from_text(text).records[0]["scenario"]["scenario"]
        assert script_of(family_named(parse(text).family or DEFAULT), name, text).moves
        assert f"runlock replay {path} \\\n  '" in page or f"]({path}): " in page


def test_the_page_counts_what_the_matrix_holds(committed):
    """The first table has the counts, and each cell of the second the verdict of its clause."""
    page = as_markdown(committed)
    table = page.split("| clause | ")[1]  # that of the first family
    one = committed["runtimes"][0]
    held = [clause for some in one["clauses"]["held"].values() for clause in some]
    cells = {
        line.split("**")[1]: line.split(" | ")[1] for line in table.splitlines() if line.startswith("| **")
    }

    numbers = (one["implementation"]["version"], one["schedules"], len(held), len(one["violations"]))
    assert f"| {' | '.join(map(str, numbers))} |" in page
    assert {clause for clause, cell in cells.items() if cell.startswith("held")} == set(held)
    assert all((cells[clause] == "held, thinly") == (one["exercised"][clause] < THIN) for clause in held)


def test_the_page_says_how_much_was_tested_in_the_median(committed):
    """Of what applies to a runtime; a clause that does not apply counts on neither side."""
    (one,) = [entry for entry in committed["runtimes"] if entry["name"] == "strands"]
    only = {**one, "clauses": {"held": {"": ["GATE-2"]}, "untested": {"w": ["RUN-1", "RUN-2", "RUN-4"]}}}
    more = {**only, "clauses": {**only["clauses"], "not-applicable": {"p": ["RUN-5"]}}}

    assert [share_tested(only), share_tested(more), share_tested({"clauses": {}})] == [0.25, 0.25, 0]
    assert "In the median, 25% of the clauses" in as_markdown(
        {**committed, "runtimes": [{**only, "violations": []}]}
    )


def test_what_a_library_does_not_have_does_not_apply_to_it(monkeypatch):
    """A runtime's own entry comes before that of its family, and says which of the two it is."""
    tables = {
        "lifecycle": {"b": "The adapter hides it."},
        "absent": {"lifecycle": {"a": "None has it."}, "mine": {"b": "It has none."}},
        "yours": {"a": "It has one, which the adapter hides."},
    }
    monkeypatch.setattr(undeclared, "tables", lambda: tables)
    judged = {"held": {"": ["GATE-2"]}, "untested": {"a": ["RUN-1"], "b": ["RUN-2"], "c": ["RUN-4"]}}
    mine, yours = ({"name": name, "clauses": judged} for name in ("mine", "yours"))

    assert [share_tested(mine), share_tested(yours)] == [0.5, 0.25]
    assert undeclared.sentence(mine, "b") == "It has none."
    assert undeclared.sentence(yours, "c") == ""


def test_the_committed_file_is_written_as_the_command_writes_it(committed):
    """Values that belong together stand on one line, so that a difference can be read."""
    assert (ROOT / "docs/matrix.json").read_text("utf-8") == dumped(committed) + "\n"


def test_a_runtime_that_is_not_installed_is_shown_with_what_installs_it(capsys, tmp_path):
    """Nothing could be decided, and the page says how it could be."""
    code = main(
        ["matrix", "--only", "strands", "--envs", str(tmp_path / "none"), "-o", str(tmp_path / "out")]
    )
    shown, page = capsys.readouterr().out, (tmp_path / "out/matrix.md").read_text("utf-8")

    assert code == 3
    assert f"runlock matrix --install strands --envs {tmp_path / 'none'}" in shown
    assert "runlock matrix --install strands" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--only", "pydantic"], "`--only pydantic` names no runtime. Did you mean `pydantic-ai`?"),
        (["--install", "strand"], "`--install strand` names no runtime. Did you mean `strands`?"),
        (["--only", "zzz"], "`--only zzz` names no runtime. There are pydantic-ai, pydantic-ai-dbos,"),
    ],
)
def test_a_name_that_is_none_is_told(capsys, words, sentence):
    """What was written, and what would have been right."""
    assert main(["matrix", *words]) == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.nightly
@pytest.mark.processes
def test_a_runtime_is_driven_through_the_pipe_of_its_environment(capsys, tmp_path):
    """What its environment serves is judged, and its witness plays again."""
    environments, out = tmp_path / "envs", tmp_path / "out"
    serve = environments / "pydantic-ai" / BIN / "runlock"
    serve.parent.mkdir(parents=True)
    serve.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m runlock.conformance.cli "$@"\n')
    serve.chmod(0o755)
    words = ["matrix", "--only", "pydantic-ai", "--envs", str(environments), "--examples", "20"]
    code = main([*words, "-o", str(out), "--json"])
    column = by_name(json.loads(capsys.readouterr().out)["runtimes"])["pydantic-ai"]

    assert code == 0
    roots = {found["clause"] for found in column["violations"] if "cause" not in found}
    assert roots == {"CUT-1", "DECIDE-3", "INPUT-1", "ROUND-3", "RUN-20"}
    target = f"cmd:{serve} serve py:runlock.conformance.adapters.pydantic_ai:adapter"
    assert main(["replay", str(out / "witnesses/pydantic-ai/INPUT-1.scenario"), target]) == 1


@pytest.mark.long
@pytest.mark.parametrize(
    ("runtime", "known"),
    [pytest.param(one, known, id=f"{one.name}-{known.clause}") for one in RUNTIMES for known in one.seen],
)
def test_what_is_known_of_a_violation_is_seen_without_the_kit(runtime, known):
    """Each program fails, and says why, as long as what it is about is there in the pinned versions."""
    if not can_run(runtime, MADE):
        pytest.skip(f"there is no {runtime.place(MADE)}")
    ran = run(runtime, MADE, known.standalone, STANDALONE)

    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert ran.stderr.splitlines()[-1].startswith("still there"), ran.stderr
    assert re.search(r"^expected: .*^it hurts: .*^actual:", ran.stdout, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("runtime", RUNTIMES, ids=lambda one: one.name)
def test_a_program_says_how_to_install_what_it_is_about(runtime):
    """Its first lines name the packages in the versions that were checked; of an entry, those it needs."""
    for program in programs_of([runtime]):
        text = (STANDALONE / program.partition(" ")[0]).read_text("utf-8")
        head = "".join(line for line in text.splitlines()[:8] if re.search(r"\b(pip|npm) install ", line))
        missing = [pin for pin in runtime.requirements if pin not in head]
        assert missing == [] or (isinstance(runtime, ThirdParty) and len(missing) < len(runtime.requirements))


SAYS = {
    ".py": r"\n\nexpected: [^\n]+\.\nit hurts: [^\n]+\.\Z",
    ".mjs": r'^  about\(\n    "[^"]+\.",\n    "[^"]+\.",\n    "[^"]+\.",\n  \);\n',
}


def about(path, part):
    """What a program says of one of its parts before it runs it."""
    text = path.read_text("utf-8")
    if path.suffix == ".mjs":
        return text.partition(f"async function {part}() {{\n")[2]
    tree = ast.parse(text)
    named = [node for node in tree.body if getattr(node, "name", "") == part and "getdoc(PROGRAMS" in text]
    return re.sub(r"\n  (?=\S)", " ", ast.get_docstring((named or [tree])[0]))


@pytest.mark.parametrize("program", programs_of(RUNTIMES))
def test_a_program_says_what_is_expected_and_whom_it_hurts(program):
    """Before it prints what it sees, it prints one sentence for each."""
    file, _, part = program.partition(" ")
    path = STANDALONE / file

    assert re.search(SAYS[path.suffix], about(path, part)), about(path, part)[:500]
    assert "actual:" in path.read_text("utf-8")


@pytest.mark.long
def test_the_program_for_pydantic_ai_shows_its_violation():
    """The one runtime that is installed next to the tests does what its program says."""
    program = STANDALONE / "pydantic_ai_repeated_id.py"
    shown = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, check=False)

    assert (shown.returncode, shown.stderr) == (1, "still there\n")
    assert "\nexpected: one result for the id.\n" in shown.stdout
    assert shown.stdout.count("'c1'") == 3


NPM = """#!/bin/sh
mkdir -p "$3/node_modules/.bin" && touch "$3/node_modules/.bin/node" && echo "$@" >> "$3/said"
exit "${NPM_FAILS:-0}"
"""


@pytest.fixture
def npm(tmp_path, monkeypatch):
    """An `npm` that makes an empty `node`, and is all that is on the PATH but the shell's own."""
    (tmp_path / "npm").write_text(NPM)
    (tmp_path / "npm").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr("shutil.which", lambda name: str(tmp_path / name))


def test_an_environment_of_npm_is_its_packages_and_an_adapter_during_them(npm, tmp_path):
    """It is made anew each time and without a lock file, and its command is two files in it."""
    place = tmp_path / "vercel-ai-7"
    for _ in range(2):
        assert main(["matrix", "--install", "vercel-ai-7", "--envs", str(tmp_path)]) == 0
    runtime = next(one for one in RUNTIMES if one.name == "vercel-ai-7")
    said = (place / "said").read_text().splitlines()

    assert [line.split()[:4] for line in said] == [["install", "--prefix", str(place), "--no-package-lock"]]
    assert runtime.is_installed(tmp_path)
    assert runtime.target(tmp_path) == f"cmd:{place}/node_modules/.bin/node {place}/adapter.mjs"


@pytest.mark.parametrize("name", ["adapter.mjs", "model.mjs", "runlock.mjs"])
def test_an_environment_with_an_older_adapter_is_not_installed(npm, tmp_path, name):
    """What lies there was copied; where the kit has another one by now, it is to be made again."""
    main(["matrix", "--install", "vercel-ai-7", "--envs", str(tmp_path)])
    runtime = next(one for one in RUNTIMES if one.name == "vercel-ai-7")
    (tmp_path / "vercel-ai-7" / name).write_text("serve(() => new OlderAdapter());")

    assert not runtime.is_installed(tmp_path)


def test_without_npm_it_is_said_what_is_missing(npm, capsys, monkeypatch, tmp_path):
    """No one is sent to look for what the command itself knows."""
    monkeypatch.setattr("shutil.which", lambda name: None)

    assert main(["matrix", "--install", "vercel-ai-6", "--envs", str(tmp_path)]) == 2
    assert "there is no `npm` on the PATH. Node.js brings it" in " ".join(capsys.readouterr().err.split())


def test_a_failure_of_npm_is_told(npm, capsys, monkeypatch, tmp_path):
    """What npm says goes to the screen, and the last sentence says what was to be installed."""
    monkeypatch.setenv("NPM_FAILS", "1")

    assert main(["matrix", "--install", "vercel-ai-6", "--envs", str(tmp_path)]) == 2
    assert "could not be made. What is said above tells why ai@6" in " ".join(capsys.readouterr().err.split())


def test_environments_have_a_place_of_their_own():
    """What is made there is never committed."""
    ignored = (ROOT / ".gitignore").read_text("utf-8").split()

    assert {str(ENVIRONMENTS), "runlock-matrix"} <= set(ignored)
