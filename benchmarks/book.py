"""How long `make book` takes: cold, with nothing changed, and with one chapter changed."""

import json
import os
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
CHAPTER = ROOT / "book/chapters/02-backpropagate-through-a-gate.ipynb"
BUDGETS = {"cold": 240, "nothing changed": 15, "one chapter changed": 60}


def make(*targets):
    """Run make in the course's folder and return the seconds; on failure, say why and stop."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
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
    original = CHAPTER.read_text()
    make("clean")
    seconds = {"cold": make("book"), "nothing changed": make("book")}
    try:
        CHAPTER.write_text(changed(original))
        seconds["one chapter changed"] = make("book")
    finally:
        CHAPTER.write_text(original)
    make("book")
    return seconds
