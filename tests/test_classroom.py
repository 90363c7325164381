"""The teacher's page: its times are the chapters', its plans add up, its commands work, and any server will do."""

import functools
import http.server
import os
import re
import subprocess
import sys
import threading

import pytest
from conftest import BOOK, HTML, ROOT, toc_documents
from playwright.sync_api import expect
from reading import prose, reading_time
from scratch import copy_package

PAGE = (BOOK / "appendix" / "classroom.md").read_text(encoding="utf8")
CHAPTERS = [BOOK / f"{name}.ipynb" for name in toc_documents() if name.startswith("chapters/")]
BLOCKS = re.findall(r"^ *```\n(.*?)^ *```$", PAGE, flags=re.DOTALL | re.MULTILINE)


def tables(text):
    """The tables of a text, each as a list of rows of stripped entries, without their heads."""
    found = re.findall(r"(?:^\|.*\n)+", text, flags=re.MULTILINE)
    return [[[entry.strip() for entry in row.strip("|").split("|")] for row in t.splitlines()[2:]] for t in found]


def part(heading):
    """The text under a heading, down to the next one of its level."""
    level, words = heading.split(" ", 1)
    return re.search(rf"^{level} {words}\n(.*?)(?=^#{{1,{len(level)}}} |\Z)", PAGE, re.DOTALL | re.MULTILINE)[1]


def linked(text):
    """The chapters that a text links to."""
    return [BOOK / "chapters" / name for name in re.findall(r"\(\.\./chapters/([\w-]+\.ipynb)\)", text)]


# Times and plans


def test_the_table_holds_every_chapter_with_its_own_times():
    (table,) = tables(part("## What each chapter takes"))
    assert [linked(row[0]) for row in table] == [[chapter] for chapter in CHAPTERS]
    for (what, minutes, seconds), chapter in zip(table, CHAPTERS, strict=True):
        title, idea = what.split("): ")
        assert (int(minutes), int(seconds)) == reading_time(chapter), title
        number = re.match(r"0?(\d+b?)-", chapter.name)[1].replace("b", ", second part")
        heading = prose(chapter).splitlines()[0].removeprefix("# ")
        assert title.startswith(f"[{number}. "), title
        assert heading.startswith(re.match(r"\[[^.]+\. ([^]]+)\]", title)[1]), title
        assert len(idea.split()) >= 5


def test_the_sums_are_right():
    times = [reading_time(chapter) for chapter in CHAPTERS]
    minutes, seconds = (sum(column) for column in zip(*times, strict=True))
    assert f"In all: {minutes} minutes to read, {seconds} seconds to run." in PAGE
    shortest, longest = min(times)[0], max(times)[0]
    assert f"Each chapter takes {shortest} to {longest} minutes" in prose(BOOK / "intro.ipynb")
    quickest, slowest = min(seconds for _, seconds in times), max(seconds for _, seconds in times)
    how_built = (BOOK / "appendix" / "how-built.md").read_text(encoding="utf8")
    assert f"A chapter runs in {quickest} to {slowest} seconds, in less than 1 GB." in how_built


def test_the_chapters_that_need_pytorch_are_those_that_import_it():
    need = {
        re.match(r"0?(\d+b?)-", chapter.name)[1]
        for chapter in CHAPTERS
        if re.search(r"^ *\"? *import torch", chapter.read_text(encoding="utf8"), re.MULTILINE)
    }
    assert need == {"8", "10"}
    assert "Chapter 8 needs PyTorch, and so does one section of chapter 10; the others need nothing" in PAGE


@pytest.mark.parametrize(
    ("plan", "minutes", "sessions"),
    [("One session of 90 minutes", 90, 1), ("Four sessions of 60 minutes", 60, 4), ("Alone", 310, 1)],
)
def test_the_plans_add_up(plan, minutes, sessions):
    found = tables(part(f"### {plan}"))
    assert len(found) == sessions
    for session in found:
        assert sum(int(row[0]) for row in session) == minutes
        for planned, what in session:
            chapters = linked(what.split("at home:")[0])
            if chapters:
                assert int(planned) == sum(reading_time(chapter)[0] for chapter in chapters), what


def test_alone_one_reads_every_chapter():
    assert linked(part("### Alone")) == CHAPTERS


# Commands


def test_files_variables_and_commands_that_the_page_names_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf8")
    commands = set(re.findall(r"(?:`|= |wheelhouse |FOLDER )make (\w+)", PAGE))
    assert commands == {"lab", "book"}
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)
    for name in ("requirements.txt", "requirements-torch.txt", "binder/requirements.txt"):
        assert name in PAGE
        assert (ROOT / name).is_file()
    extension = "".join(path.read_text(encoding="utf8") for path in (BOOK / "_ext" / "highway_book").glob("*.py"))
    variables = set(re.findall(r"HIGHWAY_\w+", PAGE))
    assert variables == {"HIGHWAY_LESSONS_SOLUTIONS", "HIGHWAY_LESSONS_REPOSITORY", "HIGHWAY_LESSONS_SITE"}
    for variable in variables:
        assert variable in extension
    assert "OPENBLAS_NUM_THREADS ?= 1" in makefile  # "make lab does"


def test_what_collects_and_what_installs_agree(tmp_path):
    """The package alone: its wheel is made by the page's line, and found again by the page's line, with no index."""
    wheel, install = (
        next(line for block in BLOCKS for line in block.splitlines() if words in line)
        for words in ("pip wheel", "highway-lessons")
    )
    copy_package(tmp_path)
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    clean |= {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": "http://127.0.0.1:9"}
    for line, options in (
        (
            wheel.replace(".venv/bin/python", sys.executable),
            ["--no-build-isolation"],
        ),
        (
            install.replace(".venv/bin/python", sys.executable).replace(" -r requirements-torch.txt", ""),
            ["--target", "room"],
        ),
    ):
        done = subprocess.run(
            [*line.split(), *options], cwd=tmp_path, env=clean, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "room" / "highway_lessons" / "sliders" / "explore.js").is_file()
    assert (tmp_path / "room" / "highway_lessons" / "studies" / "records" / "depth.jsonl").is_file()


def test_the_studies_take_the_options_that_the_page_gives():
    command = [sys.executable, "-m", "highway_lessons.studies", "run", "--help"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout
    section = part("## Studies on a cluster")
    options = {option for option in re.findall(r"--[a-z]+", section) if option not in ("--nworkers", "--nthreads")}
    assert options == {"--scheduler", "--records", "--only", "--jobs"}
    for option in options:
        assert option in answer
    pyproject = (ROOT / "pyproject.toml").read_text(encoding="utf8")
    assert 'cluster = ["dask' in pyproject
    assert "[cluster]" in section


# Any server


class Server(http.server.ThreadingHTTPServer):
    """The built book under /some/course/ of a server that hands out files and can do nothing else."""

    def __init__(self, folder, policy=None):
        (folder / "some").mkdir(parents=True)
        (folder / "some" / "course").symlink_to(HTML, target_is_directory=True)

        class Files(http.server.SimpleHTTPRequestHandler):
            def end_headers(self):
                if policy:
                    self.send_header("Content-Security-Policy", policy)
                super().end_headers()

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), functools.partial(Files, directory=folder))
        self.address = f"http://127.0.0.1:{self.server_port}/some/course/"
        threading.Thread(target=self.serve_forever, daemon=True).start()


@pytest.fixture
def serve(tmp_path):
    servers = []

    def start(policy=None):
        servers.append(Server(tmp_path / str(len(servers)), policy))
        return servers[-1].address

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def visit(new_page, address, name):
    """Open a page of the book; return it with the requests that failed."""
    page = new_page(allow=address)
    failed = []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("response", lambda response: failed.append(response.url) if response.status >= 400 else None)
    page.goto(f"{address}{name}.html", wait_until="load")
    return page, failed


def move(page):
    """Move the first slider of a page by one step, and wait until the sentence under the figure says something else."""
    figure = page.locator("figure.hl-explore").first
    slider, sentence = figure.locator("input[type=range]").first, figure.locator("[role=status]")
    before = sentence.inner_text()
    at, least = (slider.evaluate(f"slider => slider.{name}") for name in ("value", "min"))
    slider.press("ArrowRight" if at == least else "ArrowLeft")
    expect(sentence).not_to_have_text(before)


@pytest.mark.parametrize("name", ["intro", *(f"chapters/{chapter.stem}" for chapter in CHAPTERS)])
def test_below_a_folder_of_a_plain_server_nothing_is_missing_and_sliders_move(book, new_page, serve, name):
    page, failed = visit(new_page, serve(), name)
    page.wait_for_selector("figure.hl-explore input[type=range]")
    move(page)
    assert (failed, page.outside_requests, page.console_errors) == ([], [], [])


def test_the_policy_that_the_page_gives_is_enough_and_a_stricter_one_is_not(book, new_page, serve):
    (policy,) = (block.strip() for block in BLOCKS if block.startswith("default-src"))
    for name in ("intro", "chapters/03-measure-the-gradient", "chapters/07-switch-blocks-off"):
        page, failed = visit(new_page, serve(policy), name)
        page.wait_for_selector("figure.hl-explore input[type=range]")
        move(page)
        assert (failed, page.outside_requests, page.console_errors) == ([], [], [])
    page, _ = visit(new_page, serve("default-src 'self'"), "chapters/03-measure-the-gradient")
    page.wait_for_timeout(500)
    assert page.locator("figure.hl-explore input[type=range]").count() == 0
    assert page.console_errors


def test_the_folder_needs_no_program(book):
    """Whatever is in it, a server hands out as it is."""
    assert {path.suffix for path in book.rglob("*") if path.is_file()}.isdisjoint({".php", ".cgi", ".py", ".sh"})
