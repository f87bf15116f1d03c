"""The kits for adapters in other languages: their examples hold, and a slip in one is found and named."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from runlock.conformance import adapters
from runlock.conformance.campaign.order import Sampled
from runlock.conformance.driving.bench import Bench
from runlock.conformance.driving.tally import Tally
from runlock.conformance.families.lifecycle.family import FAMILY
from runlock.conformance.selftest.mutation_testing import MutantRun, portions
from runlock.conformance.transport.stdio import Pipe

KITS = Path(adapters.__file__).parent
NODE, CARGO = shutil.which("node"), shutil.which("cargo")
needs_node = pytest.mark.skipif(NODE is None, reason="there is no `node` on the PATH")
needs_cargo = pytest.mark.skipif(CARGO is None, reason="there is no `cargo` on the PATH")
EXAMPLES = 160


def node(folder, name):
    """Makes pipes to an adapter of the JavaScript kit."""
    return lambda: Pipe([NODE, str(folder / name)], timeout_scale=6)


def built(folder):
    """Makes pipes to the Rust adapter in a folder, built with nothing but the standard library."""
    target = folder / "target"
    words = [CARGO, "build", "--offline", "--quiet", "--manifest-path", str(folder / "Cargo.toml")]
    environment = {**os.environ, "CARGO_TARGET_DIR": str(target), "RUSTFLAGS": "-Dwarnings"}
    ran = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return lambda: Pipe([str(target / "debug" / "adapter")], timeout_scale=6)


def with_a_slip(kit, folder, name, line, slip):
    """A copy of a kit with one line changed."""
    shutil.copytree(KITS / kit, folder)
    text = (folder / name).read_text()
    assert text.count(line) == 1
    (folder / name).write_text(text.replace(line, slip))
    return folder


def found(open_sut):
    """What a short campaign says is broken, what could not be judged, and how much was exercised."""
    bench, tally = Bench(open_sut), Tally()
    try:
        for stage, unit in portions(FAMILY, Sampled(EXAMPLES)):
            tally.add(stage.play(bench, unit))
    finally:
        bench.close()
    return list(tally.found), tally.troubles, [clause for clause, count in tally.exercised.items() if count]


def blamed(open_sut, clause):
    """Why a clause is broken, as soon as it is."""
    hunt = MutantRun(open_sut, clause)
    try:
        hunt.run(portions(FAMILY, Sampled(EXAMPLES)))
    finally:
        hunt.close()
    return hunt.found.violation.reason if hunt.found else f"it is not; {list(hunt.blamed)} is"


@pytest.mark.kits
@needs_node
@pytest.mark.parametrize("name", ["example.mjs", "adapter.mjs"])
def test_the_javascript_examples_hold(name):
    """A runtime that knows nothing of the kit, and the tiny agent, keep the universal core."""
    broken, troubles, exercised = found(node(KITS / "node", name))

    assert (broken, troubles) == ([], [])
    assert len(exercised) > 20


@pytest.mark.kits
@needs_cargo
def test_the_rust_example_holds(tmp_path):
    """An agent without a library, in a language that awaits nothing, keeps the universal core."""
    shutil.copytree(KITS / "rust", tmp_path / "rust")
    broken, troubles, exercised = found(built(tmp_path / "rust"))

    assert (broken, troubles) == ([], [])
    assert len(exercised) > 20


@pytest.mark.kits
@needs_node
@pytest.mark.parametrize(
    ("line", "slip", "clause", "says"),
    [
        (
            "if (approvals.get(work.call.id)?.approved) return",
            "if (approvals.has(work.call.id)) return",
            "GATE-2",
            "was cancelled by decision",
        ),
        (
            'if (work.status === "over") return;\n    work.status = "over"',
            'work.status = "over"',
            "PAIR-3",
            "the model was shown two results for call",
        ),
    ],
    ids=["executes what was rejected", "says a result twice"],
)  # fmt: skip
def test_a_slip_in_the_javascript_example_is_blamed_on_its_clause(tmp_path, line, slip, clause, says):
    """One line changed in the runtime, none in its adapter, and the kit says which clause breaks, and why."""
    folder = with_a_slip("node", tmp_path / "node", "runtime.mjs", line, slip)

    assert says in blamed(node(folder, "example.mjs"), clause)


@pytest.mark.kits
@needs_cargo
def test_a_slip_in_the_rust_example_is_blamed_on_its_clause(tmp_path):
    """A call that answered pending and is not parked leaves the model without a result for it."""
    line, slip = '"pending" => self.set(id, Status::Waits)', '"pending" => self.set(id, Status::Over)'
    folder = with_a_slip("rust", tmp_path / "rust", "src/agent.rs", line, slip)

    assert re.search(r"was shown call c\d+ without a result", blamed(built(folder), "PAIR-1"))


# --- the JavaScript face, verb by verb ------------------------------------------------------------
