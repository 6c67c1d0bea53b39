"""Training by mini-batches, until the loss of graphs that are held out no longer falls."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from torch import nn
from tqdm.auto import tqdm

from benchmarks.peers._gin import standardize
from skgraphkde import GraphBatch

Loss = Callable[[nn.Module, GraphBatch, torch.Generator], torch.Tensor]

# Fewer graphs than this are too few to hold any out.
FEWEST_GRAPHS = 10


def hold_out(graphs: GraphBatch, rng: np.random.RandomState) -> tuple[GraphBatch, GraphBatch]:
    """The graphs to train on, and a tenth, at least 2, to judge by; of fewer than 10 all for both.

    Both keep the order of the graphs.
    """
    if len(graphs) < FEWEST_GRAPHS:
        return graphs, graphs
    order = rng.permutation(len(graphs))
    held_out, training = np.split(order, [max(2, round(0.1 * len(graphs)))])
    return graphs[np.sort(training)], graphs[np.sort(held_out)]


def batches(
    graphs: GraphBatch, batch_size: int, rng: np.random.RandomState | None = None
) -> list[GraphBatch]:
    """Parts of nearly equal size, at most `batch_size` but at least 2 graphs, shuffled by `rng`."""
    n = len(graphs)
    order = np.arange(n) if rng is None else rng.permutation(n)
    n_parts = max(1, min(math.ceil(n / batch_size), n // 2))
    return [graphs[index] for index in np.array_split(order, n_parts)]


def train(
    network: nn.Module,
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    training: GraphBatch,
    held_out: GraphBatch,
    options: Any,
    rng: np.random.RandomState,
) -> tuple[dict[str, list[float]], int, list[dict[str, torch.Tensor]]]:
    """Train, and leave the network with the weights of the epoch with the lowest held-out loss.

    Parameters
    ----------
    network : Module
    loss : callable
        Maps the network, a GraphBatch and a generator to the mean loss of the graphs.
    optimizer : Optimizer
    training, held_out : GraphBatch
    options : TrainedDetector
        With `max_iter`, `batch_size`, `patience`, `keep_epochs` and `verbose`.
    rng : RandomState

    Returns
    -------
    history : dict of lists, one entry per epoch from 0 on
        "loss" and "validation_loss"; epoch 0 is the untrained network.
    best_epoch : int
    weights : list of dict
        Of the network after each epoch, if `keep_epochs` is true.

    Raises
    ------
    ValueError
        If a loss is not finite.
    """
    history: dict[str, list[float]] = {"loss": [], "validation_loss": []}
    lowest, best_epoch, best, kept = math.inf, 0, {}, []
    running = _epochs(network, loss, optimizer, training, held_out, options.batch_size, rng)
    for epoch in tqdm(range(options.max_iter + 1), desc="training", disable=not options.verbose):
        losses = next(running)
        if not np.isfinite(losses).all():
            raise ValueError(
                f"the loss is not finite in epoch {epoch} (training {losses[0]}, held out "
                f"{losses[1]}): lower learning_rate, or look for extreme node attributes"
            )
        for values, value in zip(history.values(), losses, strict=True):
            values.append(value)
        weights = copy.deepcopy(network.state_dict())
        if options.keep_epochs:
            kept.append(weights)
        if losses[1] < lowest:
            lowest, best_epoch, best = losses[1], epoch, weights
        elif epoch - best_epoch >= options.patience:
            break
    network.load_state_dict(best)
    return history, best_epoch, kept


def _epochs(
    network: nn.Module,
    loss: Loss,
    optimizer: torch.optim.Optimizer,
    training: GraphBatch,
    held_out: GraphBatch,
    batch_size: int,
    rng: np.random.RandomState,
) -> Iterator[tuple[float, float]]:
    """The training loss and the held-out loss of each epoch; epoch 0 only computes them.

    After each epoch the network is in eval mode, with the statistics of all training graphs.
    """
    seed, seed_of_held_out = (int(rng.randint(2**31)) for _ in range(2))
    generator = torch.Generator().manual_seed(seed)
    held_out_batches = batches(held_out, batch_size)
    trained_by = None
    while True:
        shuffled = batches(training, batch_size, rng)
        of_training = _pass(network, loss, shuffled, generator, trained_by)
        standardize(network, training)
        same = torch.Generator().manual_seed(seed_of_held_out)  # the same numbers in all epochs
        yield of_training, _pass(network, loss, held_out_batches, same, None)
        trained_by = optimizer


def _pass(
    network: nn.Module,
    loss: Loss,
    graphs: list[GraphBatch],
    generator: torch.Generator,
    optimizer: torch.optim.Optimizer | None,
) -> float:
    """One pass over mini-batches, in training mode if there is an optimizer; the mean loss."""
    network.train(optimizer is not None)
    total = 0.0
    for batch in graphs:
        with torch.set_grad_enabled(optimizer is not None):
            value = loss(network, batch, generator)
        if optimizer is not None:
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        total += len(batch) * value.item()
    return total / sum(map(len, graphs))
