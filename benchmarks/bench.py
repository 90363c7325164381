"""Time the course's engine beside others that do the same job, and what a reader waits for. Run it by `make bench`.

Each contestant trains in a process of its own, with one thread, on one processor; they take turns, several rounds, and
medians count. On a busy machine seconds move by a third, ratios by less. All results go to results.json.
"""

import argparse
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from statistics import median

from tqdm import tqdm

from book import BUDGETS, PINNED, time_book

HERE = Path(__file__).parent
CONTESTANTS = {  # name: (script, title)
    "ours": ("contestants/ours.py", "ours: highway_lessons.fit, float32"),
    "listing": ("contestants/listing.py", "a plain NumPy listing, float64"),
    "torch": ("contestants/torch_eager.py", "PyTorch, eager"),
    "torch_compiled": ("contestants/torch_compiled.py", "PyTorch, compiled"),
    "jax": ("contestants/jax_scan.py", "JAX, jitted, a scan over blocks"),
    "ceiling": ("contestants/ceiling.py", "ceiling: the matrix products alone"),
}
ONE_THREAD = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
}


def run_alone(script, **variables):
    """Run a Python script with one thread on one processor; return what its last line says, or None if it fails."""
    environment = {key: value for key, value in os.environ.items() if key not in PINNED} | ONE_THREAD | variables
    keep = on_one_processor if hasattr(os, "sched_setaffinity") else None  # Linux has it
    try:
        done = subprocess.run(
            [sys.executable, HERE / script],
            env=environment,
            capture_output=True,
            text=True,
            preexec_fn=keep,
            timeout=1800,
            check=True,
        )
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.CalledProcessError as error:
        said = (error.stderr.strip() or "it says nothing").splitlines()[-1]
    except (subprocess.TimeoutExpired, IndexError, json.JSONDecodeError) as error:
        said = f"it gave no record ({type(error).__name__})"
    tqdm.write(f"{script} failed: {said}")
    return None


def on_one_processor():
    """Keep this process to one processor, so that a library's own pool of threads cannot use a second one."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def race(names, rounds, epochs):
    """Run the contestants in turn and return each one's records, one per round; None for a run that failed."""
    records = {name: [] for name in names}
    with tqdm(total=rounds * len(names)) as bar:
        for _ in range(rounds):
            for name in names:
                bar.set_description(CONTESTANTS[name][1])
                records[name].append(run_alone(CONTESTANTS[name][0], BENCH_EPOCHS=str(epochs)))
                bar.update()
    return records


def summary(records, epochs):
    """Return the medians by quantity and contestant; None for a contestant that always failed."""

    ran = {name: [run for run in runs if run] for name, runs in records.items()}

    def medians(value):
        return {name: median(map(value, runs)) if runs else None for name, runs in ran.items()}

    def beside_ours(runs):  # a ratio compares runs of the same round
        rounds = zip(runs, records.get("ours", []), strict=False)
        ratios = [run["seconds"] / ours["seconds"] for run, ours in rounds if run and ours]
        return median(ratios) if ratios else None

    return {
        "seconds": medians(lambda run: run["seconds"]),
        "times_ours": {name: beside_ours(runs) for name, runs in records.items()},
        "range": {
            name: [pick(run["seconds"] for run in runs) for pick in (min, max)] for name, runs in ran.items() if runs
        },
        "start": medians(lambda run: run["start"]),
        "first_epoch": medians(lambda run: run["first_epoch"]),
        "cold": medians(lambda run: run["start"] + run["first_epoch"] + run["seconds"] * (epochs - 1) / epochs),
        "processors": medians(lambda run: run["processors"]),
        "megabytes": medians(lambda run: run["megabytes"]),
        "test_accuracy": medians(lambda run: run["test_accuracy"]),
    }


def print_race(medians, rounds, epochs):
    """Print the contestants, one row each: seconds, ratios and what else was measured."""
    print(
        f"""
50 highway blocks of width 64 on the digits, {epochs} epochs, one thread each; medians over {rounds} rounds of
  seconds   for a training in a warm process, compilation left out
  / ours    as a multiple of our seconds
  start     of the process, with imports
  1st ep.   first epoch, with any compilation
  cold      start, first epoch and the other epochs together
  MB        memory in the end
  CPUs      processors kept busy
  test %    accuracy (the contestants start from different weights, but ours and the listing)
"""
    )
    columns = {"seconds": 8, "/ ours": 8, "start": 8, "1st ep.": 8, "cold": 8, "MB": 6, "CPUs": 6, "test %": 8}
    print(" " * 36 + "".join(f"{title:>{width}s}" for title, width in columns.items()))
    for name, seconds in medians["seconds"].items():
        if seconds is None:
            print(f"{CONTESTANTS[name][1]:36s}{'failed':>8s}")
            continue
        ratio = medians["times_ours"][name] or float("nan")
        row = [medians[key][name] for key in ("start", "first_epoch", "cold")]
        accuracy = "" if name == "ceiling" else f"{100 * medians['test_accuracy'][name]:8.1f}"
        print(
            f"{CONTESTANTS[name][1]:36s}{seconds:8.2f}{ratio:8.2f}" + "".join(f"{value:8.2f}" for value in row),
            f"{medians['megabytes'][name]:5.0f}{medians['processors'][name]:6.2f}{accuracy}",
        )
    aims = {"torch": (2.5, "PyTorch, eager"), "listing": (2.5, "the listing"), "jax": (0.8, "JAX, once compiled")}
    for name, (aim, title) in aims.items():
        if medians["times_ours"].get(name):
            print(f"{medians['times_ours'][name]:.2f} times the speed of {title} (aim: at least {aim})")
    cold, ceiling = medians["cold"], medians["times_ours"].get("ceiling")
    if cold.get("jax") and cold.get("ours"):
        print(f"{cold['jax'] / cold['ours']:.2f} times the speed of JAX from a cold process (aim: at least 1)")
    if ceiling:
        print(f"{1 / ceiling:.2f} times the seconds of the matrix products alone (aim: at most 2.8)")


def print_growth(growth):
    """Print how time and memory grow with depth, and what a slider's grid costs."""
    print("\nOne forward and backward pass, float32, batch 64, by depth:")
    print("   ".join(f"{depth}: {1000 * seconds:.2f} ms" for depth, seconds in growth["seconds_by_depth"].items()))
    print(f"Seconds grow like depth^{growth['exponent']:.2f} (aim: 1).")
    print(f"A training step of depth 1000 adds {growth['megabytes_at_depth_1000']:.0f} MB at its peak.")
    point = growth["seconds_per_grid_point"]
    print(f"A point of chapter 3's first slider (3 networks, 10 seeds, depths 1 to 100): {point:.2f} s on average.")


def print_book(seconds):
    """Print how long `make book` took, beside what we allow."""
    print("\nmake book, after installation:")
    for name, value in seconds.items():
        print(f"  {name:20s} {value:6.1f} s  (at most {BUDGETS[name]} s)")


def surroundings(records):
    """Return versions, processor and BLAS kernel."""
    packages = ("highway-lessons", "numpy", "torch", "jax", "jaxlib")
    versions = {}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "versions": versions | {"python": platform.python_version()},
        "processor": processor(),
        "blas_kernel": sorted({kernel for runs in records.values() for run in runs if run for kernel in run["kernel"]}),
        "unset": [name for name in PINNED if name in os.environ],
    }


def processor():
    """Return the processor's name, as far as the system tells it."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf8").splitlines():
            if line.startswith("model name"):
                return f"{line.split(':', 1)[1].strip()}, {os.cpu_count()} processors"
    return f"{platform.processor() or platform.machine()}, {os.cpu_count()} processors"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=at_least_1, default=5, help="how often each contestant runs (default 5)")
    parser.add_argument("--epochs", type=at_least_1, default=30, help="epochs of the job (default 30)")
    parser.add_argument(
        "--contestants", nargs="+", default=list(CONTESTANTS), choices=list(CONTESTANTS), help="who runs (default: all)"
    )
    parser.add_argument("--no-book", action="store_true", help="do not time `make book`")
    parser.add_argument("--results", type=Path, help="where to write (default: results.json, and nowhere for a part)")
    arguments = parser.parse_args()
    whole = arguments.epochs == 30 and set(arguments.contestants) == set(CONTESTANTS) and not arguments.no_book
    target = arguments.results or (HERE / "results.json" if whole else None)

    print(
        f"{len(arguments.contestants)} contestants in turn, {arguments.rounds} rounds; then depth, memory, a slider",
        end="",
    )
    print("." if arguments.no_book else ", and three builds of the book.", flush=True)
    records = race(arguments.contestants, arguments.rounds, arguments.epochs)
    results = summary(records, arguments.epochs)
    print_race(results, arguments.rounds, arguments.epochs)
    results |= {"rounds": arguments.rounds, "epochs": arguments.epochs} | surroundings(records)
    print(f"\n{results['processor']}; OpenBLAS kernel {', '.join(results['blas_kernel']) or 'unknown'}", end="")
    print(f" ({' and '.join(results['unset'])} unset for the runs)" if results["unset"] else "")
    results["growth"] = run_alone("growth.py")
    if results["growth"]:
        print_growth(results["growth"])
    write(results, target)  # before the book, which takes minutes and may fail
    if not arguments.no_book:
        results["book"] = time_book()
        print_book(results["book"])
        write(results, target)
    print(
        f"\nWritten to {target}" if target else "\nA part of the benchmark: nothing written; --results says where to."
    )


def at_least_1(text):
    """Read a whole number from the command line."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, but {number} came")
    return number


def write(results, target):
    """Write what is known so far."""
    if target:
        target.write_text(json.dumps(results, indent=1) + "\n", encoding="utf8")


if __name__ == "__main__":
    main()
