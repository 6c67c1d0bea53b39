"""Threads of the CPU engine: a map over jobs whose results do not depend on their number."""

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

# Handing a job to a thread takes 30 microseconds.
PARTS_PER_THREAD = 4
# Kernel values, or features, from which threads save more than they cost (about a millisecond).
THREADS_FROM = 500_000


@contextmanager
def threads(work: float) -> Iterator[Callable[[Callable[[Any], Any], Iterable[Any]], list]]:
    """A map over jobs in as many threads as torch uses; results are in the order of the jobs.

    These are threads of our own, while BLAS is held to one thread per job: otherwise they would
    compete for the cores. `work` is the number of kernel values, or features, of all jobs; a small
    amount is done in the calling thread.
    """
    n_workers = n_threads() if work >= THREADS_FROM else 1
    with one_blas_thread():
        if n_workers < 2:
            yield lambda function, jobs: [function(job) for job in jobs]
        else:
            yield partial(_in_pool, _pool(n_workers), PARTS_PER_THREAD * n_workers)


def ranges_of(n: int, n_parts: int) -> list[tuple[int, int]]:
    """Ranges of about equal length, at most `n_parts` of them, that 0 to `n` consist of."""
    edges = np.linspace(0, n, min(n, n_parts) + 1).astype(int).tolist()
    return list(pairwise(edges))


@cache
def _pool(n_workers: int) -> ThreadPoolExecutor:
    """Threads that live on: a new one takes a millisecond until BLAS has its memory for it."""
    return ThreadPoolExecutor(n_workers)


# The child of a fork has none of these threads.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)


def _in_pool(
    pool: ThreadPoolExecutor, n_parts: int, function: Callable, jobs: Iterable[Any]
) -> list:
    """The results of jobs, in their order; many small jobs are handed over in a few parts."""
    jobs = list(jobs)
    parts = [jobs[a:b] for a, b in ranges_of(len(jobs), n_parts)]
    return list(chain(*pool.map(lambda part: [function(job) for job in part], parts)))
