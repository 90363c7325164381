"""What the build does when things change or break, tried on a small book with the real settings and extension."""

import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from bs4 import BeautifulSoup
from conftest import BOOK, ROOT, toc_documents
from scratch import BUILD, CLEAN, Scratch, notebook
from waiting import until

sys.path.insert(0, str(BOOK / "_ext"))
from highway_book import repository, solutions

URL = "https://github.com/owner/lessons"
GITLAB = "https://gitlab.com/owner/lessons"


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


def test_notebooks_run_at_the_same_time_and_once_each(scratch):
    """Each of two waits for a sign of the other's; and each line that is printed in pieces stays in one piece."""
    meet = """
import pathlib, time

place = pathlib.Path("{} was here")
place.write_text("")
while not pathlib.Path("{} was here").exists():
    time.sleep(0.01)
print("printed", end=" ", flush=True)
time.sleep(0.5)
print("in pieces")
"""
    scratch.write("_toc.yml", "format: jb-book\nroot: first\nchapters:\n- file: second\n")
    scratch.write("first.ipynb", notebook(("code", meet.format("first", "second"))))
    scratch.write("second.ipynb", notebook(("code", meet.format("second", "first"))))
    status, output, ran = scratch.build()
    assert (status, sorted(ran)) == (0, ["first", "second"]), output
    assert "Executing notebook" not in output, "MyST-NB finds both in the cache"
    for name in ("first", "second"):
        assert "printed in pieces" in scratch.page(name)


def test_a_failing_notebook_is_reported_among_others(scratch):
    scratch.write("_toc.yml", "format: jb-book\nroot: first\nchapters:\n- file: second\n- file: third\n")
    scratch.write("first.ipynb", notebook(("code", "print('well')")))
    scratch.write("second.ipynb", notebook(("code", "raise ValueError('boom')")))
    scratch.write("third.ipynb", notebook(("code", "import os\n\nos._exit(1)")))
    status, output, _ = scratch.build()
    assert status != 0
    assert "second.ipynb: WARNING: Executing notebook failed" in output
    assert "raise ValueError('boom')" in output
    scratch.write("second.ipynb", notebook(("code", "print('mended')")))
    status, output, _ = scratch.build()
    assert status != 0
    assert "Kernel died" in output
    scratch.write("third.ipynb", notebook(("code", "print('mended, too')")))
    status, output, ran = scratch.build()
    assert (status, ran) == (0, ["third"]), output


def test_an_interrupted_build_ends_soon_and_leaves_no_kernel(scratch):
    pages = ["first", "page2", "page3", "page4", "page5"]  # the last one would have to wait for its turn
    toc = "".join(f"- file: {page}\n" for page in pages[1:])
    scratch.write("_toc.yml", f"format: jb-book\nroot: first\nchapters:\n{toc}")
    for page in pages:
        asleep = f"import pathlib, time\n\npathlib.Path('{page} runs').touch()\ntime.sleep(100)"
        scratch.write(f"{page}.ipynb", notebook(("code", asleep)))
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen(BUILD, cwd=scratch.folder, env=CLEAN, **quiet) as build:
        until(lambda: len(list(scratch.book.glob("* runs"))) >= 2, 60)
        kernels = psutil.Process(build.pid).children()
        build.send_signal(signal.SIGINT)
        build.wait(30)
    assert build.returncode != 0
    assert not any(kernel.is_running() for kernel in kernels)
    assert len(kernels) >= 2
    assert not (scratch.book / "page5 runs").exists()


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


BRANCH = "main?urlpath=lab/tree/book/chapters/first.ipynb"
LAUNCHED = {  # by the repository: where a notebook's buttons lead
    URL: {
        "Binder": f"https://mybinder.org/v2/gh/owner/lessons/{BRANCH}",
        "Colab": "https://colab.research.google.com/github/owner/lessons/blob/main/book/chapters/first.ipynb",
    },
    GITLAB: {"Binder": f"https://mybinder.org/v2/gl/owner%2Flessons/{BRANCH}"},
    "": {},
}


@pytest.mark.parametrize("given", LAUNCHED, ids=["GitHub", "GitLab", "unknown"])
def test_buttons_lead_to_the_repository_or_are_left_out(scratch, given):
    scratch.write("_toc.yml", "format: jb-book\nroot: chapters/first\nchapters:\n- file: second\n")
    scratch.write("chapters/first.ipynb", notebook())
    scratch.write("second.md", "# A page without a notebook\n")
    status, output, _ = scratch.build(HIGHWAY_LESSONS_REPOSITORY=given)
    assert status == 0, output
    page, other = (BeautifulSoup(scratch.page(name), "html.parser") for name in ("chapters/first", "second"))
    menu = page.select(".dropdown-launch-buttons a")
    assert {a.get_text(strip=True): a["href"] for a in menu} == LAUNCHED[given]
    assert other.select(".dropdown-launch-buttons") == []
    for read in (page, other):
        links = {a["href"] for a in read.select(".article-header-buttons a[href]") if a["href"].startswith("http")}
        assert (given in links) == bool(given)
        assert links != set() or not given
        assert bool(read.select(".dropdown-source-buttons")) == bool(given)
        for button in read.select(".article-header-buttons button, .article-header-buttons a"):
            assert button.get("aria-label") or button.get_text(strip=True) or button.get("title"), button
            assert button.get("tabindex") != "-1"
    if not given:
        assert "launch-buttons" not in scratch.page("chapters/first")


def test_a_forge_that_no_service_reads_gets_no_launch_button():
    assert repository.launchers("https://codeberg.org/owner/lessons") == {}


def test_what_the_buttons_open_is_in_the_repository():
    """They name `book/` and a page's own name: those files, as committed."""
    for document in toc_documents():
        if (BOOK / f"{document}.ipynb").exists():
            command = ["git", "-C", str(ROOT), "cat-file", "-e", f"HEAD:book/{document}.ipynb"]
            subprocess.run(command, check=True)


def test_each_page_offers_its_source_and_none_offers_live_code(book, page_name):
    """A page's download is there beside it, so it works from a folder too; Thebe's button would be a dead one."""
    path = book / f"{page_name}.html"
    page = BeautifulSoup(path.read_text(encoding="utf8"), "html.parser")
    (button,) = page.select("a.btn-download-source-button")
    assert (path.parent / button["href"]).resolve().is_file()
    assert (BOOK / f"{page_name}.ipynb").exists() == button["href"].endswith(".ipynb")
    page.select_one("article").extract()  # the text may speak of it
    assert "thebe" not in str(page).lower()


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


@pytest.mark.parametrize("given", ["no", "false", "off"])
def test_the_flag_for_solutions_is_checked(monkeypatch, given):
    monkeypatch.setenv(solutions.VARIABLE, given)
    with pytest.raises(ValueError, match=f"{solutions.VARIABLE} is '{given}'; expected 0 to leave the solutions out"):
        solutions.wanted()
