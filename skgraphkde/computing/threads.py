"""Limits on the threads of torch and BLAS, which are global to a process.

torch splits a sum over nodes into as many parts as it has threads, so the last bits of the sum
depend on their number, and a hundred training epochs turn them into 0.3 percent of a score. The
distances, where the time goes, add up in one order for any number of threads. So training holds
torch to one thread while the distances use all of them: the result is the same on any number of
cores, and no slower. BLAS is held to one thread while the distances run threads of their own.

Several calls may hold a limit at once. The first one remembers what was there before, and the last
one to leave restores exactly that.

A child of a fork has none of its parent's threads. It starts without limits, and without the locks
that other threads of the parent held.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import torch
from threadpoolctl import LibController, ThreadpoolController

_n_threads: ContextVar[int | None] = ContextVar("n_threads", default=None)
_lock = threading.Lock()


class _Limit:
    """How many calls hold a limit, and what to restore when the last one leaves."""

    def __init__(self) -> None:
        self.n_holders = 0
        self.before: Any = None


_torch, _blas = _Limit(), _Limit()


def n_threads() -> int:
    """Number of threads for distances: torch's own number, even while torch is held to one."""
    return _n_threads.get() or torch.get_num_threads()


@contextmanager
def one_torch_thread(distances: int | None = None) -> Iterator[None]:
    """Hold torch to one thread in the calling thread.

    Parameters
    ----------
    distances : int, default=None
        Number of threads for distances meanwhile. None: as many as before.
    """
    outer = _n_threads.get()
    if outer is not None:  # this call holds torch already
        token = _n_threads.set(distances or outer)
        try:
            yield
        finally:
            _n_threads.reset(token)
        return
    with _lock:
        limit = _torch
        if not limit.n_holders:
            limit.before = _in_new_thread(torch.get_num_threads)
        limit.n_holders += 1
        own, default = torch.get_num_threads(), limit.before
        torch.set_num_threads(1)
    if own == 1:  # this thread first used torch while a limit held, and inherited it
        own = default
    token = _n_threads.set(distances or own)
    try:
        yield
    finally:
        _n_threads.reset(token)
        with _lock:
            limit.n_holders -= 1
            torch.set_num_threads(own)
            if not limit.n_holders:
                _in_new_thread(torch.set_num_threads, default)


def _in_new_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """The value of a function in a new thread.

    torch's number of threads is one number for each thread, and one for threads to come. A new
    thread reads and sets the latter, and takes the former with it.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread in the whole process."""
    with _lock:
        limit = _blas
        if not limit.n_holders:
            # A hundred microseconds less than a limit of threadpoolctl, which asks them for more.
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

    threadpoolctl 3.7 and later obey only the thread that set one first. Here the thread that
    restores a number is the last one to leave, not the first to come.
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
    """Hold torch to one thread in every child that is forked from now on.

    Such a child has torch's number of threads and not the threads: OpenMP, which torch computes
    with, would wait for them forever. Called before torch first computes; a process that only
    imports the package leaves its children as they are.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))


def _forget_the_parent() -> None:
    """Start without limits, and with a lock that nobody holds."""
    global _lock, _torch, _blas
    _lock, _torch, _blas = threading.Lock(), _Limit(), _Limit()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_parent)
