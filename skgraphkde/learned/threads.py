"""Limits on torch's threads, which are global to a process.

torch splits a sum over nodes into as many parts as it has threads. The last bits of the sum thus
depend on the number of threads, and a hundred training epochs turn them into 0.3 percent of a
score. The distances, which take most of the time, are summed in one order for any number of
threads. Training therefore limits torch to one thread while the distances use all threads: the
result is the same on any number of cores, and takes no longer.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

from skgraphkde.computing.threads import SharedLimit, distance_threads, n_threads


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Limit torch to one thread in the calling thread; distances keep their number."""
    own = torch.get_num_threads()
    with _of_new_threads as default:
        # A thread that first used torch while a limit held has inherited it.
        of_distances = default if own == 1 and n_threads() == 1 else n_threads()
        torch.set_num_threads(1)  # of this thread and of new ones
        try:
            with distance_threads(of_distances):
                yield
        finally:
            torch.set_num_threads(own)


def _in_new_thread(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a new thread and return its value.

    torch has one number of threads for each existing thread and one for future threads. A new
    thread reads and sets the number for future threads.
    """
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments).result()


_of_new_threads = SharedLimit(
    lambda: _in_new_thread(torch.get_num_threads),
    lambda n: _in_new_thread(torch.set_num_threads, n),
)

# A forked child inherits torch's number of threads but not the threads: OpenMP, which torch uses,
# would wait for them forever.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))
