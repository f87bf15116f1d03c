"""The site, built once for all tests of it."""

import fcntl
import os
import subprocess
import sys
import threading
from functools import partial
from hashlib import sha256
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version

import pytest
from browser import Browser
from places import ROOT

NODE_MODULES = ROOT / "node_modules"
"""Where elkjs is, if it is installed; it places the charts."""

HOSTED = "https://example.org/site/"
"""Where the site is said to be hosted: below the root, as it is served to the browser."""


SOURCES = (
    "CHANGELOG.md",
    "mkdocs.yml",
    "pyproject.toml",
    "conformance",
    "diagrams",
    "docs",
    "machines",
    "spec",
)
"""What the site is made of."""

BUILT = ROOT / "build" / "tested"
"""The built site, and the digest of what it was built from; the lanes of a test run share it."""


@pytest.fixture(scope="session")
def site():
    """The folder of the built site; whichever process comes first builds it, and the others wait."""
    pytest.importorskip("material", reason="the site needs the extra `docs`")
    folder, stamp = BUILT / "site", BUILT / "digest"
    BUILT.mkdir(parents=True, exist_ok=True)
    with (BUILT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        digest = digest_of_sources()
        if not stamp.is_file() or stamp.read_text() != digest:
            stamp.unlink(missing_ok=True)
            assert build(folder) == "", "mkdocs has nothing to warn of"
            stamp.write_text(digest)
    return folder


def digest_of_sources():
    """A digest of every file that the site is made of, and of what makes it."""
    digest = sha256(repr((sys.version, version("mkdocs-material"), NODE_MODULES.is_dir())).encode())
    for path in sorted(path for name in SOURCES for path in files_of(ROOT / name)):
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def files_of(place):
    """A file, or the files of a folder, except those that Python makes of others."""
    every = [place] if place.is_file() else place.rglob("*")
    return (one for one in every if one.is_file() and "__pycache__" not in one.parts)


MOVED = 'http-equiv="refresh"'
"""What a file says that only leads on from an old address."""


@pytest.fixture(scope="session")
def pages_of():
    """The pages of a built site, without the files that lead on from old addresses."""
    return lambda site: [one for one in sorted(site.rglob("*.html")) if MOVED not in one.read_text("utf-8")]


@pytest.fixture(scope="session")
def written(site):
    """The folder of the pages that the generator wrote for this site."""
    assert site.is_dir()
    return ROOT / "build" / "pages"


@pytest.fixture
def hosted():
    """The address at which the site is said to be."""
    return HOSTED


def build(folder):
    """Build as the continuous integration does; what mkdocs says against it."""
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "RUNLOCK_SITE_URL": HOSTED}
    ran = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    return ran.stderr if ran.returncode or "WARNING" in ran.stderr else ""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Print nothing."""


@pytest.fixture(scope="module")
def address(site):
    """Where the built site is served, on this machine alone."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site.parent)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/{site.name}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def browser():
    """A window of a reader who likes it light."""
    opened = Browser()
    yield opened
    opened.close()
