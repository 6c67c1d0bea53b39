"""Trainer: fits the encoder and the mixture weights to graphs and their twins (Algorithm 3).

The trainer takes graphs with their features, and their structural twins. It changes the encoder and
the densities in place, to the state with the best held-out contrast.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from threadpoolctl import ThreadpoolController
from torch import nn

from skgraphkde._utils import one_blas_thread, progress
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmd import FittedMMD
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.learned import gpu
from skgraphkde.learned.contrastive import Contrastive
from skgraphkde.learned.modules import EncoderModule
from skgraphkde.learned.twins import Twins, swap_features
from skgraphkde.propagation import MessageFlow, node_colors
from skgraphkde.views.embedding import Embedding
from skgraphkde.views.kernels import log_size_kernel

GRADIENT_NORM = 1.0  # largest norm of the gradients, which are clipped
WARM_UP = 0.1  # share of the steps over which the learning rate rises
# Log ratio of densities above which the loss is linear in the log ratio. With the paper's
# bandwidths, 0.01 to 100 with equal weights, and squared distances, 0 to 2, it is below 5.5. With
# shorter bandwidths, and negative squares of the corrected distance, it reaches 700.
LOG_LARGEST_RATIO = 6.0
# Constant of the paper, for numerical stability.
EPSILON = 1e-6


def train(
    options: Contrastive, embedding: Embedding, graphs: GraphBatch, rng: np.random.RandomState
) -> dict[str, list]:
    """Train an encoder and the mixture weights of densities, in place.

    Parameters
    ----------
    options : Contrastive
    embedding : Embedding
        Fitted features, the encoder, and densities that are built.
    graphs : GraphBatch
        The training graphs.
    rng : RandomState

    Returns
    -------
    dict of lists
        See `history_` of :class:`GraphKDEDetector`.

    Raises
    ------
    ValueError
        If there is nothing to train, or there are fewer than 3 graphs.
    """
    encoder = embedding.encoder
    has_mixtures = any(len(x.bandwidths_) > 1 for x in embedding.densities)
    if not encoder.is_trainable and not (options.learn_weights and has_mixtures):
        raise ValueError(
            f"there is nothing to train: {encoder.specification!r} has no weights, "
            "and there are no mixture weights to learn; use training=None or encoder=GCN()"
        )
    if len(graphs) < 3:
        raise ValueError(
            "training needs at least 3 graphs, because it holds one out, and got "
            f"{len(graphs)}: give more, or use training=None"
        )
    for distance in (density.distance_ for density in embedding.densities):
        if encoder.is_trainable and not isinstance(distance, FittedMMD):
            raise ValueError(
                f"the distance {distance.name} has no gradients, and an encoder cannot be "
                "trained under it: use MMD(), or training=None"
            )
    twins = (options.twins or Twins()).structural(graphs, rng)
    featurized = [embedding.featurized(twin) for twin in twins]
    trainer = Trainer(embedding, embedding.featurized(graphs), featurized, options, rng)
    # Blocks of a few hundred points: threads would wait for each other longer than they work.
    # OpenMP, which torch takes, has a limit for each thread of Python.
    openmp = ThreadpoolController().select(user_api="openmp")
    with one_blas_thread(), openmp.limit(limits=1):
        return trainer.train()


class Trainer:
    """Minimizes the contrast between graphs and their perturbed twins (Algorithm 3).

    Points, distances and densities are tensors in single precision, on the device of the encoder.

    Parameters
    ----------
    embedding : Embedding
        Encoder and densities, which are trained in place.
    graphs : GraphBatch
        At least 3 graphs with their features as attributes.
    twins : sequence of GraphBatch
        Structural twins with their own features; each batch is parallel to `graphs`.
    options : Contrastive
    rng : RandomState
    """

    def __init__(
        self,
        embedding: Embedding,
        graphs: GraphBatch,
        twins: Sequence[GraphBatch],
        options: Contrastive,
        rng: np.random.RandomState,
    ) -> None:
        self.graphs, self.options, self.rng = graphs, options, rng
        self.swap_ratio = (options.twins or Twins()).swap_ratio
        columns = ("loss", "validation_loss", "mixture_weights", "seconds")
        self.history: dict[str, list] = {name: [] for name in columns}
        self.best_state: dict[str, torch.Tensor] = {}
        self.best_epoch = 0
        self.n_flags = len(twins)
        self.all_twins = GraphBatch.concatenate(list(twins))  # those of graph i at i, i + N, ...
        order = rng.permutation(len(graphs))
        n_held_out = max(1, round(options.validation_fraction * len(graphs)))
        self.held_out, self.trained_on = np.split(order, [min(n_held_out, len(graphs) - 2)])
        training_graphs = graphs[self.trained_on]
        self.encoder, self.densities = embedding.encoder, embedding.densities
        self.embedding = Embedding(None, embedding.encoder, embedding.densities)
        self.training_flows = self.embedding.flows(training_graphs)
        # The held-out twins, one per flag, and the references of the held-out loss are fixed.
        self.held_out_graphs = graphs[self.held_out]
        flags = np.repeat(np.arange(self.n_flags), len(self.held_out))
        self.held_out_twins = self._draw_twins(np.tile(self.held_out, self.n_flags), flags)
        n_references = None if options.batch_size is None else 2 * options.batch_size
        self.held_out_references = training_graphs[:n_references]
        parts: dict[str, nn.Module] = {}
        self.device = torch.device("cpu")
        if isinstance(self.encoder, EncoderModule):
            parts["encoder"] = self.encoder
            self.device = next(self.encoder.parameters(), torch.empty(0)).device
        self.logits = nn.ParameterList(
            nn.Parameter(torch.tensor(x.logits_).float(), requires_grad=options.learn_weights)
            for x in embedding.densities
        )
        self.weights = nn.ModuleDict({**parts, "logits": self.logits}).to(self.device)
        self.generator = torch.Generator(self.device).manual_seed(int(rng.randint(2**31)))
        self.optimizer = torch.optim.Adam(  # which skips weights without a gradient
            self.weights.parameters(), options.learning_rate, weight_decay=options.weight_decay
        )
        n_steps = options.max_iter * len(_split(self.trained_on, options.batch_size))
        is_constant = options.schedule == "constant"
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer,
            lambda step: 1.0 if is_constant else _learning_rate_factor(step / n_steps),
        )
        self.contrast = contrast if options.loss == "ratio" else log_contrast

    def train(self) -> dict[str, list]:
        """Train until the held-out loss stops falling, then restore the best state.

        Returns
        -------
        dict of lists, one entry per epoch; epoch 0 is the untrained model
            "loss" (nan for epoch 0), "validation_loss", "mixture_weights" (those of the first
            density first), "seconds".

        Raises
        ------
        ValueError
            If a loss is not finite.
        """
        for epoch in progress(range(self.options.max_iter + 1)):
            if epoch - 1 - self.best_epoch >= self.options.n_iter_no_change:
                break
            self._train_epoch(epoch)
        self.weights.load_state_dict(self.best_state)
        self.weights.eval()
        for density, logits in zip(self.densities, self.logits, strict=True):
            density.logits_ = logits.double().numpy(force=True)
        return self.history

    def _train_epoch(self, epoch: int) -> None:
        """Run an epoch and add it to the history; epoch 0 only computes the held-out loss."""
        start = time.perf_counter()
        loss = self._epoch() if epoch else math.nan
        held_out = self._held_out_loss()
        if not math.isfinite(held_out) or (epoch and not math.isfinite(loss)):
            raise ValueError(
                f"the loss is not finite in epoch {epoch} (training {loss}, held out "
                f"{held_out}): lower learning_rate, or look for extreme node attributes"
            )
        weights = torch.cat([torch.softmax(logits.double(), 0) for logits in self.logits]).tolist()
        seconds = time.perf_counter() - start
        for name, value in zip(self.history, (loss, held_out, weights, seconds), strict=True):
            self.history[name].append(value)
        if not epoch or held_out < self.history["validation_loss"][self.best_epoch]:
            self.best_state, self.best_epoch = copy.deepcopy(self.weights.state_dict()), epoch

    @torch.enable_grad()
    def _epoch(self) -> float:
        """Run one pass over the training graphs, and return the mean loss."""
        self.weights.train()
        losses = []
        for index in _split(self.rng.permutation(self.trained_on), self.options.batch_size):
            index_of_twin = np.tile(index, self.options.n_twins)
            turn = np.repeat(np.arange(self.options.n_twins), len(index))
            first = self.rng.randint(self.n_flags, size=len(index))
            flags = (np.resize(first, len(turn)) + turn) % self.n_flags
            loss = self._loss(index, self._draw_twins(index_of_twin, flags))
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.weights.parameters(), GRADIENT_NORM)
            self.optimizer.step()
            self.schedule.step()
            losses.append(loss.item())
        return float(np.mean(losses))

    def _draw_twins(self, index: np.ndarray, flags: np.ndarray) -> GraphBatch:
        """Structural twins `flags` of the graphs `index`, with some features swapped."""
        twins = self.all_twins[index + flags * len(self.graphs)]
        return swap_features(twins, self.swap_ratio, self.rng)

    def _loss(self, index: np.ndarray, twins: GraphBatch) -> torch.Tensor:
        """Contrast of a mini-batch, whose graphs are the references."""
        originals, n = self.graphs[index], len(index)
        own = own_of_twins = None
        if self.options.leave_one_out:  # exclude the graph from its twins' references, too
            own = torch.eye(n, dtype=torch.bool, device=self.device)
            own_of_twins = own.tile(len(twins) // n, 1)
        embedded = self._embed(self._clouds(GraphBatch.concatenate([originals, twins])))
        P, Q = [x[:n] for x in embedded], [x[n:] for x in embedded]
        log_densities = self._log_densities(originals, P, originals, P, own)
        return self.contrast(
            log_densities, self._log_densities(twins, Q, originals, P, own_of_twins)
        )

    @torch.no_grad()
    def _held_out_loss(self) -> float:
        """Contrast of the held-out graphs against training graphs, in evaluation mode."""
        self.weights.eval()
        self.encoder.standardize(self.training_flows)
        clouds = self._clouds(self.held_out_references)
        for density in self.densities:
            if density.is_adaptive:
                points = clouds.points.numpy(force=True)
                density.adapt(self.held_out_references, replace(clouds, points=points))
        known = self._embed(clouds)
        log_densities = []
        for graphs in (self.held_out_graphs, self.held_out_twins):
            parts = [graphs[block] for block in self.embedding.blocks(graphs)]
            of_parts = [
                self._log_densities(
                    part, self._embed(self._clouds(part)), self.held_out_references, known
                )
                for part in parts
            ]
            log_densities.append(torch.cat(of_parts, 1).double())
        return self.contrast(*log_densities).item()

    def _clouds(self, graphs: GraphBatch) -> DiscreteMeasures:
        """Clouds of points of graphs, as tensors, with gradients where torch records."""
        flow = MessageFlow.of(graphs, node_colors(graphs, self.encoder.n_layers))
        if isinstance(self.encoder, EncoderModule):
            points = self.encoder.points(flow, self.generator)
        else:
            points = torch.from_numpy(self.encoder.encode(flow)).float()
        return DiscreteMeasures.of_nodes(points, flow.rounds[-1][1], graphs.node_ptr)

    def _embed(self, clouds: DiscreteMeasures) -> list[Any]:
        """Clouds with what the distance of each density needs of them."""
        return [
            gpu.embed(density.distance_, clouds)
            if isinstance(density.distance_, FittedMMD)
            else replace(clouds, points=clouds.points.numpy(force=True))
            for density in self.densities
        ]

    def _log_densities(
        self,
        graphs: GraphBatch,
        measures: Sequence[Any],
        references: GraphBatch,
        known: Sequence[Any],
        left_out: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Log densities of embedded graphs, shape (n_densities, n_graphs)."""
        rows = []
        for density, logits, P, Q in zip(self.densities, self.logits, measures, known, strict=True):
            if isinstance(density.distance_, FittedMMD):
                squared = gpu.squared_mmd(density.distance_, P, None if P is Q else Q)
            else:
                squared = torch.from_numpy(density.distance_.squared(P, Q)).float()
            log_weights = None
            if density.size_bandwidths_ is not None:
                of_sizes = log_size_kernel(graphs, references, density.size_bandwidths_)
                log_weights = torch.from_numpy(of_sizes)
            bandwidths = torch.from_numpy(density.bandwidths_)
            rows.append(log_densities(squared, logits, bandwidths, log_weights, left_out))
        return torch.stack(rows)


def log_densities(
    squared: torch.Tensor,
    logits: torch.Tensor,
    bandwidths: torch.Tensor,
    log_weights: torch.Tensor | None = None,
    left_out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Log densities with gradients, see :func:`skgraphkde.views.kernels.log_densities`.

    Parameters
    ----------
    squared : Tensor of shape (n, N)
    logits, bandwidths : Tensor of shape (M,)
    log_weights : Tensor of shape (n, N), default=None
    left_out : Tensor of shape (n, N), bool, default=None

    Returns
    -------
    Tensor of shape (n,)
    """
    h = bandwidths.to(squared)
    log_scales = torch.log_softmax(logits, 0) - torch.log(math.sqrt(2 * math.pi) * h)
    # The mixture is the same for every reference: sum over bandwidths, then references.
    exponents = log_scales[:, None, None] - squared / (2 * h**2)[:, None, None]
    log_kernel = torch.logsumexp(exponents, dim=0)
    if log_weights is not None:
        log_kernel = log_kernel + log_weights.to(squared)
    counts = torch.full_like(squared[:, 0], squared.shape[1])
    if left_out is not None:
        log_kernel = log_kernel.masked_fill(left_out, -math.inf)
        counts = counts - left_out.sum(1)
    return torch.logsumexp(log_kernel, 1) - torch.log(counts)


def _split(index: np.ndarray, batch_size: int | None) -> list[np.ndarray]:
    """Split into parts of nearly equal size, at most `batch_size` but at least two graphs."""
    n_parts = min(math.ceil(len(index) / (batch_size or len(index))), len(index) // 2)
    return np.array_split(index, max(1, n_parts))


def _learning_rate_factor(progress: float) -> float:
    """Factor that rises to 1 in the warm-up, then falls to 0; `progress` is in [0, 1]."""
    if progress < WARM_UP:
        return (progress + 1e-3) / (WARM_UP + 1e-3)
    return 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP)))


def contrast(log_density: torch.Tensor, log_density_perturbed: torch.Tensor) -> torch.Tensor:
    """Mean over twins of  (f(twin) - f(graph)) / (f(graph) + EPSILON)  (paper, eq. objective).

    With several distances it is also the mean over the distances.

    Parameters
    ----------
    log_density : Tensor of shape (n_distances, n)
        Log densities of the graphs.
    log_density_perturbed : Tensor of shape (n_distances, r * n)
        Log densities of their perturbed twins: r twins of each graph, those of graph i at i, i + n,
        ...

    Returns
    -------
    Tensor
        The loss, a scalar in (-1, inf), negative if graphs are denser than their twins. A ratio
        above e^6 is replaced by its tangent in the logarithm, which is linear in the score, so
        that no single twin dominates and none overflows.
    """
    log_floor = torch.full_like(log_density, math.log(EPSILON))
    log_denominator = torch.logaddexp(log_density, log_floor)
    ratio = torch.exp(log_density - log_denominator)
    log_twin_ratio = log_density_perturbed.unflatten(1, (-1, log_density.shape[1]))
    log_twin_ratio = log_twin_ratio - log_denominator[:, None]
    bounded = log_twin_ratio.clamp_max(LOG_LARGEST_RATIO)
    twin_ratio = torch.exp(bounded) * (1 + log_twin_ratio - bounded)
    return (twin_ratio - ratio[:, None]).mean()


def log_contrast(log_density: torch.Tensor, log_density_perturbed: torch.Tensor) -> torch.Tensor:
    """Mean over twins of  log((f(twin) + EPSILON) / (f(graph) + EPSILON))  (the paper's code).

    Parameters
    ----------
    log_density, log_density_perturbed : Tensor
        As for :func:`contrast`.

    Returns
    -------
    Tensor
        The loss, a scalar, negative if graphs are denser than their twins.
    """
    log_floor = log_density.new_tensor(math.log(EPSILON))
    of_graphs = torch.logaddexp(log_density, log_floor)
    of_twins = torch.logaddexp(log_density_perturbed, log_floor)
    return (of_twins.unflatten(1, (-1, log_density.shape[1])) - of_graphs[:, None]).mean()
