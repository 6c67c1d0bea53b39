"""Detectors that train a network on normal graphs and score by what it has learned."""

from __future__ import annotations

import copy
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
import torch
from sklearn.utils._param_validation import Interval
from torch import Tensor, nn

from benchmarks.peers._gin import load_weights, standardize, weights_of
from benchmarks.peers._training import batches, hold_out, train
from skgraphkde import BaseGraphDetector, GraphBatch, NodeFeatures
from skgraphkde.learned.threads import one_torch_thread
from skgraphkde.persistence import State
from skgraphkde.specification import at_least


class TrainedDetector(BaseGraphDetector):
    """Base class: a network, trained on mini-batches of the normal graphs.

    Node features are the first of label, attribute and degree that the training graphs have.

    A tenth of the training graphs, at least 2, is held out of the gradient; with fewer than 10
    graphs none is, and all of them take its place. The weights of the epoch with the lowest loss on
    them are kept; epoch 0 is the untrained network. No label and no test graph has a part in it.

    With ``calibration="loo"`` the calibration scores are the plain scores of the training graphs,
    as a network cannot leave a graph out: false alarms are too many. "split" has no such bias.

    Parameters
    ----------
    max_iter, hidden_dim, n_layers : int
        Most epochs; width and number of the layers.
    learning_rate, batch_size : float and int
        Of Adam; most graphs of a mini-batch, which has at least 2.
    patience : int
        Epochs without a lower held-out loss after which training stops.
    keep_epochs : bool, default=False
        Whether the weights of all epochs stay in memory, for :meth:`scores_by_epoch`.
    calibration, contamination, n_jobs, random_state, verbose
        As for BaseGraphDetector.

    Attributes
    ----------
    history_ : dict of lists, one entry per epoch from 0 on
        "loss" of the training graphs, and "validation_loss" of those held out.
    best_epoch_ : int
        The epoch whose weights are kept.
    """

    _parameter_constraints: dict = {
        "max_iter": [at_least(0, Integral)],
        "batch_size": [at_least(2, Integral)],
        **{key: [at_least(1, Integral)] for key in ("hidden_dim", "n_layers", "patience")},
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "keep_epochs": ["boolean"],
        **BaseGraphDetector._parameter_constraints,
    }

    def __init__(
        self,
        max_iter: int,
        hidden_dim: int,
        n_layers: int,
        learning_rate: float,
        batch_size: int,
        patience: int,
        *,
        keep_epochs: bool = False,
        **parameters: Any,
    ) -> None:
        super().__init__(**parameters)
        self.max_iter, self.patience, self.keep_epochs = max_iter, patience, keep_epochs
        self.hidden_dim, self.n_layers = hidden_dim, n_layers
        self.learning_rate, self.batch_size = learning_rate, batch_size

    def _build(self, in_dim: int, generator: torch.Generator) -> nn.Module:
        """The untrained network, with all that scores depend on in its ``state_dict``."""
        raise NotImplementedError

    def _prepare(self, network: nn.Module, batches: list[GraphBatch]) -> None:
        """Show the training graphs to the untrained network, in eval mode."""

    def _loss(self, network: nn.Module, graphs: GraphBatch, generator: torch.Generator) -> Tensor:
        """The mean loss of at least two graphs, with their node features as attributes."""
        raise NotImplementedError

    def _scores(self, network: nn.Module, graphs: GraphBatch) -> Tensor:
        """One score per graph by the network in double precision, higher for normal graphs."""
        raise NotImplementedError

    def _optimizer(self, network: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.Adam(network.parameters(), self.learning_rate)

    @one_torch_thread()
    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        generator = torch.Generator().manual_seed(int(rng.randint(2**31)))
        self.features_ = NodeFeatures("given").fit(graphs)
        training, held_out = hold_out(self.features_.transform_batch(graphs), rng)
        network = self._build(self.features_.n_features_out_, generator)
        standardize(network, training)
        with torch.no_grad():
            self._prepare(network, batches(training, self.batch_size))
        self.history_, self.best_epoch_, self._epochs = train(
            network, self._loss, self._optimizer(network), training, held_out, self, rng
        )
        self._use(network)
        return self._score_batch(graphs)

    def _use(self, network: nn.Module) -> None:
        self.weights_ = weights_of(network)
        self._network = network.double().eval()

    def _check_batch(self, graphs: GraphBatch) -> None:
        self.features_.check_batch(graphs)

    @torch.no_grad()
    def _score_batch(self, graphs: GraphBatch, network: nn.Module | None = None) -> np.ndarray:
        network = self._network if network is None else network
        parts = batches(self.features_.transform_batch(graphs), self.batch_size)
        return torch.cat([self._scores(network, part) for part in parts]).numpy()

    def scores_by_epoch(self, graphs: Any) -> np.ndarray:
        """Scores after each epoch, shape (n_epochs + 1, n_graphs); not by a copy or from a file."""
        batch = self.read(graphs)
        if not getattr(self, "_epochs", None):
            raise ValueError("the weights of the epochs were not kept: fit with keep_epochs=True")
        network = copy.deepcopy(self._network)
        scores = np.empty((len(self._epochs), len(batch)))
        for epoch, weights in enumerate(self._epochs):
            network.load_state_dict(weights)
            scores[epoch] = self._score_batch(batch, network)
        return scores

    def __getstate__(self) -> dict[str, Any]:
        return {name: x for name, x in super().__getstate__().items() if name != "_epochs"}

    def _take_fitted(self, state: State) -> None:
        self.features_ = state.take_instance("features_", NodeFeatures)
        self.history_ = state.take("history_", dict)
        self.best_epoch_ = state.take_count("best_epoch_")
        build = partial(self._build, self.features_.n_features_out_)
        self._use(load_weights(build, state.take("weights_", dict)))
