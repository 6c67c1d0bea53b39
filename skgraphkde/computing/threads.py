"""Numbers of threads for distances, and a limit on BLAS, which is global to a process.

BLAS is limited to one thread while the distances run their own threads. Several calls may hold the
limit at the same time. The first call saves the previous number of threads, and the last call to
finish restores it.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from threadpoolctl import LibController, ThreadpoolController

_n_threads: ContextVar[int | None] = ContextVar("n_threads", default=None)


class SharedLimit(ContextDecorator):
    """A limit that is global to a process, and that several calls may hold at the same time.

    It is a context manager, whose value is the state before, and a decorator. A forked child starts
    without limits, and without the lock that another thread of the parent held.

    Parameters
    ----------
    limit : callable
        Returns the state before the limit; it sets the limit if the caller does not.
    restore : callable
        Restores this state.
    """

    def __init__(self, limit: Callable[[], Any], restore: Callable[[Any], None]) -> None:
        self._limit, self._restore = limit, restore
        self._reset()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self.lock, self.n_holders, self._before = threading.Lock(), 0, None

    def __enter__(self) -> Any:
        with self.lock:
            if not self.n_holders:
                self._before = self._limit()
            self.n_holders += 1
            return self._before

    def __exit__(self, *_: Any) -> None:
        with self.lock:
            self.n_holders -= 1
            if not self.n_holders:
                self._restore(self._before)


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


def one_blas_thread() -> SharedLimit:
    """Limit BLAS to one thread in the whole process."""
    return _blas


def _limit_blas() -> list[tuple[LibController, int]]:
    """Libraries that had more than one thread, and the numbers of their threads."""
    # Faster by 100 microseconds than threadpoolctl's own limit, which queries more.
    before = [(library, library.num_threads) for library in _blas_libraries()]
    before = [(library, n) for library, n in before if n != 1]
    for library, _ in before:
        _set_threads(library, 1)
    return before


def _restore_blas(before: list[tuple[LibController, int]]) -> None:
    for library, n in before:
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


_blas = SharedLimit(_limit_blas, _restore_blas)
