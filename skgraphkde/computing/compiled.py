"""Compiled loops: numba keeps them in a cache where it can, and they work where it cannot.

numba's cache lies in the folder that ``NUMBA_CACHE_DIR`` names, else beside the source, else in the
home. numba raises where it can write to none of them, where the disk is full and where a file of
the cache is damaged: reasons to compile again, and not to stop.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import config, njit
from numba.core.caching import FunctionCache


class _ForgivingCache(FunctionCache):
    """A cache that compiled code does without where it cannot be read or written."""

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function, or None if the cache does not have it whole."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whatever is wrong with its files
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled function if there is room for it."""
        with suppress(Exception):  # a full disk, or a damaged index
            super().save_overload(sig, data)


def compiled(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function when it is first called, and cache the result where that is possible.

    Parameters
    ----------
    **options : dict
        Of ``numba.njit``, all but `cache`.

    Returns
    -------
    callable
        The decorator.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        dispatcher = njit(**options)(function)
        # Without a known home, numba would make a folder called ~ where the user works.
        chosen: str = config.CACHE_DIR  # type: ignore[attr-defined]
        if chosen or os.path.isabs(os.path.expanduser("~")):
            with suppress(RuntimeError, OSError):  # no folder to write to
                dispatcher._cache = _ForgivingCache(function)
        return dispatcher

    return decorate
