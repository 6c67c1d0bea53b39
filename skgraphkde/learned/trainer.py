"""Trainer: fits the encoder and the mixture weights to graphs and their twins (Algorithm 3).

The trainer takes graphs with their features, and their structural twins. It changes the encoder and
the densities in place. Where the encoder is not trained, distances are computed once, and an epoch
moves nothing but the weights of the bandwidths.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np
import torch
from threadpoolctl import ThreadpoolController
from torch import nn

from skgraphkde._utils import log, one_blas_thread, progress, warn
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.points.propagation import MessageFlow, node_colors
from skgraphkde.core.points.twins import Twins, find_copies, swap_features
from skgraphkde.core.views.density import MAX_NODES, graphs_with_twins
from skgraphkde.core.views.embedding import Embedding
from skgraphkde.core.views.kernels import log_size_kernel
from skgraphkde.core.views.mixture import LOG_RATIO_SCALE, PRIOR
from skgraphkde.learned import gpu
from skgraphkde.learned.modules import EncoderModule

GRADIENT_NORM = 1.0  # largest norm of the gradients of a step, which are clipped
WARM_UP = 0.1  # share of the steps over which the learning rate rises
HELD_OUT = 0.1  # share of the graphs that are held out for early stopping
PATIENCE = 10  # epochs without a better held-out loss after which training stops
# Log ratio of densities above which the ratio loss is linear in the log ratio. With the paper's
# bandwidths, 0.01 to 100 with equal weights, and squared distances, 0 to 2, it is below 5.5. With
# shorter bandwidths, and negative squares of the corrected distance, it reaches 700.
LOG_LARGEST_RATIO = 6.0
# Constant of the paper, for numerical stability.
EPSILON = 1e-6


def train(
    options: Any,
    twins: Twins,
    embedding: Embedding,
    graphs: GraphBatch,
    rng: np.random.RandomState,
) -> dict[str, list]:
    """Train an encoder and the mixture weights of densities, in place.

    Parameters
    ----------
    options : LGKDE
        Its parameters say how to train.
    twins : Twins
        Perturbation of the graphs.
    embedding : Embedding
        Fitted features, the encoder, and densities that are built.
    graphs : GraphBatch
        The training graphs.
    rng : RandomState

    Returns
    -------
    dict of lists
        See `history_` of :class:`LGKDE`.

    Raises
    ------
    ValueError
        If there are fewer than 3 graphs.
    """
    most = ""
    if not options.learn_encoder:
        graphs = graphs[graphs_with_twins(graphs)]
        most = f" of at most {MAX_NODES} nodes"
    if len(graphs) < 3:
        raise ValueError(
            f"training needs at least 3 graphs{most}, and got {len(graphs)}: give more, or use "
            "GraphKDEDetector"
        )
    # Blocks of a few hundred points: threads would wait for each other longer than they work.
    # OpenMP, which torch takes, has a limit for each thread of Python.
    openmp = ThreadpoolController().select(user_api="openmp")
    with one_blas_thread(), openmp.limit(limits=1):
        featurized = [embedding.featurized(x) for x in twins.structural(graphs, rng)]
        trainer = Trainer(embedding, embedding.featurized(graphs), featurized, options, rng)
        return trainer.train()


class Compared(NamedTuple):
    """Log densities of graphs and of their twins, and which twins equal their graph."""

    of_graphs: list[torch.Tensor]  # for each density, (n_graphs, n_bandwidths)
    of_twins: list[torch.Tensor]
    is_copy: np.ndarray


class Trainer:
    """Minimizes the contrast between graphs and their perturbed twins (Algorithm 3).

    Points, distances and densities are tensors on the device of the encoder: in single precision
    if it is trained, else in double.

    Parameters
    ----------
    embedding : Embedding
        Encoder and densities, which are trained in place.
    graphs : GraphBatch
        At least 3 graphs with their features as attributes.
    twins : sequence of GraphBatch
        Structural twins with their own features; each batch is parallel to `graphs`.
    options : LGKDE
    rng : RandomState
    """

    def __init__(
        self,
        embedding: Embedding,
        graphs: GraphBatch,
        twins: Sequence[GraphBatch],
        options: Any,
        rng: np.random.RandomState,
    ) -> None:
        self.graphs = graphs
        self.options = options
        self.rng = rng
        columns = ("loss", "validation_loss", "mixture_weights", "copies", "seconds")
        self.history: dict[str, list] = {name: [] for name in columns}
        self.best_state: dict[str, torch.Tensor] = {}
        self.best_epoch = 0
        self.n_twins, self.n_copies = 0, 0  # in an epoch
        self.n_flags = len(twins)
        self.all_twins = GraphBatch.concatenate(list(twins))  # those of graph i at i, i + N, ...
        order = rng.permutation(len(graphs))
        n_held_out = 0
        if options.early_stopping:
            n_held_out = min(max(1, round(HELD_OUT * len(graphs))), len(graphs) - 2)
        self.held_out, self.trained_on = np.split(order, [n_held_out])
        training_graphs = graphs[self.trained_on]
        self.encoder = cast(EncoderModule, embedding.encoder)
        self.densities = cast(Sequence[Any], embedding.densities)  # under MMDs
        self.embedding = Embedding(None, embedding.encoder, embedding.densities)
        self.training_flows = self.embedding.flows(training_graphs)
        self.learns_encoder = options.learn_encoder
        if not self.learns_encoder:
            self.encoder.double()
        self.device = next(self.encoder.parameters()).device
        self.generator = torch.Generator(self.device).manual_seed(int(rng.randint(2**31)))
        # The references of the held-out loss, and the held-out twins, one of each kind, are fixed.
        n_references = None
        if options.batch_size is not None and self.learns_encoder:
            n_references = 2 * options.batch_size
        self.references = training_graphs[:n_references]
        self.held_out_graphs = graphs[self.held_out]
        self.held_out_twins = self._draw_all_twins(self.held_out)
        if (
            len(self.held_out)
            and find_copies(self.held_out_graphs, self.held_out_twins, self.encoder.n_layers).all()
        ):
            warn("every twin of the held-out graphs equals its graph: training does not stop early")
            self.held_out = self.held_out[:0]
        # Adam makes a step of each gradient, also of one that is rounding alone in float32.
        dtype = torch.float32 if self.learns_encoder else torch.float64
        self.logits = nn.ParameterList(
            nn.Parameter(
                torch.zeros(len(x.bandwidths_), dtype=dtype), requires_grad=x.logits_ is None
            )
            for x in embedding.densities
        )
        groups = [{"params": self.logits.parameters(), "lr": options.weights_learning_rate}]
        parts: dict[str, nn.Module] = {"logits": self.logits}
        if self.learns_encoder:
            parts["encoder"] = self.encoder
            of_encoder = self.encoder.parameters()
            groups.append({"params": of_encoder, "lr": options.learning_rate})
        self.weights = nn.ModuleDict(parts).to(self.device if self.learns_encoder else "cpu")
        # Adam skips weights without a gradient.
        self.optimizer = torch.optim.Adam(groups, weight_decay=options.weight_decay)
        n_batches = len(_split(self.trained_on, options.batch_size)) if self.learns_encoder else 1
        n_steps = options.max_iter * n_batches
        is_constant = options.schedule == "constant"
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer,
            lambda step: 1.0 if is_constant else _learning_rate_factor(step / n_steps),
        )
        self.contrast = LOSSES[options.loss]

    def train(self) -> dict[str, list]:
        """Train, until the held-out loss stops falling if there is one; restore the best state.

        Returns
        -------
        dict of lists, one entry per epoch; epoch 0 is the untrained model
            "loss" (nan for epoch 0), "validation_loss" (nan without early stopping),
            "mixture_weights" (those of the first density first), "copies" (the share of twins that
            equal their graph, and do not count), "seconds".

        Raises
        ------
        ValueError
            If a loss is not finite.
        """
        if not self.learns_encoder:
            self._compute_distances()
        for epoch in progress(range(self.options.max_iter + 1)):
            if self.options.early_stopping and epoch - 1 - self.best_epoch >= PATIENCE:
                break
            self._train_epoch(epoch)
        self.weights.load_state_dict(self.best_state)
        self.encoder.eval()
        for density, logits in zip(self.densities, self.logits, strict=True):
            density.logits_ = logits.double().numpy(force=True)
        return self.history

    def _train_epoch(self, epoch: int) -> None:
        """Run an epoch and add it to the history; epoch 0 only computes the held-out loss."""
        start = time.perf_counter()
        self.n_twins = 0
        self.n_copies = 0
        loss = math.nan
        if epoch:
            loss = self._epoch() if self.learns_encoder else self._move_weights()
        held_out = self._held_out_loss() if len(self.held_out) else math.nan
        is_finite = math.isfinite(loss) or not epoch
        if not is_finite or (len(self.held_out) and not math.isfinite(held_out)):
            rate = "learning_rate" if self.learns_encoder else "weights_learning_rate"
            raise ValueError(
                f"the loss is not finite in epoch {epoch} (training {loss}, held out "
                f"{held_out}): lower {rate}, or look for extreme node attributes"
            )
        weights = torch.cat([torch.softmax(logits.double(), 0) for logits in self.logits]).tolist()
        copies = self.n_copies / self.n_twins if self.n_twins else math.nan
        seconds = time.perf_counter() - start
        values = loss, held_out, weights, copies, seconds
        for name, value in zip(self.history, values, strict=True):
            self.history[name].append(value)
        log.info("epoch %d: loss %.6g, held out %.6g, %.2f s", epoch, loss, held_out, seconds)
        best = self.history["validation_loss"][self.best_epoch]
        if not epoch or not len(self.held_out) or held_out < best:
            self.best_state = copy.deepcopy(self.weights.state_dict())
            self.best_epoch = epoch

    @torch.enable_grad()
    def _epoch(self) -> float:
        """Run one pass over the training graphs, and return the mean loss."""
        if not len(self.held_out) and any(density.is_adaptive for density in self.densities):
            self._adapt()  # else the held-out loss has
        self.weights.train()
        losses = []
        for index in _split(self.rng.permutation(self.trained_on), self.options.batch_size):
            index_of_twin = np.tile(index, self.options.n_twins)
            turn = np.repeat(np.arange(self.options.n_twins), len(index))
            first = self.rng.randint(self.n_flags, size=len(index))
            flags = (np.resize(first, len(turn)) + turn) % self.n_flags
            losses.append(self._step(self._loss(index, self._draw_twins(index_of_twin, flags))))
        return float(np.mean(losses))

    @torch.enable_grad()
    def _move_weights(self) -> float:
        """Move the weights of the bandwidths by one step on all graphs, and return the loss."""
        of_graphs, of_twins, is_copy = self.of_training
        self._count(is_copy)
        return self._step(self._contrast_of(self._mix(of_graphs), self._mix(of_twins), is_copy))

    def _step(self, loss: torch.Tensor) -> float:
        if loss.requires_grad:  # a single bandwidth has no weight to learn
            self.optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.weights.parameters(), GRADIENT_NORM)
            self.optimizer.step()
            self.schedule.step()
        return loss.item()

    def _draw_twins(self, index: np.ndarray, flags: np.ndarray) -> GraphBatch:
        """Structural twins `flags` of the graphs `index`, with some features swapped."""
        twins = self.all_twins[index + flags * len(self.graphs)]
        return swap_features(twins, self.options.swap, self.rng)

    def _draw_all_twins(self, index: np.ndarray) -> GraphBatch:
        """A twin of each kind of the graphs `index`."""
        flags = np.repeat(np.arange(self.n_flags), len(index))
        return self._draw_twins(np.tile(index, self.n_flags), flags)

    def _loss(self, index: np.ndarray, twins: GraphBatch) -> torch.Tensor:
        """Contrast of a mini-batch, whose graphs are the references."""
        originals = self.graphs[index]
        n = len(index)
        own = own_of_twins = None
        if self.options.leave_one_out:  # exclude the graph from its twins' references, too
            own = torch.eye(n, dtype=torch.bool, device=self.device)
            own_of_twins = own.tile(len(twins) // n, 1)
        embedded = self._embed(self._clouds(GraphBatch.concatenate([originals, twins])))
        P = [x[:n] for x in embedded]
        Q = [x[n:] for x in embedded]
        of_graphs = self._log_densities(originals, P, originals, P, own)
        of_twins = self._log_densities(twins, Q, originals, P, own_of_twins)
        is_copy = find_copies(originals, twins, self.encoder.n_layers)
        self._count(is_copy)
        return self._contrast_of(self._mix(of_graphs), self._mix(of_twins), is_copy)

    def _count(self, is_copy: np.ndarray) -> None:
        self.n_twins += len(is_copy)
        self.n_copies += int(is_copy.sum())

    def _contrast_of(
        self, of_graphs: torch.Tensor, of_twins: torch.Tensor, is_copy: np.ndarray
    ) -> torch.Tensor:
        """Loss of log densities of graphs, and of all their twins that are no copies."""
        pairs = np.flatnonzero(~is_copy) if not is_copy.all() else np.arange(len(is_copy))
        graph = torch.as_tensor(pairs % of_graphs.shape[1], device=of_graphs.device)
        loss = self.contrast(of_graphs[:, graph], of_twins[:, torch.as_tensor(pairs).to(graph)])
        if self.options.loss == "damped":
            for logits in self.logits:
                loss = loss - PRIOR * torch.log_softmax(logits, 0).mean()
        return loss

    @torch.no_grad()
    def _adapt(self) -> list[Any]:
        """Standardize encoder and distances on the references, and embed these."""
        self.weights.eval()
        self.encoder.standardize(self.training_flows)
        clouds = self._clouds(self.references)
        for density in self.densities:
            if density.is_adaptive:
                points = clouds.points.numpy(force=True)
                density.adapt(self.references, replace(clouds, points=points))
        return self._embed(clouds)

    @torch.no_grad()
    def _compute_distances(self) -> None:
        """Log densities of all graphs and their twins by bandwidth, which no epoch changes."""
        known = self._adapt()
        twins = self._draw_all_twins(self.trained_on)
        own = None
        if self.options.leave_one_out:
            own = torch.eye(len(self.trained_on), dtype=torch.bool, device=self.device)
        self.of_training = self._compared(self.references, twins, known, own)
        if len(self.held_out):
            parts = self.held_out_graphs, self.held_out_twins
            self.of_held_out = self._compared(*parts, known, None)

    def _compared(
        self, graphs: GraphBatch, twins: GraphBatch, known: list[Any], own: torch.Tensor | None
    ) -> Compared:
        """Log densities of graphs and of twins, block by block, and the marks of copies."""
        of_both = []
        for batch in (graphs, twins):
            rows = np.resize(np.arange(len(graphs)), len(batch))
            of_blocks = []
            for block in self.embedding.blocks(batch):
                embedded = self._embed(self._clouds(batch[block]))
                left_out = None if own is None else own[torch.as_tensor(rows[block])]
                of_blocks.append(
                    self._log_densities(batch[block], embedded, self.references, known, left_out)
                )
            device = self.logits[0].device
            of_both.append([torch.cat(x).to(device) for x in zip(*of_blocks, strict=True)])
        is_copy = find_copies(graphs, twins, self.encoder.n_layers)
        return Compared(of_both[0], of_both[1], is_copy)

    @torch.no_grad()
    def _held_out_loss(self) -> float:
        """Contrast of the held-out graphs against training graphs, in evaluation mode."""
        if self.learns_encoder:
            known = self._adapt()
            compared = self._compared(self.held_out_graphs, self.held_out_twins, known, None)
        else:
            compared = self.of_held_out
        of_graphs = self._mix(compared.of_graphs).double()
        of_twins = self._mix(compared.of_twins).double()
        return self._contrast_of(of_graphs, of_twins, compared.is_copy).item()

    def _mix(self, log_densities: list[torch.Tensor]) -> torch.Tensor:
        """Log densities of the mixtures, shape (n_densities, n_graphs)."""
        pairs = zip(log_densities, self.logits, strict=True)
        return torch.stack([torch.logsumexp(x + torch.log_softmax(a, 0), 1) for x, a in pairs])

    def _clouds(self, graphs: GraphBatch) -> DiscreteMeasures:
        """Clouds of points of graphs, as tensors, with gradients where torch records."""
        flow = MessageFlow.of(graphs, node_colors(graphs, self.encoder.n_layers))
        points = self.encoder.points(flow, self.generator)
        return DiscreteMeasures.of_nodes(points, flow.rounds[-1][1], graphs.node_ptr)

    def _embed(self, clouds: DiscreteMeasures) -> list[Any]:
        """Clouds with what the distance of each density needs of them."""
        return [gpu.embed(density.distance_, clouds) for density in self.densities]

    def _log_densities(
        self,
        graphs: GraphBatch,
        measures: Sequence[Any],
        references: GraphBatch,
        known: Sequence[Any],
        left_out: torch.Tensor | None = None,
    ) -> list[torch.Tensor]:
        """Log densities of embedded graphs by bandwidth, (n_graphs, n_bandwidths) a density."""
        of_densities = []
        for density, P, Q in zip(self.densities, measures, known, strict=True):
            squared = gpu.squared_mmd(density.distance_, P, None if P is Q else Q)
            log_weights = None
            if density.size_bandwidths_ is not None:
                of_sizes = log_size_kernel(graphs, references, density.size_bandwidths_)
                log_weights = torch.from_numpy(of_sizes)
            bandwidths = torch.from_numpy(density.bandwidths_)
            of_densities.append(log_densities(squared, bandwidths, log_weights, left_out))
        return of_densities


def log_densities(
    squared: torch.Tensor,
    bandwidths: torch.Tensor,
    log_weights: torch.Tensor | None = None,
    left_out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Log densities by bandwidth with gradients, see :mod:`skgraphkde.core.views.kernels`.

    Parameters
    ----------
    squared, bandwidths, log_weights, left_out
        As for :func:`skgraphkde.core.views.kernels.log_densities`.

    Returns
    -------
    Tensor of shape (n, n_bandwidths)
    """
    h = bandwidths.to(squared)
    log_kernels = -squared[:, None, :] / (2 * h**2)[:, None]
    if log_weights is not None:
        log_kernels = log_kernels + log_weights.to(squared)[:, None, :]
    counts = torch.full_like(squared[:, :1], squared.shape[1])
    if left_out is not None:
        log_kernels = log_kernels.masked_fill(left_out[:, None, :], -math.inf)
        counts = counts - left_out.sum(1, keepdim=True)
    return torch.logsumexp(log_kernels, 2) - torch.log(math.sqrt(2 * math.pi) * h * counts)


def _split(index: np.ndarray, batch_size: int | None) -> list[np.ndarray]:
    """Split into parts of nearly equal size, at most `batch_size` but at least two graphs."""
    n_parts = min(math.ceil(len(index) / (batch_size or len(index))), len(index) // 2)
    return np.array_split(index, max(1, n_parts))


def _learning_rate_factor(progress: float) -> float:
    """Factor that rises to 1 in the warm-up, then falls to 0; `progress` is in [0, 1]."""
    if progress < WARM_UP:
        return (progress + 1e-3) / (WARM_UP + 1e-3)
    return 0.5 * (1 + math.cos(math.pi * (progress - WARM_UP) / (1 - WARM_UP)))


def contrast(of_graphs: torch.Tensor, of_twins: torch.Tensor) -> torch.Tensor:
    """Mean of  (f(twin) - f(graph)) / (f(graph) + EPSILON)  (paper, eq. objective).

    Parameters
    ----------
    of_graphs, of_twins : Tensor of shape (n_densities, n)
        Log densities of graphs and of their perturbed twins, in pairs.

    Returns
    -------
    Tensor
        The loss, a scalar in (-1, inf), negative if graphs are denser than their twins. A ratio
        above e^6 is replaced by its tangent in the logarithm, which is linear in the score, so
        that no single twin dominates and none overflows.
    """
    log_floor = torch.full_like(of_graphs, math.log(EPSILON))
    log_denominator = torch.logaddexp(of_graphs, log_floor)
    ratio = torch.exp(of_graphs - log_denominator)
    log_twin_ratio = of_twins - log_denominator
    bounded = log_twin_ratio.clamp_max(LOG_LARGEST_RATIO)
    twin_ratio = torch.exp(bounded) * (1 + log_twin_ratio - bounded)
    return (twin_ratio - ratio).mean()


def log_contrast(of_graphs: torch.Tensor, of_twins: torch.Tensor) -> torch.Tensor:
    """Mean of  log((f(twin) + EPSILON) / (f(graph) + EPSILON))  (the paper's code).

    Parameters
    ----------
    of_graphs, of_twins : Tensor
        As for :func:`contrast`.

    Returns
    -------
    Tensor
        The loss, a scalar, negative if graphs are denser than their twins.
    """
    log_floor = of_graphs.new_tensor(math.log(EPSILON))
    return (torch.logaddexp(of_twins, log_floor) - torch.logaddexp(of_graphs, log_floor)).mean()


def damped_contrast(of_graphs: torch.Tensor, of_twins: torch.Tensor) -> torch.Tensor:
    """Mean of  10 asinh(log(f(twin) / f(graph)) / 10), see :mod:`skgraphkde.core.views.mixture`.

    Parameters
    ----------
    of_graphs, of_twins : Tensor
        As for :func:`contrast`.

    Returns
    -------
    Tensor
        The loss, a scalar, negative if graphs are denser than their twins.
    """
    return LOG_RATIO_SCALE * torch.asinh((of_twins - of_graphs) / LOG_RATIO_SCALE).mean()


LOSSES = {"damped": damped_contrast, "ratio": contrast, "log_ratio": log_contrast}
