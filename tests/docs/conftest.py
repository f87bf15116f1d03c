"""The site, built once for all tests of it."""

import os
import subprocess
import sys
import threading
import time
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from browser import Browser
from places import ROOT

HOSTED = "https://example.org/site/"
"""Where the site is said to be hosted: below the root, as it is served to the browser."""


@pytest.fixture(scope="session")
def site(tmp_path_factory, worker_id):
    """The folder of the built site; whichever worker comes first builds it, and the others wait."""
    pytest.importorskip("material", reason="the site needs the extra `docs`")
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "site"
    done = folder.with_suffix(".built")
    try:
        folder.mkdir()
    except FileExistsError:
        for _ in range(6000):
            if done.exists():
                break
            time.sleep(0.1)
    else:
        said = build(folder)
        done.write_text(said)
    assert done.read_text() == "", "mkdocs has nothing to warn of"
    return folder


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
