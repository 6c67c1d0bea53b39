"""Resumption of a training: a trainer <-> the state in a checkpoint.

Types, shapes and finite numbers are checked, as for the file of a detector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from skgraphkde.distances.joint import Distances
from skgraphkde.persistence import State
from skgraphkde.training.history import history_arrays, taken_history

Tensors = dict[str, torch.Tensor]


def state_of(trainer: Any) -> dict[str, Any]:
    """State of a Trainer that its next epochs depend on and its constructor does not create."""
    _, keys, position, has_gauss, gauss = trainer.rng.get_state()
    moments = trainer.optimizer.state_dict()["state"]
    return {
        "history": history_arrays(trainer.history),
        "model": _arrays(trainer.model.state_dict()),
        "best": _arrays(trainer.best_state),
        "optimizer": {str(i): _arrays(tensors) for i, tensors in moments.items()},
        "scales": trainer.model.kde.scales,
        "distances": trainer.model.distances.members,
        "keys": np.asarray(keys, np.int64),
        "position": int(position),
        "gauss": float(gauss) if has_gauss else None,
        "generator": trainer.generator.get_state().numpy(force=True),
        "last_log_density": trainer.last_log_density,
    }


def restore(trainer: Any, state: State) -> None:
    """Restore a Trainer to a saved state: the inverse of :func:`state_of`.

    Parameters
    ----------
    trainer : Trainer
        A new trainer, which is changed in place.
    state : State

    Raises
    ------
    ValueError
        If the state is not that of this training.
    """
    kde, most = trainer.model.kde, trainer.options.max_iter + 1
    shape = kde.bandwidths.shape
    trainer.history = taken_history(state.owner, state.take("history", dict), shape)
    losses = trainer.history.get("validation_loss", [])
    state.check(0 < len(losses) <= most, f"the history does not have 1 to {most} epochs")
    trainer.best_epoch = int(np.argmin(losses))
    for name in ("best", "model"):
        trainer.model.load_state_dict(_taken_tensors(state, name, trainer.model.state_dict()))
        trainer.model.encoder.check_weights()
        if name == "best":
            trainer.best_state = {k: x.clone() for k, x in trainer.model.state_dict().items()}
    kde.scales = state.take_array("scales", float, (shape[0],), low=np.finfo(float).tiny)
    trainer.model.distances = _taken_distances(state, trainer)
    _restore_optimizer(trainer, state, n_steps=(len(losses) - 1) * trainer.n_batches)
    keys = state.take_array("keys", np.int64, (len(trainer.rng.get_state()[1]),))
    position = state.take_count("position", len(keys))  # a larger value reads invalid memory
    gauss = state.take_optional("gauss", float)
    mersenne = "MT19937", keys.astype(np.uint32), position, int(gauss is not None), gauss or 0.0
    trainer.rng.set_state(mersenne)
    generator = tuple(trainer.generator.get_state().shape)
    trainer.generator.set_state(torch.tensor(state.take_array("generator", np.uint8, generator)))
    n_graphs = len(trainer.graphs)
    trainer.last_log_density = state.take_array("last_log_density", float, (n_graphs,)).copy()


def _restore_optimizer(trainer: Any, state: State, n_steps: int) -> None:
    """Restore the moments of the gradients, and the learning rate after `n_steps` steps."""
    moments = state.take("optimizer", dict)
    learned = trainer.optimizer.param_groups[0]["params"]
    optimizer = trainer.optimizer.state_dict()
    for i, parameter in enumerate(learned):
        if str(i) in moments:
            expected = {"step": torch.zeros(()), "exp_avg": parameter, "exp_avg_sq": parameter}
            moments_of = State(state.owner, moments)
            optimizer["state"][i] = _taken_tensors(moments_of, str(i), expected)
    trainer.optimizer.load_state_dict(optimizer)
    trainer.schedule.last_epoch = n_steps
    rates = zip(trainer.optimizer.param_groups, trainer.schedule.base_lrs, strict=True)
    for group, rate in rates:
        group["lr"] = rate * trainer.schedule.lr_lambdas[0](n_steps)


def _taken_distances(state: State, trainer: Any) -> Distances:
    """Take the adapted distances, which must have the types of the trainer's distances."""
    members, built = state.take("distances", tuple), trainer.model.distances.members
    state.check(list(map(type, members)) == list(map(type, built)), "distances are of other types")
    for member in members:
        member.check_dim(trainer.model.encoder.out_dim)
    return Distances(members)


def _taken_tensors(state: State, name: str, expected: Tensors) -> Tensors:
    """Take finite tensors with the shapes and types of the expected ones."""
    arrays = State(f"{state.owner}, {name}", state.take(name, dict))
    taken = {}
    for key, tensor in expected.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        taken[key] = torch.tensor(arrays.take_array(key, dtype, tuple(tensor.shape)))
    arrays.check_empty()
    return taken


def _arrays(tensors: Tensors) -> dict[str, np.ndarray]:
    return {key: tensor.numpy(force=True) for key, tensor in tensors.items()}
