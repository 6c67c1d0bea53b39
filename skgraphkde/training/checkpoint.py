"""Checkpoint: a file with the state of a training, so that a fit that was killed can continue.

A file belongs to one fit: it contains a fingerprint of its parameters and its graphs.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np

from skgraphkde.persistence import digest, read, write

Described = tuple[dict[str, Any], dict[str, np.ndarray]]


class Checkpoint:
    """A file with the latest state of a training.

    Parameters
    ----------
    path : str or path-like
    values, arrays : dict
        What identifies the fit: its parameters and its graphs.
    """

    def __init__(self, path: Any, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.path = Path(path)
        self.fingerprint = digest(values, arrays)

    def load(self) -> Described | None:
        """The state in the file, or None if there is no file yet.

        Raises
        ------
        ValueError
            If the file is damaged, or belongs to another fit.
        OSError
            If it cannot be opened.
        """
        if not self.path.exists():
            return None
        cure = "delete the file to start again, or choose another path"
        try:
            values, arrays = read(self.path)
        except OSError:
            raise
        except Exception as error:  # whatever is wrong with it
            raise ValueError(f"{self.path} is not a checkpoint ({error}): {cure}") from error
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
                f"there is no room for a checkpoint of {needed / 2**20:.1f} MiB at {self.path}: "
                "free disk space, or choose another path"
            )
        write(self.path, {**values, "fingerprint": self.fingerprint}, arrays)

    def check(self) -> None:
        """Raise as :meth:`load` and :meth:`save` would, before the training starts."""
        if self.load() is None:
            self.save({}, {})
            self.path.unlink()
