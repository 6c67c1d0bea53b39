"""Embedding: graphs -> clouds of points, by node features, an encoder and distances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde._utils import blocks, memory_limit, progress
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.refinement import factorize
from skgraphkde.core.points.features import NodeFeatures
from skgraphkde.core.points.propagation import FittedEncoder, MessageFlow, node_colors
from skgraphkde.core.views.base import Clouds
from skgraphkde.core.views.density import Density

# Largest number of bytes of the encoder's arrays of a block. Small arrays reuse memory; to allocate
# large ones takes as long as the computation.
BLOCK_BYTES = 2**27


class Embedding:
    """Node features, an encoder and distances: graphs -> clouds of points.

    Parameters
    ----------
    features : NodeFeatures or None
        Fitted features. None: graphs carry their node features as attributes.
    encoder : FittedEncoder
    densities : sequence of Density
        Views that compare the clouds, each with its distance.
    """

    def __init__(
        self, features: NodeFeatures | None, encoder: FittedEncoder, densities: Sequence[Density]
    ) -> None:
        self.features = features
        self.encoder = encoder
        self.densities = tuple(densities)

    def __call__(self, graphs: GraphBatch) -> Clouds:
        """Embed graphs, block by block.

        Parameters
        ----------
        graphs : GraphBatch

        Returns
        -------
        dict of Density -> DiscreteMeasures
            The clouds of the graphs, with what the distance of each density needs of them.
        """
        return self.of_flows(graphs, self.flows(graphs))

    def flows(self, graphs: GraphBatch) -> list[MessageFlow]:
        """Inputs of the encoder, one for each block.

        Nodes that the encoder cannot distinguish share a point. The cost of a distance grows with
        the square of the number of points, and molecules have far fewer points than nodes.
        """
        flows = []
        for block in progress(self.blocks(graphs)):
            featurized = self.featurized(graphs[block])
            colors = node_colors(featurized, self.encoder.n_layers)
            flows.append(MessageFlow.of(featurized, colors))
        return flows

    def featurized(self, graphs: GraphBatch) -> GraphBatch:
        """The same graphs with their node features as attributes."""
        return graphs if self.features is None else self.features.transform_batch(graphs)

    def of_flows(self, graphs: GraphBatch, flows: Sequence[MessageFlow]) -> Clouds:
        """Embed graphs whose :meth:`flows` are known."""
        cuts = np.cumsum([len(flow.colors) for flow in flows])[:-1]
        first, number = factorize(np.concatenate([flow.colors for flow in flows]))
        is_first = np.zeros(len(number), dtype=bool)
        is_first[first] = True
        clouds, of_nodes = [], []  # a point of several blocks is that of the first
        for flow, chosen, index in zip(
            flows, np.split(is_first, cuts), np.split(number, cuts), strict=True
        ):
            points = self.encoder.encode(flow)
            clouds.append(points if chosen.all() else points[chosen])
            of_nodes.append(index[flow.rounds[-1][1]])
        cloud = clouds[0] if len(clouds) == 1 else np.concatenate(clouds)
        measures = DiscreteMeasures.of_nodes(cloud, np.concatenate(of_nodes), graphs.node_ptr)
        return {density: density.distance_.embed(measures) for density in self.densities}

    def of_references(self, graphs: GraphBatch, flows: Sequence[MessageFlow]) -> Clouds:
        """The same as :meth:`of_flows`, in the memory of a block if no distance needs points."""
        if any(density.distance_.needs_points for density in self.densities):
            return self.of_flows(graphs, flows)
        parts: dict[Any, list[Any]] = {density: [] for density in self.densities}
        pairs = list(zip(self.blocks(graphs), flows, strict=True))
        for block, flow in progress(pairs):
            for density, measures in self.of_flows(graphs[block], [flow]).items():
                parts[density].append(DiscreteMeasures.without_points([measures]))
        return {density: DiscreteMeasures.without_points(x) for density, x in parts.items()}

    def blocks(self, graphs: GraphBatch, compared: float = 0.0) -> list[slice]:
        """Split graphs into blocks of arrays within BLOCK_BYTES and `working_memory`.

        Parameters
        ----------
        graphs : GraphBatch
        compared : float, default=0.0
            Bytes that a comparison of one graph with the references takes.

        Returns
        -------
        list of slice
        """
        per_node = 8 * (2 * self.encoder.in_dim + 6 * self.encoder.out_dim)
        factor = max(1.0, memory_limit() / BLOCK_BYTES)
        return blocks(np.maximum(factor * per_node * graphs.n_nodes_per_graph, compared))
