"""Detectors that train a network on normal graphs and score by what it has learned."""

import copy
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.peers._gin import standardize
from skgraphkde import BaseGraphDetector, GraphBatch, NodeFeatures
from skgraphkde._utils import progress

# Fewer graphs than this are too few to hold any out.
FEWEST_GRAPHS = 10


class TrainedDetector(BaseGraphDetector):
    """Base class: a network, trained on mini-batches of the normal graphs.

    Node features are the first of label, attribute and degree that the training graphs have. A
    tenth of the training graphs, at least 2, is held out of the gradient; of fewer than 10, none
    is, and all judge. The weights of the epoch with the lowest held-out loss are kept; training
    stops after `patience` epochs without a lower one. No label and no test graph has a part in it.

    With "loo", calibration scores are the plain scores of the training graphs, as a network cannot
    leave a graph out: false alarms are too many. A `Split` holds some out. The defaults are the
    sizes of OCGIN and OCGTL.

    `losses_` has the mean losses of the training and the held-out graphs, `weights_` the weights,
    in each epoch; epoch 0 is untrained. `best_epoch_` is the one that is kept.
    """

    weight_decay = 0.0

    def __init__(
        self,
        max_iter: int = 500,
        hidden_dim: int = 32,
        n_layers: int = 4,
        learning_rate: float = 1e-3,
        batch_size: int = 128,
        patience: int = 100,
        *,
        calibration: Any = "loo",
        random_state: Any = None,
    ) -> None:
        super().__init__(calibration=calibration, random_state=random_state)
        self.max_iter, self.patience = max_iter, patience
        self.hidden_dim, self.n_layers = hidden_dim, n_layers
        self.learning_rate, self.batch_size = learning_rate, batch_size

    def _build(self, in_dim: int, generator: torch.Generator) -> nn.Module:
        """The untrained network, with all that scores depend on in its ``state_dict``."""
        raise NotImplementedError

    def _prepare(self, network: nn.Module, batches: list[GraphBatch]) -> None:
        """Show the training graphs to the untrained network, in eval mode."""

    def _loss(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        """The mean loss of at least two graphs, with their node features as attributes."""
        raise NotImplementedError

    def _scores(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        """One score per graph by the network in double precision, higher for normal graphs."""
        raise NotImplementedError

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        generator = torch.Generator().manual_seed(int(rng.randint(2**31)))
        self.features_ = NodeFeatures("given").fit(graphs)
        training, held_out = _hold_out(self.features_.transform_batch(graphs), rng)
        network = self._build(self.features_.n_features_out_, generator)
        standardize(network, training)
        with torch.no_grad():
            self._prepare(network, self._batches(training))
        parameters, decay = network.parameters(), self.weight_decay
        optimizer = torch.optim.Adam(parameters, self.learning_rate, weight_decay=decay)
        self.losses_, self.weights_, self.best_epoch_ = [], [], 0
        for epoch in progress(range(self.max_iter + 1)):
            shuffled = self._batches(training, rng)
            loss = self._pass(network, shuffled, optimizer if epoch else None)
            standardize(network, training)
            validation_loss = self._pass(network, self._batches(held_out), None)
            if not np.isfinite([loss, validation_loss]).all():
                raise ValueError(f"the loss is not finite in epoch {epoch}: lower learning_rate")
            self.losses_.append((loss, validation_loss))
            self.weights_.append(copy.deepcopy(network.state_dict()))
            if validation_loss < self.losses_[self.best_epoch_][1]:
                self.best_epoch_ = epoch
            elif epoch - self.best_epoch_ >= self.patience:
                break
        network.load_state_dict(self.weights_[self.best_epoch_])
        self.network_ = network.double().eval()
        return self._score_batch(graphs)

    def _pass(self, network: nn.Module, batches: list[GraphBatch], optimizer: Any) -> float:
        """One pass over mini-batches, in training mode if there is an optimizer; the mean loss."""
        network.train(optimizer is not None)
        total = 0.0
        for batch in batches:
            with torch.set_grad_enabled(optimizer is not None):
                loss = self._loss(network, batch)
            if optimizer is not None:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += len(batch) * loss.item()
        return total / sum(map(len, batches))

    def _batches(self, graphs: GraphBatch, rng: Any = None) -> list[GraphBatch]:
        """Parts of nearly equal size, at most `batch_size` but at least 2 graphs, shuffled."""
        n = len(graphs)
        order = np.arange(n) if rng is None else rng.permutation(n)
        n_parts = max(1, min(math.ceil(n / self.batch_size), n // 2))
        return [graphs[index] for index in np.array_split(order, n_parts)]

    def _check_batch(self, graphs: GraphBatch) -> None:
        self.features_.check_batch(graphs)

    @torch.no_grad()
    def _score_batch(self, graphs: GraphBatch, network: nn.Module | None = None) -> np.ndarray:
        network = self.network_ if network is None else network
        parts = self._batches(self.features_.transform_batch(graphs))
        return torch.cat([self._scores(network, part) for part in parts]).numpy()

    def scores_by_epoch(self, graphs: Any) -> np.ndarray:
        """Scores after each epoch, shape (n_epochs + 1, n_graphs)."""
        batch, network = self.read(graphs), copy.deepcopy(self.network_)
        scores = np.empty((len(self.weights_), len(batch)))
        for epoch, weights in enumerate(self.weights_):
            network.load_state_dict(weights)
            scores[epoch] = self._score_batch(batch, network)
        return scores


def _hold_out(graphs: GraphBatch, rng: np.random.RandomState) -> tuple[GraphBatch, GraphBatch]:
    """The graphs to train on, and those to judge by, in their order."""
    if len(graphs) < FEWEST_GRAPHS:
        return graphs, graphs
    order = rng.permutation(len(graphs))
    held_out, training = np.split(order, [max(2, round(0.1 * len(graphs)))])
    return graphs[np.sort(training)], graphs[np.sort(held_out)]
