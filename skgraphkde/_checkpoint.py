"""Checkpoint: the state of a training -> a file, so that a fit that was killed can go on.

In comes what the training needs to continue, as values and arrays. A file belongs to one fit: its
parameters and its graphs, of which it holds a fingerprint.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from skgraphkde import _files
from skgraphkde._files import Described


class Checkpoint:
    """A file that holds the latest state of a training.

    Parameters
    ----------
    path : str or path-like
    values, arrays : dict
        What makes this fit what it is: parameters, and the graphs.
    """

    def __init__(self, path: Any, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.path = Path(path)
        self.fingerprint = _files.digest(values, arrays)

    def load(self) -> Described | None:
        """The state in the file; None if there is no file yet.

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to another fit.
        OSError
            If it cannot be opened.
        """
        if not self.path.exists():
            return None
        cure = "delete the file to start anew, or give another path"
        try:
            values, arrays = _files.read(self.path)
        except OSError:
            raise
        except Exception as error:  # whatever is wrong with it
            raise ValueError(f"{self.path} is no checkpoint ({error}): {cure}") from error
        if values.pop("fingerprint", None) != self.fingerprint:
            raise ValueError(
                f"{self.path} is the checkpoint of a fit with other parameters or graphs: {cure}"
            )
        return values, arrays

    def save(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Replace the file in one step.

        Raises
        ------
        OSError
            If the folder cannot be written to, or its disk has no room.
        """
        needed = 2 * sum(array.nbytes for array in arrays.values())
        if shutil.disk_usage(self.path.absolute().parent).free < needed:
            raise OSError(
                f"a checkpoint of {needed / 2**20:.1f} MiB does not fit beside {self.path}: free "
                "disk space, or give another path"
            )
        _files.write(self.path, {**values, "fingerprint": self.fingerprint}, arrays)

    def check(self) -> None:
        """Raise as :meth:`load` and :meth:`save` would, before the training starts."""
        if self.load() is None:
            self.save({}, {})
            self.path.unlink()
