"""InfoGraph (Sun et al., 2020), then a kernel density of the graph embeddings."""

from __future__ import annotations

import math

import numpy as np
import torch
from torch import nn
from torch.nn.functional import softplus
from torch.nn.utils import skip_init

from benchmarks.peers._embedding import EmbeddingKDE
from skgraphkde import GraphBatch, register
from skgraphkde.distances.measures import DiscreteMeasures, pooled


@register
class InfoGraphKDE(EmbeddingKDE):
    """Mutual information of nodes and their graph, by the Jensen-Shannon estimator."""

    def _heads(self, width: int, generator: torch.Generator) -> list[nn.Module]:
        return [_projection(width, generator) for _ in ("of nodes", "of graphs")]

    def _loss(
        self,
        Z: torch.Tensor,
        graphs: GraphBatch,
        heads: list[nn.Module],
        rng: np.random.RandomState,
    ) -> torch.Tensor:
        of_nodes, of_graphs = heads
        means = pooled(DiscreteMeasures.from_clouds(Z, graphs.node_ptr), "mean")
        scores = of_nodes(Z) @ of_graphs(means).T  # every node with every graph
        own = torch.zeros_like(scores, dtype=torch.bool)
        own[np.arange(graphs.n_nodes), graphs.graph_of_node] = True
        positive = math.log(2) - softplus(-scores[own])
        negative = softplus(scores[~own]) - math.log(2)
        return negative.mean() - positive.mean()


def _projection(width: int, generator: torch.Generator) -> nn.Module:
    first, second = (skip_init(nn.Linear, width, width) for _ in range(2))  # it would draw globally
    for layer in (first, second):
        nn.init.xavier_uniform_(layer.weight, generator=generator)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(first, nn.ReLU(), second)
