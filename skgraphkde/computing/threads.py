"""Numbers of threads for distances, and a limit on BLAS, which is global to a process.

BLAS is limited to one thread while the distances run their own threads. Several calls may hold the
limit at the same time. The first call saves the previous number of threads, and the last call to
finish restores it. A forked child starts without limits, and without the lock that another thread
of the parent held.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from threadpoolctl import LibController, ThreadpoolController

_n_threads: ContextVar[int | None] = ContextVar("n_threads", default=None)
_lock = threading.Lock()


class _Limit:
    """The number of calls that hold a limit, and the value to restore after the last one."""

    def __init__(self) -> None:
        self.n_holders = 0
        self.before: Any = None


_blas = _Limit()


def n_threads() -> int:
    """Number of threads for distances: torch's if torch is loaded, or one per available core.

    The environment variable ``OMP_NUM_THREADS`` sets both.
    """
    own = _n_threads.get()
    if own is not None:
        return own
    of_torch = getattr(sys.modules.get("torch"), "get_num_threads", None)
    if of_torch is not None:  # None while another thread imports torch
        return of_torch()
    asked = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0]
    if asked.isdecimal() and int(asked):
        return int(asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def distance_threads(n: int) -> Iterator[None]:
    """Set the number of threads for distances in the calling thread."""
    token = _n_threads.set(n)
    try:
        yield
    finally:
        _n_threads.reset(token)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread in the whole process."""
    with _lock:
        limit = _blas
        if not limit.n_holders:
            # Faster by 100 microseconds than threadpoolctl's own limit, which queries more.
            before = [(library, library.num_threads) for library in _blas_libraries()]
            limit.before = [(library, n) for library, n in before if n != 1]
            for library, _ in limit.before:
                _set_threads(library, 1)
        limit.n_holders += 1
    try:
        yield
    finally:
        with _lock:
            limit.n_holders -= 1
            if not limit.n_holders:
                for library, n in limit.before:
                    _set_threads(library, n)


def _set_threads(library: LibController, n: int) -> None:
    """Set a library's number of threads.

    threadpoolctl 3.7 and later accept changes only from the thread that made the first one. Here
    the last thread to finish restores the number, which may be another thread.
    """
    free = getattr(library, "clear_controlling_thread", None)
    if free is not None:
        free(force=True)
    library.set_num_threads(n)
    if free is not None:
        free(force=True)


@cache
def _blas_libraries() -> list[LibController]:
    return ThreadpoolController().select(user_api="blas").lib_controllers


def _forget_the_parent() -> None:
    """Reset the limit, and replace the lock, which another thread of the parent may hold."""
    global _lock, _blas
    _lock, _blas = threading.Lock(), _Limit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_parent)
