"""Threads on the CPU: many for the distances, one for the rest of a training; one for a job.

torch cuts a sum over nodes into as many parts as it has threads, so that its last bits depend on
their number, and a hundred epochs make 0.3 percent of a score of that. The distances, where the
time goes, add up in one order for any number of threads. In a training they alone run in parallel:
the result is the same on every number of cores, and no slower.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import torch

_n_threads: ContextVar[int | None] = ContextVar("n_threads", default=None)


def n_threads() -> int:
    """How many threads the distances may take: torch's number, also where torch is held to one."""
    return _n_threads.get() or torch.get_num_threads()


@contextmanager
def one_torch_thread(distances: int | None = None) -> Iterator[None]:
    """Hold torch to one thread in the calling thread.

    Parameters
    ----------
    distances : int, default=None
        How many threads the distances may take in there; None: as many as before.
    """
    before = torch.get_num_threads()
    token = _n_threads.set(distances or n_threads())
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        _n_threads.reset(token)
