"""How long `make book` takes: cold, with nothing changed, and with one chapter changed."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHAPTER = ROOT / "book/chapters/02-backpropagate-through-a-gate.ipynb"
PINNED = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")  # where they are set, they choose a slower kernel
BUDGETS = {"cold": 240, "nothing changed": 15, "one chapter changed": 60}


def make(*targets):
    """Run make in the course's folder and return the seconds; on failure, say why and stop."""
    left_out = ("MAKE", "MFLAGS", *PINNED)
    environment = {key: value for key, value in os.environ.items() if not key.startswith(left_out)}
    begin = time.perf_counter()
    done = subprocess.run(["make", *targets], cwd=ROOT, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - begin
    if done.returncode:
        raise SystemExit(f"make {' '.join(targets)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return seconds


def changed(notebook):
    """Return a notebook's text with one comment more in its first code cell, so that all its cells run again."""
    content = json.loads(notebook)
    cell = next(cell for cell in content["cells"] if cell["cell_type"] == "code")
    cell["source"] = [*cell["source"], "\n# changed"]
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def time_book():
    """Build the book: cold, with nothing changed, with one chapter changed; return the seconds of each."""
    original = CHAPTER.read_text(encoding="utf8")
    make("clean")
    seconds = {"cold": make("book"), "nothing changed": make("book")}
    for signal_number in (signal.SIGTERM, signal.SIGHUP):  # a closed terminal must not leave the chapter changed
        signal.signal(signal_number, lambda number, frame: sys.exit(1))
    try:
        CHAPTER.write_text(changed(original), encoding="utf8")
        seconds["one chapter changed"] = make("book")
    finally:
        if CHAPTER.read_text(encoding="utf8") == changed(original):  # else somebody has edited it meanwhile
            CHAPTER.write_text(original, encoding="utf8")
    make("book")
    return seconds
