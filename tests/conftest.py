"""What the tests share: the built book, a browser that cannot reach the network, the lists of pages and notebooks.

A test that takes `page_name` runs once for every page of the table of contents, one that takes `notebook_path` once
for every notebook of the book, the template included. `page` is a browser page; `new_page(...)` makes another kind.
A chapter's tests name their notebook CHAPTER; `run` and `names` are what its cells give.
"""

import contextlib
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import reading
import yaml

ROOT = Path(__file__).parents[1]
BOOK = ROOT / "book"
HTML = BOOK / "_build" / "html"
CHROMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
CHROME_OPTIONS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip


def toc_documents():
    """List the documents of the table of contents, in reading order, as paths without a suffix."""
    toc = yaml.safe_load((BOOK / "_toc.yml").read_text(encoding="utf8"))

    def walk(node):
        for key in ("root", "file"):
            if key in node:
                yield node[key]
        for key in ("parts", "chapters", "sections"):
            for child in node.get(key, []):
                yield from walk(child)

    return list(walk(toc))


def notebook_paths():
    """List the book's notebooks: those of the table of contents and the template."""
    return [p for p in sorted(BOOK.rglob("*.ipynb")) if not {"_build", ".ipynb_checkpoints"} & set(p.parts)]


def pytest_generate_tests(metafunc):
    if "page_name" in metafunc.fixturenames:
        metafunc.parametrize("page_name", toc_documents())
    if "notebook_path" in metafunc.fixturenames:
        paths = notebook_paths()
        metafunc.parametrize("notebook_path", paths, ids=[p.relative_to(BOOK).as_posix() for p in paths])


@pytest.fixture(scope="session")
def book():
    """The folder of the built book."""
    if not (HTML / "intro.html").exists():
        pytest.fail("The book is not built: run  make book  (or  make test, which builds it first).", pytrace=False)
    return HTML


@cache
def fetch_playwrights_own():
    """Let Playwright download its Chromium, once; where it cannot, the caller finds nothing and says so."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        command = [sys.executable, "-m", "playwright", "install", "chromium"]
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300, check=False)


@pytest.fixture(scope="module")
def browser():
    """A headless Chromium: one found on this computer, else Playwright's own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, CHROMES)), None) or playwright.chromium.executable_path
        if not os.path.exists(found):
            fetch_playwrights_own()
        if not os.path.exists(found):
            pytest.fail(
                "The browser tests need a Chrome or Chromium, and there is none: install one"
                " (on Debian: apt-get install chromium).",
                pytrace=False,
            )
        chromium = playwright.chromium.launch(executable_path=found, args=list(CHROME_OPTIONS))
        yield chromium
        chromium.close()


@pytest.fixture
def new_page(browser):
    """Make browser pages that cannot reach the network.

    ``new_page(allow="http://127.0.0.1:8888/", color_scheme="dark", viewport={...}, java_script_enabled=False)``:
    every request that begins with neither "file:" nor `allow` is stopped and noted in `page.outside_requests`; what the
    console calls an error, and what nobody caught, is in `page.console_errors`. Other options go to Playwright.
    """
    contexts = []

    def make(allow="file:", **options):
        options = {"viewport": {"width": 1280, "height": 800}} | options
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.outside_requests, page.console_errors = [], []

        def gate(route):
            url = route.request.url
            if url.startswith(("file:", "data:", "blob:", allow)):
                route.continue_()
            else:
                page.outside_requests.append(url)
                route.abort()

        context.route("**/*", gate)
        page.on("console", lambda m: page.console_errors.append(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: page.console_errors.append(str(error)))
        return page

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page):
    """A browser page, 1280 × 800, light, that opens files only."""
    return new_page()


@pytest.fixture
def address(book):
    """Turn the name of a document, such as "chapters/01-one-highway-layer", into the address of its built page."""
    return lambda name: (book / f"{name}.html").as_uri()


SUMMARIES = {
    "chapter": "seconds and peak memory of each notebook",
    "page": "weight of each page",
    "binder": "seconds and peak memory in the environment of Binder",
}


def pytest_terminal_summary(terminalreporter):
    """List what each chapter took and what each page weighs; tests note it with ``record_property("chapter", …)``."""
    reports = [r for kind in ("passed", "failed") for r in terminalreporter.stats.get(kind, []) if r.when == "call"]
    for kind, title in SUMMARIES.items():
        lines = sorted(value for report in reports for name, value in report.user_properties if name == kind)
        if lines:
            terminalreporter.section(title)
            for line in lines:
                terminalreporter.line(line)


@pytest.fixture(scope="module")
def run(request):
    """The names of the module's CHAPTER after a run, what each cell printed, and what its last line showed."""
    return reading.run(request.module.CHAPTER)


@pytest.fixture(scope="module")
def names(run):
    """The names of the module's CHAPTER after a run."""
    return run.names
