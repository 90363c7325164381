"""One short name for everything besides a chapter's own cells that decides what the chapter shows."""

import hashlib
import importlib.metadata
import importlib.util
import sys
from pathlib import Path

LIBRARIES = ("numpy", "scikit-learn", "matplotlib", "jupyter-cache")


def fingerprint():
    """Hash the installed package's files, records included, and the versions of what it computes and draws with."""
    package = Path(importlib.util.find_spec("highway_lessons").origin).parent
    digest = hashlib.sha256(sys.version.encode())
    for library in LIBRARIES:
        digest.update(f"{library} {importlib.metadata.version(library)}".encode())
    for path in sorted(package.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]
