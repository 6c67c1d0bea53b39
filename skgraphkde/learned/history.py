"""History of a training by epoch: lists of numbers <-> checked arrays in a file."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.persistence import State

NAMES = ("loss", "validation_loss", "mixture_weights", "seconds")


def history_arrays(history: dict[str, list]) -> dict[str, np.ndarray]:
    """Convert a history to arrays to save."""
    return {name: np.array(column, float) for name, column in history.items()}


def taken_history(owner: str, items: dict[str, Any], n_weights: int) -> dict[str, list]:
    """Rebuild a history from saved arrays.

    Parameters
    ----------
    owner : str
        Name of the object that has the history, for messages.
    items : dict
        Arrays by name; empty without training.
    n_weights : int
        Number of mixture weights of all densities.

    Returns
    -------
    dict of lists
        One entry per epoch.

    Raises
    ------
    ValueError
        If an array is missing or has the wrong shape.
    """
    if not items:
        return {}
    state = State(owner, items)
    losses = state.take_array("loss", float, (None,), finite=False)
    history = {"loss": losses.tolist()}
    for name in NAMES[1:]:
        of_epoch = (n_weights,) if name == "mixture_weights" else ()
        history[name] = state.take_array(name, float, (len(losses), *of_epoch)).tolist()
    state.check_empty()
    is_usual = len(losses) and np.isnan(losses[0]) and np.isfinite(losses[1:]).all()
    state.check(is_usual, "the losses of the history are not those of epochs 0, 1, ...")
    return history
