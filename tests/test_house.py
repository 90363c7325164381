"""The house: what is installed, what is packed, what the commands do, what the text may not say."""

import ast
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from scratch import copy_package

PINS = {
    canonicalize_name(requirement.name): requirement.specifier
    for line in (ROOT / "requirements.txt").read_text(encoding="utf8").splitlines()
    if (text := line.split("  #")[0].strip()) and not text.startswith("#")
    for requirement in [Requirement(text)]
}
HEAVY = (
    "torch", "matplotlib", "tqdm", "sklearn", "anywidget", "ipywidgets", "IPython", "joblib", "threadpoolctl", "dask",
    "distributed",
)  # fmt: skip


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    return done.returncode, done.stdout + done.stderr


# --- the package ---------------------------------------------------------------------------------------------------


def test_import_loads_numpy_and_nothing_heavy():
    code = f"import sys, highway_lessons; print(sorted(set({HEAVY!r}) & set(sys.modules)))"
    assert run(sys.executable, "-c", code) == (0, "[]\n")


def test_maths_works_where_nothing_heavy_is_installed():
    code = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Absent())
import highway_lessons as hl
from highway_lessons.gradients import signal_norms
data = hl.spirals(64, 16, rng=0)
network = hl.Network(hl.Highway(gate_bias=-2.0), depth=5, width=8, n_in=2, n_classes=2)
history = hl.fit(network, data, epochs=2, rng=0)
print("trained")
"""
    code_out, output = run(sys.executable, "-c", code)
    assert (code_out, output) == (0, "trained\n"), output


def test_wheel_holds_every_file_of_the_package(tmp_path):
    copy_package(tmp_path)
    wheel = (sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "--quiet", "-w", "dist")
    status, output = run(*wheel, cwd=tmp_path)
    assert status == 0, output
    (built,) = (tmp_path / "dist").glob("*.whl")
    assert built.name.endswith("-py3-none-any.whl")
    package = tmp_path / "src"
    ours = {p.relative_to(package).as_posix() for p in package.glob("highway_lessons/**/*") if p.is_file()}
    packed = {name for name in zipfile.ZipFile(built).namelist() if not name.split("/")[0].endswith(".dist-info")}
    assert packed == ours
    assert {Path(name).suffix for name in packed} >= {".py", ".mplstyle", ".js", ".css"}


# --- the environment -----------------------------------------------------------------------------------------------


def test_pins_are_exact_and_installed():
    for name, specifier in PINS.items():
        assert [s.operator for s in specifier] == ["=="], name
        assert specifier.contains(importlib.metadata.version(name)), name


def test_nothing_that_is_needed_is_left_unpinned():
    missing, seen, todo = set(), set(), [*PINS, "highway-lessons", "torch"]
    while todo:
        name = canonicalize_name(todo.pop())
        if name in seen:
            continue
        seen.add(name)
        for text in importlib.metadata.requires(name) or []:
            need = Requirement(text)
            cuda = name == "torch" and re.match(r"nvidia|cuda|triton", need.name)
            if not cuda and (need.marker is None or need.marker.evaluate({"extra": ""})):
                todo.append(need.name)
                if canonicalize_name(need.name) not in PINS:
                    missing.add(need.name)
    assert missing == set()


PYTHONS = ("3.11", "3.12", "3.13")


@pytest.mark.parametrize("python", PYTHONS)
def test_the_pins_agree_with_each_other_and_with_each_python(python):
    """Whatever a pinned package asks for on that Python is pinned, in a version that it takes."""
    environment = {"extra": "", "python_version": python, "python_full_version": f"{python}.0"}
    refused = []
    for name in [*PINS, "torch", "highway-lessons"]:
        pythons = importlib.metadata.metadata(name).get("Requires-Python", "")
        if not SpecifierSet(pythons).contains(f"{python}.0"):
            refused.append(f"{name} needs Python {pythons}")
        for need in map(Requirement, importlib.metadata.requires(name) or []):
            if re.match("nvidia|cuda|triton", need.name) or not (
                need.marker is None or need.marker.evaluate(environment)
            ):
                continue
            (pin,) = PINS.get(canonicalize_name(need.name), SpecifierSet("==0"))
            if not need.specifier.contains(pin.version, prereleases=True):
                refused.append(f"{name} needs {need}, which is pinned to {pin.version}")
    assert refused == []


@pytest.mark.parametrize("python", PYTHONS)
def test_there_are_wheels_for_each_python(python, tmp_path):
    """Nothing needs a compiler, here or in Binder. Wheels without compiled code suit every Python: looked for once."""

    def compiled(name):
        wheel = next(file for file in importlib.metadata.files(name) if file.match("*.dist-info/WHEEL"))
        return "Root-Is-Purelib: false" in wheel.locate().read_text(encoding="utf8")

    wanted = [f"{name}{pin}" for name, pin in PINS.items() if python == PYTHONS[-1] or compiled(name)]
    assert "numpy" in {Requirement(need).name for need in wanted}
    binder = (ROOT / "binder" / "requirements.txt").read_text(encoding="utf8")
    wanted += [line.split("  #")[0] for line in binder.splitlines() if re.match(r"[\w-]+==", line)]
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps", "--only-binary=:all:")
    where = (f"--python-version={python}", f"--target={tmp_path}", f"--report={tmp_path / 'report.json'}")
    status, output = run(*pip, *where, *wanted)
    assert status == 0, output
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf8"))
    found = {canonicalize_name(item["metadata"]["name"]) for item in report["install"]}
    assert found == {canonicalize_name(Requirement(need).name) for need in wanted}
    assert [name for name in found if re.search("nvidia|cuda|triton", name)] == []


def test_torch_came_without_cuda():
    assert [name for name in PINS if re.search(r"nvidia|cuda|triton", name)] == []
    assert importlib.metadata.version("torch").split("+")[0] == "2.13.0"
    status, output = run(
        sys.executable, "-c", "import torch; print(torch.from_numpy(__import__('numpy').ones(2)).sum().item())"
    )
    assert (status, output) == (0, "2.0\n")


# --- the commands --------------------------------------------------------------------------------------------------

FAKE_PYTHON = """#!/bin/sh
# Stands for Python in the tests of the Makefile: notes what it is asked, and makes .venv/bin/python a copy of itself.
case "$*" in
  *version_info*) exit "${UNSUITABLE:-0}" ;;
  --version) echo "Python 3.9.2"; exit ;;
  "-m pip --version") exit ;;
esac
echo "$(basename "$0") $*" >> calls
case "$*" in
  "-m venv --clear .venv") mkdir -p .venv/bin; cp "$0" .venv/bin/python; cp "$0" .venv/bin/jupyter-book
    echo "#!$PWD/.venv/bin/python" > .venv/bin/pip ;;
  *download.pytorch.org*) exit "${NO_TORCH_INDEX:-0}" ;;
  build*) mkdir -p book/_build; exit "${BROKEN_BOOK:-0}" ;;
esac
"""


@pytest.fixture
def house(tmp_path):
    """A copy of the files that the Makefile reads, with a Python that only takes notes; call it to run make."""
    for name in ("Makefile", "requirements.txt", "requirements-torch.txt", "pyproject.toml"):
        shutil.copy2(ROOT / name, tmp_path)
    for name in ("book/intro.ipynb", "src/highway_lessons/blocks.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    python = tmp_path / "python"
    python.write_text(FAKE_PYTHON, encoding="utf8")
    python.chmod(0o755)

    def make(*goals, **environment):
        calls = tmp_path / "calls"
        calls.write_text("", encoding="utf8")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "HIGHWAY_LESSONS"))}
        status, output = run("make", f"PYTHON={python}", *goals, cwd=tmp_path, env=clean | environment)
        return status, output, calls.read_text(encoding="utf8").splitlines()

    make.folder = tmp_path
    return make


def test_bare_make_lists_every_command(house):
    status, output, calls = house()
    named = re.search(r"^\.PHONY: help (.*)$", (ROOT / "Makefile").read_text(encoding="utf8"), flags=re.MULTILINE)[1]
    assert (status, calls) == (0, [])
    assert [line.split()[1] for line in output.splitlines()][1:] == named.split()
    assert all(len(line.split()) > 4 for line in output.splitlines())


def test_make_book_sets_up_builds_and_does_nothing_twice(house):
    status, output, calls = house("book")
    assert status == 0
    assert [call.split()[0] for call in calls] == ["python"] * 4 + ["jupyter-book"]
    assert calls[-1] == "jupyter-book build book -W -n --keep-going"
    assert f"{house.folder}/book/_build/html/index.html" in output
    status, output, calls = house("book")
    assert (status, calls) == (0, [])
    assert f"{house.folder}/book/_build/html/index.html" in output


@pytest.mark.parametrize("edited", ["book/intro.ipynb", "src/highway_lessons/blocks.py"])
def test_an_edit_builds_again_and_installs_nothing(house, edited):
    house("book")
    with open(house.folder / edited, "a", encoding="utf8") as file:
        file.write("\n")
    assert house("book")[2] == ["jupyter-book build book -W -n --keep-going"]


@pytest.mark.parametrize("flag", ["SOLUTIONS", "REPOSITORY", "SITE"])
def test_a_flag_builds_again(house, flag):
    house("book")
    assert house("book", **{f"HIGHWAY_LESSONS_{flag}": "0"})[2] == ["jupyter-book build book -W -n --keep-going"]


def test_a_new_pin_installs_again(house):
    house("book")
    with open(house.folder / "requirements.txt", "a", encoding="utf8") as file:
        file.write("# renewed\n")
    calls = house("book")[2]
    assert any("--requirement requirements.txt" in call for call in calls)
    assert not any("-m venv" in call for call in calls)


def test_an_environment_half_made_or_made_elsewhere_is_made_again(house):
    house("book")
    for mishap in ("rm .venv/ready-* .venv/bin/pip", "rm .venv/ready-*; echo '#!elsewhere' > .venv/bin/pip"):
        subprocess.run(mishap, shell=True, check=True, cwd=house.folder)
        assert "python -m venv --clear .venv" in house("book")[2], mishap


def test_a_file_with_a_space_and_a_quote_in_its_name_counts(house):
    house("book")
    for content in ("one", "two"):
        (house.folder / "book" / "it's a page.md").write_text(content, encoding="utf8")
        assert house("book")[2] == ["jupyter-book build book -W -n --keep-going"]


def test_a_failed_build_fails_again(house):
    assert house("book", BROKEN_BOOK="1")[0] != 0
    status, _, calls = house("book", BROKEN_BOOK="1")
    assert status != 0
    assert calls == ["jupyter-book build book -W -n --keep-going"]


def test_torch_comes_from_its_own_index_else_from_the_ordinary_one(house):
    calls = house("book")[2]
    assert sum("requirements-torch.txt" in call for call in calls) == 1
    shutil.rmtree(house.folder / ".venv")
    status, output, calls = house("book", NO_TORCH_INDEX="1")
    torch = [call for call in calls if "requirements-torch.txt" in call]
    assert status == 0
    assert "--index-url" in torch[0]
    assert "--index-url" not in torch[1]
    assert all("--no-deps" in call for call in torch)
    assert "asking the ordinary one" in output


def test_an_old_python_is_told_in_one_sentence(house):
    status, output, calls = house("book", UNSUITABLE="1")
    assert status != 0
    assert calls == []
    assert "The course needs Python 3.11 or newer with its venv module, but" in output
    assert "Python 3.9.2" in output
    assert "PYTHON=" in output


def test_make_check_is_green():
    bin_folder = Path(sys.executable).parent
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "PYTEST"))}
    status, output = run("make", "check", "READY=", f"BIN={bin_folder}", cwd=ROOT, env=clean)
    assert status == 0, output


def test_ci_calls_the_readmes_test_command():
    script = (ROOT / ".ci" / "run").read_text(encoding="utf8")
    assert run("bash", "-n", str(ROOT / ".ci" / "run")) == (0, "")
    assert script.splitlines()[-1] == "make test"
    assert "make test" in (ROOT / "README.md").read_text(encoding="utf8")


def test_without_a_browser_the_tests_fail_and_say_what_to_install(tmp_path):
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text(encoding="utf8"), encoding="utf8")
    (tmp_path / "test_it.py").write_text("def test_page(page):\n    pass\n", encoding="utf8")
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith("PYTEST")},
        "PATH": str(tmp_path),
        "PYTHONPATH": str(ROOT / "tests"),  # conftest.py imports its neighbours
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "none"),
        "PLAYWRIGHT_DOWNLOAD_HOST": "http://127.0.0.1:9",
    }
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "test_it.py"))
    status, output = run(*command, cwd=tmp_path, env=environment)
    assert status == 1, output
    assert "apt-get install chromium" in output
    assert "skipped" not in output


# --- on another system ---------------------------------------------------------------------------------------------


def python_files():
    for top in ("src", "tests", "benchmarks", "book/_ext"):
        yield from sorted((ROOT / top).rglob("*.py"))


def opened_in_any_encoding(source):
    """The calls that open a text file in whatever encoding the system prefers: on Windows that is not UTF-8."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and not {"encoding", None} & {keyword.arg for keyword in node.keywords}:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            text = [a.value for a in [*node.args, *(k.value for k in node.keywords)] if isinstance(a, ast.Constant)]
            binary = any(isinstance(mode, str) and re.fullmatch(r"[rwax+]*b[rwax+]*", mode) for mode in text)
            plain = isinstance(node.func, ast.Name) or bool(
                {"r", "w", "a", "x", "r+", "w+", "a+"} & {str(t) for t in text}
            )
            if (name in ("read_text", "write_text") or (name in ("open", "fdopen") and plain)) and not binary:
                yield f"line {node.lineno}: {ast.unparse(node)[:80]}"


@pytest.mark.parametrize("path", list(python_files()), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_text_files_are_opened_with_their_encoding_named(path):
    assert list(opened_in_any_encoding(path.read_text(encoding="utf8"))) == []


@pytest.mark.parametrize(
    "source",
    ["open(file)", "open(file, 'w')", "path.open('a')", "path.read_text()", "path.write_text('x', newline='')"],
)
def test_a_file_opened_in_any_encoding_is_caught(source):
    assert list(opened_in_any_encoding(source))
    assert list(opened_in_any_encoding(source.replace("()", "(1)")[:-1] + ", encoding='utf8')")) == []


OLD_SYSTEM = {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C", "PYTHONIOENCODING": "cp1252"}


def test_records_and_pictures_are_read_where_utf_8_is_not_the_rule():
    code = """
import locale, warnings
assert "utf" not in locale.getencoding().lower()
warnings.filterwarnings("ignore", category=EncodingWarning)
warnings.filterwarnings("error", category=EncodingWarning, module="highway_lessons")
from highway_lessons import published, studies
from highway_lessons.figures import new_figure
from highway_lessons.sliders import explore
new_figure()
studies.load("gate_bias")
explore(lambda depth: {"plain": [depth]}, start={"depth": 1}, xlabel="x", ylabel="y", xlim=(0, 1), ylim=(0, 2),
        log=False, caption="One line.", depth=[1, 2])
print("read")
"""
    status, output = run(sys.executable, "-X", "warn_default_encoding", "-c", code, env=os.environ | OLD_SYSTEM)
    assert (status, output) == (0, "read\n"), output


@pytest.mark.parametrize("command", [["list"], ["show", "depth"]])
def test_the_studies_print_on_a_console_without_greek_letters(command):
    command = [sys.executable, "-m", "highway_lessons.studies", *command]
    done = subprocess.run(command, capture_output=True, env=os.environ | OLD_SYSTEM, check=False)
    assert done.returncode == 0, done.stderr.decode("cp1252")
    assert len(done.stdout.decode("cp1252").splitlines()) > 5


def test_torch_takes_the_processors_it_is_given():
    """In a container that may use one processor, more threads would only stand in each other's way."""
    if not hasattr(os, "sched_setaffinity"):
        pytest.skip("this system does not let a process choose its processors")
    one = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})"
    code = f"{one}; import torch; print(torch.get_num_threads())"
    clean = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    assert run(sys.executable, "-c", code, env=clean) == (0, "1\n")


# --- what the code and the text may not say --------------------------------------------------------------------------


TOPS = (
    "README.md", "Makefile", "CITATION.cff", "LICENSE", "LICENSE-TEXT", "pyproject.toml", "requirements.txt",
    "requirements-torch.txt", ".ci", ".github", "binder", "book", "src", "tests",
)  # fmt: skip
BINARY = (".png", ".npz")


def text_files():
    for top in TOPS:
        for file in [ROOT / top, *sorted((ROOT / top).rglob("*"))]:
            inside = file.relative_to(ROOT).parts
            made = any(part in ("_build", "__pycache__") or part.endswith(".egg-info") for part in inside)
            if file.is_file() and not made and file.suffix not in BINARY:
                yield file


def test_pytorchs_index_is_named_where_it_is_needed_only():
    named = {
        file.relative_to(ROOT).as_posix()
        for file in text_files()
        if "download.pytorch" in file.read_text(encoding="utf8")
    }
    assert named <= {
        "Makefile",
        "README.md",
        "binder/requirements.txt",
        "book/appendix/classroom.md",
        "tests/test_house.py",
        "tests/test_binder.py",
    }


def test_warnings_are_mended_not_hidden():
    """Nor is the message of two OpenMP runtimes in one process, which may compute wrong numbers."""
    hidden = re.compile(r"filterwarnings|simplefilter\(.ignore|stderr_output|KMP_DUPLICATE_LIB_OK")
    for file in text_files():
        if "tests" not in file.relative_to(ROOT).parts:
            assert not hidden.search(file.read_text(encoding="utf8")), file


def test_no_path_of_a_machine_is_written_down():
    pattern = re.compile(r"(?<![\w.~\]])/(work|home|root|Users|opt|tmp)/[\w.]|find-links[ =]+/|FIND_LINKS")
    found = {}
    for file in text_files():
        text = file.read_text(encoding="utf8")
        if file.name == "classroom.md":  # which tells how to install from a folder of the course's own
            text = text.replace("PIP_FIND_LINKS=wheelhouse", "")
        if file != Path(__file__) and (match := pattern.search(text)):
            found[file.relative_to(ROOT).as_posix()] = match[0]
    assert found == {}
