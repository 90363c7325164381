"""What the build does when things change or break, tried on a small book with the real settings and extension."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from conftest import BOOK, ROOT

sys.path.insert(0, str(BOOK / "_ext"))
from highway_book import repository

KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
URL = "https://github.com/owner/lessons"


def notebook(*cells):
    """A notebook's JSON: a title, then each cell as ("code", source) or ("markdown", source), or a dict of its own."""
    made = [{"cell_type": "markdown", "id": "title", "metadata": {}, "source": "# A page"}]
    for i, cell in enumerate(cells):
        kind, source, *tags = cell
        made.append({"cell_type": kind, "id": f"cell-{i}", "metadata": {"tags": tags}, "source": source})
        if kind == "code":
            made[-1] |= {"outputs": [], "execution_count": None}
    return json.dumps({"cells": made, "metadata": KERNEL, "nbformat": 4, "nbformat_minor": 5})


class Scratch:
    """A small book in a folder of its own, and the command that builds it."""

    def __init__(self, folder):
        self.folder, self.book = folder, folder / "book"
        shutil.copytree(BOOK / "_ext", self.book / "_ext", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(BOOK / "_extra", self.book / "_extra")
        for name in ("_config.yml", "references.bib"):
            shutil.copy2(BOOK / name, self.book)
        self.write("_toc.yml", "format: jb-book\nroot: first\n")

    def write(self, name, text):
        path = self.book / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf8")

    def build(self, **environment):
        """Build, and return the exit status, what was printed and the names of the notebooks that were run."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith("HIGHWAY_LESSONS")}
        command = [sys.executable, "-m", "jupyter_book.cli.main", "build", "book", "-W", "-n", "--keep-going"]
        command[1:3] = ["-c", "from jupyter_book.cli.main import main; main()"]
        done = subprocess.run(
            command, cwd=self.folder, env=clean | environment, capture_output=True, text=True, check=False
        )
        output = re.sub(r"\x1b\[[\d;]*m", "", done.stdout + done.stderr)
        return done.returncode, output, re.findall(r"(\w+)\.ipynb: Executing notebook", output)

    def page(self, name):
        return (self.book / "_build" / "html" / f"{name}.html").read_text(encoding="utf8")


@pytest.fixture
def scratch(tmp_path):
    return Scratch(tmp_path)


def test_only_what_changed_runs_again(scratch):
    package = scratch.folder / "src" / "highway_lessons"
    shutil.copytree(ROOT / "src" / "highway_lessons", package, ignore=shutil.ignore_patterns("__pycache__"))
    path = {"PYTHONPATH": str(package.parent)}
    show = ("code", "import highway_lessons\n\nprint('version', highway_lessons.__version__)")
    scratch.write("_toc.yml", "format: jb-book\nroot: first\nchapters:\n- file: second\n")
    scratch.write("first.ipynb", notebook(show))
    scratch.write("second.ipynb", notebook(("code", "print('one')")))
    scratch.write("scratch.ipynb", notebook(("code", "raise ValueError('a scratch notebook was run')")))

    status, output, ran = scratch.build(**path)
    assert (status, sorted(ran)) == (0, ["first", "second"]), output
    assert not (scratch.book / "_build" / "html" / "scratch.html").exists()

    scratch.write("second.ipynb", notebook(("code", "print('one')"), ("markdown", "More prose.")))
    assert scratch.build(**path)[::2] == (0, [])
    assert "More prose." in scratch.page("second")

    scratch.write("second.ipynb", notebook(("code", "print('two')")))
    assert scratch.build(**path)[::2] == (0, ["second"])

    source = package / "__init__.py"
    source.write_text(
        re.sub(r'__version__ = ".*"', '__version__ = "9.9"', source.read_text(encoding="utf8")), encoding="utf8"
    )
    status, output, ran = scratch.build(**path)
    assert (status, sorted(ran)) == (0, ["first", "second"]), output
    assert "version 9.9" in scratch.page("first")


def test_a_failing_cell_fails_twice_and_is_named(scratch):
    scratch.write("first.ipynb", notebook(("code", "1 + 1"), ("code", "raise ValueError('boom')")))
    for _ in range(2):
        status, output, _ = scratch.build()
        assert status != 0
        assert "first.ipynb" in output
        assert "raise ValueError('boom')" in output
    scratch.write("first.ipynb", notebook(("code", "1 + 1")))
    assert scratch.build()[0] == 0


def test_a_reference_that_leads_nowhere_fails_twice(scratch):
    kinds = ["[x](nowhere1.md)", "{eq}`nowhere2`", "{term}`nowhere3`", "{cite:p}`nowhere4`", "{py:func}`nowhere5`"]
    scratch.write("first.ipynb", notebook(("markdown", "\n\n".join(kinds))))
    for _ in range(2):
        status, output, _ = scratch.build()
        assert status != 0
        assert sorted(set(re.findall(r"first\.ipynb.*WARNING.*(nowhere\d)", output))) == [
            f"nowhere{i}" for i in range(1, 6)
        ]


@pytest.mark.parametrize("flag", ["1", "0"])
def test_one_flag_leaves_the_solutions_out(scratch, flag):
    scratch.write("first.ipynb", notebook(("code", "2 + 3"), ("code", "'the ' + 'answer'", "hide-cell", "solution")))
    status, output, _ = scratch.build(HIGHWAY_LESSONS_SOLUTIONS=flag)
    assert status == 0, output
    offered = (scratch.book / "_build" / "html" / "_sources" / "first.ipynb").read_text(encoding="utf8")
    for text in (scratch.page("first"), offered):
        assert ("answer" in text) == (flag == "1")
    assert "answer" in (scratch.book / "first.ipynb").read_text(encoding="utf8")


@pytest.mark.parametrize("given", [URL, ""])
def test_buttons_lead_to_the_repository_or_are_left_out(scratch, given):
    scratch.write("_toc.yml", "format: jb-book\nroot: chapters/first\n")
    scratch.write("chapters/first.ipynb", notebook())
    status, output, _ = scratch.build(HIGHWAY_LESSONS_REPOSITORY=given)
    assert status == 0, output
    page = BeautifulSoup(scratch.page("chapters/first"), "html.parser")
    links = {a["href"] for a in page.select(".article-header-buttons a[href]") if a["href"].startswith("http")}
    if given:
        binder = "https://mybinder.org/v2/gh/owner/lessons/main?urlpath=lab/tree/book/chapters/first.ipynb"
        assert binder in links
        assert URL in links
    else:
        assert links == set()
        assert page.select(".dropdown-launch-buttons, .dropdown-source-buttons") == []


@pytest.mark.parametrize(
    ("remote", "url"),
    [
        ("https://github.com/owner/lessons.git", URL),
        ("https://user:token@github.com/owner/lessons", URL),
        ("git@github.com:owner/lessons.git", URL),
        ("ssh://git@gitlab.com/owner/lessons", "https://gitlab.com/owner/lessons"),
        ("/srv/git/lessons", ""),
        ("file:///srv/git/lessons", ""),
        ("git@server.example:owner/lessons.git", ""),
        ("https://github.com.example/owner/lessons", ""),
        ("", ""),
    ],
)
def test_a_remote_is_an_address_only_on_a_public_forge(tmp_path, monkeypatch, remote, url):
    monkeypatch.delenv(repository.VARIABLE, raising=False)
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    if remote:
        subprocess.run(["git", "-C", str(tmp_path), "remote", "add", "origin", remote], check=True)
    assert repository.find_url(tmp_path) == url


def test_the_environment_overrules_the_remote_and_is_checked(tmp_path, monkeypatch):
    monkeypatch.setenv(repository.VARIABLE, URL + "/")
    assert repository.find_url(tmp_path) == URL
    monkeypatch.setenv(repository.VARIABLE, "my course")
    with pytest.raises(ValueError, match=r"HIGHWAY_LESSONS_REPOSITORY is 'my course'; expected an address such as"):
        repository.find_url(tmp_path)


def test_the_template_builds_like_a_chapter(book, tmp_path):
    """It is not in the table of contents: here it is, beside everything it links to, with what already ran kept."""
    shutil.copytree(
        BOOK, tmp_path / "book", ignore=shutil.ignore_patterns("html", "built-*", "__pycache__", ".doctrees")
    )
    toc = tmp_path / "book" / "_toc.yml"
    toc.write_text(toc.read_text(encoding="utf8") + "  - chapters:\n      - file: _template\n", encoding="utf8")
    scratch = Scratch.__new__(Scratch)
    scratch.folder, scratch.book = tmp_path, tmp_path / "book"
    status, output, ran = scratch.build()
    assert status == 0, output
    assert ran == ["_template"]
    assert "<article" in scratch.page("_template")
    assert not (book / "_template.html").exists()


def test_the_build_is_asked_to_fail_on_warnings():
    assert "build book -W -n --keep-going" in (ROOT / "Makefile").read_text(encoding="utf8")
    assert Path(BOOK / "_config.yml").read_text(encoding="utf8").count("raise_on_error: true") == 1
