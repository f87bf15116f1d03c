"""The command line: reads what was asked, runs one command, and ends in an exit code that means one thing.

0 held, 1 broken, 2 wrong usage, 3 could not decide, 70 a bug of the kit.  Whatever goes wrong is said in
one sentence, with what would have been right; RUNLOCK_TRACEBACK=1 adds the traceback of a bug.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, Final

import typer

from runlock.conformance.cli.usage_errors import misuse_in_words
from runlock.conformance.errors import RunlockError
from runlock.conformance.text import plain
from runlock.spec.model import SpecError

USAGE: Final = 2
UNDECIDED: Final = 3
BUG: Final = 70

app = typer.Typer(
    name="runlock",
    help="An executable specification of the agent run lifecycle, and the kit that holds any runtime to it.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

TargetName = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="reference:PROFILE, py:package.module:factory, 'cmd:./adapter --flag' or trace:file.jsonl.",
    ),
]
Scale = Annotated[
    float, typer.Option("--timeout-scale", min=0.01, help="Times the time limits of the protocol.")
]
StoreHolder = Annotated[
    str,
    typer.Option("--store", metavar="HOLDER", help="Who holds the checkpoints of the reference: kit or own."),
]
StoredResult = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT", help="A folder of results, as `check -o` leaves it, or its result.json."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object on standard output, and nothing else.")]


@app.callback(invoke_without_command=True)
def runlock(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and end.")] = False,
) -> None:
    """An executable specification of the agent run lifecycle, and the kit that holds any runtime to it."""
    if version:
        typer.echo(f"runlock {version_of('runlock')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)


@app.command()
def check(  # each is an option of its own
    target: TargetName,
    examples: Annotated[
        int | None, typer.Option(min=0, help="How many schedules to play beside the scripted ones; 6000.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Where the choices of the schedules start from.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="How many processes share the work; it changes nothing else. "
            "With 1 it is the kit's own, which a runtime in Python can end.",
        ),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Stop looking after so long; the result is then partial."
        ),
    ] = None,
    exhaustive: Annotated[
        bool,
        typer.Option("--exhaustive", help="Play every schedule within a bound, the shortest first."),
    ] = False,
    depth: Annotated[
        int | None, typer.Option(metavar="N", help="With --exhaustive: up to so many stimuli; 3.")
    ] = None,
    races: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With --exhaustive: so many moves may be races of two, or meet the runtime at work; 0.",
        ),
    ] = None,
    one_order: Annotated[
        bool,
        typer.Option(
            "--one-order",
            help="With --exhaustive: where two stimuli are answered alike in both orders, go on from one.",
        ),
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Judge these clauses alone, as in 'CALL-*'.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where traces and the result are written.")
    ] = Path("runlock-results"),
    json: AsJson = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit 3 if any clause that applies was left untested.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", help="Name every arrow, pair and refusal that was never exercised.")
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Violations that are expected, with their reasons, in TOML."),
    ] = None,
    today: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="The day by which entries of the baseline expire; else this one."),
    ] = None,
    spec: Annotated[
        str | None,
        typer.Option(metavar="REVISION", help="Judge the clauses of this revision, and no younger ones."),
    ] = None,
    timeout_scale: Scale = 1.0,
) -> int:
    """Put a runtime through its schedules, and say which clauses it holds and which it breaks."""
    from runlock.conformance.campaign.stages import Order
    from runlock.conformance.cli.commands import check as command

    bound = command.depth_of(exhaustive, depth, races, examples, one_order=one_order)
    played = command.EXAMPLES if examples is None else examples
    order = Order(target, played, seed, tuple(only or ()), timeout_scale, bound, races or 0, one_order)
    wish = command.Wish(out, json, strict, verbose, baseline, today, spec)
    return command.check(order, command.jobs_of(jobs), budget, wish)


@app.command()
def report(
    result: StoredResult,
    wanted: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="junit, markdown, badge or html.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Where it is written; a badge in .svg is drawn."),
    ] = None,
) -> int:
    """Make a report of a stored result: for a machine, a pull request, a README or a browser."""
    from runlock.conformance.cli.commands import report as command

    return command.report(result, wanted, out)


@app.command()
def diff(  # each is an option of its own
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A folder of results, or a target.")],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="Another one.")],
    examples: Annotated[
        int | None, typer.Option(min=0, help="How many schedules a target is played; 6000.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Where the choices of the schedules start from.")] = 0,
    jobs: Annotated[int | None, typer.Option(min=1, help="How many processes share the work.")] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where results of targets are written.")
    ] = Path("runlock-results"),
    json: AsJson = False,
) -> int:
    """Say what changed between two results, clause by clause; targets are checked first, both alike."""
    from runlock.conformance.campaign.stages import Order
    from runlock.conformance.cli.commands import check as checking
    from runlock.conformance.cli.commands import diff as command

    order = Order("", checking.EXAMPLES if examples is None else examples, seed)
    return command.diff(before, after, order, checking.jobs_of(jobs), out, as_json=json)


baselines = typer.Typer(help="Violations that are known and expected, so that only new ones fail.")
app.add_typer(baselines, name="baseline")


@baselines.command("write")
def write_baseline(
    result: StoredResult,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Where it is written; a new file.")
    ] = None,
) -> int:
    """Write the violations of a stored result as a baseline, whose reasons are left to you."""
    from runlock.conformance.cli.commands import baseline as command

    return command.write_baseline(result, out)


@app.command()
def replay(
    trace: Annotated[
        Path,
        typer.Argument(metavar="TRACE", help="A trace file, as `check` writes them, or a scenario file."),
    ],
    target: TargetName,
    step: Annotated[
        bool, typer.Option("--step", help="Stop after each stimulus, until Enter is pressed.")
    ] = False,
    json: AsJson = False,
    timeout_scale: Scale = 1.0,
) -> int:
    """Send the stimuli of a trace to a runtime, and show what it does now."""
    from runlock.conformance.cli.commands import replay as command

    return command.replay(trace, target, is_stepped=step, as_json=json, timeout_scale=timeout_scale)


@app.command()
def explore(  # each is an option of its own
    model: Annotated[
        str,
        typer.Argument(
            metavar="PROFILE", help="A profile, or `calls`: so many calls alone, and a cancel over them."
        ),
    ] = "awaken-8",
    calls: Annotated[int, typer.Option(metavar="N", help="How many calls the round has.")] = 2,
    resuspensions: Annotated[
        int | None, typer.Option(metavar="R", help="How often each call may suspend again: 1, in `calls` 2.")
    ] = None,
    cancels: Annotated[int | None, typer.Option(help="Whether the run may be cancelled: 1 or 0.")] = None,
    crashes: Annotated[int | None, typer.Option(help="How often the runtime may crash: 1.")] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Explore this value of a policy, as in end.live=left."),
    ] = None,
    symmetry: Annotated[
        bool, typer.Option("--symmetry/--no-symmetry", help="Count interchangeable calls once.")
    ] = True,
    max_states: Annotated[
        int | None, typer.Option(metavar="N", help="Stop beyond so many states; the result is then partial.")
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop looking after so long; the result is then partial."),
    ] = None,
    dot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a small graph as DOT.")] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the graph as one JSON object.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Explore every state that the joint charts themselves can be in, and ask the clauses of each."""
    from runlock.conformance.cli.commands import explore as command

    wish = command.Wish(
        calls, resuspensions, cancels, crashes, tuple(policy or ()),
        symmetry, max_states, budget, dot, graph, json,
    )  # fmt: skip
    return command.run(model, wish)


@app.command()
def explain(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The id of a clause, as in CALL-4; or a policy, profile, erratum, word, chart or mutant.",
        ),
    ],
    json: AsJson = False,
) -> int:
    """Say what a clause asks, why, of whom, how it is checked, and what it looks like kept and broken."""
    from runlock.conformance.cli.commands import explain as command

    return command.explain(name, as_json=json)


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT",
            help="clauses, profiles, policies, errata, targets, mutants, variants, scenarios, charts, words.",
        ),
    ] = None,
    area: Annotated[str | None, typer.Option(help="Only those of an area of clauses, as in CALL.")] = None,
    profile: Annotated[str | None, typer.Option(help="Only those under a profile.")] = None,
    level: Annotated[str | None, typer.Option(help="Only clauses of a level, as in MUST.")] = None,
    json: AsJson = False,
) -> int:
    """List what there is."""
    from runlock.conformance.cli.commands import list as command

    return command.listing(kind, command.Wanted(area, profile, level), as_json=json)


@app.command()
def draw(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHAT",
            help="Charts by name, all of them if there is nothing; a trace, a result.json or a kill matrix.",
        ),
    ] = None,
    forms: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help="dot, mermaid, scxml, json, svg or png; may be said more than once.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Where to, if not docs/charts, or beside the file that is drawn; - for standard output.",
        ),
    ] = None,
) -> int:
    """Draw charts, a trace, the coverage of a result, or a kill matrix."""
    from runlock.conformance.cli.commands import draw as command

    return command.draw(what or (), forms or (), out)


@app.command()
def serve(target: TargetName, store: StoreHolder = "kit") -> int:
    """Put a runtime in process behind the pipe: the protocol on standard input and output."""
    from runlock.conformance.cli.commands import serve as command

    return command.run(target, store)


@app.command()
def smoke(target: TargetName, json: AsJson = False, timeout_scale: Scale = 1.0) -> int:
    """Drive an adapter alone through each verb, and say what its handshake leaves untested."""
    from runlock.conformance.cli.commands import smoke as command

    return command.smoke(target, as_json=json, timeout_scale=timeout_scale)


@app.command()
def infer(  # each is an option of its own
    target: TargetName,
    examples: Annotated[
        int | None, typer.Option(min=0, help="How many walks to play beside the scripted scenarios; 200.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Where the choices of the walks start from.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(min=1, help="How many processes share the work; it changes nothing else."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(
            min=0, metavar="SECONDS", help="Stop looking after so long; the result is then partial."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Where the schedules are written that tell.")
    ] = Path("runlock-inferred"),
    json: AsJson = False,
    timeout_scale: Scale = 1.0,
) -> int:
    """Find out what a runtime does about each policy, and what its handshake should say."""
    from runlock.conformance.campaign.stages import Order
    from runlock.conformance.cli.commands import check as checking
    from runlock.conformance.cli.commands import infer as command

    walks = command.EXAMPLES if examples is None else examples
    order = Order(target, walks, seed, timeout_scale=timeout_scale, settled=())
    return command.infer(order, checking.jobs_of(jobs), budget, command.Wish(out, json))


@app.command("new-adapter")
def new_adapter(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Where it is written; made if need be.")],
    lang: Annotated[str, typer.Option("--lang", metavar="LANG", help="python, node or rust.")],
    json: AsJson = False,
) -> int:
    """Write a working adapter with a test of its own, and say what to run next."""
    from runlock.conformance.cli.commands import new_adapter as command

    return command.new_adapter(folder, lang, as_json=json)


@app.command()
def selftest(
    seed: Annotated[int, typer.Option(help="Where the choices of the schedules start from.")] = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="These mutants and variants alone, by name or by clause."),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="How many processes share the work; it changes nothing else.")
    ] = None,
    shortest: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="LIMIT", help="Schedules tried for the shortest witness of each; 0: none."
        ),
    ] = None,
    json: AsJson = False,
) -> int:
    """Show that the kit can see: each mutant is blamed on its clause, and each variant passes."""
    from runlock.conformance.cli.commands import selftest as command

    limit = command.SHORTEST if shortest is None else shortest
    return command.selftest(seed, tuple(only or ()), jobs, limit, as_json=json)


@app.command()
def matrix(  # each is an option of its own
    install: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Make the environment of a runtime, as in 'lang*', and end."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="These runtimes alone, as in 'lang*'.")
    ] = None,
    envs: Annotated[
        Path, typer.Option(metavar="DIR", help="Where the environments of the runtimes are.")
    ] = Path(".runlock"),
    examples: Annotated[
        int | None, typer.Option(min=0, help="How many schedules to play on each runtime; 250.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Where the choices of the schedules start from.")] = 0,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Where the matrix is written."),
    ] = Path("runlock-matrix"),
    json: AsJson = False,
    timeout_scale: Scale = 1.0,
) -> int:
    """Put the real runtimes that are installed side by side: which clauses each holds and breaks."""
    from runlock.conformance.campaign.matrix import EXAMPLES
    from runlock.conformance.cli.commands import matrix as command

    if install:
        return command.make(install, envs)
    wish = command.Wish(tuple(only or ()), envs, out, json)
    return command.run(wish, EXAMPLES if examples is None else examples, seed, timeout_scale)


# --- the way out --------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code."""
    try:
        return _run(sys.argv[1:] if argv is None else list(argv))
    except typer.Exit as end:
        return end.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _said("Interrupted before anything was judged.", UNDECIDED)
    except typer.TyperException as error:
        return _said(misuse_in_words(error), USAGE)
    except RunlockError as error:
        return _said(str(error), error.exit_code)
    except SpecError as error:
        return _said(f"The spec that this kit carries does not hold together: {error}", BUG)
    except BrokenPipeError:  # whoever read has seen enough
        return 0
    except Exception as error:
        return _ended_by(error)


def _run(words: list[str]) -> int:
    """Run the command without typer's own way out, whose exit codes mean something else."""
    command = typer.main.get_command(app)
    with command.make_context("runlock", words) as context:
        code: int = command.invoke(context)
    return code


def _said(sentence: str, code: int) -> int:
    print(f"runlock: {plain(sentence)}", file=sys.stderr)
    return code


def _ended_by(error: Exception) -> int:
    """Say that the kit is broken, and where."""
    from runlock.conformance.campaign.worker import KitBroke

    broke = KitBroke.of(error)
    if os.environ.get("RUNLOCK_TRACEBACK") == "1":
        print(broke.trace, file=sys.stderr, end="")
    return _said(
        f"This is a bug of the kit, at {broke.place}: {broke.words}. "
        "Please report it with the command that led here; RUNLOCK_TRACEBACK=1 shows more.",
        BUG,
    )
