"""DensityModel: encoder, distance and kernels in a row, differentiable for training.

It takes graphs that carry their node features as attributes, and returns clouds of node embeddings
and log densities under embedded reference graphs: for a mini-batch with gradients, or block by
block for any number of graphs.
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

# From raw graphs to graphs that carry their node features as attributes.
Featurize = Callable[[GraphBatch], GraphBatch]

# References whose neighbors decide what adapts to the training graphs.
SAMPLE = 500


def carried_features(graphs: GraphBatch) -> GraphBatch:
    """The graphs themselves, which carry their node features already."""
    return graphs


@dataclass(frozen=True, eq=False)
class EmbeddedGraphs:
    """Graphs, each with its cloud of node embeddings, as the distances embed them."""

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
        """Where the model computes."""
        return self.kde.mixture_logits.device

    def embed(self, graphs: GraphBatch, generator: torch.Generator | None = None) -> EmbeddedGraphs:
        """Embed graphs that carry their node features.

        Nodes that the encoder cannot tell apart share a point, and their dropout mask: a distance
        costs the square of the number of points, and molecules have far fewer of them than nodes.
        """
        flow, colors = self._flow(graphs)
        Z = self.encode(flow, generator)
        measures = DiscreteMeasures.from_colors(Z, flow.colors, colors, graphs.node_ptr)
        return EmbeddedGraphs(graphs, self.distances.embed(measures))

    def encode(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """The points of a flow, in the model's precision."""
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
        """What the encoder reads of graphs, and the color of each node."""
        colors = node_colors(graphs, self.encoder.n_layers)
        return MessageFlow.of(graphs, colors), colors[-1]

    def log_density(
        self,
        queries: EmbeddedGraphs,
        references: EmbeddedGraphs,
        left_out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Log densities of the queries, shape (n_distances, n_queries).

        `left_out` is as for MultiBandwidthKDE. If the references are the queries themselves, it
        costs half.
        """
        log_weights = self._log_weights(queries.graphs, references.graphs)
        P, Q = queries.measures, references.measures
        if not torch.is_grad_enabled() and self._has_bounds(Q):
            log_sums = near_log_sums(self.distances, self.kde, P, Q, log_weights, left_out)
            return log_sums - log_counts(len(references), left_out, log_sums)
        squared = self.distances.squared(P, None if references is queries else Q)
        return self.kde(squared, log_weights, left_out)

    def _has_bounds(self, references: Embedded) -> bool:
        """Whether bounds save time; the bandwidth of the largest likelihood leaves nothing out."""
        return self.kde.scale_by != "likelihood" and self.distances.has_bounds(references)

    def _log_weights(self, graphs: GraphBatch, references: GraphBatch) -> torch.Tensor | None:
        """The size kernel's logarithms, shape (n_graphs, n_references)."""
        if self.size_kernel is None:
            return None
        return torch.as_tensor(self.size_kernel(graphs, references)).to(self.kde.mixture_logits)

    # -- any number of graphs, block by block ------------------------------------------------------

    def flows(self, graphs: GraphBatch) -> list[MessageFlow]:
        """What the encoder reads of graphs with their features, block by block."""
        return [self._flow(graphs[block])[0] for block in self.blocks(graphs)]

    @torch.no_grad()
    def embed_all(
        self, graphs: GraphBatch, featurize: Featurize = carried_features
    ) -> EmbeddedGraphs:
        """Embed graphs block by block; `featurize` computes their node features."""
        points, of_points, of_nodes = [], [], []
        for block in self.blocks(graphs):
            flow, colors = self._flow(featurize(graphs[block]))
            points.append(self.encode(flow))
            of_points.append(flow.colors)
            of_nodes.append(colors)
        cloud = points[0] if len(points) == 1 else torch.cat(points)
        del points  # which are as many numbers again
        measures = DiscreteMeasures.from_colors(
            cloud, np.concatenate(of_points), np.concatenate(of_nodes), graphs.node_ptr
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
            On the model's device, in its precision.
        featurize : callable
            Computes the graphs' node features.
        own : ndarray of shape (n_graphs,), default=None
            The reference that each graph is, to be left out (-1: none). None leaves nothing out.
        verbose : int
            1 shows a progress bar, if there is more than one block.

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
        """Log densities of references, each by the others.

        Parameters
        ----------
        references : EmbeddedGraphs
        squared : Tensor of shape (n_distances, n_references, n_references), default=None
            All their squared distances, if these are known.

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
                of_block = self.log_density(queries, references, own)
            else:
                log_weights = self._log_weights(graphs[block], graphs)
                of_block = self.kde(squared[:, block], log_weights, own)
            scores[:, block] = of_block.cpu()
        return scores

    @torch.no_grad()
    def adapt(self, references: EmbeddedGraphs, all_pairs: bool = False) -> torch.Tensor | None:
        """Fit what is relative to references, or to 500 of them: distances and bandwidths.

        Parameters
        ----------
        references : EmbeddedGraphs
        all_pairs : bool, default=False
            Whether the caller has use for distances even if nothing is relative.

        Returns
        -------
        Tensor of shape (n_distances, n_references, n_references) or None
            Squared distances between all references, if they were computed.
        """
        is_relative = self.kde.scale_by != "fixed"
        if not (all_pairs or self.distances.adaptive or is_relative):
            return None
        n = len(references)
        sample = np.unique(np.linspace(0, n - 1, min(n, SAMPLE)).astype(int))
        self.distances, nearest, squared = self.distances.adapted(references.measures, sample)
        if self.kde.scale_by == "nearest":
            self.kde.scale_to_nearest(nearest)
        elif self.kde.scale_by == "likelihood":
            self._scale_by_likelihood(references, sample, squared)
        return squared

    def _scale_by_likelihood(
        self, references: EmbeddedGraphs, sample: np.ndarray, squared: torch.Tensor | None
    ) -> None:
        """Choose the bandwidths under which a sample of the references is likeliest."""
        some = references[sample]
        if squared is None:
            of_sample = self.distances.squared(some.measures, references.measures)
        else:
            of_sample = squared[:, sample]
        log_weights = self._log_weights(some.graphs, references.graphs)
        own = own_references(sample, len(references), self.device)
        self.kde.scale_by_likelihood(of_sample, log_weights, own)

    @torch.no_grad()
    def pairwise(self, P: Embedded, Q: Embedded, view: int) -> np.ndarray:
        """Distances of one view between all measures; a negative square counts as 0.

        Returns
        -------
        ndarray of shape (n_measures_P, n_measures_Q)
        """
        D = np.empty((len(P[0]), len(Q[0])))
        for block in blocks(np.full(len(D), float(self._bytes_per_pair * D.shape[1]))):
            squared = self.distances.squared(tuple(x[block] for x in P), Q)[view]
            D[block] = squared.clamp_min(0).sqrt().cpu()
        return D

    @property
    def _bytes_per_pair(self) -> int:
        """Memory that one graph takes for one reference."""
        return 8 * (self.distances.numbers_per_pair + 2 * len(self.kde.multiples))

    def blocks(self, graphs: GraphBatch, n_references: int = 0) -> list[slice]:
        """Blocks of graphs whose features, embeddings and distances fit into working_memory."""
        per_node = 8 * (2 * self.encoder.in_dim + 6 * self.encoder.out_dim)
        costs: Any = per_node * graphs.n_nodes_per_graph + self._bytes_per_pair * n_references
        return blocks(costs)
