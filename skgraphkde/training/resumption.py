"""What the next epochs of a training depend on: a trainer <-> the state in a checkpoint.

A checkpoint is checked as a model file is: what is in it has the types, the shapes and the ranges
of what an epoch leaves behind, and what follows from something else is not in it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from skgraphkde.distances.joint import Distances
from skgraphkde.persistence import State
from skgraphkde.training.history import history_arrays, taken_history

Tensors = dict[str, torch.Tensor]

# Of the Mersenne Twister, which draws batches and twins.
N_KEYS = 624


def state_of(trainer: Any) -> dict[str, Any]:
    """All that the next epochs of a Trainer depend on, and that its constructor does not make."""
    _, keys, position, has_gauss, gauss = trainer.rng.get_state()
    moments = trainer.optimizer.state_dict()["state"]
    return {
        "history": history_arrays(trainer.history),
        "model": _arrays(trainer.model.state_dict()),
        "best": _arrays(trainer.best_state),
        "optimizer": {str(i): _arrays(of_parameter) for i, of_parameter in moments.items()},
        "scales": trainer.model.kde.scales,
        "distances": trainer.model.distances.members,
        "keys": np.asarray(keys, np.int64),
        "position": int(position),
        "gauss": float(gauss) if has_gauss else None,
        "generator": trainer.generator.get_state().numpy(force=True),
        "last_log_density": trainer.last_log_density,
    }


def restore(trainer: Any, state: State) -> None:
    """The inverse of :func:`state_of`.

    Raises
    ------
    ValueError
        If it is not the state of this training.
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
    n_steps = (len(losses) - 1) * trainer.n_batches
    _restore_optimizer(trainer, state, n_steps)
    _restore_generators(trainer, state)
    n_graphs = len(trainer.graphs)
    trainer.last_log_density = state.take_array("last_log_density", float, (n_graphs,)).copy()


def _restore_optimizer(trainer: Any, state: State, n_steps: int) -> None:
    """The moments of the gradients, and the learning rate after so many steps."""
    moments = state.take("optimizer", dict)
    learned = trainer.optimizer.param_groups[0]["params"]
    is_known = moments.keys() <= {str(i) for i in range(len(learned))}
    state.check(is_known, "the optimizer has moments of parameters that there are not")
    optimizer = trainer.optimizer.state_dict()
    for i, parameter in enumerate(learned):
        if str(i) in moments:
            expected = {"step": torch.zeros(()), "exp_avg": parameter, "exp_avg_sq": parameter}
            of_parameter = _taken_tensors(State(state.owner, moments), str(i), expected)
            in_range = (
                0 <= of_parameter["step"] <= n_steps and of_parameter["exp_avg_sq"].min() >= 0
            )
            state.check(in_range, "the optimizer has moments that are out of range")
            optimizer["state"][i] = of_parameter
    trainer.optimizer.load_state_dict(optimizer)
    trainer.schedule.last_epoch = n_steps
    rates = zip(trainer.optimizer.param_groups, trainer.schedule.base_lrs, strict=True)
    for group, rate in rates:
        group["lr"] = rate * trainer.schedule.lr_lambdas[0](n_steps)


def _restore_generators(trainer: Any, state: State) -> None:
    """The positions in the streams of random numbers; a wrong one leads out of the memory."""
    keys = state.take_array("keys", np.int64, (N_KEYS,), low=0, high=2**32 - 1)
    state.check(keys.any(), "the keys of the random numbers are all 0")
    position = state.take_count("position", N_KEYS)
    gauss = state.take_optional("gauss", float)
    state.check(gauss is None or np.isfinite(gauss), "gauss is not finite")
    has_gauss = int(gauss is not None)
    trainer.rng.set_state(("MT19937", keys.astype(np.uint32), position, has_gauss, gauss or 0.0))
    expected = trainer.generator.get_state()
    generator = state.take_array("generator", np.uint8, tuple(expected.shape))
    if trainer.generator.device.type == "cpu":  # which checks each of these, but not both
        left, place = generator[8:12].view(np.int32)[0], generator[16:24].view(np.uint64)[0]
        state.check(int(left) + int(place) <= N_KEYS + 1, "the generator has a wrong position")
    trainer.generator.set_state(torch.tensor(generator))


def _taken_distances(state: State, trainer: Any) -> Distances:
    """The distances as an epoch has adapted them, of the types that the fit has built."""
    members, built = state.take("distances", tuple), trainer.model.distances.members
    state.check(list(map(type, members)) == list(map(type, built)), "distances are of other types")
    for member in members:
        member.check_dim(trainer.model.encoder.out_dim)
    return Distances(members)


def _taken_tensors(state: State, name: str, expected: Tensors) -> Tensors:
    """Tensors of the shapes and types of those that are expected, finite."""
    arrays = State(f"{state.owner}, {name}", state.take(name, dict))
    taken = {}
    for key, tensor in expected.items():
        dtype = str(tensor.dtype).removeprefix("torch.")
        taken[key] = torch.tensor(arrays.take_array(key, dtype, tuple(tensor.shape)))
    arrays.check_empty()
    return taken


def _arrays(tensors: Tensors) -> dict[str, np.ndarray]:
    return {key: tensor.numpy(force=True) for key, tensor in tensors.items()}
