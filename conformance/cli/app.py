"""The commands: their arguments, and what each one calls."""

from __future__ import annotations

from importlib.metadata import version as version_of
from pathlib import Path
from typing import Annotated, Final

import typer

from runlock.conformance.cli.wire_options import Ask, Free, Wire, at_an_address

USAGE: Final = 2

app = typer.Typer(
    name="runlock",
    help="An executable specification of agent loops, and a conformance test kit.",
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

TargetName = Annotated[
    str,
    typer.Argument(
        metavar="TARGET",
        help="reference:PROFILE, py:package.module:factory, 'cmd:./adapter --flag', URL or trace:file.jsonl.",
    ),
]
Scale = Annotated[
    float, typer.Option("--timeout-scale", min=0.01, help="Factor for the time limits of the protocol.")
]
StoreHolder = Annotated[
    str,
    typer.Option("--store", metavar="HOLDER", help="Where the reference stores checkpoints: kit or own."),
]
StoredResult = Annotated[
    Path,
    typer.Argument(
        metavar="RESULT", help="A folder written by `check -o` or `audit -o`, or its result.json."
    ),
]
FamilyName = Annotated[
    str | None, typer.Option("--family", metavar="NAME", help="The family of agent loops.")
]
On = Annotated[
    str | None,
    typer.Option("--on", metavar="WHERE", help="Work on a cluster: ray on this machine, or ray://HOST:PORT."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Seed = Annotated[int, typer.Option(help="Seed of the random choices.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, help="Number of worker processes; does not affect the result.")
]
InProcess = Annotated[
    bool,
    typer.Option("--in-process", help="Run a Python runtime in this process, for a debugger."),
]
Budget = Annotated[
    float | None,
    typer.Option(min=0, metavar="SECONDS", help="Stop after this time; the result is then partial."),
]


@app.callback(invoke_without_command=True)
def runlock(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version and exit.")] = False,
) -> None:
    """An executable specification of agent loops, and a conformance test kit."""
    if version:
        typer.echo(f"runlock {version_of('runlock')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(USAGE)


@app.command()
@at_an_address
def check(  # each is a separate option
    target: TargetName,
    examples: Annotated[
        int | None,
        typer.Option(
            min=0, help="Number of schedules in addition to the scripted ones (100 for a URL); 1500."
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Number of worker processes; does not affect the result.",
        ),
    ] = None,
    in_process: InProcess = False,
    on: On = None,
    budget: Budget = None,
    exhaustive: Annotated[
        bool,
        typer.Option("--exhaustive", help="Run every schedule within a bound, shortest first."),
    ] = False,
    depth: Annotated[
        int | None, typer.Option(metavar="N", help="With --exhaustive: maximum number of stimuli; 3.")
    ] = None,
    races: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With --exhaustive: maximum moves that race or interrupt the runtime; 0.",
        ),
    ] = None,
    one_order: Annotated[
        bool,
        typer.Option(
            "--one-order",
            help="With --exhaustive: if two stimuli commute, continue only one order.",
        ),
    ] = False,
    only: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Judge only these clauses, e.g. 'CALL-*'.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="A few hundred schedules, for a quick look while you work.")
    ] = False,
    first: Annotated[bool, typer.Option("-x", "--first", help="Stop at the first violation.")] = False,
    skip: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Do not report these clauses; all others are judged as before."),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for traces and the result.")
    ] = Path("runlock-results"),
    json: AsJson = False,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Exit with 3 if an applicable clause is untested, or a question is unanswered."
        ),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="List every transition, pair and refusal that was not exercised."),
    ] = False,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="TOML file of expected violations, with their reasons."),
    ] = None,
    today: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Date for the expiry of baseline entries; default: today."),
    ] = None,
    spec: Annotated[
        str | None,
        typer.Option(metavar="REVISION", help="Judge only the clauses of this revision of the spec."),
    ] = None,
    timeout_scale: Scale = 1.0,
) -> int:
    """Check a runtime: report each clause as held, broken or untested."""
    from runlock.conformance.campaign.order import Exhaustive, Means, Order, Sampled
    from runlock.conformance.cli.commands import check as command
    from runlock.conformance.judging.selection import Selection

    plan: Sampled | Exhaustive
    if exhaustive:
        plan = command.exhaustive(depth, races, examples, one_order=one_order)
    else:
        command.refuse_bound(depth, races, one_order=one_order)
        plan = command.sampled(examples, seed, quick=quick, of=command.budget_of(target))
    clauses = Selection(tuple(only or ()), tuple(skip or ()))
    options = command.Options(out, json, strict, verbose, baseline, today, spec)
    means = Means(command.jobs_of(jobs, in_process=in_process, target=target), budget, on, in_process)
    return command.check(Order(target, plan, clauses, timeout_scale, first), means, options)


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for traces and the result.")
    ] = Path("runlock-results"),
) -> int:
    """Check a tiny agent that has one fault, in about ten seconds: what a violation looks like."""
    from runlock.conformance.cli.commands import demo as command

    return command.demo(out)


@app.command()
def audit(  # each is a separate option
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH...", help="Recordings: files, folders or globs, compressed or not."),
    ] = None,
    wanted: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="The format of every file; default: recognise it."),
    ] = None,
    jobs: Jobs = None,
    scratch: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder for sorted records; on a cluster, one that all machines share."
        ),
    ] = None,
    on: On = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Judge only these clauses, e.g. 'PAIR-*'.")
    ] = None,
    skip: Annotated[
        list[str] | None, typer.Option(metavar="PATTERN", help="Do not report these clauses.")
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for counterexamples and the result.")
    ] = Path("runlock-results"),
    json: AsJson = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 3 if an applicable clause was not observable.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", help="List every clause.")] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the report as a page with filters.")
    ] = None,
    here: Annotated[
        bool,
        typer.Option("--here", help="Read the sessions of the coding agents of this machine."),
    ] = False,
    accept: Annotated[
        bool, typer.Option("--accept", help="Keep the verdicts of a folder; later audits show differences.")
    ] = False,
) -> int:
    """Judge recorded runs: report each clause as held, broken or not observable."""
    from runlock.conformance.audit.engine import Task
    from runlock.conformance.cli.commands import audit as command
    from runlock.conformance.errors import UsageError
    from runlock.conformance.judging.selection import Selection

    shown = Selection(tuple(only or ()), tuple(skip or ()))
    if here and paths:
        raise UsageError("`--here` finds the sessions itself.", "Leave out the path, or `--here`.")
    options = command.Options(out, jobs, on, scratch, json, strict, verbose, html, not paths, accept)
    return command.audit(paths or [], Task(wanted, shown.with_skipped), shown, options)


@app.command()
def report(
    result: StoredResult,
    wanted: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="junit, markdown, badge, html or sarif.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Output file; a badge in .svg is drawn."),
    ] = None,
) -> int:
    """Write a stored result as JUnit XML, Markdown, a badge, HTML or SARIF."""
    from runlock.conformance.cli.commands import report as command

    return command.report(result, wanted, out)


@app.command()
def diff(  # each is a separate option
    before: Annotated[
        str, typer.Argument(metavar="BEFORE", help="A folder of results, or a target to check.")
    ],
    after: Annotated[str, typer.Argument(metavar="AFTER", help="The result or target to compare with.")],
    examples: Annotated[
        int | None, typer.Option(min=0, help="Number of schedules for a target; 1500.")
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the results of targets.")
    ] = Path("runlock-results"),
    json: AsJson = False,
) -> int:
    """Compare two results clause by clause; check targets first."""
    from runlock.conformance.campaign.order import Means
    from runlock.conformance.cli.commands import check as checking
    from runlock.conformance.cli.commands import diff as command

    plan = checking.sampled(examples, seed)
    return command.diff(before, after, plan, Means(checking.jobs_of(jobs)), out, as_json=json)


baselines = typer.Typer(help="Manage known violations, so that only new ones fail.")
app.add_typer(baselines, name="baseline")


@baselines.command("write")
def write_baseline(
    result: StoredResult,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="Output file, which must not exist.")
    ] = None,
) -> int:
    """Write the violations of a result as a baseline; you add the reasons."""
    from runlock.conformance.cli.commands import baseline as command

    return command.write_baseline(result, out)


@app.command()
def replay(
    trace: Annotated[
        Path,
        typer.Argument(metavar="TRACE", help="A trace file written by `check`, or a scenario file."),
    ],
    target: TargetName,
    step: Annotated[
        bool, typer.Option("--step", help="Pause after each stimulus until Enter is pressed.")
    ] = False,
    json: AsJson = False,
    timeout_scale: Scale = 1.0,
    in_process: InProcess = False,
) -> int:
    """Send the stimuli of a trace to a runtime, and show its answers."""
    from runlock.conformance.campaign.served import Reached
    from runlock.conformance.cli.commands import replay as command

    reached = Reached(target, timeout_scale, in_process)
    return command.replay(trace, reached, is_stepped=step, as_json=json)


@app.command()
def explore(  # each is a separate option
    model: Annotated[
        str | None,
        typer.Argument(
            metavar="PROFILE",
            help="A profile, or `calls` for N calls with a cancel; by default that of the family.",
        ),
    ] = None,
    family: FamilyName = None,
    calls: Annotated[int, typer.Option(metavar="N", help="Number of calls in the round.")] = 2,
    resuspensions: Annotated[
        int | None, typer.Option(metavar="R", help="Maximum re-suspensions of each call; 1, in `calls` 2.")
    ] = None,
    cancels: Annotated[int | None, typer.Option(help="Maximum cancels of the run: 1 or 0.")] = None,
    crashes: Annotated[int | None, typer.Option(help="Maximum crashes of the runtime; 1.")] = None,
    policy: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Set an open policy, e.g. end.live=left."),
    ] = None,
    bound: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=N", help="Set a bound that the family adds, e.g. limit=1."),
    ] = None,
    symmetry: Annotated[
        bool, typer.Option("--symmetry/--no-symmetry", help="Count interchangeable calls once.")
    ] = True,
    max_states: Annotated[
        int | None,
        typer.Option(metavar="N", help="Stop after this number of states; the result is then partial."),
    ] = None,
    budget: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Stop after this time; the result is then partial."),
    ] = None,
    dot: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a small graph as DOT.")] = None,
    graph: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the graph as one JSON object.")
    ] = None,
    json: AsJson = False,
) -> int:
    """Explore every reachable state of the joint charts, and check the clauses in each."""
    from runlock.conformance.cli.commands import explore as command

    options = command.Options(
        calls, resuspensions, cancels, crashes, tuple(policy or ()), tuple(bound or ()),
        symmetry, max_states, budget, dot, graph, json,
    )  # fmt: skip
    return command.run(model, family, options)


@app.command()
def explain(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="A clause id such as CALL-4, or a policy, profile, erratum, word, chart or mutant.",
        ),
    ],
    family: FamilyName = None,
    json: AsJson = False,
) -> int:
    """Explain a clause, with examples, or any other name of the spec."""
    from runlock.conformance.cli.commands import explain as command

    return command.explain(name, family=family, as_json=json)


@app.command("list")
def list_(
    kind: Annotated[
        str | None,
        typer.Argument(
            metavar="WHAT",
            help="clauses, profiles, policies, errata, targets, mutants, variants, scenarios, charts, words.",
        ),
    ] = None,
    area: Annotated[str | None, typer.Option(help="Only this area of clauses, e.g. CALL.")] = None,
    profile: Annotated[str | None, typer.Option(help="Only entries of this profile.")] = None,
    level: Annotated[str | None, typer.Option(help="Only clauses of this level, e.g. MUST.")] = None,
    family: FamilyName = None,
    json: AsJson = False,
) -> int:
    """List the clauses, profiles, mutants and other names of a family."""
    from runlock.conformance.cli.commands import list as command

    return command.listing(kind, command.Wanted(area, profile, level), family=family, as_json=json)


@app.command()
def draw(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHAT",
            help="Names of charts (default: all), a trace, a result.json or a kill matrix.",
        ),
    ] = None,
    forms: Annotated[
        list[str] | None,
        typer.Option(
            "--format",
            metavar="FORM",
            help="dot, mermaid, scxml, json, svg or png; may be repeated.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Output folder (runlock-charts, or that of the input file); - for standard output.",
        ),
    ] = None,
) -> int:
    """Draw charts, a trace, the coverage of a result, or a kill matrix."""
    from runlock.conformance.cli.commands import draw as command

    return command.draw(what or (), forms or (), out)


@app.command()
def serve(  # each is a separate option
    context: typer.Context,
    target: TargetName,
    store: StoreHolder = "kit",
    wire: Wire = None,
    port: Annotated[
        int,
        typer.Option(min=1, max=65535, envvar="PORT", help="With --wire: the port of the application."),
    ] = 8902,
    ask: Ask = None,
    free: Free = None,
) -> int:
    """Serve an in-process runtime over standard input and output, or as an application behind a wire."""
    from runlock.conformance.cli.commands import serve as command

    command.refuse_idle(wire, [name for name in context.params if _is_typed(context, name)])
    if wire is not None:
        return command.behind_a_wire(target, wire, port, ask or ["write"], free or ["read"])
    return command.run(target, store)


def _is_typed(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


@app.command("serve-ends")
def serve_ends(
    port: Annotated[
        int, typer.Option(min=1, max=65535, help="Where the model and the tools are served.")
    ] = 8901,
    ask: Ask = None,
    free: Free = None,
) -> int:
    """Serve the model and the tools of the kit, while you wire up an application."""
    from runlock.conformance.cli.commands import serve as command

    return command.ends(port, ask or ["write"], free or ["read"])


@app.command()
@at_an_address
def smoke(  # each is a separate option
    target: TargetName,
    json: AsJson = False,
    timeout_scale: Scale = 1.0,
    in_process: InProcess = False,
) -> int:
    """Send each verb to an adapter once, and show what works."""
    from runlock.conformance.campaign.served import Reached
    from runlock.conformance.cli.commands import smoke as command

    return command.smoke(Reached(target, timeout_scale, in_process), as_json=json)


@app.command()
@at_an_address
def infer(  # each is a separate option
    target: TargetName,
    examples: Annotated[
        int | None,
        typer.Option(min=0, help="Number of random walks in addition to the scripted scenarios; 200."),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    in_process: InProcess = False,
    budget: Budget = None,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Folder for the schedules that are the evidence."),
    ] = Path("runlock-inferred"),
    json: AsJson = False,
    timeout_scale: Scale = 1.0,
) -> int:
    """Infer the policies of a runtime, and propose its handshake."""
    from runlock.conformance.campaign.order import Inferring, Means, Order
    from runlock.conformance.cli.commands import check as checking
    from runlock.conformance.cli.commands import infer as command

    walks = command.EXAMPLES if examples is None else examples
    order = Order(target, Inferring(walks, seed), timeout_scale=timeout_scale)
    means = Means(checking.jobs_of(jobs, in_process=in_process, target=target), budget, in_process=in_process)
    return command.infer(order, means, command.Options(out, json))


@app.command("new-adapter")
def new_adapter(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Output folder; created if necessary.")],
    lang: Annotated[str, typer.Option("--lang", metavar="LANG", help="python, node or rust.")],
    json: AsJson = False,
) -> int:
    """Write a working adapter with a test."""
    from runlock.conformance.cli.commands import new_adapter as command

    return command.new_adapter(folder, lang, as_json=json)


@app.command()
def selftest(
    seed: Seed = 0,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="PATTERN", help="Only these mutants and variants, by name or by clause."),
    ] = None,
    jobs: Jobs = None,
    shortest: Annotated[
        int | None,
        typer.Option(
            min=0,
            metavar="LIMIT",
            help="Maximum schedules of the search for each shortest witness; 0: no search.",
        ),
    ] = None,
    family: FamilyName = None,
    json: AsJson = False,
) -> int:
    """Test the kit: each mutant must be blamed on its clause, and each variant must pass."""
    from runlock.conformance.cli.commands import selftest as command

    limit = command.SHORTEST if shortest is None else shortest
    return command.selftest(seed, tuple(only or ()), jobs, limit, family=family, as_json=json)


@app.command()
def matrix(  # each is a separate option
    install: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Install 'lang*', or earlier releases 'lang*@*', and exit."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Only these runtimes, e.g. 'lang*'.")
    ] = None,
    envs: Annotated[Path, typer.Option(metavar="DIR", help="Folder of the runtimes' environments.")] = Path(
        ".runlock"
    ),
    versions: Annotated[
        bool, typer.Option(help="Only run the programs of docs/standalone, in old and new releases.")
    ] = False,
    entry: Annotated[
        list[Path] | None,
        typer.Option(metavar="FOLDER", help="The runtime of an entry.toml, in the place of the kit's own."),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Only write texts for reports to the maintainers of a library."),
    ] = None,
    nightly: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="Judge newer releases, and keep a history, as of this day."),
    ] = None,
    infer: Annotated[
        bool, typer.Option(help="Also infer the policies of each runtime, and compare the declared ones.")
    ] = False,
    examples: Annotated[
        int | None, typer.Option(min=0, help="Number of schedules for each runtime; 250.")
    ] = None,
    seed: Seed = 0,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Output folder."),
    ] = Path("runlock-matrix"),
    json: AsJson = False,
    timeout_scale: Scale = 1.0,
) -> int:
    """Check the installed real runtimes, and compare their verdicts."""
    from runlock.conformance.campaign.matrix import EXAMPLES
    from runlock.conformance.campaign.order import Sampled
    from runlock.conformance.cli.commands import matrix as command
    from runlock.conformance.cli.commands import nightly as every_night

    if install:
        return command.make(install, envs)
    options = command.Options(tuple(only or ()), envs, out, json, infer, tuple(entry or ()))
    if versions:
        return command.compare_versions(options)
    if report is not None:
        return command.write_reports(report, options)
    plan = Sampled(EXAMPLES if examples is None else examples, seed)
    if nightly is not None:
        return every_night.run(options, plan, timeout_scale, nightly)
    return command.run(options, plan, timeout_scale)
