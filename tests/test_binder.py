"""Binder: its files, and the environment that they make, used as a reader uses it.

Binder itself builds an image with Docker, which is not at hand where these tests run. So repo2docker reads the files
and writes what it would build; and the same files make a clean environment here, whose own JupyterLab opens each
chapter.
The seconds and megabytes of each are listed at the end of the test run.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import psutil
import pytest
from conftest import BOOK, ROOT, notebook_paths
from lab import serve
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from test_chapters_run import peak
from test_house import PINS
from test_sliders_jupyterlab import SLIDERS, drawing

pytestmark = pytest.mark.timeout(1200)  # the first test makes the environment

BINDER = ROOT / "binder"
LINES = [
    text
    for line in (BINDER / "requirements.txt").read_text(encoding="utf8").splitlines()
    if (text := line.split("  #")[0].strip()) and not text.startswith("#")
]
NEEDS = {canonicalize_name(need.name): need for need in map(Requirement, (t for t in LINES if not t.startswith("--")))}
TORCH = next(
    Requirement(line)
    for line in (ROOT / "requirements-torch.txt").read_text(encoding="utf8").splitlines()
    if line.startswith("torch")
)
NEVER = {
    "jupyter-book", "sphinx", "myst-nb", "numpydoc", "django-static-mathjax", "django", "pytest", "pytest-xdist",
    "hypothesis", "playwright", "axe-playwright-python", "ruff", "codespell", "jupyter-repo2docker", "docker", "dask",
    "distributed",
}  # fmt: skip
CHAPTERS = [path for path in notebook_paths() if "explore(" in path.read_text(encoding="utf8")]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return done.returncode, done.stdout, done.stderr


# --- the files -----------------------------------------------------------------------------------------------------


def test_a_version_stands_in_one_place():
    assert {line for line in LINES if line.startswith("--constraint")} == {
        "--constraint ../requirements.txt", "--constraint ../requirements-torch.txt",
    }  # fmt: skip
    for name, need in NEEDS.items():
        if name in PINS or name == "torch":
            assert not need.specifier, (
                f"{name}: its version stands in requirements.txt or requirements-torch.txt; drop it here"
            )
        else:
            assert [s.operator for s in need.specifier] == ["=="], (
                f"{name}: requirements.txt has no such pin; give one here"
            )


def test_what_the_package_needs_is_there_and_nothing_that_builds_or_tests():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf8"))["project"]
    assert {canonicalize_name(Requirement(need).name) for need in project["dependencies"]} <= set(NEEDS)
    assert not NEVER & set(NEEDS)
    python = re.fullmatch(r"python-(3\.\d+)\n", (BINDER / "runtime.txt").read_text(encoding="utf8"))
    assert python
    assert Requirement(f"x{project['requires-python']}").specifier.contains(python[1])


def test_wheels_only_and_torch_without_cuda():
    assert "--only-binary :all:" in LINES
    assert LINES[LINES.index("torch") - 1] == "--extra-index-url https://download.pytorch.org/whl/cpu"
    assert TORCH.specifier.contains(f"{Version(str(TORCH.specifier).removeprefix('=='))}+cpu")


def test_repo2docker_takes_every_file():
    command = (sys.executable, "-m", "repo2docker", "--no-build", "--user-id=1000", "--user-name=jovyan", str(ROOT))
    status, dockerfile, log = run(*command)
    assert status == 0, log
    python = (BINDER / "runtime.txt").read_text(encoding="utf8").strip().removeprefix("python-")
    assert f"Building conda environment for python={python}" in log.splitlines()
    steps = [
        'RUN ${KERNEL_PYTHON_PREFIX}/bin/pip install --no-cache-dir -r "binder/requirements.txt"',
        "RUN ./binder/postBuild",
        'ENV R2D_ENTRYPOINT="${REPO_DIR}/binder/start"',
    ]
    lines = [line.strip() for line in dockerfile.splitlines()]
    found = [lines.index(step) for step in steps]
    assert found == sorted(found)
    # Constraints from outside binder/ are there only if the whole repository is copied first.
    assert lines.index("COPY --chown=1000:1000 src/ ${REPO_DIR}/") < found[0]
    assert {file.name for file in BINDER.iterdir()} == {"requirements.txt", "runtime.txt", "postBuild", "start"}


@pytest.mark.parametrize("name", ["postBuild", "start"])
def test_scripts_can_be_run(name):
    assert (BINDER / name).stat().st_mode & stat.S_IXUSR
    assert run("bash", "-n", str(BINDER / name)) == (0, "", "")


def test_start_sets_one_thread_and_hands_on():
    code = "import os, sys; print(os.environ['OPENBLAS_NUM_THREADS'], os.environ['OMP_NUM_THREADS'], sys.argv[1:])"
    clean = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    command = (str(BINDER / "start"), sys.executable, "-c", code, "a b", "$c")
    assert run(*command, env=clean) == (0, "1 1 ['a b', '$c']\n", "")


# --- the environment -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A copy of the repository, and beside it an environment made from it by Binder's steps; and the seconds taken."""
    folder = tmp_path_factory.mktemp("binder")
    root, prefix = folder / "repository", folder / "environment"
    unwanted = shutil.ignore_patterns("_build", "__pycache__", "*.egg-info", ".ipynb_checkpoints")
    for name in ("binder", "book", "src"):
        shutil.copytree(ROOT / name, root / name, ignore=unwanted)
    for name in ("requirements.txt", "requirements-torch.txt", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, root)
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {
        "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}",
        # PyTorch's index may be out of reach; this Python compiles what it imports, no need to compile all of PyTorch.
        "PIP_RETRIES": "0", "PIP_TIMEOUT": "15", "PIP_NO_COMPILE": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }  # fmt: skip
    started = time.perf_counter()
    for command in (
        (sys.executable, "-m", "venv", str(prefix)),
        (str(prefix / "bin" / "pip"), "install", "--no-cache-dir", "-r", "binder/requirements.txt"),
        ("./binder/postBuild",),
    ):
        status, out, err = run(*command, cwd=root, env=variables)
        if status:
            pytest.fail(f"{' '.join(command)}\n{out[-2000:]}\n{err[-4000:]}", pytrace=False)
    yield root, prefix / "bin" / "python", time.perf_counter() - started
    shutil.rmtree(folder, ignore_errors=True)  # a gigabyte and more


def installed(python):
    code = "import importlib.metadata as m, json; print(json.dumps([(d.name, d.version) for d in m.distributions()]))"
    return {canonicalize_name(name): version for name, version in json.loads(run(python, "-Ic", code)[1])}


def test_the_environment_holds_what_is_pinned_and_no_more(environment, record_property):
    _, python, seconds = environment
    record_property("binder", f"{'the environment':<40} made in {seconds:.0f} s")
    versions = installed(python)
    assert set(NEEDS) <= set(versions)
    assert {name for name, version in versions.items() if name in PINS and not PINS[name].contains(version)} == set()
    assert set(versions) - set(PINS) <= {"highway-lessons", "torch", "pip", "notebook", "jupyterlab-myst"}
    assert set(versions) & NEVER == set()
    assert TORCH.specifier.contains(versions["torch"])
    assert [name for name in versions if re.search("nvidia|cuda|triton", name)] == []
    assert run(python, "-m", "pip", "check")[0] == 0


def test_the_package_is_found_from_any_folder_and_torch_takes_numpy(environment, tmp_path):
    root, python, _ = environment
    for folder in (root, root / "book" / "chapters", tmp_path):
        where = run(
            python, "-c", "import highway_lessons as h; print(h.__file__)", cwd=folder, env=without_pythonpath()
        )
        assert (where[0], where[2]) == (0, "")
        assert Path(where[1].strip()).is_relative_to(python.parents[1])
    code = "import numpy, torch; print(torch.from_numpy(numpy.ones(2)).numpy())"
    assert run(python, "-c", code, cwd=tmp_path, env=without_pythonpath()) == (0, "[1. 1.]\n", "")
    assert {path.name for path in root.iterdir()} == {
        "binder", "book", "src", "requirements.txt", "requirements-torch.txt", "pyproject.toml", "README.md", "LICENSE",
    }  # fmt: skip
    assert [path.name for path in (root / "src").iterdir()] == ["highway_lessons"]


def without_pythonpath():
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


# --- the chapters in its JupyterLab --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lab(environment, browser, tmp_path_factory):
    """The environment's own JupyterLab, started as Binder starts it."""
    root, python, _ = environment
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTHONPATH", raising=False)
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
            patch.delenv(name, raising=False)
        with serve(browser, root, tmp_path_factory.mktemp("lab"), python=str(python), entry=BINDER / "start") as tab:
            yield tab


@pytest.mark.parametrize("path", CHAPTERS, ids=[path.stem for path in CHAPTERS])
def test_a_chapter_runs_and_its_sliders_follow(lab, environment, path, record_property):
    lab.open(path.relative_to(ROOT).as_posix())
    lab.page.evaluate(
        f"""() => {{
          const look = () => document.querySelector("{SLIDERS} .hl-plot :is(.hl-line, canvas)")
            ? (window.firstSlider = performance.now() / 1000) : setTimeout(look, 50);
          look();
        }}"""
    )
    lab.run_all()
    kernel = psutil.Process(lab.ask("__import__('os').getpid()"))
    assert Path(lab.ask("__import__('highway_lessons').__file__")).is_relative_to(environment[1].parents[1])
    assert lab.ask("__import__('os').environ['OMP_NUM_THREADS']") == "1"
    everything = (
        "[w for _, made in __import__('highway_lessons.sliders').sliders.widget._MADE.values() for w in made"
        " if type(w).__name__ != 'TrainingPanel']"  # its figure does not follow its controls; a test of its own has it
    )
    figures = lab.page.locator(SLIDERS)
    expected = lab.ask(f"len({everything})")
    assert expected >= 1
    drag_a_slider(lab, figures.first)
    for n in range(expected):
        state = f"{everything}[{n}]"
        figure = figures.nth(n)
        figure.scroll_into_view_if_needed()
        figure.get_by_role("button", name="Reset").click()
        wait_for_figure(lab, figure)
        before = drawing(figure)
        for k in range(figure.get_by_role("slider").count()):
            slider = figure.get_by_role("slider").nth(k)
            slider.press("Home")
            slider.press("ArrowRight")
            slider.press("End")
            stop = figure.locator("output").nth(k).inner_text()
            wait_for_figure(lab, figure)
            lab.hears(f"{state}._sentence()", figure.locator(".hl-says").inner_text())
            value = lab.ask(f"{state}.value")
            texts = lab.ask(f"{state}.sliders[{k}]")
            assert value[texts["name"]] == texts["values"][-1]
            assert stop == texts["texts"][-1]
        assert drawing(figure) != before
    seconds, megabytes = lab.page.evaluate("window.firstSlider"), peak(kernel)
    record_property("binder", f"{path.stem:<40} {seconds:5.1f} s from opening to the first slider, {megabytes:4.0f} MB")
    assert seconds < 60
    assert megabytes < 1000


def wait_for_figure(lab, figure):
    lab.page.wait_for_function(
        "figure => !figure.querySelector('.hl-waiting')", arg=figure.element_handle(), timeout=60_000
    )


def drag_a_slider(lab, figure):
    """Take a figure's first slider by the mouse to the end that is farther away; sentence and drawing must change."""
    figure.scroll_into_view_if_needed()
    wait_for_figure(lab, figure)
    before = figure.locator(".hl-says").inner_text(), drawing(figure)
    slider = figure.get_by_role("slider").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    share = slider.evaluate("s => (s.value - s.min) / (s.max - s.min)")
    y = box["y"] + box["height"] / 2
    lab.page.mouse.move(box["x"] + (0.02 + 0.96 * share) * box["width"], y)
    lab.page.mouse.down()
    lab.page.mouse.move(box["x"] + (1 if share > 0.5 else box["width"] - 1), y, steps=10)
    lab.page.mouse.up()
    lab.page.wait_for_function(
        "([figure, before]) => figure.querySelector('.hl-says').innerText !== before",
        arg=[figure.element_handle(), before[0]], timeout=60_000,
    )  # fmt: skip
    wait_for_figure(lab, figure)
    assert drawing(figure) != before[1]


def test_terms_equations_and_links_are_shown_as_such(lab):
    lab.open("book/chapters/02-backpropagate-through-a-gate.ipynb")
    cells = lab.page.locator(".jp-MarkdownCell .myst")
    source = json.loads((BOOK / "chapters" / "02-backpropagate-through-a-gate.ipynb").read_text(encoding="utf8"))
    labels = re.findall(r"\$\$ \((eq-[\w-]+)\)", "\n".join("".join(cell["source"]) for cell in source["cells"]))
    numbers = cells.locator("a[href^='#eq-'][title]")
    numbers.nth(len(labels) - 1).wait_for(state="attached", timeout=60_000)  # all is shown
    text = "\n".join(cells.all_text_contents())
    assert re.findall(r"\{(?:term|eq|cite|ref)|:::|```|\$", text) == []
    assert cells.locator("a", has_text=re.compile(r"^sigmoid$")).count()
    assert numbers.evaluate_all("all => all.map(a => a.getAttribute('href').slice(1))") == labels
    assert numbers.all_text_contents() == [f"({n})" for n in range(1, len(labels) + 1)]
    number = labels.index("eq-gate-three") + 1
    assert cells.locator("a.hover-link[href='#eq-gate-three']", has_text=f"({number})").count()
    cells.get_by_text("Before you start").click()  # a click into a cell draws it anew: only the next one reaches a link
    lab.page.wait_for_timeout(2000)
    cells.get_by_role("link", name="Chapter 1", exact=True).first.click()
    lab.page.wait_for_function(
        "() => window.jupyterapp.shell.currentWidget?.context?.path === 'book/chapters/01-one-highway-layer.ipynb'",
        timeout=60_000,
    )
