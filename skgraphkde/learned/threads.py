"""Limits on torch's threads, which are global to a process.

torch splits a sum over nodes into as many parts as it has threads. The last bits of the sum thus
depend on the number of threads, and a hundred training epochs turn them into 0.3 percent of a
score. The distances, which take most of the time, are summed in one order for any number of
threads. Training therefore limits torch to one thread while the distances use all threads: the
result is the same on any number of cores, and takes no longer.

Several calls may hold the limit at the same time. The first call saves the previous number of
threads, and the last call to finish restores it.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any

import torch

from skgraphkde.computing.threads import distance_threads, n_threads

_lock, _n_holders, _before = threading.Lock(), 0, 0


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Limit torch to one thread in the calling thread; distances keep their number."""
    global _n_holders, _before
    with _lock:
        if not _n_holders:
            _before = _in_new_thread(torch.get_num_threads)
        _n_holders += 1
        own, default = torch.get_num_threads(), _before
    # A thread that first used torch while a limit held has inherited it.
    of_distances = default if own == 1 and n_threads() == 1 else n_threads()
    torch.set_num_threads(1)
    try:
        with distance_threads(of_distances):
            yield
    finally:
        with _lock:
            _n_holders -= 1
            torch.set_num_threads(own)
            if not _n_holders:
                _in_new_thread(torch.set_num_threads, _before)


def _in_new_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new thread and return its value.

    torch has one number of threads for each existing thread and one for future threads. A new
    thread reads and sets the number for future threads.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


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
    """Reset the limit, and replace the lock, which another thread of the parent may hold."""
    global _lock, _n_holders
    _lock, _n_holders = threading.Lock(), 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_the_parent)
