"""The studies' machinery, with real runs: killed, stopped, two at once, in two processes, on a Dask scheduler."""

import contextlib
import errno
import json
import math
import os
import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
from tiny_study import SEEDS, STUDIES
from waiting import until

from highway_lessons import Highway, Network, Plain, published, studies, training
from highway_lessons.studies import record, runner, trainings
from highway_lessons.studies.__main__ import main
from highway_lessons.studies.record import RecordError
from highway_lessons.studies.results import Results, load_study
from highway_lessons.studies.study import Study, StudyError

TINY = STUDIES["tiny"]
COMMAND = Path(__file__).with_name("tiny_study.py")


def start(*arguments, hold="no such file", **options):
    """Start the command line with the tiny studies, with two BLAS threads allowed, so that a limit shows.

    While the file `hold` exists, the run waits at its 15th point (`tiny_study.hold`).
    """
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2", "HOLD": str(hold)}
    return subprocess.Popen([sys.executable, COMMAND, *map(str, arguments)], env=environment, text=True, **options)


def finish(process):
    """Wait for a process; return its exit status and what it wrote to stderr."""
    _, errors = process.communicate(timeout=100)
    return process.returncode, errors


def command(*arguments):
    """Run the command line in this process; return its exit status."""
    return main([str(argument) for argument in arguments], studies=STUDIES)


def recorded(folder, study=TINY):
    """How many points are on disk."""
    return len(record.read(study, folder).lines)


def numbers(folder, study=TINY):
    """What is recorded, without the seconds, which differ from run to run."""
    return [{name: point[name] for name in point if name != "seconds"} for point in load_study(study, folder)]


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A folder with a complete record, measured in this process; not to be changed."""
    folder = tmp_path_factory.mktemp("complete")
    assert runner.run(TINY, folder, bar=False) == 24
    return folder


@pytest.fixture
def hold(tmp_path):
    """A file that makes runs wait, so that they are interrupted in the middle."""
    file = tmp_path / "hold"
    file.touch()
    return file


@pytest.fixture
def copy(complete, tmp_path):
    """A complete record that a test may spoil."""
    path = tmp_path / "tiny.jsonl"
    path.write_bytes((complete / "tiny.jsonl").read_bytes())
    return path


# --- killed, stopped, at once --------------------------------------------------------------------------------------


@pytest.mark.parametrize("jobs", [1, 2])
def test_killed_in_mid_run_it_loses_only_what_is_in_work(tmp_path, hold, jobs, complete):
    with open(tmp_path / "bar", "w+", encoding="utf8") as bar:
        process = start("run", "tiny", "--records", tmp_path, "--jobs", jobs, hold=hold, stderr=bar)
        until(lambda: recorded(tmp_path) >= 5, 60)
        children = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        process.wait()
        bar.seek(0)
        counted = max(int(n) for n in re.findall(r"\| (\d+)/24 ", bar.read()))
    kept = recorded(tmp_path)
    assert counted <= kept < 24  # what the bar had counted was on disk
    status, bar = finish(start("run", "tiny", "--records", tmp_path, stderr=subprocess.PIPE))
    assert status == 0, bar
    assert f" {kept}/24 " in bar  # it went on from there
    assert "24/24" in bar
    assert numbers(tmp_path) == numbers(complete)
    for child in children:  # workers that are left alone end by themselves, but only after half a minute
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()


def test_a_second_run_does_only_what_is_missing(tmp_path, capsys):
    assert command("run", "tiny", "--records", tmp_path, "--only", "depth=1", "seed=0,3") == 0
    assert "tiny: 4 points measured" in capsys.readouterr().out
    first = (tmp_path / "tiny.jsonl").read_bytes()
    assert command("run", "tiny", "--records", tmp_path, "--only", "seed=3") == 0
    assert "tiny: 2 points measured" in capsys.readouterr().out
    assert command("run", "tiny", "--records", tmp_path, "--only", "seed=3") == 0
    assert "tiny: 0 points measured" in capsys.readouterr().out
    content = (tmp_path / "tiny.jsonl").read_bytes()
    assert content.startswith(first)
    assert content.count(b"\n") == 2 + 6


def test_ctrl_c_stops_it_in_a_sentence_and_records_no_half_training(tmp_path, hold):
    process = start("run", "tiny", "--records", tmp_path, hold=hold, stderr=subprocess.PIPE)
    until(lambda: recorded(tmp_path) >= 3, 60)
    process.send_signal(signal.SIGINT)
    status, errors = finish(process)
    assert status == 130, errors
    assert errors.splitlines()[-1] == "Stopped. Every finished point is on disk; the same command goes on from there."
    points = record.read(TINY, tmp_path).lines.values()
    assert 3 <= len(points) < 24
    assert all(point["epochs_done"] == 40 and point["stopped"] is None for point in points)


def test_ctrl_c_within_a_training_is_no_result(monkeypatch):
    monkeypatch.setattr(training, "cross_entropy", lambda *_: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        TINY.measure(depth=1, learning_rate=0.1, seed=0, epochs=1)


@pytest.mark.parametrize("lost", [1, 30, 200])
def test_a_half_line_is_dropped_and_measured_again(copy, complete, lost):
    content = copy.read_bytes()
    copy.write_bytes(content[:-lost])
    assert len(load_study(TINY, copy.parent, complete=False)) == 23
    assert runner.run(TINY, copy.parent, bar=False) == 1
    assert numbers(copy.parent) == numbers(complete)
    assert copy.read_bytes().count(b"\n") == content.count(b"\n")


def test_a_half_first_line_is_no_record(tmp_path):
    (tmp_path / "tiny.jsonl").write_bytes(b'{"study":"ti')
    assert runner.run(TINY, tmp_path, only=["depth=1", "seed=0"], bar=False) == 2
    assert recorded(tmp_path) == 2


@pytest.mark.parametrize("line_breaks", [0, 1])
def test_lines_without_line_breaks_are_refused_and_kept(copy, line_breaks):
    lines = copy.read_bytes().splitlines()
    spoiled = b"\n".join([*lines[:line_breaks], b"\r".join(lines[line_breaks:])])
    for content in (spoiled, b"notes of mine"):
        copy.write_bytes(content)
        with pytest.raises(RecordError, match="what would be cut off is more than half a line; move it away or delete"):
            runner.run(TINY, copy.parent, bar=False)
        assert copy.read_bytes() == content


def test_two_runs_at_once_are_told_apart_and_corrupt_nothing(tmp_path, hold, complete):
    processes = [start("run", "tiny", "--records", tmp_path, hold=hold, stderr=subprocess.PIPE) for _ in range(3)]
    until(lambda: sum(process.poll() is not None for process in processes) == 2, 60)
    hold.unlink()
    ended = sorted(finish(process) for process in processes)
    assert [status for status, _ in ended] == [0, 1, 1]
    for _, errors in ended[1:]:
        assert errors == (
            f"Another run of the study tiny holds {tmp_path / 'tiny.jsonl'}; wait until it ends, or stop it.\n"
        )
    assert numbers(tmp_path) == numbers(complete)


def test_a_system_without_locks_reads_records_and_says_why_it_measures_none(complete, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "fcntl", None)
    assert len(load_study(TINY, complete)) == 24
    assert command("run", "tiny", "--records", complete) == 1
    assert capsys.readouterr().err.startswith("Studies run on Linux and macOS")


def test_worker_processes_do_not_hold_the_record(tmp_path, hold):
    """A killed run's workers may live on for a moment; the next run need not wait for them."""
    process = start("run", "tiny", "--records", tmp_path, "--jobs", 2, hold=hold, stderr=subprocess.DEVNULL)
    until(lambda: recorded(tmp_path) >= 2, 60)
    children = psutil.Process(process.pid).children(recursive=True)
    for child in children:
        child.suspend()
    process.kill()
    process.wait()
    with record.writer(TINY, tmp_path):
        pass
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()


# --- records that do not fit ---------------------------------------------------------------------------------------


def line(number, **changes):
    """Change entries of one line of a record."""

    def spoil(lines):
        lines[number] = json.dumps(json.loads(lines[number]) | changes)

    return spoil


def cut(lines):
    lines[7] = lines[7][:50]


def number_alone(lines):
    lines[7] = "3"


def nested(lines):
    lines[7] = "[" * 100_000


def without_seconds(lines):
    lines[4] = json.dumps({name: value for name, value in json.loads(lines[4]).items() if name != "seconds"})


def twice(lines):
    lines.append(lines[5])


def without_seed(lines):
    point = json.loads(lines[4])
    del point["seed"]
    lines[4] = json.dumps(point)


@pytest.mark.parametrize(
    ("today", "spoil", "reason"),
    [
        (replace(TINY, settings={"epochs": 50}), None, "epochs is 40 there and 50 today"),
        (replace(TINY, settings={"epochs": 40, "more": 1}), None, "more is missing there and 1 today"),
        (replace(TINY, version=2), None, "version is 1 there and 2 today"),
        (replace(TINY, meaning={"0.1": "slow"}), None, "0.1 is missing there and slow today"),
        (
            replace(TINY, grid=[{"seed": SEEDS, "depth": [1, 2], "learning_rate": [0.1, 0.3]}]),
            None,
            "axes is ['depth', 'learning_rate', 'seed'] there and ['seed', 'depth', 'learning_rate'] today",
        ),
        (
            replace(TINY, grid=[{"depth": [1, 2], "learning_rate": [0.1], "seed": SEEDS}]),
            None,
            "learning_rate=0.3 seed=",
        ),
        (TINY, line(0, study="large"), "study is large there and tiny today"),
        (TINY, line(9, depth=3), "line 10 has depth=3"),
        (TINY, cut, "line 8 cannot be read"),
        (TINY, number_alone, "line 8 is no dictionary"),
        (TINY, twice, "for the second time"),
        (TINY, without_seed, "line 5 lacks seed"),
        (TINY, without_seconds, "line 5 lacks seconds"),
        (TINY, line(4, seconds="long"), "line 5 has seconds=long, which is no number"),
        (TINY, line(4, seed=[1]), "seed=[1], which is no point of its grid"),
        (TINY, line(4, seed={}), "seed={}, which is no point of its grid"),
        (TINY, line(1, versions=5), "line 2 lacks depth, learning_rate, seed, seconds"),
        (TINY, line(4, test_accuracy=math.nan), "line 5 cannot be read (NaN came, but a number was expected)"),
        (TINY, nested, "line 8 cannot be read (maximum recursion depth exceeded"),
    ],
)
def test_a_record_that_does_not_fit_is_refused_with_the_reason(copy, today, spoil, reason):
    if spoil:
        lines = copy.read_text(encoding="utf8").splitlines()
        spoil(lines)
        copy.write_text("\n".join(lines) + "\n", encoding="utf8")
    before = copy.read_bytes()
    for use in (lambda: runner.run(today, copy.parent, bar=False), lambda: load_study(today, copy.parent)):
        with pytest.raises(RecordError) as error:
            use()
        assert str(error.value).startswith(f"The record {copy} does not fit today's study tiny: ")
        assert reason in str(error.value)
        assert str(error.value).endswith("; move it away or delete it, and the next run measures anew.")
    assert copy.read_bytes() == before


def test_more_values_on_an_axis_are_welcome(copy):
    larger = replace(TINY, grid=[*TINY.grid, {"depth": [0], "learning_rate": [0.1], "seed": [0, 1]}])
    with pytest.raises(RecordError, match=r"holds 24 of 26 points; run  python -m highway_lessons.studies run tiny  "):
        load_study(larger, copy.parent)
    assert runner.run(larger, copy.parent, bar=False) == 2
    assert len(load_study(larger, copy.parent)) == 26


def test_other_versions_are_noted_where_they_begin(copy, monkeypatch):
    lines = copy.read_text(encoding="utf8").splitlines()
    copy.write_text("\n".join(lines[:-1]) + "\n", encoding="utf8")
    real = runner.versions()
    monkeypatch.setattr(runner, "versions", lambda: real | {"numpy": "9.9"})
    runner.run(TINY, copy.parent, bar=False)
    assert [versions["numpy"] for versions in record.read(TINY, copy.parent).versions] == [real["numpy"], "9.9"]
    assert json.loads(copy.read_text(encoding="utf8").splitlines()[-2]) == {"versions": real | {"numpy": "9.9"}}


@pytest.mark.parametrize("asked", [["list"], ["show", "where"], ["run", "where"]], ids=" ".join)
def test_a_folder_that_is_a_file_and_a_record_that_is_a_folder_are_told(tmp_path, capsys, asked):
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.touch()
    (folder / "where.jsonl").mkdir(parents=True)
    for records, why in {file: "Not a directory|File exists", folder: "Is a directory"}.items():
        assert command(*asked, "--records", records) == (0 if asked == ["list"] else 1)
        done = "written" if "run" in asked else "read"
        assert re.search(
            rf"^The record {records}/where.jsonl cannot be {done} \(({why})\); put that right, "
            r"or name another folder with --records\.$",
            "".join(capsys.readouterr()),
            re.MULTILINE,
        )


def test_a_full_disk_is_told_and_what_was_written_is_kept(copy, capsys, monkeypatch):
    copy.write_bytes(b"".join(copy.read_bytes().splitlines(keepends=True)[:-2]))

    def write(descriptor, content):
        if room:
            return real(descriptor, content[: room.pop()])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    real, room = os.write, [10]
    monkeypatch.setattr(os, "write", write)
    assert command("run", "tiny", "--records", copy.parent) == 1
    assert capsys.readouterr().err.splitlines()[-1] == (
        f"The record {copy} cannot be written (No space left on device); put that right, "
        "or name another folder with --records."
    )
    assert recorded(copy.parent) == 22
    monkeypatch.undo()
    assert command("run", "tiny", "--records", copy.parent) == 0
    assert recorded(copy.parent) == 24


# --- the command line ----------------------------------------------------------------------------------------------


def test_list_tells_how_far_each_study_is(complete, capsys):
    assert command("list", "--records", complete) == 0
    head, tiny, *others = capsys.readouterr().out.splitlines()
    assert head.split() == ["study", "done", "of", "minutes", "spent", "question"]
    assert re.fullmatch(r"tiny +24 +24 +\d+\.\d  Do small networks learn small spirals\?", tiny)
    assert [other.split()[:3] for other in others] == [["where", "0", "12"], ["broken", "0", "3"]]


def test_list_goes_on_after_a_record_that_does_not_fit(copy, capsys):
    other = {"tiny": replace(TINY, version=2), "where": STUDIES["where"]}
    assert main(["list", "--records", str(copy.parent)], studies=other) == 0
    _, refused, where = capsys.readouterr().out.splitlines()
    assert "version is 1 there and 2 today" in refused
    assert where.split()[0] == "where"


def test_show_prints_question_axes_versions_and_results(complete, capsys):
    assert command("show", "tiny", "--records", complete) == 0
    output = capsys.readouterr().out
    results = load_study(TINY, complete)
    accuracy = results.select(depth=2, learning_rate=0.1).array("test_accuracy")
    for expected in (
        "tiny: Do small networks learn small spirals?\n\nIt decides nothing. A surprise would be",
        "depth: 1, 2\nlearning_rate: 0.1, 0.3\nseed: 0, 1, 2, 3, 4, 5\nepochs = 40\n",
        "24 of 24 points are recorded",
        f"numpy {np.__version__}",
        f"2      0.1            {accuracy.mean():.3f} {accuracy.min():.3f} {accuracy.max():.3f}   6  0\n",
        "depth  learning_rate  mean  least most   n  diverged\n",
    ):
        assert expected in output


@pytest.mark.parametrize("asked", ["list", "show depth"])
def test_a_reader_of_the_output_may_leave_early(asked):
    command = f"{sys.executable} -m highway_lessons.studies {asked} | true"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_show_without_a_record(tmp_path, capsys):
    assert command("show", "where", "--records", tmp_path) == 0
    assert "0 of 12 points are recorded" in capsys.readouterr().out


def test_show_where_no_accuracy_was_measured(tmp_path, capsys):
    assert command("run", "where", "--records", tmp_path, "--only", "seed=0") == 0
    assert command("show", "where", "--records", tmp_path) == 0
    output = capsys.readouterr().out
    assert "1 of 12 points are recorded" in output
    assert "Test accuracy" not in output


@pytest.mark.parametrize(
    ("only", "sentence"),
    [
        (["width=3"], "tiny: --only takes AXIS=VALUE with an axis of depth, learning_rate, seed, but width=3 came."),
        (["depth"], "tiny: --only takes AXIS=VALUE with an axis of depth, learning_rate, seed, but depth came."),
        (["depth=3"], "tiny: depth takes the values 1, 2, but depth=3 came."),
        (["depth=1", "depth=2"], "No point of tiny fits depth=1 depth=2; ask for less."),
    ],
)
def test_only_in_vain(tmp_path, capsys, only, sentence):
    assert command("run", "tiny", "--records", tmp_path, "--only", *only) == 1
    assert capsys.readouterr().err == sentence + "\n"
    assert not (tmp_path / "tiny.jsonl").exists()


def test_only_must_fit_every_study_before_the_first_runs(tmp_path, capsys):
    assert command("run", "all", "--records", tmp_path, "--only", "depth=1", "seed=0") == 1
    assert capsys.readouterr().err == "where: --only takes AXIS=VALUE with an axis of seed, but depth=1 came.\n"
    assert list(tmp_path.iterdir()) == []


def test_only_reads_numbers_however_they_are_written():
    assert {point["learning_rate"] for point in TINY.only(["learning_rate=1e-1"])} == {0.1}
    assert len(TINY.only([])) == 24
    mixed = Study(TINY.measure, [{"gate_bias": [None, -2.0, "-ln depth"], "seed": [0]}])
    for text, value in {"None": None, "-2": -2.0, "-ln depth": "-ln depth"}.items():
        assert [point["gate_bias"] for point in mixed.only([f"gate_bias={text}"])] == [value]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["run", "nothing"], "invalid choice: 'nothing'"),
        (["run", "tiny", "--jobs", "0"], "a number of processes, at least 1, was expected, but 0 came"),
        (["run", "tiny", "--jobs", "²"], "a number of processes, at least 1, was expected, but ² came"),
    ],
)
def test_a_wrong_command_is_told(capsys, arguments, sentence):
    with pytest.raises(SystemExit) as end:
        command(*arguments)
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_mistake_in_a_training_names_the_point_and_keeps_what_was_done(tmp_path, jobs):
    with pytest.raises(ZeroDivisionError) as error:
        runner.run(STUDIES["broken"], tmp_path, jobs=jobs, bar=False)
    assert any("{'seed': 1} of broken" in note for note in error.value.__notes__)
    runner.run(STUDIES["broken"], tmp_path, only=["seed=0,2"], bar=False)
    assert recorded(tmp_path, STUDIES["broken"]) == 2


def test_a_training_without_results_names_the_point():
    with pytest.raises(TypeError) as error:
        runner.measure(lambda seed: None, {"seed": 1}, {})
    assert any("the point {'seed': 1} of" in note for note in getattr(error.value, "__notes__", []))


def test_a_result_named_like_an_axis_is_not_recorded(tmp_path):
    with record.writer(TINY, tmp_path) as writer, pytest.raises(ValueError, match=r"does so with \['depth'\]"):
        writer.add(TINY.points()[0], {"depth": 3, "train_loss": 0.1}, {})
    assert recorded(tmp_path) == 0


@pytest.mark.parametrize("result", [math.nan, -math.inf, np.float32(1), np.arange(3), [0.5, math.nan]], ids=repr)
def test_a_result_that_a_record_cannot_hold_names_the_point(tmp_path, result):
    point = TINY.points()[0]
    with record.writer(TINY, tmp_path) as writer:
        with pytest.raises(RecordError) as error:
            writer.add(point, {"train_loss": result}, {})
        writer.add(point, {"train_loss": 0.5, "seconds": 0.1}, {})
    assert str(error.value).startswith("tiny gave at depth=1 learning_rate=0.1 seed=0 what a record cannot hold (")
    assert str(error.value).endswith("); return plain finite numbers, texts, None, or lists of them.")
    assert recorded(tmp_path) == 1


@pytest.mark.parametrize("study", studies.STUDIES.values(), ids=studies.STUDIES)
def test_every_study_runs_is_recorded_and_read(study, tmp_path):
    """One point of each kind of block, of the smallest depth above 0, for one epoch; the record is read back."""
    short = {"epochs": [1]} if "epochs" in study.axes else {}
    first = {}
    for point in study.points():
        if point.get("depth", 1) <= 20 and point["seed"] == study.points()[0]["seed"]:
            first.setdefault((point.get("block"), point.get("width"), point.get("gate_initialiser")), point)
    settings = study.settings if short else study.settings | {"epochs": 1}
    grid = [{axis: [value] for axis, value in point.items()} | short for point in first.values()]
    small = replace(study, grid=grid, settings=settings)
    assert runner.run(small, tmp_path, bar=False) == len(first)
    results = load_study(small, tmp_path)
    accuracy = "test_accuracy" if "test_accuracy" in results.measured() else "validation_accuracy"
    assert all(0 <= point[accuracy] <= 1 and point["epochs_done"] == 1 for point in results)
    assert ("curves" in results.measured()) == study.settings.get("curves", False)
    matched = [p for p in results if p.get("width") == "matched"]
    assert all(isinstance(p["actual_width"], int) for p in matched)


# --- one process, two, a cluster -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def scheduler():
    """The address of a Dask scheduler with two worker processes."""
    from dask.distributed import LocalCluster

    before = os.environ.copy()
    os.environ.update(PYTHONPATH=str(COMMAND.parent), OPENBLAS_NUM_THREADS="2", OMP_NUM_THREADS="2")
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address
    os.environ.clear()
    os.environ.update(before)


def test_a_point_gives_the_same_alone_in_two_processes_and_on_dask(tmp_path, complete, scheduler):
    status, errors = finish(start("run", "tiny", "--jobs", 2, "--records", tmp_path / "2", stderr=subprocess.PIPE))
    assert status == 0, errors
    assert command("run", "tiny", "--scheduler", scheduler, "--records", tmp_path / "dask") == 0
    assert numbers(tmp_path / "2") == numbers(complete)
    assert numbers(tmp_path / "dask") == numbers(complete)
    alone = runner.measure(TINY.measure, {"depth": 2, "learning_rate": 0.3, "seed": 4}, TINY.settings)[1]
    (there,) = (p for p in numbers(complete) if (p["depth"], p["learning_rate"], p["seed"]) == (2, 0.3, 4))
    assert all(alone[name] == there[name] for name in there if name not in TINY.axes)


def test_the_work_is_done_in_two_processes_with_one_thread_each(tmp_path, scheduler):
    for folder, arguments in {"1": ["--jobs", 1], "2": ["--jobs", 2], "dask": ["--scheduler", scheduler]}.items():
        process = start("run", "where", *arguments, "--records", tmp_path / folder, stderr=subprocess.PIPE)
        status, errors = finish(process)
        assert status == 0, errors
        points = load_study(STUDIES["where"], tmp_path / folder).points
        assert len({point["process"] for point in points} | {process.pid}) == (1 if folder == "1" else 3)
        assert {point["threads"] for point in points} == {1}


@pytest.mark.parametrize("jobs", [24, 99999999999999999999])
def test_there_are_no_more_processes_than_points(tmp_path, monkeypatch, jobs):
    import joblib

    asked = []

    def parallel(n_jobs, **options):
        asked.append(n_jobs)
        return real(n_jobs, **options)

    real = joblib.Parallel
    monkeypatch.setattr(joblib, "Parallel", parallel)
    assert runner.run(STUDIES["where"], tmp_path, only=["seed=0,1"], jobs=jobs, bar=False) == 2
    assert runner.run(STUDIES["where"], tmp_path, only=["seed=0,1,2"], jobs=jobs, bar=False) == 1
    assert asked == [2, 1]


def test_a_cluster_of_one_thread_does_the_work_too(tmp_path):
    from dask.distributed import LocalCluster

    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        runner.run(STUDIES["where"], tmp_path, only=["seed=0,1"], scheduler=cluster.scheduler_address, bar=False)
    processes = {point["process"] for point in load_study(STUDIES["where"], tmp_path, complete=False)}
    assert len(processes) == 1
    assert os.getpid() not in processes


def test_a_mistake_on_dask_ends_the_run(tmp_path, scheduler):
    with pytest.raises(ZeroDivisionError) as error:
        runner.run(STUDIES["broken"], tmp_path, scheduler=scheduler, bar=False)
    assert any("{'seed': 1} of broken" in note for note in error.value.__notes__)


def test_a_lost_worker_is_replaced_and_a_lost_scheduler_is_told(tmp_path, hold, complete):
    """The scheduler and the workers are started by Dask's own commands, as on a cluster."""
    dask = Path(sys.executable).with_name("dask")
    environment = os.environ | {"PYTHONPATH": str(COMMAND.parent), "HOLD": str(hold)}
    quiet = {"env": environment, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    file = tmp_path / "scheduler.json"
    options = ["--scheduler-file", file, "--no-dashboard"]
    cluster = [subprocess.Popen([dask, "scheduler", "--port", "0", *options], **quiet)]
    try:
        until(file.exists, 60)
        address = json.loads(file.read_text(encoding="utf8"))["address"]
        worker = [dask, "worker", "--nthreads", "1", "--no-nanny", *options]
        cluster += [subprocess.Popen(worker, **quiet) for _ in range(2)]
        process = start("run", "tiny", "--scheduler", address, "--records", tmp_path, stderr=subprocess.PIPE)
        until(lambda: recorded(tmp_path) >= 3, 60)
        cluster[1].kill()
        until(lambda: recorded(tmp_path) >= 8, 60)
        cluster[0].kill()
        status, errors = finish(process)
        assert status == 1
        assert errors.splitlines()[-1] == (
            f"The Dask scheduler at {address} is gone; every finished point is on disk, and the same command goes on "
            "from there."
        )
        assert "runner.py" not in errors  # Dask's own threads may log a traceback; ours does not
        assert 8 <= recorded(tmp_path) < 24
        hold.unlink()
        assert finish(start("run", "tiny", "--records", tmp_path, stderr=subprocess.PIPE))[0] == 0
        assert numbers(tmp_path) == numbers(complete)
    finally:
        for one in cluster:
            one.kill()
            one.wait()


def test_a_scheduler_that_is_not_there_is_told(tmp_path, capsys, monkeypatch):
    import dask.distributed

    def client(address, **options):
        return real(address, **options | {"timeout": 1})

    real = dask.distributed.Client
    monkeypatch.setattr(dask.distributed, "Client", client)
    assert command("run", "tiny", "--scheduler", "tcp://127.0.0.1:9", "--records", tmp_path) == 1
    errors = capsys.readouterr().err
    assert "No Dask scheduler answers at tcp://127.0.0.1:9" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("address", ["nonsense", "", "foo://1", "tcp://127.0.0.1", "127.0.0.1:abc", "inproc://x"])
def test_a_malformed_address_is_told_before_dask_starts(tmp_path, capsys, monkeypatch, address):
    """Dask would leave a half-made client behind, and that a traceback 40 seconds later."""
    import dask.distributed

    monkeypatch.setattr(dask.distributed, "Client", lambda *_, **__: pytest.fail("a client was made"))
    assert command("run", "tiny", "--scheduler", address, "--records", tmp_path) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"No Dask scheduler answers at {address} (")
    assert last.endswith("); give the address that  dask scheduler  prints.")


def test_without_dask_it_is_told_what_to_install(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.distributed", None)
    assert command("run", "tiny", "--scheduler", "tcp://127.0.0.1:9", "--records", tmp_path) == 1
    assert "pip install 'highway-lessons[cluster]'" in capsys.readouterr().err


def test_imports_stay_lean():
    """Reading a record needs numpy; joblib, tqdm and Dask come with a run."""
    code = """
import sys, highway_lessons, highway_lessons.studies, highway_lessons.studies.__main__ as command
command.main(["list"])
print(sorted({"joblib", "tqdm", "dask", "distributed", "sklearn", "torch", "matplotlib"} & set(sys.modules)))
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.splitlines()[-1] == "[]"


# --- reading results -----------------------------------------------------------------------------------------------


def test_arrays_over_the_seeds(complete):
    results = load_study(TINY, complete)
    assert results.values("learning_rate") == [0.1, 0.3]
    loss = results.array("train_loss", "learning_rate", "depth")
    assert loss.shape == (2, 2, 6)
    (point,) = results.select(depth=1, learning_rate=0.3, seed=5)
    assert loss[1, 0, 5] == point["train_loss"] > 0
    assert len(point["curves"]["test_accuracy"]) == 40
    assert "curves" not in results.select(depth=2).points[0]
    assert len(results.select(seed=[0, 1], depth=2)) == 4


def test_best_takes_the_highest_mean(complete):
    results = load_study(TINY, complete)
    means = results.array("train_accuracy", "depth", "learning_rate").mean(axis=2)
    best = results.best("learning_rate", by="train_accuracy")
    assert len(best) == 12
    for depth, row in zip([1, 2], means, strict=True):
        assert best.select(depth=depth).values("learning_rate") == [[0.1, 0.3][row.argmax()]]


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda r: r.array("train_loss"), "depth still has the values 1, 2; select one of them first"),
        (
            lambda r: r.array("loss", "depth", "learning_rate"),
            "'loss' is not among what was measured at every point: parameters, ",
        ),
        (lambda r: r.select(width=3), "The axes are depth, learning_rate, seed, but 'width' came."),
        (lambda r: r.select(depth=3), "depth takes the values 1, 2, but 3 came."),
        (lambda r: r.select(depth=np.array([[1, 3]])), "depth takes the values 1, 2, but 3 came."),
        (lambda r: r.select(depth={1, 2}), "depth takes the values 1, 2, but {1, 2} came."),
        (lambda r: r.array("train_loss", "width"), "The axes are depth, learning_rate, seed, but 'width' came."),
        (lambda r: r.array("train_loss", ["depth"]), "The axes are depth, learning_rate, seed, but ['depth'] came."),
        (lambda r: r.array("train_loss", "depth", "learning_rate", "seed"), "and not seed, which is always the last, "),
        (lambda r: r.array("train_loss", "depth", "learning_rate", "depth"), "Name each axis once, and not seed, "),
        (lambda r: r.array("curves", "depth", "learning_rate"), "'curves' is not among what was measured at every"),
        (lambda r: r.select(depth=1).array("curves", "learning_rate"), "'curves' is not a number but a dict at some"),
        (lambda r: r.best("learning_rate"), "'validation_accuracy' is not among what was measured"),
        (lambda r: r.best("width", by="train_loss"), "The axes are depth, learning_rate, seed, but 'width' came."),
        (lambda r: r.select(depth=1).best("learning_rate", by="curves"), "'curves' is not a number but a dict at some"),
    ],
)
def test_wrong_questions_are_told(complete, ask, sentence):
    with pytest.raises(ValueError, match=re.escape(sentence)):
        ask(load_study(TINY, complete))


def test_a_text_is_no_number(complete):
    """It says why a training stopped; where none did, it is None everywhere."""
    points = load_study(TINY, complete).points
    results = Results(TINY.axes, [points[0] | {"stopped": "1.5"}, *points[1:]])
    with pytest.raises(ValueError, match=re.escape("[point['stopped'] for point in results].")):
        results.array("stopped", "depth", "learning_rate")


def test_several_values_are_chosen_however_they_are_listed(complete):
    results = load_study(TINY, complete)
    for several in ([0.1, 0.3], (0.1, 0.3), np.array([0.1, 0.3])):
        assert results.select(learning_rate=several).points == results.points
    for several in (range(1, 3), [1, 2], np.arange(1, 3)):
        assert results.select(seed=several).array("train_loss", "depth", "learning_rate").shape == (2, 2, 2)
    assert len(results.select(depth=np.array(1))) == len(results.select(depth=np.float64(1))) == 12


def test_a_hole_in_an_array_is_told(tmp_path):
    runner.run(TINY, tmp_path, only=["depth=1", "learning_rate=0.1", "seed=0"], bar=False)
    runner.run(TINY, tmp_path, only=["depth=2", "learning_rate=0.1", "seed=1"], bar=False)
    with pytest.raises(ValueError, match="There is no point with depth 1, seed 1"):
        load_study(TINY, tmp_path, complete=False).array("train_loss", "depth")


def test_a_missing_record_is_told(tmp_path):
    with pytest.raises(
        RecordError, match=r"tiny holds 0 of 24 points; run  python -m highway_lessons.studies run tiny"
    ):
        load_study(TINY, tmp_path)
    with pytest.raises(ValueError, match=r"name must be one of 'depth', .* but 'dept' came"):
        studies.load("dept")


def test_a_training_that_diverges_is_a_result(tmp_path):
    diverging = replace(TINY, grid=[{"depth": [1], "learning_rate": [1e300], "seed": [0]}])
    assert runner.run(diverging, tmp_path, bar=False) == 1
    (point,) = load_study(diverging, tmp_path)
    assert "(epoch 1); lower the learning rate." in point["stopped"]
    assert point["epochs_done"] == 0
    assert point["curves"]["train_loss"] == []
    assert [point[name] for name in ("train_loss", "test_accuracy", "last_batch_loss")] == [None] * 3
    assert np.isnan(load_study(diverging, tmp_path).array("test_accuracy")).tolist() == [True]
    assert main(["show", "tiny", "--records", str(tmp_path)], studies={"tiny": diverging}) == 0


# --- what a study is -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("study", studies.STUDIES.values(), ids=studies.STUDIES)
def test_every_study_says_what_it_decides_and_repeats_it_over_seeds(study):
    text = " ".join(study.measure.__doc__.split())
    assert text.split("?")[0].count(" ") > 5
    for phrase in ("It decides", "Expected:", "Surprises would be", "float"):
        assert phrase in text
    points = study.points()
    cells = {tuple(point[axis] for axis in study.axes if axis != "seed") for point in points}
    seeds = {"search": range(20), "search_wider": range(20, 26), "fresh_seeds": range(100, 110)}
    seeds = set(seeds.get(study.name, range(5)))
    assert len(points) == len(seeds) * len(cells)
    assert {point["seed"] for point in points} == seeds
    assert json.loads(json.dumps(study.definition(), allow_nan=False)) == study.definition()


@pytest.mark.parametrize(
    ("grid", "error"),
    [
        ([{"depth": [1]}], "the same axes, among them seed"),
        ([{"depth": [1], "seed": [0]}, {"seed": [0], "depth": [2]}], "the same axes"),
        ([{"depth": [1, 2], "seed": [0]}, {"depth": [2], "seed": [0]}], "depth=2 seed=0 comes twice"),
    ],
)
def test_a_grid_that_is_none_is_told(grid, error):
    with pytest.raises(ValueError, match=error):
        Study(TINY.measure, grid)
    with pytest.raises(StudyError):
        TINY.only(["nothing=1"])


def test_the_grids_hold_what_they_promise():
    depth = studies.STUDIES["depth"].points()
    kinds = {(p["block"], p["gate_bias"]) for p in depth if p["depth"] == 100 and p["initialiser"] == "he"}
    assert kinds >= {("plain", None), ("highway", -2.0), ("highway", "-ln depth"), ("residual", None)}
    assert {p["depth"] for p in depth if p["block"] == "plain"} == {1, 2, 5, 10, 20, 30, 50, 75, 100}
    assert len({p["learning_rate"] for p in depth if p["block"] == "none" and p["width"] == 64}) > 3
    gate_bias = [p for p in studies.STUDIES["gate_bias"].points() if p["dtype"] == "float32"]
    assert len(gate_bias) == 9 * 7 * 3 * 5


# --- the trainings -------------------------------------------------------------------------------------------------


def test_the_published_training_is_a_point_of_the_depth_study():
    point = {"block": "plain", "depth": 5, "gate_bias": None, "width": 64, "initialiser": "uniform"}
    point |= {"learning_rate": 1e-3, "dtype": "float64", "seed": 0}
    study = studies.STUDIES["depth"]
    assert point in study.points()
    ours, theirs = study.measure(**point, **study.settings), published.train(Plain(), 5)
    assert round(ours["test_accuracy"], 4) == theirs["accuracy"]
    assert round(ours["last_batch_loss"], 3) == theirs["loss"]
    assert ours["curves"]["test_accuracy"][-1] == pytest.approx(ours["test_accuracy"], abs=1e-4)


def test_the_records_hold_the_published_trainings():
    """The six of F6 and the three of F7, float64 and seed 0; the plain one of 20 blocks is chaotic, so it is near."""
    depth, gate_bias = (studies.load(name).select(dtype="float64", seed=0) for name in ("depth", "gate_bias"))
    for row in published.ROWS:
        if row.figure == "F7":
            found = gate_bias.select(gate_bias=row.block.gate_bias)
        elif row.block == Plain():
            found = depth.select(block="plain", depth=row.depth)
        else:
            found = depth.select(block="highway", depth=row.depth)
        (point,) = found
        if (row.block, row.depth) == (Plain(), 20):
            assert 0.15 < point["test_accuracy"] < 0.65
            assert 1.0 < point["last_batch_loss"] < 1.7
            continue
        assert point["test_accuracy"] == pytest.approx(row.accuracy, abs=1e-4)
        if row.loss is not None:
            assert point["last_batch_loss"] == pytest.approx(row.loss, abs=6e-4)


def test_matched_widths_are_those_of_the_reference():
    depths = [1, 2, 5, 10, 20, 50, 100]
    totals = [Network(Highway(), depth).n_parameters for depth in depths]
    plain = [trainings.matched_width(Plain(), depth, total) for depth, total in zip(depths, totals, strict=True)]
    assert plain == [83, 86, 89, 90, 90, 90, 91]
    assert trainings.matched_width(Plain(), 0, totals[5]) == 5611
    assert trainings.matched_width(Highway(), 10, 1482, n_in=2, n_classes=2) == 8
    assert Network(Highway(), 10, 8, 2, 2).n_parameters == 1482


def test_matched_width_is_the_nearest():
    for total in range(1, 300):
        found = trainings.matched_width(Highway(), 2, total, n_in=3, n_classes=4)
        missed = [abs(Network(Highway(), 2, width, 3, 4).n_parameters - total) for width in range(1, 12)]
        assert missed[found - 1] == min(missed)


def test_no_blocks_are_tuned_on_images_that_are_neither_trained_on_nor_tested_on():
    data = trainings.digits(0)
    tuning = trainings.four_fifths(data, 0)
    assert (len(tuning.x_train), len(tuning.x_test)) == (1006, 251)
    together = np.concatenate([tuning.x_train, tuning.x_test])
    np.testing.assert_array_equal(np.sort(together.sum(axis=1)), np.sort(data.x_train.sum(axis=1)))
    result = trainings.train_on_digits("none", 0, 0, epochs=3)
    assert 0.3 < result["validation_accuracy"] < 1
    assert result["validation_accuracy"] * 251 == pytest.approx(round(result["validation_accuracy"] * 251), abs=1e-3)
    assert "validation_accuracy" not in trainings.train_on_digits("plain", 1, 0, epochs=1)


def test_spirals_follow_the_recipe():
    result = trainings.train_on_spirals(
        "highway", 3, 0, turns=5, width=8, total=1482, learning_rate=0.01, epochs=2, batch_size=128, dtype="float32"
    )
    assert result["epochs_done"] == 2
    assert 0.4 < result["validation_accuracy"] <= 1
    assert trainings.make_block("highway", 10, min(-1.0, -math.log(9)), "tanh") == Highway(-math.log(9), "tanh")
    data, x, y = trainings.spirals(5, 0)
    assert (len(data.x_train), len(data.x_test), len(x), len(y)) == (8000, 4000, 4000, 4000)
    assert not set(map(tuple, x)) & set(map(tuple, data.x_test))
    study = studies.STUDIES["depth_spirals"]
    assert 80 * math.ceil(8000 / study.settings["batch_size"]) == 5040


def test_gate_weights_apart_from_the_others():
    """Only W_T differs, and the examples come in the same order."""
    options = {"gate_bias": -2.0, "initialiser": "he", "epochs": 1}
    results = {
        g: trainings.train_on_digits("highway", 2, 0, gate_initialiser=g, **options) for g in (None, "zero", "he")
    }
    losses = [result["train_loss"] for result in results.values()]
    assert len(set(losses)) == 3
    network, rng = Network(Highway(-2.0), 2), np.random.default_rng(0)
    params = network.initialise(rng, "he", "float32")
    for views in params.blocks:
        views["W_T"][:] = 0
    run = training.fit(network, trainings.digits(0), epochs=1, rng=rng, params=params)
    assert results["zero"]["test_accuracy"] == pytest.approx(run.history["test_accuracy"][-1], abs=1e-5)


# --- the records ---------------------------------------------------------------------------------------------------

RECORDED = sorted(path.stem for path in record.RECORDS.glob("*.jsonl"))


@pytest.mark.parametrize("name", RECORDED)
def test_a_record_in_the_package_is_complete_and_whole(name):
    study = studies.STUDIES[name]
    assert len(studies.load(name)) == len(study.points())
    content = record.path(study).read_bytes()
    assert content.endswith(b"\n")
    assert record.read(study).size == len(content)


def test_the_records_are_small():
    assert sum(path.stat().st_size for path in record.RECORDS.glob("*")) < 5e6


def test_every_study_is_recorded():
    assert sorted(studies.STUDIES) == RECORDED


def test_the_book_says_how_long_the_records_took():
    points = [point for name in RECORDED for point in studies.load(name)]
    hours = sum(point["seconds"] for point in points) / 3600
    page = (Path(__file__).parents[1] / "book" / "appendix" / "how-built.md").read_text(encoding="utf8")
    assert f"{len(points)} trainings of the {len(RECORDED)} studies took {hours:.1f} hours of one processor" in page
