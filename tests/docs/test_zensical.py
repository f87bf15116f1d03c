"""The site is the same under mkdocs-material and under Zensical, its successor: both make the same pages."""

import shutil
import subprocess
import venv
from importlib import import_module

import pytest
from places import ROOT

pytestmark = [pytest.mark.site, pytest.mark.long]

OF_MKDOCS = ("hooks", "watch", "validation")
"""Settings that Zensical has not: hooks write the pages, which are on disk already here."""


@pytest.fixture(scope="session")
def zensical(tmp_path_factory):
    """The command of the builder, in an environment of its own."""
    folder = tmp_path_factory.mktemp("zensical")
    venv.create(folder, with_pip=True)
    install = [str(folder / "bin" / "pip"), "install", "--quiet", "--disable-pip-version-check", "zensical"]
    if subprocess.run(install, capture_output=True, check=False).returncode:
        pytest.skip("`pip install zensical` does not work here")
    return folder / "bin" / "zensical"


def configure(folder):
    """Write the configuration of mkdocs, with all pages in its navigation."""
    generator = import_module("docs.generator.site")
    settings = import_module("mkdocs.utils.yaml").yaml_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    settings = {name: value for name, value in settings.items() if name not in OF_MKDOCS}
    settings["docs_dir"] = "pages"
    del settings["theme"]["custom_dir"]
    generator.extend(settings["nav"])
    (folder / "mkdocs.yml").write_text(import_module("yaml").safe_dump(settings), "utf-8")


def pages(folder):
    """The names of the pages of a built site."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


@pytest.mark.nightly
def test_both_builders_make_the_same_pages(site, written, zensical, tmp_path, monkeypatch):
    """From the same pages on disk and the same navigation; neither has anything to warn of."""
    monkeypatch.syspath_prepend(str(ROOT))
    shutil.copytree(written, tmp_path / "pages")
    configure(tmp_path)
    build = [str(zensical), "build", "--strict", "-f", "mkdocs.yml"]
    ran = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert len(pages(site)) > 100
    assert pages(tmp_path / "site") == pages(site)
