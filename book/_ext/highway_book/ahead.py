"""Run notebooks before their pages are read, several at once.

Sphinx reads one page after another, and MyST-NB runs a notebook where it meets it, unless its outputs are in the cache.
Here they get there. A notebook that fails is not kept: it fails again where its page is read, and is reported there.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
import psutil
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from sphinx.util.display import status_iterator

from highway_book import solutions

AT_ONCE = max(2, min(os.cpu_count() or 2, 4))  # each is a Python process of up to half a gigabyte


def run_notebooks(app, env, docnames):
    """Run the notebooks that the cache lacks, and keep the outputs of those that end well."""
    cache = get_cache(app.config.nb_execution_cache_path)
    paths = [Path(env.doc2path(name)) for name in sorted(docnames)]
    notebooks = {path: read(path, app.config.solutions) for path in paths if path.suffix == ".ipynb"}
    lacking = {path: notebook for path, notebook in notebooks.items() if not is_kept(cache, notebook)}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        timeout = app.config.nb_execution_timeout
        running = {pool.submit(run, path, notebook, timeout): path for path, notebook in lacking.items()}
        try:
            for ended in status_iterator(
                as_completed(running), "running notebooks... ", length=len(running), stringify_func=running.get
            ):
                if ended.exception() is None and ended.result().err is None:
                    keep(cache, running[ended], ended.result())
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            while not all(ended.done() for ended in running):  # else the end would wait for long cells
                for kernel in psutil.Process().children():
                    kernel.kill()
                time.sleep(0.1)
            raise


def read(path, with_solutions):
    """Read a notebook as MyST-NB will see it."""
    notebook = nbformat.read(path, as_version=4)
    if not with_solutions:
        solutions.take_out(notebook)
    return notebook


def is_kept(cache, notebook):
    try:
        return bool(cache.match_cache_notebook(notebook))
    except KeyError:
        return False


def run(path, notebook, timeout):
    """Run a notebook's cells; what a cell prints becomes one piece, wherever the kernel has cut it."""
    return single_nb_execution(notebook, str(path.parent), timeout, allow_errors=False, coalesce_streams=True)


def keep(cache, path, result):
    made = CacheBundleIn(result.nb, str(path), data={"execution_seconds": result.time})
    cache.cache_notebook_bundle(made, check_validity=False, overwrite=True)


def setup(app):
    app.connect("env-before-read-docs", run_notebooks)
