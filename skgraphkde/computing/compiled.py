"""Compiled loops: numba caches them if it can, and compiles them again if it cannot.

numba's cache is in the folder that ``NUMBA_CACHE_DIR`` names, else next to the source, else in the
home directory. numba raises an error if it can write to none of them, if the disk is full, or if a
file of the cache is damaged. These errors must not stop a program: the loops are compiled again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache


class _ForgivingCache(FunctionCache):
    """A cache that ignores errors of reading and writing."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the compiled function; None if the cache lacks it or is damaged."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # any damage to the files
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the compiled function if possible."""
        with suppress(Exception):  # a full disk, or a damaged index
            super().save_overload(sig, data)


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is first called, and cache the result if possible.

    Parameters
    ----------
    **options : dict
        Options of ``numba.njit``, except `cache`.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = njit(**options)(function)
        # Without a known home, numba would make a folder called ~ in the working directory.
        chosen: str = config.CACHE_DIR  # type: ignore[attr-defined]
        if chosen or os.path.isabs(os.path.expanduser("~")):
            with suppress(RuntimeError, OSError):  # no folder to write to
                dispatcher._cache = _ForgivingCache(function)
        return dispatcher

    return decorate
