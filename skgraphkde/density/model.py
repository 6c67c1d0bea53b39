"""DensityModel: encoder, distances and kernels in sequence, differentiable for training.

The model takes graphs that carry their node features as attributes. It returns clouds of node
embeddings, and log densities under embedded reference graphs: for a mini-batch with gradients, or
block by block for any number of graphs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn
from tqdm.auto import tqdm

from skgraphkde.computing.blocks import blocks
from skgraphkde.computing.threads import one_torch_thread_in_forks
from skgraphkde.density.kde import MultiBandwidthKDE, log_counts, own_references
from skgraphkde.density.near import near_log_sums
from skgraphkde.density.size_kernel import SizeKernel
from skgraphkde.distances.joint import Distances, Embedded
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.encoders.base import EncoderModule
from skgraphkde.encoders.message_flow import MessageFlow, node_colors
from skgraphkde.graphs.batch import GraphBatch

# Function of raw graphs that returns graphs with their node features as attributes.
Featurize = Callable[[GraphBatch], GraphBatch]

# Largest number of references to which distances and bandwidths are adapted.
MAX_SAMPLE = 500


def carried_features(graphs: GraphBatch) -> GraphBatch:
    """Return graphs unchanged, because they already carry their node features."""
    return graphs


@dataclass(frozen=True, eq=False)
class EmbeddedGraphs:
    """Graphs with their clouds of node embeddings, embedded by the distances."""

    graphs: GraphBatch
    measures: Embedded

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, key: slice | np.ndarray) -> EmbeddedGraphs:
        return EmbeddedGraphs(self.graphs[key], tuple(x[key] for x in self.measures))


class DensityModel(nn.Module):
    """Encoder, distances and kernels: graphs -> log densities, one in each distance.

    Parameters
    ----------
    encoder : EncoderModule
    distances : Distances
    kde : MultiBandwidthKDE
    size_kernel : SizeKernel or None
    """

    def __init__(
        self,
        encoder: EncoderModule,
        distances: Distances,
        kde: MultiBandwidthKDE,
        size_kernel: SizeKernel | None,
    ) -> None:
        super().__init__()
        self.encoder, self.kde = encoder, kde
        self.distances, self.size_kernel = distances, size_kernel

    @property
    def device(self) -> torch.device:
        """Device of the model."""
        return self.kde.mixture_logits.device

    def embed(self, graphs: GraphBatch, generator: torch.Generator | None = None) -> EmbeddedGraphs:
        """Embed graphs that carry their node features.

        Nodes that the encoder cannot distinguish share a point and a dropout mask. The cost of a
        distance grows with the square of the number of points, and molecules have far fewer points
        than nodes.

        Parameters
        ----------
        graphs : GraphBatch
        generator : torch.Generator, default=None
            Generator of dropout masks.

        Returns
        -------
        EmbeddedGraphs
        """
        flow, colors = self._flow(graphs)
        Z = self.encode(flow, generator)
        measures = DiscreteMeasures.from_colors(Z, flow.colors, colors, graphs.node_ptr)
        return EmbeddedGraphs(graphs, self.distances.embed(measures))

    def encode(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """Encode the nodes of a flow.

        Parameters
        ----------
        flow : MessageFlow
        generator : torch.Generator, default=None
            Generator of dropout masks.

        Returns
        -------
        Tensor of shape (len(flow.colors), out_dim)
            Points, in the model's precision.
        """
        one_torch_thread_in_forks()
        Z = self.encoder(flow, generator)
        shape = len(flow.colors), self.encoder.out_dim
        if not isinstance(Z, torch.Tensor) or Z.shape != shape:
            raise TypeError(
                f"{type(self.encoder).__name__}.forward must return a tensor of shape {shape}, and "
                f"returned a {type(Z).__name__} of shape {tuple(np.shape(Z))}"
            )
        return Z.to(self.kde.mixture_logits.dtype)

    def _flow(self, graphs: GraphBatch) -> tuple[MessageFlow, np.ndarray]:
        """Input of the encoder, and the color of each node."""
        colors = node_colors(graphs, self.encoder.n_layers)
        return MessageFlow.of(graphs, colors), colors[-1]

    def log_density(
        self,
        queries: EmbeddedGraphs,
        references: EmbeddedGraphs,
        left_out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Log densities of graphs under references.

        Parameters
        ----------
        queries, references : EmbeddedGraphs
            If they are the same object, the cost is half.
        left_out : bool Tensor of shape (n_queries, n_references), default=None
            Excluded references, see :meth:`MultiBandwidthKDE.forward`.

        Returns
        -------
        Tensor of shape (n_distances, n_queries)
        """
        log_weights = self._log_weights(queries.graphs, references.graphs)
        P, Q = queries.measures, references.measures
        if not torch.is_grad_enabled() and self._has_bounds(Q):
            log_sums = near_log_sums(self.distances, self.kde, P, Q, log_weights, left_out)
            return log_sums - log_counts(len(references), left_out, log_sums)
        squared = self.distances.squared(P, None if references is queries else Q)
        return self.kde(squared, log_weights, left_out)

    def _has_bounds(self, references: Embedded) -> bool:
        """True if bounds save time; with a likelihood bandwidth no reference is negligible."""
        return self.kde.scale_by != "likelihood" and self.distances.has_bounds(references)

    def _log_weights(self, graphs: GraphBatch, references: GraphBatch) -> torch.Tensor | None:
        """Logarithms of the size kernel, shape (n_graphs, n_references); None without it."""
        if self.size_kernel is None:
            return None
        return torch.as_tensor(self.size_kernel(graphs, references)).to(self.kde.mixture_logits)

    # -- any number of graphs, block by block ------------------------------------------------------

    def flows(self, graphs: GraphBatch) -> list[MessageFlow]:
        """Inputs of the encoder for graphs with their features, one for each block."""
        return [self._flow(graphs[block])[0] for block in self.blocks(graphs)]

    @torch.no_grad()
    def embed_all(
        self, graphs: GraphBatch, featurize: Featurize = carried_features
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
        points, point_colors, sample_colors = [], [], []
        for block in self.blocks(graphs):
            flow, colors = self._flow(featurize(graphs[block]))
            points.append(self.encode(flow))
            point_colors.append(flow.colors)
            sample_colors.append(colors)
        cloud = points[0] if len(points) == 1 else torch.cat(points)
        del points  # a second copy of the cloud
        measures = DiscreteMeasures.from_colors(
            cloud, np.concatenate(point_colors), np.concatenate(sample_colors), graphs.node_ptr
        )
        return EmbeddedGraphs(graphs, self.distances.embed(measures))

    @torch.no_grad()
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
            References on the model's device, in its precision.
        featurize : callable
            Function that adds the node features to a batch.
        own : ndarray of shape (n_graphs,), default=None
            Index of the reference that equals each graph and is excluded, or -1. None excludes no
            references.
        verbose : int
            1 shows a progress bar if there is more than one block.

        Returns
        -------
        ndarray of shape (n_distances, n_graphs)
        """
        scores = np.empty((len(self.distances), len(graphs)))
        embedded = graphs if isinstance(graphs, EmbeddedGraphs) else None
        batch = graphs.graphs if isinstance(graphs, EmbeddedGraphs) else graphs
        parts = self.blocks(batch, len(references))
        for block in tqdm(parts, desc="scoring", disable=not verbose or len(parts) < 2):
            queries = embedded[block] if embedded else self.embed_all(batch[block], featurize)
            left_out = None
            if own is not None:
                left_out = own_references(own[block], len(references), self.device)
            scores[:, block] = self.log_density(queries, references, left_out).cpu()
        return scores

    @torch.no_grad()
    def leave_one_out(
        self, references: EmbeddedGraphs, squared: torch.Tensor | None = None
    ) -> np.ndarray:
        """Leave-one-out log densities of references.

        Parameters
        ----------
        references : EmbeddedGraphs
        squared : Tensor of shape (n_distances, n_references, n_references), default=None
            Squared distances between all references. None computes them.

        Returns
        -------
        ndarray of shape (n_distances, n_references)
        """
        n, graphs = len(references), references.graphs
        scores = np.empty((len(self.distances), n))
        per_pair = self._bytes_per_pair
        if squared is not None or self._has_bounds(references.measures):
            per_pair = 8 * (5 + 4 * len(self.distances))
        for block in blocks(np.full(n, float(per_pair * n))):
            own = own_references(np.arange(n)[block], n, self.device)
            if squared is None:
                is_all = block == slice(0, n)
                queries = references if is_all else references[block]
                log_densities = self.log_density(queries, references, own)
            else:
                log_weights = self._log_weights(graphs[block], graphs)
                log_densities = self.kde(squared[:, block], log_weights, own)
            scores[:, block] = log_densities.cpu()
        return scores

    @torch.no_grad()
    def adapt(self, references: EmbeddedGraphs, all_pairs: bool = False) -> torch.Tensor | None:
        """Adapt distances and bandwidths to references, or to 500 of them.

        Parameters
        ----------
        references : EmbeddedGraphs
        all_pairs : bool, default=False
            Whether to compute all pairwise distances even if neither distances nor bandwidths adapt
            to the data.

        Returns
        -------
        Tensor of shape (n_distances, n_references, n_references) or None
            Squared distances between all references, if they were computed.
        """
        is_relative = self.kde.scale_by != "fixed"
        if not (all_pairs or self.distances.adaptive or is_relative):
            return None
        n = len(references)
        sample = np.unique(np.linspace(0, n - 1, min(n, MAX_SAMPLE)).astype(int))
        self.distances, nearest, squared = self.distances.adapted(references.measures, sample)
        if self.kde.scale_by == "nearest":
            self.kde.scale_to_nearest(nearest)
        elif self.kde.scale_by == "likelihood":
            self._scale_by_likelihood(references, sample, squared)
        return squared

    def _scale_by_likelihood(
        self, references: EmbeddedGraphs, sample: np.ndarray, squared: torch.Tensor | None
    ) -> None:
        """Select the bandwidths that maximize the likelihood of a sample of the references."""
        some = references[sample]
        if squared is None:
            sample_squared = self.distances.squared(some.measures, references.measures)
        else:
            sample_squared = squared[:, sample]
        log_weights = self._log_weights(some.graphs, references.graphs)
        own = own_references(sample, len(references), self.device)
        self.kde.scale_by_likelihood(sample_squared, log_weights, own)

    @torch.no_grad()
    def pairwise(self, P: Embedded, Q: Embedded, view: int) -> np.ndarray:
        """Distances between all measures.

        Parameters
        ----------
        P, Q : tuple of DiscreteMeasures
            Embedded graphs.
        view : int
            Index of the distance.

        Returns
        -------
        ndarray of shape (n_measures_P, n_measures_Q)
            Negative estimates of squared distances count as 0.
        """
        D = np.empty((len(P[0]), len(Q[0])))
        for block in blocks(np.full(len(D), float(self._bytes_per_pair * D.shape[1]))):
            squared = self.distances.squared(tuple(x[block] for x in P), Q)[view]
            D[block] = squared.clamp_min(0).sqrt().cpu()
        return D

    @property
    def _bytes_per_pair(self) -> int:
        """Bytes of memory for one pair of a graph and a reference."""
        return 8 * (self.distances.numbers_per_pair + 2 * len(self.kde.multiples))

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
        costs: Any = per_node * graphs.n_nodes_per_graph + self._bytes_per_pair * n_references
        return blocks(costs)
