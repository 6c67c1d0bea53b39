"""The history of a training, by epoch: lists of numbers <-> arrays in a file, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.persistence import State

NAMES = ("loss", "validation_loss", "mixture_weights", "seconds")


def history_arrays(history: dict[str, list]) -> dict[str, np.ndarray]:
    """What a file keeps of a history."""
    return {name: np.array(column, float) for name, column in history.items()}


def taken_history(owner: str, items: dict[str, Any], shape: tuple[int, ...]) -> dict[str, list]:
    """The history in a file: of each epoch one number, or mixture weights of this shape.

    Parameters
    ----------
    owner : str
        Whose history it is, for messages.
    items : dict
        The arrays by name, or nothing.
    shape : tuple of int
        Numbers of distances and of bandwidths.
    """
    if not items:
        return {}
    state = State(owner, items)
    losses = state.take_array("loss", float, (None,), finite=False)
    columns: dict[str, np.ndarray] = {"loss": losses}
    for name in NAMES[1:]:
        of_epoch = shape if name == "mixture_weights" else ()
        columns[name] = state.take_array(name, float, (len(losses), *of_epoch))
    state.check_empty()
    is_usual = len(losses) and np.isnan(losses[0]) and np.isfinite(losses[1:]).all()
    state.check(is_usual, "the losses of the history are not those of epochs 0, 1, ...")
    return {name: columns[name].tolist() for name in NAMES}
