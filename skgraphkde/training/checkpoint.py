"""Checkpoint: a file with the state of a training, so that a fit that was killed can continue.

A file belongs to one fit: it contains a fingerprint of its parameters and its graphs.
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
    """A file with the latest state of a training.

    Parameters
    ----------
    path : str or path-like
    values, arrays : dict
        What identifies the fit: its parameters and its graphs.
    """

    def __init__(self, path: Any, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.path = Path(os.path.realpath(path))
        self.fingerprint = digest(values, arrays)

    def resume(self, restore: Callable[[State], Any]) -> None:
        """Pass the state in the file to `restore`, which takes all of it, if there is a file.

        Raises
        ------
        ValueError
            If the file is damaged or forged, or belongs to another fit.
        OSError
            If it cannot be opened, or is a folder or a device.
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
        except Exception as error:  # whatever is wrong with it
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
            If the folder cannot be written to, or its disk has no room.
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
        """Raise as :meth:`resume` and :meth:`save` would, before the training starts."""
        self.resume(State.take_all)
        if not self.path.exists():
            self.save({})
            self.path.unlink()


def _decoded(path: Path) -> dict[str, Any]:
    items = decode(*read(path))
    check(type(items) is dict, "it contains something else")
    return items
