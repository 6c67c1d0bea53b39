"""Two stages: an encoder trained for something else, then the density of its graph embeddings."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sklearn.base import BaseEstimator, OutlierMixin
from sklearn.utils import check_random_state

from skgraphkde import PAPER, GraphBatch, NodeFeatures, read_graphs
from skgraphkde.density import MultiBandwidthKDE
from skgraphkde.encoder import GCNEncoder
from skgraphkde.mmd import DiscreteMeasures, pooled
from skgraphkde.refinement import MessageFlow

N_LAYERS = 2


class EmbeddingKDE(OutlierMixin, BaseEstimator):
    """Base class: our encoder, trained with the loss of a subclass, then a kernel density.

    The paper's two-stage comparison: same features, encoder and bandwidths as LGKDE, the weights
    of the bandwidths equal.

    Parameters
    ----------
    max_iter : int
        Epochs.
    random_state : int or None
    """

    def __init__(self, max_iter: int = 20, random_state: Any = None) -> None:
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, graphs: Any, y: Any = None) -> EmbeddingKDE:
        """Train the encoder, embed the training graphs, fit the density to them."""
        rng = check_random_state(self.random_state)
        self.generator_ = torch.Generator().manual_seed(int(rng.randint(2**31)))
        self.node_features_ = NodeFeatures(PAPER["node_features"]).fit(graphs)
        features = self.node_features_.transform(graphs)
        width = self.node_features_.n_features_out_
        self.encoder_ = GCNEncoder(width, 128, N_LAYERS, 0.2, True, self.generator_)
        modules = torch.nn.ModuleList([self.encoder_, *self._heads()])
        optimizer = torch.optim.Adam(modules.parameters(), lr=1e-3)
        for _ in range(self.max_iter):
            modules.train()
            order = rng.permutation(len(features))
            for index in np.array_split(order, -(-len(order) // PAPER["batch_size"])):
                loss = self._loss(features[index], rng)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        self.encoder_.standardize([_flow(features)])
        self.embeddings_ = self._embed(graphs)
        return self

    def score_samples(self, graphs: Any) -> np.ndarray:
        """Log density of the graphs' embeddings."""
        squared = torch.cdist(self._embed(graphs), self.embeddings_) ** 2
        with torch.no_grad():
            return MultiBandwidthKDE(PAPER["bandwidths"])(squared).numpy()

    def _embed(self, graphs: Any) -> torch.Tensor:
        """Mean of the node embeddings of each graph."""
        features = self.node_features_.transform(read_graphs(graphs))
        with torch.no_grad():
            Z = self.encoder_(_flow(features)).double()
        return pooled(DiscreteMeasures.from_clouds(Z, features.node_ptr), "mean")

    def _embed_nodes(self, graphs: GraphBatch) -> torch.Tensor:
        """Node embeddings in training, each node with a dropout mask of its own."""
        return self.encoder_(_flow(graphs), self.generator_)

    def _heads(self) -> list[torch.nn.Module]:
        """What is trained beside the encoder."""
        return []

    def _loss(self, graphs: GraphBatch, rng: np.random.RandomState) -> torch.Tensor:
        """The training loss on a mini-batch."""
        raise NotImplementedError


def _flow(graphs: GraphBatch) -> MessageFlow:
    return MessageFlow.unmerged(graphs, N_LAYERS)
