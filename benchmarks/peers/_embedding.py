"""Two stages: an encoder trained for something else, then the density of its graph embeddings."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
import torch
from scipy.spatial.distance import cdist
from skgraphkde.persistence import State

from skgraphkde import (
    GCN,
    BaseGraphDetector,
    EncoderModule,
    GraphBatch,
    NodeFeatures,
    paper_settings,
)
from skgraphkde.density.kde import own_references
from skgraphkde.distances.measures import DiscreteMeasures, pooled
from skgraphkde.propagation import MessageFlow
from skgraphkde.specification import at_least

ENCODER = GCN(hidden_dim=128, n_layers=2, dropout=0.2, batch_norm=True)
PAPER = paper_settings()


class EmbeddingKDE(BaseGraphDetector):
    """Base class: our encoder, trained with the loss of a subclass, then a kernel density.

    The paper's two-stage comparison: same features, encoder and bandwidths as LGKDE, with equal
    weights of the bandwidths. With ``calibration="loo"`` each training graph is scored without its
    own kernel; the encoder has seen it.

    Parameters
    ----------
    max_iter : int, default=20
        Number of epochs.
    calibration, contamination, n_jobs, random_state, verbose
        As for BaseGraphDetector.
    """

    _parameter_constraints: dict = {
        "max_iter": [at_least(0, Integral)],
        **BaseGraphDetector._parameter_constraints,
    }

    def __init__(
        self,
        max_iter: int = 20,
        *,
        schema: Any = None,
        calibration: Any = "loo",
        contamination: float = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            schema=schema,
            calibration=calibration,
            contamination=contamination,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.max_iter = max_iter

    def _fit_batch(self, graphs: GraphBatch, rng: np.random.RandomState) -> np.ndarray:
        generator = torch.Generator().manual_seed(int(rng.randint(2**31)))
        self.features_ = NodeFeatures(PAPER["features"]).fit(graphs)
        featurized = self.features_.transform_batch(graphs)
        encoder = ENCODER.build_module(self.features_.n_features_out_, generator)
        heads = self._heads(encoder.out_dim, generator)
        modules = torch.nn.ModuleList([encoder, *heads])
        optimizer = torch.optim.Adam(modules.parameters(), lr=PAPER["training"].learning_rate)
        modules.train()
        n_steps = -(-len(graphs) // PAPER["training"].batch_size)
        for _ in range(self.max_iter):
            for index in np.array_split(rng.permutation(len(graphs)), n_steps):
                batch = featurized[index]
                loss = self._loss(encoder(_flow(batch), generator), batch, heads, rng)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        encoder.prepare([_flow(featurized)])
        self._use(encoder)
        self.embeddings_ = self._embed(graphs)
        own = np.arange(len(graphs))
        return self._log_densities(self.embeddings_, own_references(own, len(graphs)))

    def _heads(self, width: int, generator: torch.Generator) -> list[torch.nn.Module]:
        """What is trained beside the encoder, whose embeddings have `width` coordinates."""
        return []

    def _loss(
        self,
        Z: torch.Tensor,
        graphs: GraphBatch,
        heads: list[torch.nn.Module],
        rng: np.random.RandomState,
    ) -> torch.Tensor:
        """The training loss on a mini-batch of graphs whose nodes have the embeddings Z."""
        raise NotImplementedError

    def _use(self, encoder: EncoderModule) -> None:
        self.weights_, self._encoder = encoder.saved_weights(), encoder

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        return self._log_densities(self._embed(graphs))

    def _check_batch(self, graphs: GraphBatch) -> None:
        self.features_.check_batch(graphs)

    def _embed(self, graphs: GraphBatch) -> np.ndarray:
        """Mean of the node embeddings of each graph."""
        featurized = self.features_.transform_batch(graphs)
        Z = self._encoder.encode(_flow(featurized))
        return pooled(DiscreteMeasures.from_clouds(Z, featurized.node_ptr), "mean")

    def _log_densities(
        self, embeddings: np.ndarray, left_out: np.ndarray | None = None
    ) -> np.ndarray:
        squared = cdist(embeddings, self.embeddings_, "sqeuclidean")
        return PAPER["views"].kernels.build()(squared, left_out=left_out)

    def _take_fitted(self, state: State) -> None:
        self.features_ = state.take_instance("features_", NodeFeatures)
        width = self.features_.n_features_out_
        self._use(ENCODER.restore(width, 0, state.take("weights_", dict)))
        self.embeddings_ = state.take_array("embeddings_", float, (None, self._encoder.out_dim))


def _flow(graphs: GraphBatch) -> MessageFlow:
    return MessageFlow.unmerged(graphs, ENCODER.n_layers)
