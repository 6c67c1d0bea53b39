"""A pool of threads, for compiled loops and matrix products, which release the GIL."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from skgraphkde.computing.threads import n_threads, one_blas_thread

# Number of kernel values or features for which threads save more than they cost, a millisecond.
THREADS_FROM = 500_000


def in_threads(function: Callable[[Any], Any], jobs: Iterable[Any], work: float) -> list:
    """Call a function for each job, in `computing.threads.n_threads` threads.

    BLAS is limited to one thread per job, so that threads do not compete for the cores.

    Parameters
    ----------
    function : callable
    jobs : iterable
        Arguments of the function.
    work : float
        Number of kernel values or features of all jobs. Small amounts run in the calling thread.

    Returns
    -------
    list
        Results in the order of the jobs.
    """
    n_workers = n_threads() if work >= THREADS_FROM else 1
    with one_blas_thread():
        if n_workers < 2:
            return [function(job) for job in jobs]
        return list(_pool(n_workers).map(function, jobs))


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
