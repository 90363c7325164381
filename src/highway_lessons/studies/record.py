"""A study's record: a text file that grows by one line, in JSON, for every finished point.

The first line is the study's definition. A line "versions" says what the points below it were measured with. A line
counts once its line break is on disk, so a run that is killed leaves at most one half line, at the end; the next run
cuts it off.
"""

import contextlib
import json
import os
from pathlib import Path
from typing import NamedTuple

from highway_lessons.studies.study import StudyError

RECORDS = Path(__file__).with_name("records")


class RecordError(StudyError):
    """A record that cannot be used, and why."""


class Contents(NamedTuple):
    """What a record holds.

    lines maps a point's key to its line, settings and results together; versions lists what they were measured with;
    size counts the bytes of whole lines: what lies behind them is a half line.
    """

    lines: dict
    versions: list
    size: int


def path(study, folder=RECORDS):
    """Return the path of a study's record, whether it exists or not."""
    return Path(folder) / f"{study.name}.jsonl"


@contextlib.contextmanager
def _said(file, what):
    """Turn an error of the system, met while `file` is read or written, into a sentence."""
    try:
        yield
    except OSError as error:
        raise RecordError(
            f"The record {file} cannot be {what} ({error.strerror}); put that right, "
            "or name another folder with --records."
        ) from error


def read(study, folder=RECORDS):
    """Read what is recorded of a study.

    Returns
    -------
    Contents
        Empty if there is no record.

    Raises
    ------
    RecordError
        If the record does not fit the study as it is defined today, or it cannot be read.
    """
    file = path(study, folder)
    with _said(file, "read"):
        try:
            content = file.read_bytes()
        except FileNotFoundError:
            content = b""
    return _parse(study, file, content)


class Writer:
    """A record that is open for one run; `contents` is what it held before."""

    def __init__(self, study, file, descriptor):
        self.study, self.file, self.descriptor = study, file, descriptor
        self.contents = read(study, file.parent)
        with _said(file, "written"):
            os.ftruncate(descriptor, self.contents.size)
        self.versions = (self.contents.versions or [None])[-1]
        if not self.contents.size:
            self._append(_line(study.definition()))

    def add(self, point, result, versions):
        """Put a finished point on disk; when this returns, it is there.

        Raises
        ------
        RecordError
            If the result is not of plain finite numbers, texts, None and lists of them, or the disk refuses it.
        ValueError
            If a result is called like an axis.
        """
        if taken := sorted(set(point) & set(result)):
            raise ValueError(f"{self.study.name} may not call a result like an axis, but it does so with {taken}.")
        try:
            line = _line(point | result)
        except (TypeError, ValueError) as error:
            raise RecordError(
                f"{self.study.name} gave at {self.study.words(self.study.key(point))} what a record cannot hold "
                f"({error}); return plain finite numbers, texts, None, or lists of them."
            ) from error
        if versions != self.versions:
            self._append(_line({"versions": versions}))
            self.versions = versions
        self._append(line)

    def _append(self, rest):
        with _said(self.file, "written"):
            while rest:
                rest = rest[os.write(self.descriptor, rest) :]
            os.fsync(self.descriptor)


def _line(content):
    """Return a dictionary as a line of a record, in bytes."""
    return (json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n").encode()


@contextlib.contextmanager
def writer(study, folder=RECORDS):
    """Open a study's record for one run, and let no other run write to it meanwhile.

    Yields
    ------
    Writer

    Raises
    ------
    RecordError
        If another run holds the record, it does not fit the study, or it cannot be written.
    """
    try:
        import fcntl
    except ImportError:
        raise RecordError(
            "Studies run on Linux and macOS (on Windows, in WSL): this system cannot lock a record. Reading works."
        ) from None

    file = path(study, folder)
    with _said(file, "written"):
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)  # not inherited by worker processes
    try:
        with _said(file, "written"):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)  # the system lets go when the process ends
            except BlockingIOError:
                raise RecordError(
                    f"Another run of the study {study.name} holds {file}; wait until it ends, or stop it."
                ) from None
        yield Writer(study, file, descriptor)
    finally:
        os.close(descriptor)


def _parse(study, file, content):
    """Read the whole lines of a record and hold them against the study."""
    size = content.rfind(b"\n") + 1
    lines, versions = {}, []
    known = {study.key(point) for point in study.points()} if size else set()

    def refuse(why):
        advice = "move it away or delete it, and the next run measures anew"
        return RecordError(f"The record {file} does not fit today's study {study.name}: {why}; {advice}.")

    half = content[size:]
    if b"\r" in half or not (size or _line(study.definition()).startswith(half)):
        raise refuse("it does not end in a line break, and what would be cut off is more than half a line")
    for number, text in enumerate(content[:size].split(b"\n")[:-1], start=1):
        try:
            line = json.loads(text, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:  # JSON and UTF-8 errors are ValueErrors
            raise refuse(f"line {number} cannot be read ({error})") from error
        if not isinstance(line, dict):
            raise refuse(f"line {number} is no dictionary")
        if number == 1:
            if difference := _difference(line, study.definition()):
                raise refuse(difference)
        elif isinstance(line.get("versions"), dict):
            versions.append(line["versions"])
        elif lacking := [name for name in (*study.axes, "seconds") if name not in line]:
            raise refuse(f"line {number} lacks {', '.join(lacking)}")
        elif not isinstance(line["seconds"], int | float):
            raise refuse(f"line {number} has seconds={line['seconds']}, which is no number")
        else:
            key = study.key(line)
            if any(isinstance(value, list | dict) for value in key) or key not in known:
                raise refuse(f"line {number} has {study.words(key)}, which is no point of its grid")
            if key in lines:
                raise refuse(f"line {number} has {study.words(key)} for the second time")
            lines[key] = line
    return Contents(lines, versions, size)


def _no_number(name):
    """Refuse NaN and Infinity, which Python's reader of JSON would accept; they are never written."""
    raise ValueError(f"{name} came, but a number was expected")


def _difference(recorded, today):
    """Say in words where two definitions differ first, or return None."""
    today = json.loads(json.dumps(today))  # tuples become lists, as in the record
    for name in today:
        if name not in recorded:
            return f"its first line does not say {name}"
        there, here = recorded[name], today[name]
        if isinstance(here, dict) and isinstance(there, dict):
            for part in {**here, **there}:
                if part not in there or part not in here or there[part] != here[part]:
                    return f"{part} is {there.get(part, 'missing')} there and {here.get(part, 'missing')} today"
        elif there != here:
            return f"{name} is {there} there and {here} today"
    return None
