"""Checkpoint: a file with the state of a training, from which an interrupted fit continues.

A file belongs to one fit: it contains a fingerprint of the parameters and the graphs.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from skgraphkde.graphs.naming import shown
from skgraphkde.persistence import (
    State,
    check,
    check_regular,
    decode,
    digest,
    encode,
    read,
    write,
)


class Checkpoint:
    """File with the latest state of a training.

    Parameters
    ----------
    path : str or path-like
    values, arrays : dict
        Parameters and graphs of the fit, which identify it.
    """

    def __init__(self, path: Any, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.path = Path(os.path.realpath(path))
        self.fingerprint = digest(values, arrays)

    def resume(self, restore: Callable[[State], Any]) -> None:
        """Pass the state in the file to `restore`, if the file exists.

        Parameters
        ----------
        restore : callable
            Function that takes all items of a State.

        Raises
        ------
        ValueError
            If the file is damaged or belongs to another fit.
        OSError
            If the file cannot be opened, or is a folder or a device.
        """
        if check_regular(self.path) is None:
            return
        cure = "delete the file to start again, or choose another path"
        try:
            state = State("checkpoint", _decoded(self.path))
            is_of_this_fit = state.take("fingerprint", str) == self.fingerprint
            if is_of_this_fit:
                restore(state)
                state.check_empty()
        except OSError:
            raise
        except Exception as error:  # any damage to the file
            raise ValueError(
                f"{self.path} is not a checkpoint ({shown(str(error), 300)}): {cure}"
            ) from error
        if not is_of_this_fit:
            raise ValueError(
                f"{self.path} is the checkpoint of a fit with other parameters or graphs: {cure}"
            )

    def save(self, state: dict[str, Any]) -> None:
        """Replace the file in one step.

        Raises
        ------
        OSError
            If the folder is not writable, or the disk is full.
        """
        tree, arrays = encode({**state, "fingerprint": self.fingerprint})
        needed = 2 * sum(array.nbytes for array in arrays.values())
        if shutil.disk_usage(self.path.absolute().parent).free < needed:
            raise OSError(
                f"there is no room for a checkpoint of {needed / 2**20:.1f} MiB at {self.path}: "
                "free disk space, or choose another path"
            )
        write(self.path, tree, arrays)

    def check(self) -> None:
        """Raise the errors of :meth:`resume` and :meth:`save` before the training starts."""
        self.resume(State.take_all)
        if not self.path.exists():
            self.save({})
            self.path.unlink()


def _decoded(path: Path) -> dict[str, Any]:
    items = decode(*read(path))
    check(type(items) is dict, "it contains something else")
    return items
