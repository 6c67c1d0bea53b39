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
from tqdm.auto import tqdm

from skgraphkde.computing.arrays import concatenated, to_numpy
from skgraphkde.computing.blocks import blocks
from skgraphkde.density.kde import own_references
from skgraphkde.density.kernel_density import Clouds, KernelDensity
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.encoders.base import FittedEncoder
from skgraphkde.encoders.message_flow import MessageFlow, node_colors
from skgraphkde.graphs.batch import GraphBatch

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

    def flow_of(self, graphs: GraphBatch) -> tuple[MessageFlow, np.ndarray]:
        """Input of the encoder, and the color of each node, for graphs with their node features.

        Nodes that the encoder cannot distinguish share a point. The cost of a distance grows with
        the square of the number of points, and molecules have far fewer points than nodes.
        """
        colors = node_colors(graphs, self.encoder.n_layers)
        return MessageFlow.of(graphs, colors), colors[-1]

    def flows(self, graphs: GraphBatch) -> list[MessageFlow]:
        """Inputs of the encoder for graphs with their features, one for each block."""
        return [self.flow_of(graphs[block])[0] for block in self.blocks(graphs)]

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

    def embed(self, graphs: GraphBatch, featurize: Featurize = carried_features) -> EmbeddedGraphs:
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
        points, point_colors, sample_colors = [], [], []
        for block in self.blocks(graphs):
            flow, colors = self.flow_of(featurize(graphs[block]))
            points.append(self.encode(flow))
            point_colors.append(flow.colors)
            sample_colors.append(colors)
        cloud = points[0] if len(points) == 1 else concatenated(*points)
        del points  # a second copy of the cloud
        measures = DiscreteMeasures.from_colors(
            cloud, np.concatenate(point_colors), np.concatenate(sample_colors), graphs.node_ptr
        )
        return self.embedded(graphs, measures)

    def embedded(self, graphs: GraphBatch, measures: DiscreteMeasures) -> EmbeddedGraphs:
        """Embed the clouds of graphs by each distance."""
        return EmbeddedGraphs(graphs, tuple(x.distance.embed(measures) for x in self.densities))

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
        for block in tqdm(parts, desc="scoring", disable=not verbose or len(parts) < 2):
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
        costs: Any = per_node * graphs.n_nodes_per_graph + per_pair * n_references
        return blocks(costs)
