"""What is released next to the source: a wheel that needs no clone, an image, and the JavaScript kit."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from places import ROOT

IMAGE = (ROOT / ".ci" / "Dockerfile").read_text("utf-8")
NODE = ROOT / "conformance" / "adapters" / "node"
SIZE_MAX = 250_000_000
BASE_SIZE = 130_000_000
"""About what python:3.12-slim takes; the rest of the image is what these steps write."""


def run(*command, cwd, **more):
    """Run a command; its exit code and what it printed."""
    env = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | more
    ran = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout + ran.stderr


def program(name):
    """A program next to this Python, or on the path; without it the test is skipped."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    return found or pytest.skip(f"{name} is not installed")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The wheel."""
    folder = tmp_path_factory.mktemp("built")
    code, said = run(
        sys.executable, "-m", "build", "--wheel", "--no-isolation", "-o", str(folder), str(ROOT), cwd=folder
    )
    assert code == 0, said
    return next(folder.glob("*.whl"))


@pytest.mark.packaging
@pytest.mark.parametrize("runner", ["uvx --from {} runlock", "pipx run --spec {} runlock"])
def test_one_line_runs_the_wheel(runner, wheel, tmp_path):
    """No clone and no environment: the main job runs from the file alone."""
    name, *words = runner.format(wheel).split()
    code, said = run(program(name), *words, "check", "reference", "--quick", cwd=tmp_path)

    assert code == 0, said
    assert "held: reference is runlock-reference" in said


# --- the image ----------------------------------------------------------------------------------

INSTRUCTION = re.compile(r"^([A-Z]+) (.+)$")


def instructions():
    """The instructions of the image, without comments."""
    return [INSTRUCTION.match(line).groups() for line in IMAGE.splitlines() if line and line[0] != "#"]


def test_the_image_is_written_as_it_should():
    """Two stages of one base with a version, no cache left, no root, and the command as entry point."""
    steps = instructions()
    words = [word for word, _ in steps]

    assert set(words) <= {"FROM", "WORKDIR", "COPY", "RUN", "USER", "ENTRYPOINT", "CMD"}
    assert len({text.split()[0] for word, text in steps if word == "FROM"}) == 1
    assert all(re.match(r"[\w/]+:[\w.-]+", text) for word, text in steps if word == "FROM")
    assert all("--no-cache-dir" in text for word, text in steps if word == "RUN" and "pip" in text)
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert dict(steps)["ENTRYPOINT"] == '["runlock"]'


@pytest.mark.packaging
def test_the_image_is_lint_free():
    """Hadolint finds nothing, where it is installed."""
    code, said = run(program("hadolint"), str(ROOT / ".ci" / "Dockerfile"), cwd=ROOT)

    assert (code, said) == (0, "")


@pytest.mark.packaging
def test_the_steps_of_the_image_install_the_command(tmp_path):
    """Each step is run in a folder in place of `/`; what they leave checks an adapter, and is small."""
    packages = tmp_path / "packages"
    for word, text in instructions():
        if word == "COPY" and not text.startswith("--from"):
            _copy_the_context(tmp_path / "source")
        elif word == "RUN" and "pip" in text:
            rooted = text.replace("/wheel", f"{tmp_path}/wheel").replace("pip install", "$PIP install")
            line = rooted.replace("pip wheel", "$PIP wheel").replace("install ", f"install -t {packages} ", 1)
            code, said = run("bash", "-ec", line, cwd=tmp_path / "source", PIP=f"{sys.executable} -m pip")
            assert code == 0, said
    size = sum(path.stat().st_size for path in packages.rglob("*") if path.is_file())
    runlock = packages / "bin" / "runlock"
    words = ("check", f"cmd:'{runlock}' serve py:adapter:Adapter", "--quick", "-o", str(tmp_path / "results"))
    agent = ROOT / "conformance" / "adapters" / "python"
    code, said = run(str(runlock), *words, cwd=agent, PYTHONPATH=str(packages))

    assert code == 0, said
    assert BASE_SIZE + size < SIZE_MAX


NOT_COPIED = shutil.ignore_patterns("__pycache__", "node_modules", "target")


def _copy_the_context(folder):
    """The files that the list of ignored ones leaves in the context of a build."""
    kept = re.findall(r"^!(.+)$", (ROOT / ".ci" / "Dockerfile.dockerignore").read_text("utf-8"), re.MULTILINE)
    folder.mkdir()
    for name in kept:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=NOT_COPIED)
        else:
            shutil.copy(ROOT / name, folder)


@pytest.mark.packaging
def test_the_image_is_built(tmp_path):
    """Where there is a builder, it checks an adapter in a mounted folder."""
    docker = program("docker")
    if run(docker, "info", cwd=tmp_path)[0]:
        pytest.skip("docker has no daemon here")
    file = str(ROOT / ".ci" / "Dockerfile")
    assert run(docker, "build", "-f", file, "-t", "runlock-test", str(ROOT), cwd=ROOT)[0] == 0
    code, size = run(docker, "image", "inspect", "runlock-test", "--format", "{{.Size}}", cwd=ROOT)
    assert int(size) < SIZE_MAX
    mount = f"{ROOT / 'conformance' / 'adapters' / 'python'}:/work"
    words = ("check", "cmd:runlock serve py:adapter:Adapter", "--quick", "-o", "/tmp/results")
    code, said = run(docker, "run", "--rm", "-v", mount, "runlock-test", *words, cwd=ROOT)
    assert code == 0, said


# --- the JavaScript kit -------------------------------------------------------------------------


@pytest.mark.kits
def test_the_javascript_kit_is_packed_and_writes_an_adapter(tmp_path):
    """`npm pack` makes a package of every file; `npx` of it writes the folder of `runlock new-adapter`."""
    npm = program("npm")
    code, said = run(npm, "pack", str(NODE), "--pack-destination", str(tmp_path), "--json", cwd=tmp_path)
    assert code == 0, said
    packed = next(tmp_path.glob("*.tgz"))
    words = ("exec", "--yes", "--offline", f"--package={packed}", "--", "runlock-adapter", "mine")
    code, said = run(npm, *words, cwd=tmp_path, npm_config_cache=str(tmp_path / "cache"))

    assert code == 0, said
    for name in ("runlock.mjs", "adapter.mjs", "adapter.test.mjs"):
        assert (tmp_path / "mine" / name).read_bytes() == (NODE / name).read_bytes()
    again, _ = run(npm, *words, cwd=tmp_path, npm_config_cache=str(tmp_path / "cache"))
    assert again == 2, "nothing is overwritten"


# --- versions -----------------------------------------------------------------------------------


def test_a_release_has_one_version(tmp_path):
    """A tag that is not the version of both packages and of the changelog fails."""
    for name in (".ci/version", "pyproject.toml", "conformance/adapters/node/package.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    version = json.loads((NODE / "package.json").read_text())["version"]
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## {version}\n")

    assert run(sys.executable, str(tmp_path / ".ci/version"), f"v{version}", cwd=tmp_path) == (0, "")
    code, said = run(sys.executable, str(tmp_path / ".ci/version"), "v9.9.9", cwd=tmp_path)
    assert (code, said) == (
        1,
        "The tag is of version 9.9.9, and not so pyproject.toml, package.json, CHANGELOG.md.\n",
    )
