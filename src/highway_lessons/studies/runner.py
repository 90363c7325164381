"""Run a study: measure its missing points, here, in several processes or on a cluster, and record each at once."""

import contextlib
import platform
import time
from concurrent.futures import CancelledError
from functools import cache
from importlib import metadata

import numpy as np

from highway_lessons.studies import record


@cache
def versions():
    """Return what a result depends on beside its study: package, Python, numpy, scikit-learn (splits) and BLAS."""
    from threadpoolctl import threadpool_info

    import highway_lessons

    built = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    kernels = sorted({pool.get("architecture", "") for pool in threadpool_info() if pool["user_api"] == "blas"})
    return {
        "highway_lessons": highway_lessons.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": metadata.version("scikit-learn"),
        "blas": " ".join([built["name"], built["version"], *kernels]),
    }


def measure(study_function, point, settings):
    """Do one point, with one thread: return it, its result with the seconds it took, and the versions it was done with.

    This is what worker processes call. It depends on its arguments alone, so where it runs does not matter.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # the matrices are small, and the processes share the cores
        started = time.perf_counter()
        try:
            result = dict(study_function(**point, **settings))
        except Exception as error:
            error.add_note(f"This happened at the point {point} of {study_function.__name__}.")
            raise
        return point, result | {"seconds": round(time.perf_counter() - started, 2)}, versions()


def run(study, folder=record.RECORDS, *, only=(), jobs=1, scheduler=None, bar=True):
    """Measure the points that a study's record lacks.

    Each point is on disk before the next is counted, so whatever ends a run, only the points in work are lost.

    Parameters
    ----------
    study : Study
    folder : path
        Where the record is.
    only : sequence of str
        As in `Study.only`; none means all points.
    jobs : int
        Processes on this computer.
    scheduler : str, optional
        Address of a dask.distributed scheduler, whose workers then do the work.
    bar : bool
        Show a progress bar with the time left.

    Returns
    -------
    int
        How many points were measured.

    Raises
    ------
    StudyError, ConnectionError
        If the record is held by another run or does not fit, `only` fits no point, or no scheduler
        answers or it goes away.
    """
    points = study.only(only)
    with record.writer(study, folder) as writer:
        missing = [point for point in points if study.key(point) not in writer.contents.lines]
        # In a shuffled order, quick and slow points come evenly, and so the time left is an honest guess.
        missing = [missing[i] for i in np.random.default_rng(0).permutation(len(missing))]
        if not missing:
            return 0
        with _backend(jobs, scheduler), _bar(study.name, len(points), len(missing), bar) as shown:
            for point, result, made_with in _results(study, missing, jobs):
                writer.add(point, result, made_with)
                shown.update()
    return len(missing)


def _results(study, points, jobs):
    """Yield results as they come; one point at a time goes to a worker, so that no finished one waits for others."""
    from joblib import Parallel, delayed

    calls = (delayed(measure)(study.measure, point, study.settings) for point in points)
    jobs = min(jobs, len(points))
    # Workers that a killed run leaves behind finish the points they were sent, at most two each. After five idle
    # seconds they tell the run that they will end, wait half a minute for its answer, and end.
    return Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered", idle_worker_timeout=5)(calls)


@contextlib.contextmanager
def _backend(jobs, scheduler):
    """Let joblib work in processes here or, through Dask, wherever the workers of `scheduler` are."""
    from joblib import parallel_config

    if scheduler is None:
        yield
        return
    try:
        from dask.distributed import Client
        from distributed.comm import get_address_host_port
    except ImportError as error:
        raise ConnectionError(
            "A scheduler was named, but dask.distributed is not installed; run  pip install 'highway-lessons[cluster]'."
        ) from error
    try:
        get_address_host_port(scheduler)  # a Client of a malformed address would hang at the end of the program
        client = Client(scheduler, timeout=20, set_as_default=False)
    except (OSError, TypeError, ValueError) as error:  # TypeError: tls:// without certificates
        raise ConnectionError(
            f"No Dask scheduler answers at {scheduler} ({error}); give the address that  dask scheduler  prints."
        ) from error
    from joblib._dask import DaskDistributedBackend

    class Cluster(DaskDistributedBackend):
        def effective_n_jobs(self, n_jobs):  # told of one thread, joblib would do the work here, not on the cluster
            return max(2, super().effective_n_jobs(n_jobs))

    with client, parallel_config(backend=Cluster(client=client)):
        try:
            client.wait_for_workers(1, timeout=60)
        except TimeoutError as error:
            raise ConnectionError(
                f"The Dask scheduler at {scheduler} has had no workers for a minute; "
                f"start some with  dask worker {scheduler} ."
            ) from error
        try:
            yield
        except CancelledError as error:
            raise ConnectionError(
                f"The Dask scheduler at {scheduler} is gone; every finished point is on disk, "
                "and the same command goes on from there."
            ) from error


def _bar(name, total, missing, shown):
    """Return a progress bar that also counts the points done in earlier runs."""
    from tqdm import tqdm

    return tqdm(
        desc=name,
        total=total,
        initial=total - missing,
        unit="point",
        smoothing=0,
        dynamic_ncols=True,
        disable=not shown,
    )
