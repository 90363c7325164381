"""Wait for something that happens in another thread, process or page."""

import time


def until(condition, seconds=30, tell=lambda: "waited in vain"):
    """Wait until `condition()` is true; after so many seconds fail with what `tell()` says."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, tell()
        time.sleep(0.02)
