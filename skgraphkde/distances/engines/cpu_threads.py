"""Threads of the CPU engine: a map over jobs, with the same results for any number of threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache, partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from skgraphkde.computing.threads import n_threads, one_blas_thread

# Few parts per thread, because starting one takes 30 microseconds.
PARTS_PER_THREAD = 4
# Number of kernel values or features for which threads save more than they cost, a millisecond.
THREADS_FROM = 500_000


@contextmanager
def threads(work: float) -> Iterator[Callable[[Callable[[Any], Any], Iterable[Any]], list]]:
    """Provide a map over jobs in `computing.threads.n_threads` threads.

    BLAS is limited to one thread per job, so that threads do not compete for the cores.

    Parameters
    ----------
    work : float
        Number of kernel values or features of all jobs. Small amounts run in the calling thread.

    Yields
    ------
    callable
        ``run(function, jobs)``, which returns the results in the order of the jobs.
    """
    n_workers = n_threads() if work >= THREADS_FROM else 1
    with one_blas_thread():
        if n_workers < 2:
            yield lambda function, jobs: [function(job) for job in jobs]
        else:
            yield partial(_in_pool, _pool(n_workers), PARTS_PER_THREAD * n_workers)


def ranges_of(n: int, n_parts: int) -> list[tuple[int, int]]:
    """Split the range from 0 to `n` into parts of about equal length.

    Parameters
    ----------
    n : int
    n_parts : int
        Largest number of parts.

    Returns
    -------
    list of (int, int)
        Start and stop of each part.
    """
    edges = np.linspace(0, n, min(n, n_parts) + 1).astype(int).tolist()
    return list(pairwise(edges))


@cache
def _pool(n_workers: int) -> ThreadPoolExecutor:
    """Permanent thread pool, because BLAS takes a millisecond to prepare a new thread."""
    return ThreadPoolExecutor(n_workers)


# The child of a fork has none of these threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _in_pool(
    pool: ThreadPoolExecutor, n_parts: int, function: Callable, jobs: Iterable[Any]
) -> list:
    """Results of jobs in their order; many small jobs run as a few parts."""
    jobs = list(jobs)
    parts = [jobs[a:b] for a, b in ranges_of(len(jobs), n_parts)]
    return list(chain(*pool.map(lambda part: [function(job) for job in part], parts)))
