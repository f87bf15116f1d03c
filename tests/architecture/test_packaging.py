"""What is shipped: a wheel made from a source archive holds all four packages, with their words and types."""

import importlib.metadata
import os
import subprocess
import sys
import tarfile
import zipfile
from importlib import resources

import pytest
from places import ROOT

PACKAGES = ("spec", "machines", "conformance", "diagrams")
NOT_SHIPPED = {"__pycache__", "node_modules", "target"}


def run(*command, cwd):
    """Run a command that must succeed, away from the source tree; what it printed."""
    ran = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with the source archive, and the wheel that was made from it and from nothing else."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT), cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    """The wheel."""
    return next(built.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """The wheel, installed into a folder of its own."""
    folder = tmp_path_factory.mktemp("installed")
    options = (
        "--no-deps",
        "--no-index",
        "--no-compile",
        "--disable-pip-version-check",
        "--target",
        str(folder),
    )
    run(sys.executable, "-m", "pip", "install", "--quiet", *options, str(wheel), cwd=folder)
    return folder


def in_the_tree():
    """The files of the four packages in the source tree, as they are named below the brand."""
    files = [path for package in PACKAGES for path in (ROOT / package).rglob("*") if path.is_file()]
    return {str(path.relative_to(ROOT)) for path in files if not NOT_SHIPPED & set(path.parts)}


@pytest.mark.packaging
def test_the_wheel_holds_every_module_and_every_word(wheel):
    """Nothing of the four packages is lost on the way through the source archive."""
    inside = {name.removeprefix("runlock/") for name in zipfile.ZipFile(wheel).namelist()}

    assert sorted(in_the_tree() - inside) == []
    assert {
        "spec/lifecycle/policies.toml",
        "conformance/protocol/json_schema/trace.json",
        "machines/py.typed",
    } <= inside


@pytest.mark.packaging
def test_the_wheel_holds_nothing_outside_the_brand(wheel):
    """No package called spec, machines, conformance or diagrams lands among everybody's packages."""
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}

    assert tops == {"runlock", f"runlock-{importlib.metadata.version('runlock')}.dist-info"}


@pytest.mark.packaging
def test_the_source_archive_holds_the_tests(built):
    """The source distribution can run its tests."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert {"tests/architecture/test_packaging.py", "pyproject.toml", "LICENSE", "README.md"} <= names
    assert not [name for name in names if name.startswith(".links")]


@pytest.mark.packaging
def test_the_installed_packages_import_under_the_brand(installed):
    """Each package imports as `runlock.*` from the wheel, and brings its words along."""
    program = (
        "import importlib, json, sys\n"
        "from importlib import resources\n"
        f"for package in {PACKAGES!r}:\n"
        "    module = importlib.import_module(f'runlock.{package}')\n"
        "    assert module.__file__.startswith(sys.argv[1]), module.__file__\n"
        "from runlock.conformance.transport.stdio import Pipe\n"
        "schemas = resources.files('runlock.conformance.protocol.json_schema')\n"
        "json.loads(schemas.joinpath('observation.json').read_text('utf-8'))\n"
        "print(len(list(resources.files('runlock.spec').joinpath('lifecycle/profiles').iterdir())))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    ran = subprocess.run(
        [sys.executable, "-c", program, str(installed)],
        cwd=installed,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) > 0


def test_the_editable_install_follows_the_tree():
    """In a checkout the branded packages are the flat folders themselves."""
    for package in PACKAGES:
        link = ROOT / ".links" / "runlock" / package

        assert link.is_symlink()
        assert link.resolve() == ROOT / package


def test_the_bare_names_stay_free():
    """`spec` or `diagrams` alone is someone else's package."""
    program = f"import runlock.spec, runlock.machines, sys; print({set(PACKAGES)!r} & set(sys.modules))"

    assert run(sys.executable, "-c", program, cwd=ROOT.parent).strip() == "set()"


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_says_that_it_is_typed(package):
    """A type checker believes the annotations of a package that carries `py.typed`."""
    assert resources.files(f"runlock.{package}").joinpath("py.typed").is_file()


@pytest.mark.packaging
def test_a_users_file_type_checks(tmp_path):
    """Code that imports the kit is type-checked against it, strictly."""
    (tmp_path / "user.py").write_text(
        "from runlock.conformance.transport.in_process import InProcess\n"
        "from runlock.conformance.transport.sut import Sut\n"
        "from runlock.conformance.campaign.targets import Target, resolve\n"
        "\n"
        "target: Target = resolve('cmd:true')\n"
        "sut: Sut = InProcess(object())\n"
        "answer: dict[str, object] = sut.request('settle', {})\n"
        "reveal_type(target.open())\n"
    )
    said = run(
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--cache-dir",
        str(tmp_path / "cache"),
        "user.py",
        cwd=tmp_path,
    )

    assert 'Revealed type is "runlock.conformance.transport.sut.Sut"' in said
    assert "Success: no issues found in 1 source file" in said
