"""InfoGraph (Sun et al., 2020), then a kernel density of the graph embeddings."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus

from benchmarks.peers._embedding import EmbeddingKDE
from skgraphkde import GraphBatch
from skgraphkde.mmd import DiscreteMeasures, pooled


class InfoGraphKDE(EmbeddingKDE):
    """Mutual information of nodes and their graph, by the Jensen-Shannon estimator."""

    def _heads(self) -> list[nn.Module]:
        width = self.encoder_.weights[-1].shape[1]
        self.local_ = self._projection(width)
        self.global_ = self._projection(width)
        return [self.local_, self.global_]

    def _projection(self, width: int) -> nn.Module:
        layers = [nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width)]
        for layer in layers[::2]:
            nn.init.xavier_uniform_(layer.weight, generator=self.generator_)
            nn.init.zeros_(layer.bias)
        return nn.Sequential(*layers)

    def _loss(self, graphs: GraphBatch, rng: np.random.RandomState) -> torch.Tensor:
        Z = self._embed_nodes(graphs)
        means = pooled(DiscreteMeasures.from_clouds(Z, graphs.node_ptr), "mean")
        scores = self.local_(Z) @ self.global_(means).T  # every node with every graph
        own = torch.zeros_like(scores, dtype=torch.bool)
        own[np.arange(graphs.n_nodes), graphs.graph_of_node] = True
        positive = math.log(2) - softplus(-scores[own])
        negative = softplus(scores[~own]) - math.log(2)
        return negative.mean() - positive.mean()
