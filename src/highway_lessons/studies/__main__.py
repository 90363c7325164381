"""The command line: `python -m highway_lessons.studies list | run NAME … | show NAME`."""

import argparse
import inspect
import os
import sys

import numpy as np

from highway_lessons.studies import STUDIES, record, runner
from highway_lessons.studies.results import load_study
from highway_lessons.studies.study import StudyError


def main(arguments=None, studies=STUDIES):
    """Do what the command line asks; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m highway_lessons.studies", description=__doc__.split(":")[0] + ".")
    commands = parser.add_subparsers(dest="command", required=True)
    listing = commands.add_parser("list", help="list the studies and how far they are")
    run = commands.add_parser("run", help="measure what a record lacks; what is killed goes on at the next run")
    show = commands.add_parser("show", help="show what a study asks and what was measured")
    run.add_argument("names", nargs="+", metavar="NAME", choices=[*studies, "all"], help="a study, or all")
    run.add_argument("--jobs", type=_at_least_one, default=1, metavar="N", help="processes on this computer")
    run.add_argument("--scheduler", metavar="ADDRESS", help="use the workers of this dask.distributed scheduler")
    run.add_argument(
        "--only",
        nargs="+",
        action="extend",
        default=[],
        metavar="AXIS=VALUE",
        help="after the names: points with this value, or a,b,c",
    )
    show.add_argument("name", metavar="NAME", choices=list(studies))
    for command in (listing, run, show):
        command.add_argument("--records", default=record.RECORDS, metavar="FOLDER", help="where the records are")
    asked = parser.parse_args(arguments)
    try:
        if asked.command == "list":
            _list(studies.values(), asked.records)
        elif asked.command == "show":
            _show(studies[asked.name], asked.records)
        else:
            chosen = [studies[name] for name in (studies if "all" in asked.names else asked.names)]
            for study in chosen:
                study.only(asked.only)  # refused before the first runs, if one does not fit
            for study in chosen:
                _run(study, asked)
        sys.stdout.flush()
    except BrokenPipeError:  # whoever read the output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (StudyError, ConnectionError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. Every finished point is on disk; the same command goes on from there.", file=sys.stderr)
        return 130
    return 0


def _at_least_one(text):
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a number of processes, at least 1, was expected, but {text} came")
    return int(text)


def _run(study, asked):
    done = runner.run(study, asked.records, only=asked.only, jobs=asked.jobs, scheduler=asked.scheduler)
    points = "point" if done == 1 else "points"
    print(f"{study.name}: {done} {points} measured; the record is {record.path(study, asked.records)}.")


def _list(studies, folder):
    """Print a line for each study: points done, points in all, the time that those done took, and its question."""
    print(f"{'study':16}{'done':>6} {'of':>5} {'minutes spent':>13}  question")
    for study in studies:
        try:
            lines = record.read(study, folder).lines.values()
        except StudyError as error:
            print(error)
            continue
        minutes = sum(line["seconds"] for line in lines) / 60
        question = inspect.getdoc(study.measure).splitlines()[0]
        print(f"{study.name:16}{len(lines):6} {len(study.points()):5} {minutes:13.1f}  {question}")


def _show(study, folder):
    """Print what a study asks, its axes, what it was measured with, and the test accuracy over the seeds."""
    contents, results = record.read(study, folder), load_study(study, folder, complete=False)
    print(f"{study.name}: {inspect.getdoc(study.measure)}\n")
    for axis in study.axes:
        print(f"{axis}: {', '.join(map(str, dict.fromkeys(point[axis] for point in study.points())))}")
    for name, words in (study.settings | study.meaning).items():
        print(f"{name} = {words}")
    seconds = sum(point["seconds"] for point in results)
    print(f"\n{len(results)} of {len(study.points())} points are recorded; they took {seconds / 60:.1f} minutes.")
    for versions in contents.versions:
        print("measured with " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    axes = [axis for axis in study.axes if axis != "seed"]
    part = "test" if "test_accuracy" in results.measured() else "validation"  # a search leaves the test data alone
    cells = {}
    for point in results:
        if f"{part}_accuracy" in point:
            cells.setdefault(tuple(str(point[axis]) for axis in axes), []).append(point[f"{part}_accuracy"])
    widths = [max(map(len, column)) for column in zip(axes, *cells, strict=True)]

    def row(words):
        return "  ".join(f"{word:{width}}" for word, width in zip(words, widths, strict=True))

    if cells:
        print(
            f"\n{part.capitalize()} accuracy over the seeds: mean, least and most; how many (n), and how many diverged."
        )
        print(f"{row(axes)}  mean  least most   n  diverged")
    for words, found in cells.items():
        finite = [value for value in found if value is not None]
        numbers = f"{np.mean(finite):.3f} {min(finite):.3f} {max(finite):.3f}" if finite else f"{'–':5} {'–':5} {'–':5}"
        print(f"{row(words)}  {numbers} {len(found):3}  {len(found) - len(finite)}")


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(errors="replace")  # where a console or a pipe has no τ, it shows a ? in its place
    sys.exit(main())
