"""Each notebook, run as a reader runs it: in a fresh kernel, from a folder of the reader's own, with no network.

The seconds and megabytes of each are listed at the end of the test run.
"""

import os
import time

import nbformat
import psutil
import yaml
from conftest import BOOK
from nbclient import NotebookClient
from reading import reading_time

NOWHERE = "http://127.0.0.1:9"
ALLOWED = yaml.safe_load((BOOK / "_config.yml").read_text(encoding="utf8"))["execute"]["timeout"]  # seconds a cell


def test_runs_from_any_folder_offline_in_time_and_memory(notebook_path, tmp_path, record_property):
    environment = {name: value for name, value in os.environ.items() if name != "HIGHWAY_LESSONS_BOOK"} | {
        "PYTHONWARNINGS": "error::RuntimeWarning",
        **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), NOWHERE),
    }
    notebook = nbformat.read(notebook_path, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    start = time.perf_counter()
    with client.setup_kernel(env=environment):
        kernel = psutil.Process(client.km.provisioner.process.pid)
        megabytes, longest, busy = 0, 0, 0
        for index, cell in enumerate(notebook.cells):
            if cell.cell_type == "code":
                client.execute_cell(cell, index)
                megabytes = max(megabytes, peak(kernel))
                before, busy = busy, sum(kernel.cpu_times()[:2])
                longest = max(longest, busy - before)
        waited = time.perf_counter() - start
    record_property(
        "chapter", f"{notebook_path.stem:<40} {busy:5.1f} s of work, {waited:5.1f} s by the clock, {megabytes:4.0f} MB"
    )
    assert busy < 45  # the clock would tell how busy the computer is with other things
    if stated := reading_time(notebook_path):
        assert busy < 2 * stated[1], f"it says that it takes {stated[1]} seconds"  # computers differ, and so do moments
    assert longest < ALLOWED / 3, "a slower computer would run out of the time that the book's build allows a cell"
    assert megabytes < 1000
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            assert output.get("name") != "stderr", f"{cell.id}: {output.text}"


def peak(process):
    """The most memory that the process has had at once, in MB; where the system does not say, what it has now."""
    memory = process.memory_info()
    try:
        with open(f"/proc/{process.pid}/status", encoding="utf8") as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1000
    except FileNotFoundError:
        return getattr(memory, "peak_wset", memory.rss) / 1e6
