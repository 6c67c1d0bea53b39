"""Checkpoint: a file with the state of a training, from which an interrupted fit continues."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from skgraphkde._version import __version__
from skgraphkde.graphs.naming import shown
from skgraphkde.persistence import check_regular, decode, digest, encode, read, write


class Checkpoint:
    """File with the latest state of a training.

    The file belongs to one fit: it contains a fingerprint of the parameters, the graphs and the
    version of the package, and a checksum. So its content is that of an earlier epoch of this fit,
    and is not checked further.

    Parameters
    ----------
    path : str or path-like
    values, arrays : dict
        Parameters and graphs of the fit, which identify it.
    """

    def __init__(self, path: Any, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self.path = Path(os.path.realpath(path))
        self.fingerprint = digest({**values, "version": __version__}, arrays)

    def load(self) -> dict[str, Any] | None:
        """Load the state; None if there is none yet.

        Raises
        ------
        ValueError
            If the file is damaged or belongs to another fit.
        OSError
            If the file cannot be opened, or is a folder or a device.
        """
        if check_regular(self.path) is None:
            return None
        cure = "delete the file to start again, or choose another path"
        try:
            state = decode(*read(self.path))
            fingerprint = state.pop("fingerprint")
        except OSError:
            raise
        except Exception as error:  # any damage to the file
            raise ValueError(
                f"{self.path} is not a checkpoint ({shown(str(error), 300)}): {cure}"
            ) from error
        if fingerprint != self.fingerprint:
            raise ValueError(
                f"{self.path} is the checkpoint of a fit with other parameters or graphs, or of "
                f"another version: {cure}"
            )
        return state or None  # empty before the first epoch

    def save(self, state: dict[str, Any]) -> None:
        """Replace the file in one step.

        Raises
        ------
        OSError
            If the folder is not writable, or the disk is full.
        """
        write(self.path, *encode({**state, "fingerprint": self.fingerprint}))

    def check(self) -> None:
        """Raise the errors of :meth:`load` and :meth:`save` before the training starts."""
        if self.load() is None:
            self.save({})
