"""Utilities that all rooms share: blocks that fit into memory, warnings, and compiled loops."""

from __future__ import annotations

import logging
import sys
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import sklearn
from sklearn import config_context, get_config
from threadpoolctl import ThreadpoolController
from tqdm.auto import tqdm

MOST_BYTES = 2**62  # more than any machine has
# scikit-learn wraps `fit`, so its frames lie between the user's frames and ours.
_INSIDE = (str(Path(__file__).parent), str(Path(sklearn.__file__).parent))


def working_memory() -> int:
    """Bytes that scikit-learn's `working_memory` allows, at least 1; finite if it is infinite."""
    return int(min(max(get_config()["working_memory"] * 2**20, 1), MOST_BYTES))


def memory_limit() -> float:
    """Limit in bytes on the temporary arrays of one block: half of `working_memory`."""
    return working_memory() / 2


def blocks(costs: np.ndarray) -> list[slice]:
    """Split items into consecutive blocks.

    Parameters
    ----------
    costs : ndarray of shape (n_items,)
        Bytes that each item takes.

    Returns
    -------
    list of slice
        Each block takes at most :func:`memory_limit` bytes, or contains a single item.
    """
    cuts = np.flatnonzero(np.diff(np.cumsum(costs) // memory_limit())) + 1
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(costs)], strict=True)]


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


_sets_the_limit = Lock()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Context in which matrix products take one thread, those of scikit-learn included.

    Threads that share products of a few hundred rows wait for each other. Where other processes
    take the cores, they wait thirty times as long as one thread takes.

    The limit is one for all threads of the process. If two set it at once, the later one would
    restore the limit of the earlier one. So one at a time sets it, and scikit-learn does not.
    """
    with config_context(enable_cython_pairwise_dist=False):  # for this thread
        if not _sets_the_limit.acquire(blocking=False):
            yield
            return
        try:
            with _blas().limit(limits=1):
                yield
        finally:
            _sets_the_limit.release()


# Calls of so few graphs take one thread: two take twice the time of processors, and no less time.
FEW_GRAPHS = 100


def threads_for(n_graphs: int) -> AbstractContextManager[None]:
    """Context in which a call of few graphs takes one thread, see :func:`one_blas_thread`."""
    return one_blas_thread() if n_graphs <= FEW_GRAPHS else nullcontext()


# Stages and epochs of training, for a program that configures this logger of Python.
log = logging.getLogger("skgraphkde")
log.addHandler(logging.NullHandler())
# The bar of the stage that runs, if it has one.
_bar: ContextVar[Any] = ContextVar("bar", default=None)


class Bar(tqdm):
    """A bar without a thread that watches it, which would take signals that the main one blocks."""

    monitor_interval = 0


@contextmanager
def stage(name: str, verbose: int = 1, level: int = logging.DEBUG) -> Iterator[None]:
    """Show a stage of the work: a bar on a terminal and in a notebook, and a line elsewhere.

    The logger of the package has its seconds, whether it is shown or not. :func:`during` and
    :func:`progress` move the bar, however deep in the work they are. A stage within another one
    shows nothing of its own.

    Parameters
    ----------
    name : str
    verbose : int, default=1
        0 shows nothing.
    level : int, default=logging.DEBUG
        Of the line in the log.
    """
    start = time.perf_counter()
    with _shown(name, verbose):
        yield
    log.log(level, "%s: %.3f s", name, time.perf_counter() - start)


@contextmanager
def _shown(name: str, verbose: int) -> Iterator[None]:
    if not verbose or _bar.get() is not None:
        yield
        return
    has_bars = sys.stderr.isatty() or "ipykernel" in sys.modules
    if not has_bars:
        print(name, file=sys.stderr, flush=True)
    with Bar(
        total=1.0,
        desc=name,
        bar_format="{desc}: {percentage:3.0f}%|{bar}| {elapsed}, {remaining} left",
        smoothing=0,
        miniters=0,
        disable=not has_bars,
    ) as bar:
        bar.span = 0.0, 1.0
        _bar.set(bar)
        try:
            with during(0.0, 1.0):
                yield
        finally:
            _bar.set(None)


@contextmanager
def during(start: float, end: float) -> Iterator[None]:
    """Do a part of a stage, or of the part around it, between these shares of its time."""
    bar = _bar.get()
    if bar is None:
        yield
        return
    before, after = around = bar.span
    bar.span = tuple(before + share * (after - before) for share in (start, end))
    try:
        yield
        bar.n = max(bar.n, min(bar.span[1], bar.total))
        bar.update(0)
    finally:
        bar.span = around


def progress(parts: Collection[Any]) -> Iterator[Any]:
    """Iterate over parts of the work that take about the same time each."""
    for i, x in enumerate(parts):
        with during(i / len(parts), (i + 1) / len(parts)):
            yield x


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning, attributed to the first caller outside of the package.

    Parameters
    ----------
    message : str or Warning
        Text of the warning, or the warning, which needs no category.
    category : type of Warning, default=UserWarning

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("attributed to this line")
    >>> str(caught[0].message)
    'attributed to this line'
    """
    level = 1
    frame = sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        level += 1
        frame = frame.f_back
    warnings.warn(message, category, stacklevel=level)


def compiled(function: Callable[..., Any], fastmath: Any = False) -> Any:
    """Compile a loop with numba, which caches it if there is a folder to write to.

    Parameters
    ----------
    function : callable
        It is compiled when it is first called.
    fastmath : bool or set of str, default=False
        As for ``numba.njit``.

    Returns
    -------
    callable
    """
    from numba import njit  # takes a second

    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath}
    return _cached(partial(njit, **options), function)


def elementwise(signature: str) -> Callable[..., Any]:
    """Compile a function of numbers, and apply it to each number of arrays, as :func:`compiled`.

    Parameters
    ----------
    signature : str
        Types of the result and of the arguments, such as "uint64(uint64)".

    Returns
    -------
    callable
        Decorator.
    """
    from numba import vectorize

    return partial(_cached, partial(vectorize, [signature]))


def _cached(compile_: Callable[..., Any], function: Callable[..., Any]) -> Any:
    try:
        return compile_(cache=True)(function)
    except RuntimeError:  # neither the package nor the home can be written to
        return compile_()(function)
