"""A notebook that left the book: downloaded, mailed, opened in Colab. Its set-up cell finds the package, or says how.

A small book is built for a site on this computer. A reader's environment holds the libraries of this one, but not the
package: what pip puts there is real, and no package index can be reached.
"""

import contextlib
import functools
import http.server
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import sysconfig
import threading
import time
import tomllib
import urllib.request
import venv
import zipfile
from pathlib import Path

import nbformat
import pytest
from conftest import BOOK, HTML, ROOT
from nbclient import NotebookClient
from packaging.requirements import Requirement
from scratch import Scratch, copy_package

import highway_lessons

sys.path.insert(0, str(BOOK / "_ext"))
from highway_book import downloads, site

NOWHERE = "http://127.0.0.1:9/simple"
TEMPLATE = nbformat.read(BOOK / "_template.ipynb", as_version=4)
SET_UP, SLIDER = [cell for cell in TEMPLATE.cells if cell.cell_type == "code"][:2]
SENTENCE = re.compile(
    r"This notebook needs its package \([^\n]+\): run  (%pip install highway-lessons[=@][^ ]+(?: --[a-z-]+ [^ ]+)*)"
    r"  in a new cell,"
    r" or  (pip install \.)  in the course's folder, then restart the kernel\."
)
PROSE = """\
A {term}`gate <width>` opens {cite:p}`srivastava2015highway`.

$$
y = x
$$ (eq-one)

So {eq}`eq-one` holds for every {term}`width`; [the second page](../second.md) says why.

```{glossary}
width
  A number.

gate
  A door.
```
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@contextlib.contextmanager
def serving(folder, port):
    """Serve a folder as any static server does."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A small book beside the package, built for a site on this computer: its folder of pages, address and port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    scratch = Scratch(tmp_path_factory.mktemp("course"))
    copy_package(scratch.folder)
    cells = [
        nbformat.v4.new_markdown_cell("# A page", id="title"),
        nbformat.v4.new_markdown_cell(PROSE, id="prose"),
        nbformat.v4.new_code_cell(SET_UP.source, id="set-up"),
        nbformat.v4.new_code_cell(SLIDER.source, id="slider"),
    ]
    page = nbformat.v4.new_notebook(cells=cells, metadata=TEMPLATE.metadata)
    scratch.write("_toc.yml", "format: jb-book\nroot: chapters/first\nchapters:\n- file: second\n")
    scratch.write("chapters/first.ipynb", nbformat.writes(page))
    scratch.write("second.md", "# Why\n\n{cite:p}`srivastava2015highway`\n\n```{bibliography}\n```\n")
    address = f"http://127.0.0.1:{port}"
    status, output, _ = scratch.build(HIGHWAY_LESSONS_SITE=address + "/", HIGHWAY_LESSONS_REPOSITORY="")
    assert status == 0, output
    return scratch.book / "_build" / "html", address, port


class Reader:
    """Somebody with Jupyter and the libraries, without the package and without a package index."""

    def __init__(self, folder, without=()):
        self.folder = folder / "alone"
        self.folder.mkdir()
        self.home = folder / "environment"
        venv.create(self.home, with_pip=False, symlinks=True)
        self.python = self.home / "bin" / "python"
        self.packages = Path(self.ask("import sysconfig; print(sysconfig.get_paths()['purelib'])"))
        for entry in Path(sysconfig.get_paths()["purelib"]).iterdir():
            ours = "highway" in entry.name or entry.name.startswith("__editable__")
            if not ours and not entry.name.endswith(".pth") and entry.name.split("-")[0] not in without:
                (self.packages / entry.name).symlink_to(entry)
        kernel = {
            "argv": [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
            "language": "python",
        }
        spec = self.home / "share" / "jupyter" / "kernels" / "reader" / "kernel.json"
        spec.parent.mkdir(parents=True)
        spec.write_text(json.dumps(kernel | {"display_name": "Reader"}), encoding="utf8")

    @property
    def environment(self):
        ours = ("PIP_", "HIGHWAY_LESSONS", "PYTHONPATH", "PYTEST")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        return kept | {"PIP_CONFIG_FILE": os.devnull, "PIP_INDEX_URL": NOWHERE, "PYTHONNOUSERSITE": "1"}

    def ask(self, code):
        command = [str(self.python), "-c", code]
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True).stdout.strip()

    def installed(self):
        code = "from importlib import metadata as m; print([(d.name, d.version) for d in m.distributions()])"
        return set(eval(self.ask(code)))

    def run(self, *cells, monkeypatch):
        """Run code cells in one kernel, stop at the first that fails, and return their outputs."""
        monkeypatch.setenv("JUPYTER_PATH", str(self.home / "share" / "jupyter"))
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
        resources = {"metadata": {"path": str(self.folder)}}
        client = NotebookClient(notebook, timeout=120, kernel_name="reader", allow_errors=True, resources=resources)
        outputs = []
        with client.setup_kernel(env=self.environment):
            for index, cell in enumerate(notebook.cells):
                client.execute_cell(cell, index)
                outputs.append(cell.outputs)
                if any(output.output_type == "error" for output in cell.outputs):
                    break
        return outputs


@pytest.fixture
def reader(tmp_path):
    return Reader(tmp_path)


def sentence(outputs):
    """The one sentence that a cell stopped with: nothing else was shown."""
    (error,) = outputs[-1]
    assert error.output_type == "error"
    (line,) = error.traceback
    assert SENTENCE.fullmatch(line), line
    return line


def printed(outputs):
    return "".join(output.text for output in outputs if output.output_type == "stream")


def downloaded(built):
    return nbformat.read(built[0] / "_sources" / "chapters" / "first.ipynb", as_version=4)


def code(notebook):
    return [cell.source for cell in notebook.cells if cell.cell_type == "code"]


# --- installing ------------------------------------------------------------------------------------------------------


def test_a_downloaded_notebook_installs_its_package_from_the_site_and_goes_on(built, reader, monkeypatch):
    """Nothing else is installed or changed, the page index is not needed, and the same kernel draws the slider."""
    pages, _, port = built
    before = reader.installed()
    assert "highway-lessons" not in {name for name, _ in before}
    with serving(pages, port):
        set_up, slider, numpy = reader.run(
            *code(downloaded(built)), "import numpy; print(numpy.__version__)", monkeypatch=monkeypatch
        )
    assert set_up == []
    assert "application/vnd.jupyter.widget-view+json" in slider[0].data
    assert slider[0].data["text/plain"].startswith("At gate bias −2")
    assert reader.installed() - before == {("highway-lessons", highway_lessons.__version__)}
    assert before - reader.installed() == set()
    assert ("numpy", numpy[0].text.strip()) in before
    (
        reader.packages / "highway_lessons" / "style.mplstyle"
    ).read_bytes()  # a real copy, in the reader's own environment


def test_without_site_and_index_it_stops_with_one_sentence_whose_command_works(built, reader, monkeypatch):
    pages, _, port = built
    start = time.perf_counter()
    said = sentence(reader.run(*code(downloaded(built)), monkeypatch=monkeypatch))
    assert time.perf_counter() - start < 60  # pip gives up at once; the rest is the kernel's start
    with serving(pages, port):
        (answer,) = reader.run(SENTENCE.fullmatch(said)[1], monkeypatch=monkeypatch)
    assert "Successfully installed highway-lessons" in printed(answer)
    set_up, slider = reader.run(*code(downloaded(built)), monkeypatch=monkeypatch)
    assert set_up == []
    assert "application/vnd.jupyter.widget-view+json" in slider[0].data


def test_in_the_courses_folder_the_sentences_other_command_works_too(reader, monkeypatch):
    copy_package(reader.folder)
    command = SENTENCE.fullmatch(sentence(reader.run(SET_UP.source, monkeypatch=monkeypatch)))[2].split()
    # the build tools are here already; where there is an index, pip fetches its own
    here = [str(reader.python), "-m", *command, "--no-build-isolation"]
    subprocess.run(here, cwd=reader.folder, env=reader.environment, check=True, capture_output=True)
    assert reader.run(SET_UP.source, monkeypatch=monkeypatch) == [[]]


@pytest.mark.parametrize("missing", ["pip", "numpy"])
def test_without_pip_or_numpy_the_same_sentence(built, tmp_path, monkeypatch, missing):
    """Without pip nothing can be installed; without NumPy there is none to keep, and here none to be had."""
    pages, _, port = built
    reader = Reader(tmp_path, without=[missing])
    before = reader.installed()
    with serving(pages, port):
        sentence(reader.run(*code(downloaded(built)), monkeypatch=monkeypatch))
    assert reader.installed() == before


def test_a_numpy_that_is_too_old_stays_as_it_is(built, tmp_path, monkeypatch):
    pages, _, port = built
    reader = Reader(tmp_path, without=["numpy"])
    old = reader.packages / "numpy-1.26.4.dist-info"
    old.mkdir()
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 1.26.4\n", encoding="utf8")
    with serving(pages, port):
        sentence(reader.run(*code(downloaded(built)), monkeypatch=monkeypatch))
    assert ("numpy", "1.26.4") in reader.installed()
    assert "highway-lessons" not in {name for name, _ in reader.installed()}


def test_the_package_of_another_edition_is_said(reader, monkeypatch):
    (reader.folder / "highway_lessons").mkdir()
    for name, text in (("__init__", '__version__ = "0.9"\n'), ("sliders", "")):
        (reader.folder / "highway_lessons" / f"{name}.py").write_text(text, encoding="utf8")
    assert "(edition 0.9 is here)" in sentence(reader.run(SET_UP.source, monkeypatch=monkeypatch))


@pytest.mark.parametrize("name", ["highway_lessons/notes.txt", "highway_lessons.py"])
def test_something_else_of_that_name_is_no_package(built, reader, monkeypatch, name):
    """A folder beside the notebook does not keep the package out; a module does, and that is said."""
    pages, _, port = built
    (reader.folder / name).parent.mkdir(exist_ok=True)
    (reader.folder / name).write_text("", encoding="utf8")
    with serving(pages, port):
        outputs = reader.run(*code(downloaded(built))[:1], monkeypatch=monkeypatch)
    if name.endswith(".py"):
        sentence(outputs)
    else:
        assert outputs == [[]]


def test_plain_ipython_says_the_sentence_alone(reader):
    (reader.folder / "cell.ipy").write_text(SET_UP.source, encoding="utf8")
    command = [str(reader.python), "-m", "IPython", "--no-banner", "--colors=NoColor", "cell.ipy"]
    done = subprocess.run(
        command, cwd=reader.folder, env=reader.environment, capture_output=True, text=True, check=False
    )
    assert SENTENCE.fullmatch((done.stdout + done.stderr).strip()), done.stdout + done.stderr


def test_the_ranges_leave_colabs_libraries_as_they_are():
    """What Colab had when this was written; its own runtimes cannot be had here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    colab = {"numpy": "2.0.2", "matplotlib": "3.10.0", "ipywidgets": "7.7.1", "scikit-learn": "1.6.1"}
    ranges = {need.name: need.specifier for need in map(Requirement, project["dependencies"])}
    assert [name for name, version in colab.items() if not ranges[name].contains(version)] == []
    assert "torch" not in ranges


# --- the site and its address ----------------------------------------------------------------------------------------


def test_the_book_offers_the_wheel_of_this_edition(book):
    (wheel,) = (book / "dist").glob("*.whl")
    assert wheel.name == f"highway_lessons-{highway_lessons.__version__}-py3-none-any.whl"
    package = ROOT / "src"
    ours = {
        p.relative_to(package).as_posix(): p.read_bytes() for p in package.glob("highway_lessons/**/*") if p.is_file()
    }
    with zipfile.ZipFile(wheel) as packed:
        held = {name: packed.read(name) for name in packed.namelist() if name.startswith("highway_lessons/")}
    assert held == {name: content for name, content in ours.items() if "__pycache__" not in name}


def test_the_wheels_page_is_one_for_pip_and_for_people(built):
    pages, address, port = built
    with serving(pages, port), urllib.request.urlopen(f"{address}/dist/") as answer:
        (link,) = re.findall(r'href="([^"]+)"', answer.read().decode())
    assert (pages / "dist" / link).is_file()


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({"SITE": "https://lessons.example/highway/"}, "https://lessons.example/highway"),
        ({"SITE": "", "REPOSITORY": "https://github.com/Owner/lessons"}, ""),
        ({"REPOSITORY": "https://github.com/Owner/lessons"}, "https://owner.github.io/lessons"),
        ({"REPOSITORY": "https://github.com/Owner/owner.github.io"}, "https://owner.github.io"),
        ({"REPOSITORY": "https://gitlab.com/owner/lessons"}, ""),
        ({"REPOSITORY": ""}, ""),
    ],
)
def test_the_address_is_given_or_follows_from_the_repository(monkeypatch, variables, address):
    for name in ("SITE", "REPOSITORY"):
        monkeypatch.delenv(f"HIGHWAY_LESSONS_{name}", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(f"HIGHWAY_LESSONS_{name}", value)
    assert site.find_address(ROOT) == address


@pytest.mark.parametrize("given", ["my site", "file:///srv/book", "https://a.example/ --pre", 'https://a.example/"'])
def test_an_address_is_checked(monkeypatch, given):
    monkeypatch.setenv(site.VARIABLE, given)
    with pytest.raises(ValueError, match=r"HIGHWAY_LESSONS_SITE is .* expected an address such as https://"):
        site.find_address(ROOT)


def test_a_wrong_address_stops_the_build_at_once(tmp_path):
    scratch = Scratch(tmp_path)
    scratch.write("first.md", "# A page\n")
    status, output, _ = scratch.build(HIGHWAY_LESSONS_SITE="my site")
    assert status != 0
    assert "HIGHWAY_LESSONS_SITE is 'my site'; expected an address such as https://OWNER.github.io/NAME." in output
    assert not (scratch.book / "_build" / "html" / "first.html").exists()


def test_make_tidy_writes_the_address_that_it_is_given():
    for given, times in (["SITE=https://a.example"], 1), ([], 0):
        command = ["make", "--dry-run", "READY=", "tidy", *given]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout.count('-m highway_book.site "https://a.example" book/*.ipynb book/chapters/') == times
        assert done.stdout.count("highway_book.site") == times


@pytest.mark.parametrize(
    ("address", "need"),
    [
        ("", "=={edition}"),
        ("https://a.example/b", "@https://a.example/b/dist/highway_lessons-{edition}-py3-none-any.whl"),
        (
            "http://10.0.0.5:8000",
            "@http://10.0.0.5:8000/dist/highway_lessons-{edition}-py3-none-any.whl --trusted-host 10.0.0.5:8000",
        ),
    ],
)
def test_the_stamp_replaces_an_earlier_one(tmp_path, address, need):
    copy, seen = Path(shutil.copy2(BOOK / "_template.ipynb", tmp_path)), []
    for given in ("", "https://earlier.example", address, ""):
        command = [sys.executable, "-m", "highway_book.site", given, str(copy)]
        subprocess.run(command, env=os.environ | {"PYTHONPATH": str(BOOK / "_ext")}, check=True)
        seen.append(copy.read_text(encoding="utf8"))
    assert seen[3] == seen[0] != seen[1]
    copy.write_text(seen[2], encoding="utf8")
    second = code(nbformat.read(copy, as_version=4))[0].splitlines()[1]
    assert second == f'need = f"highway-lessons{need}"'


def test_the_notebook_asks_for_this_edition(notebook_path):
    source = code(nbformat.read(notebook_path, as_version=4))[0]
    assert source.startswith(f'edition = "{highway_lessons.__version__}"  # ')
    assert len(site.NEED.findall(source)) == 1


# --- the text of a downloaded notebook -------------------------------------------------------------------------------


def test_a_download_reads_without_the_book(built):
    _, address, _ = built
    prose = downloaded(built).cells[1].source
    assert prose.startswith("A gate opens.\n\n$$\ny = x\n\\tag{1}\n$$\n\nSo (1) holds for every width; ")
    assert f"[the second page]({address}/second.html) says why." in prose
    page = (built[0] / "chapters" / "first.html").read_text(encoding="utf8")
    assert '<span class="eqno">(1)' in page


def test_every_download_of_the_book_reads_without_the_book(book, notebook_path):
    copy = book / "_sources" / notebook_path.relative_to(BOOK)
    if notebook_path.name == "_template.ipynb":  # it has no page
        assert not copy.exists()
        return
    committed, offered = (nbformat.read(path, as_version=4) for path in (notebook_path, copy))
    text = "\n\n".join(cell.source for cell in offered.cells if cell.cell_type == "markdown")
    assert re.findall(r"\{[a-z:]+\}`[^`]*`|^\$\$ \(.*|^:::.*|^```\{.*", text, re.MULTILINE) == []
    assert code(offered)[1:] == code(committed)[1:]
    page = (HTML / notebook_path.relative_to(BOOK)).with_suffix(".html").read_text(encoding="utf8")
    assert re.findall(r"\\tag\{([\d.]+)\}", text) == re.findall(r'<span class="eqno">\(([\d.]+)\)', page)


def test_plain_text_keeps_what_is_not_the_books():
    text = (
        "`{term}` and {py:func}`x`, [a](https://a.example/x.md), $y = \\{a\\}$, {eq}`e`, {term}`τ <tau>` {cite:p}`z`."
    )
    kept = "`{term}` and {py:func}`x`, [a](https://a.example/x.md), $y = \\{a\\}$, (7), τ."
    assert downloads.plain(text, {"e": "7"}) == kept
    assert downloads.lead_to_pages(kept, "https://b.example") == kept
    for code in ("``{term}`gate` ``", "```\n{eq}`e`\n$$ (e)\n[a](b.md)\n```", "`[a](b.md)`"):
        assert downloads.plain(code, {"e": "7"}) == downloads.lead_to_pages(code, "https://b.example") == code
    assert downloads.plain("{eq}`mistyped`", {}) == "{eq}`mistyped`"  # the build has said so
    assert downloads.lead_to_pages("[a](../x.md#y)", "https://b.example/c") == "[a](https://b.example/x.html#y)"
