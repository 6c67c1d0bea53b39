"""DensityModel: an encoder and one or several densities, graphs -> log densities.

The model takes graphs that carry their node features as attributes. It returns clouds of node
embeddings, and log densities under embedded reference graphs, block by block for any number of
graphs. Points are NumPy arrays, or torch tensors on a device, with gradients if they are trained.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from skgraphkde.computing.arrays import filled, to_numpy
from skgraphkde.computing.blocks import blocks, memory_limit, progress
from skgraphkde.density.kde import own_references
from skgraphkde.density.kernel_density import MAX_SAMPLE, Clouds, KernelDensity
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmd import EmbeddedMeasures, share_features
from skgraphkde.encoders.base import FittedEncoder
from skgraphkde.encoders.message_flow import MessageFlow, node_colors
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.refinement import factorize

# Bytes that the encoder's arrays of a block take, at most: small arrays get the memory of those
# before them, while new memory takes as much time as the computation.
MOST_BYTES = 2**27
# Function of raw graphs that returns graphs with their node features as attributes.
Featurize = Callable[[GraphBatch], GraphBatch]


def carried_features(graphs: GraphBatch) -> GraphBatch:
    """Return graphs unchanged, because they already carry their node features."""
    return graphs


@dataclass(frozen=True, eq=False)
class EmbeddedGraphs:
    """Graphs with their clouds of node embeddings, embedded by each distance."""

    graphs: GraphBatch
    measures: tuple[DiscreteMeasures, ...]

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, key: slice | np.ndarray) -> EmbeddedGraphs:
        return EmbeddedGraphs(self.graphs[key], tuple(x[key] for x in self.measures))

    def clouds(self, i: int) -> Clouds:
        """Graphs, and their clouds embedded by distance `i`."""
        return self.graphs, self.measures[i]


class DensityModel:
    """Encoder and densities: graphs -> log densities, one under each distance.

    Parameters
    ----------
    encoder : FittedEncoder
    densities : sequence of KernelDensity
    place : callable, default=None
        Function that puts points on a device. None leaves them where the encoder puts them.
    """

    def __init__(
        self,
        encoder: FittedEncoder,
        densities: Sequence[KernelDensity],
        place: Callable[[Any], Any] | None = None,
    ) -> None:
        self.encoder, self.densities, self.place = encoder, tuple(densities), place

    def flows(
        self, graphs: GraphBatch, featurize: Featurize = carried_features, verbose: int = 0
    ) -> list[MessageFlow]:
        """Inputs of the encoder, one for each block.

        Nodes that the encoder cannot distinguish share a point. The cost of a distance grows with
        the square of the number of points, and molecules have far fewer points than nodes.
        """
        flows = []
        for block in progress(self.blocks(graphs), "node features", verbose):
            featurized = featurize(graphs[block])
            colors = node_colors(featurized, self.encoder.n_layers)
            flows.append(MessageFlow.of(featurized, colors))
        return flows

    def encode(self, flow: MessageFlow) -> Any:
        """Encode the nodes of a flow.

        Parameters
        ----------
        flow : MessageFlow

        Returns
        -------
        ndarray or Tensor of shape (len(flow.colors), out_dim)
            Points in double precision.
        """
        Z = self.encoder.encode(flow)
        return Z if self.place is None else self.place(Z)

    def embed(
        self,
        graphs: GraphBatch,
        featurize: Featurize = carried_features,
    ) -> EmbeddedGraphs:
        """Embed graphs block by block.

        Parameters
        ----------
        graphs : GraphBatch
        featurize : callable
            Function that adds the node features to a batch.

        Returns
        -------
        EmbeddedGraphs
        """
        return self.embed_flows(graphs, self.flows(graphs, featurize))

    def embed_flows(self, graphs: GraphBatch, flows: Sequence[MessageFlow]) -> EmbeddedGraphs:
        """Embed graphs whose :meth:`flows` are known."""
        colors = np.concatenate([flow.colors for flow in flows])
        first, _ = factorize(colors)  # a point of several blocks is that of the first
        is_first = np.zeros(len(colors), dtype=bool)
        is_first[first] = True
        of_flows = np.split(is_first, np.cumsum([len(flow.colors) for flow in flows])[:-1])
        points = (self._points(*pair) for pair in zip(flows, of_flows, strict=True))
        cloud = next(points) if len(flows) == 1 else filled(next(points), points, len(first))
        of_nodes = np.concatenate([flow.colors[flow.rounds[-1][1]] for flow in flows])
        measures = DiscreteMeasures.from_colors(cloud, colors[first], of_nodes, graphs.node_ptr)
        return self.embedded(graphs, measures)

    def embed_without_points(
        self, graphs: GraphBatch, flows: Sequence[MessageFlow], verbose: int = 0
    ) -> EmbeddedGraphs:
        """The same as :meth:`embed_flows`, in the memory of a block if no distance needs points."""
        if any(density.distance.needs_points for density in self.densities):
            return self.embed_flows(graphs, flows)
        parts, keys = [], []
        pairs = list(zip(self.blocks(graphs), flows, strict=True))
        for block, flow in progress(pairs, "embedding", verbose):
            measures = self.embed_flows(graphs[block], [flow]).measures
            parts.append([EmbeddedMeasures.of_features([x]) for x in measures])
            if len(graphs) > MAX_SAMPLE:  # from which :meth:`adapt` takes a sample
                keys.append(measures[0].keys)
        embedded = [EmbeddedMeasures.of_features(x) for x in zip(*parts, strict=True)]
        for of_distance in embedded if keys else ():
            vars(of_distance)["keys"] = np.concatenate(keys)
        return EmbeddedGraphs(graphs, tuple(embedded))

    def _points(self, flow: MessageFlow, chosen: np.ndarray) -> Any:
        points = self.encode(flow)
        return points if chosen.all() else points[chosen]

    def embedded(self, graphs: GraphBatch, measures: DiscreteMeasures) -> EmbeddedGraphs:
        """Embed the clouds of graphs by each distance."""
        distances = [density.distance for density in self.densities]
        share_features(distances, measures)
        return EmbeddedGraphs(graphs, tuple(x.embed(measures) for x in distances))

    def log_densities(
        self,
        graphs: GraphBatch | EmbeddedGraphs,
        references: EmbeddedGraphs,
        featurize: Featurize = carried_features,
        own: np.ndarray | None = None,
        verbose: int = 0,
    ) -> np.ndarray:
        """Log densities, block by block.

        Parameters
        ----------
        graphs : GraphBatch or EmbeddedGraphs
        references : EmbeddedGraphs
            References, embedded by this model.
        featurize : callable
            Function that adds the node features to a batch.
        own : ndarray of shape (n_graphs,), default=None
            Index of the reference that equals each graph and is excluded, or -1. None excludes no
            references.
        verbose : int
            1 shows a progress bar if there is more than one block.

        Returns
        -------
        ndarray of shape (n_densities, n_graphs)
        """
        scores = np.empty((len(self.densities), len(graphs)))
        embedded = graphs if isinstance(graphs, EmbeddedGraphs) else None
        batch = graphs.graphs if isinstance(graphs, EmbeddedGraphs) else graphs
        parts = self.blocks(batch, len(references))
        for block in progress(parts, "scoring", verbose):
            queries = embedded[block] if embedded else self.embed(batch[block], featurize)
            left_out = None if own is None else own_references(own[block], len(references))
            for i, density in enumerate(self.densities):
                log_density = density(queries.clouds(i), references.clouds(i), left_out)
                scores[i, block] = to_numpy(log_density)
        return scores

    def adapt(self, references: EmbeddedGraphs, all_pairs: bool = False) -> list:
        """Adapt the densities to references, see :meth:`KernelDensity.adapt`.

        Parameters
        ----------
        references : EmbeddedGraphs
        all_pairs : bool, default=False

        Returns
        -------
        list of (ndarray or Tensor of shape (n_references, n_references), or None)
            Squared distances of each density, if they were computed.
        """
        return [
            density.adapt(references.clouds(i), all_pairs=all_pairs)
            for i, density in enumerate(self.densities)
        ]

    def blocks(self, graphs: GraphBatch, n_references: int = 0) -> list[slice]:
        """Split graphs into blocks whose arrays fit into scikit-learn's `working_memory`.

        Parameters
        ----------
        graphs : GraphBatch
        n_references : int, default=0
            Number of references to which distances are computed.

        Returns
        -------
        list of slice
        """
        per_node = 8 * (2 * self.encoder.in_dim + 6 * self.encoder.out_dim)
        per_pair = sum(density.bytes_per_pair for density in self.densities)
        share = max(1.0, memory_limit() / MOST_BYTES)
        costs: Any = share * per_node * graphs.n_nodes_per_graph + per_pair * n_references
        return blocks(costs)
