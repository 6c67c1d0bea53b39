"""Limits on the threads of torch and BLAS, which are global to a process.

torch splits a sum over nodes into as many parts as it has threads. The last bits of the sum thus
depend on the number of threads, and a hundred training epochs turn them into 0.3 percent of a
score. The distances, which take most of the time, are summed in one order for any number of
threads. Training therefore limits torch to one thread while the distances use all threads: the
result is the same on any number of cores, and takes no longer. BLAS is limited to one thread while
the distances run their own threads.

Several calls may hold a limit at the same time. The first call saves the previous number of
threads, and the last call to finish restores it.

A forked child has none of its parent's threads. It starts without limits, and without the locks
that other threads of the parent held.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache
from typing import Any

import torch
from threadpoolctl import LibController, ThreadpoolController

_n_threads: ContextVar[int | None] = ContextVar("n_threads", default=None)
_lock = threading.Lock()


class _Limit:
    """The number of calls that hold a limit, and the value to restore after the last one."""

    def __init__(self) -> None:
        self.n_holders = 0
        self.before: Any = None


_torch, _blas = _Limit(), _Limit()


def n_threads() -> int:
    """Number of threads for distances: torch's usual number, even while torch is limited to one."""
    return _n_threads.get() or torch.get_num_threads()


@contextmanager
def one_torch_thread(distances: int | None = None) -> Iterator[None]:
    """Limit torch to one thread in the calling thread.

    Parameters
    ----------
    distances : int, default=None
        Number of threads for distances under this limit. None keeps the current number.
    """
    outer = _n_threads.get()  # None unless an outer call already holds the limit
    with _limited_torch() if outer is None else nullcontext(outer) as usual:
        token = _n_threads.set(distances or usual)
        try:
            yield
        finally:
            _n_threads.reset(token)


@contextmanager
def _limited_torch() -> Iterator[int]:
    """Limit torch in the calling thread, and yield its usual number of threads."""
    with _lock:
        limit = _torch
        if not limit.n_holders:
            limit.before = _in_new_thread(torch.get_num_threads)
        limit.n_holders += 1
        own, default = torch.get_num_threads(), limit.before
        torch.set_num_threads(1)
    if own == 1:  # this thread first used torch while a limit held, and inherited it
        own = default
    try:
        yield own
    finally:
        with _lock:
            limit.n_holders -= 1
            torch.set_num_threads(own)
            if not limit.n_holders:
                _in_new_thread(torch.set_num_threads, default)


def _in_new_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new thread and return its value.

    torch has one number of threads for each existing thread and one for future threads. A new
    thread reads and sets the number for future threads.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


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


# -- children of a fork ----------------------------------------------------------------------------


@cache
def one_torch_thread_in_forks() -> None:
    """Limit torch to one thread in every child that is forked from now on.

    A forked child inherits torch's number of threads but not the threads: OpenMP, which torch
    uses, would wait for them forever. This function is called before torch first computes; a
    process that only imports the package does not change its children.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def _forget_the_parent() -> None:
    """Reset the limits, and replace the lock, which another thread of the parent may hold."""
    global _lock, _torch, _blas
    _lock, _torch, _blas = threading.Lock(), _Limit(), _Limit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_parent)
