"""DensityModel: encoder, distance and density in a row.

In come graphs with their node features. Out go clouds of node embeddings, and log densities under a
set of embedded reference graphs: differentiable for a mini-batch, or block by block for any number
of graphs.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from sklearn import get_config
from torch import nn
from tqdm.auto import tqdm

from skgraphkde.density import MultiBandwidthKDE, SizeKernel, own_references
from skgraphkde.encoder import GCNEncoder, Propagation
from skgraphkde.graphs import GraphBatch
from skgraphkde.mmd import DiscreteMeasures, Distance
from skgraphkde.refinement import MessageFlow, node_colors

# From raw graphs to graphs that carry their node features as attributes.
Featurize = Callable[[GraphBatch], GraphBatch]


def carried_features(graphs: GraphBatch) -> GraphBatch:
    """Graphs that carry their node features already."""
    return graphs


@dataclass(frozen=True)
class EmbeddedGraphs:
    """Graphs, each with its cloud of node embeddings."""

    graphs: GraphBatch
    measures: DiscreteMeasures

    def __len__(self) -> int:
        return len(self.graphs)

    def __getitem__(self, key: slice | np.ndarray) -> EmbeddedGraphs:
        return EmbeddedGraphs(self.graphs[key], self.measures[key])

    def to(self, device: torch.device, dtype: torch.dtype) -> EmbeddedGraphs:
        """The same with the embeddings elsewhere, or in another precision."""
        plain = self.measures
        measures = DiscreteMeasures(plain.points.to(device, dtype), plain.weights, plain.sizes)
        return EmbeddedGraphs(self.graphs, measures)


class DensityModel(nn.Module):
    """Encoder, distance and density in a row: graphs -> log density.

    Parameters
    ----------
    encoder : Propagation or GCNEncoder
    distance : Distance
    kde : MultiBandwidthKDE
    size_kernel : SizeKernel or None
    leave_one_out : bool
        Whether, in training, a graph's own kernel is left out of its density and of its twins'.
    adaptive : bool, default=False
        Whether :meth:`scale_to` sets the correction of the distance.
    """

    def __init__(
        self,
        encoder: Propagation | GCNEncoder,
        distance: Distance,
        kde: MultiBandwidthKDE,
        size_kernel: SizeKernel | None,
        leave_one_out: bool,
        adaptive: bool = False,
    ) -> None:
        super().__init__()
        self.adaptive = adaptive
        self.encoder, self.kde = encoder, kde
        self.distance, self.size_kernel = distance, size_kernel
        self.leave_one_out = leave_one_out

    def embed(self, graphs: GraphBatch, generator: torch.Generator | None = None) -> EmbeddedGraphs:
        """Embed graphs, which carry their node features as attributes.

        Nodes that the encoder cannot tell apart share a point, and their dropout mask: the distance
        costs the square of the number of points, and molecules have far fewer of them than nodes.
        """
        flow, colors = self._flow(graphs)
        Z = self.encoder(flow, generator)
        measures = DiscreteMeasures.from_colors(Z, flow.colors, colors, graphs.node_ptr)
        return EmbeddedGraphs(graphs, self.distance.embed(measures))

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
        """Log density of the queries, shape (n_queries,); `left_out` as in MultiBandwidthKDE.

        References that are the queries themselves cost half.
        """
        others = None if references is queries else references.measures
        squared = self.distance.squared(queries.measures, others)
        log_weights = None
        if self.size_kernel is not None:
            log_weights = torch.as_tensor(self.size_kernel(queries.graphs, references.graphs))
            log_weights = log_weights.to(squared)
        return self.kde(squared, log_weights, left_out)

    # -- any number of graphs, block by block ------------------------------------------------------

    def for_inference(self, device: torch.device) -> DensityModel:
        """A copy for evaluation, in double precision, as short bandwidths amplify rounding.

        In single a score can move by 1e-4 with the other graphs of its block.
        """
        return copy.deepcopy(self).to(device, torch.float64).eval()

    def flows(self, graphs: GraphBatch) -> list[MessageFlow]:
        """What the encoder reads of graphs with their features, block by block."""
        return [self._flow(graphs[block])[0] for block in self.blocks(graphs)]

    @torch.no_grad()
    def embed_all(
        self, graphs: GraphBatch, featurize: Featurize = carried_features
    ) -> EmbeddedGraphs:
        """Embed graphs block by block; `featurize` makes their node features."""
        points, of_points, of_nodes = [], [], []
        for block in self.blocks(graphs):
            flow, colors = self._flow(featurize(graphs[block]))
            points.append(self.encoder(flow))
            of_points.append(flow.colors)
            of_nodes.append(colors)
        measures = DiscreteMeasures.from_colors(
            torch.cat(points), np.concatenate(of_points), np.concatenate(of_nodes), graphs.node_ptr
        )
        return EmbeddedGraphs(graphs, measures)

    @torch.no_grad()
    def log_densities(
        self,
        graphs: GraphBatch,
        references: EmbeddedGraphs,
        featurize: Featurize = carried_features,
        own: np.ndarray | None = None,
        verbose: int = 0,
    ) -> np.ndarray:
        """Log densities.

        Parameters
        ----------
        graphs : GraphBatch
        references : EmbeddedGraphs
            On the model's device, in its precision.
        featurize : callable
            Makes the graphs' node features.
        own : ndarray of shape (n_graphs,), default=None
            Which reference each graph is, to be left out (-1: none); None leaves nothing out.
        verbose : int
            1 shows a progress bar, if there is more than one block.

        Returns
        -------
        ndarray of shape (n_graphs,)
        """
        scores = np.empty(len(graphs))
        measures = self.distance.embed(references.measures)  # once, not in every block
        references = EmbeddedGraphs(references.graphs, measures)
        blocks = self.blocks(graphs, len(references))
        for block in tqdm(blocks, desc="scoring", disable=not verbose or len(blocks) < 2):
            queries = self.embed_all(graphs[block], featurize)
            left_out = None
            if own is not None:
                device = queries.measures.points.device
                left_out = own_references(own[block], len(references), device)
            scores[block] = self.log_density(queries, references, left_out).cpu()
        return scores

    @torch.no_grad()
    def scale_to(self, references: EmbeddedGraphs) -> None:
        """Fit what is relative to (at most 500 of) the references: correction and bandwidths.

        The U-statistic takes the nodes of a graph for independent draws. Where they are, few graphs
        are closer to their nearest reference than the same distribution would be, and few of its
        squared distances are negative. Atoms of molecules are not: equal molecules are common, and
        all distances between neighbors are negative. The correction is the share of references of
        which the unbiased distance to the one that is nearest, by the biased one, is not negative.
        """
        n = len(references)
        some = np.unique(np.linspace(0, n - 1, min(n, 500)).astype(int))
        if self.adaptive:
            self.distance = replace(self.distance, correction=0.0)
            _, nearest = self._nearest(references.measures, some)
            unbiased = replace(self.distance, correction=1.0)
            squared = unbiased.squared(references.measures[some], references.measures[nearest])
            possible = squared.diagonal() >= 0
            self.distance = replace(self.distance, correction=possible.double().mean().item())
        if self.kde.relative:
            self.kde.scale_to(self._nearest(references.measures, some)[0])

    def _nearest(
        self, measures: DiscreteMeasures, some: np.ndarray
    ) -> tuple[torch.Tensor, np.ndarray]:
        """Squared distances from some measures to the nearest other, and which that is."""
        n = len(measures)
        measures, squares, places = self.distance.embed(measures), [], []
        for block in _blocks(np.full(len(some), self._bytes_per_pair * n)):
            P = measures[some[block]]
            squared = self.distance.squared(P, None if len(P) == n else measures)
            own = own_references(some[block], n, squared.device)
            nearest = squared.masked_fill(own, torch.inf).min(1)
            squares.append(nearest.values)
            places.append(nearest.indices.numpy(force=True))
        return torch.cat(squares), np.concatenate(places)

    @torch.no_grad()
    def distances(self, P: DiscreteMeasures, Q: DiscreteMeasures) -> np.ndarray:
        """Distances between all measures, shape (len(P), len(Q)); a negative square counts as 0."""
        P, Q, D = self.distance.embed(P), self.distance.embed(Q), np.empty((len(P), len(Q)))
        for block in _blocks(np.full(len(P), self._bytes_per_pair * len(Q))):
            D[block] = self.distance.squared(P[block], Q).clamp_min(0).sqrt().cpu()
        return D

    @property
    def _bytes_per_pair(self) -> int:
        """Memory that one graph takes for one reference."""
        return 8 * (4 * len(self.distance.gammas) + 2 * len(self.kde.multiples))

    def blocks(self, graphs: GraphBatch, n_references: int = 0) -> list[slice]:
        """Blocks of graphs whose features, embeddings and distances fit into working_memory."""
        per_node = 8 * (2 * self.encoder.in_dim + 6 * self.encoder.out_dim)
        return _blocks(per_node * graphs.n_nodes_per_graph + self._bytes_per_pair * n_references)


def _blocks(costs: np.ndarray) -> list[slice]:
    """Slices of consecutive items, at most half of working_memory each where that is possible."""
    limit = get_config()["working_memory"] * 2**20 / 2
    cuts = np.flatnonzero(np.diff(np.cumsum(costs) // limit)) + 1
    return [slice(a, b) for a, b in zip([0, *cuts], [*cuts, len(costs)], strict=True)]


def resolve_device(device: Any, fitted: bool = False) -> torch.device:
    """The torch device meant; a model fitted on a GPU still works where there is none.

    Parameters
    ----------
    device : str or torch.device
        "auto" is the GPU if torch sees one.
    fitted : bool
        Whether a GPU that is not there may be replaced by the CPU.

    Returns
    -------
    torch.device

    Raises
    ------
    ValueError
        If the device is not there.
    """
    if isinstance(device, str) and device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        resolved = torch.device(device)
    except RuntimeError:
        resolved = None
    if resolved is None or resolved.type not in ("cpu", "cuda"):
        raise ValueError(f"device={device!r} is not supported: take 'auto', 'cpu' or 'cuda'")
    if resolved.type == "cuda" and (resolved.index or 0) >= torch.cuda.device_count():
        if not fitted:
            raise ValueError(f"device={device!r}, but torch sees no such GPU: take 'auto' or 'cpu'")
        return torch.device("cpu")
    return resolved
