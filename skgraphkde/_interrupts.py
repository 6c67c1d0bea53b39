"""Ctrl-C that waits for libraries. Nothing slow is imported, so that it can wait for imports."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Let Ctrl-C wait for the end of calls of C++ that have a handler of their own, and drop it.

    Threads that begin in this context never take it: those of BLAS begin when NumPy is imported.
    """
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
