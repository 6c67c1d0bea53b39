"""Trainer: fits the encoder and the mixture weights to graphs and their twins (Algorithm 3).

The trainer takes graphs with their features, and their structural twins. It changes the encoder and
the density in place, to the state with the best held-out contrast.
"""

from __future__ import annotations

import copy
import io
import math
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from tqdm.auto import tqdm

from skgraphkde.computing.arrays import to_numpy
from skgraphkde.density.kde import own_references
from skgraphkde.density.model import DensityModel, EmbeddedGraphs
from skgraphkde.density.references import References, inverse_index
from skgraphkde.encoders.base import FittedEncoder
from skgraphkde.encoders.message_flow import MessageFlow
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.learned.checkpoint import Checkpoint
from skgraphkde.learned.contrastive import Contrastive
from skgraphkde.learned.modules import EncoderModule
from skgraphkde.learned.threads import one_torch_thread
from skgraphkde.learned.twins import swap_features

GRADIENT_NORM = 1.0  # largest norm of the gradients, which are clipped
WARM_UP = 0.1  # share of the steps over which the learning rate rises
# Log ratio of densities above which the loss is linear in the log ratio. With the paper's
# bandwidths, 0.01 to 100 with equal weights, and squared distances, 0 to 2, it is below 5.5. With
# shorter bandwidths, and negative squares of the corrected distance, it reaches 700.
LOG_LARGEST_RATIO = 6.0
# Constant of the paper, for numerical stability.
EPSILON = 1e-6


class Trainer:
    """Minimizes the contrast between graphs and their perturbed twins (Algorithm 3).

    Parameters
    ----------
    model : DensityModel
        Encoder and densities, which are trained in place.
    device : torch.device or str
    graphs : GraphBatch
        At least 3 graphs with their features as attributes.
    twins : sequence of GraphBatch
        Structural twins with their own features; each batch is parallel to `graphs`.
    options : Contrastive
    references : References or None
        Selection of the references of a mini-batch. None selects all its graphs.
    rng : RandomState
    checkpoint : Checkpoint, default=None
        File for the state after each epoch, from which an interrupted fit continues.
    verbose : int, default=0
        1 shows a progress bar.
    """

    def __init__(
        self,
        model: DensityModel,
        device: torch.device | str,
        graphs: GraphBatch,
        twins: Sequence[GraphBatch],
        options: Contrastive,
        references: References | None,
        rng: np.random.RandomState,
        checkpoint: Checkpoint | None = None,
        verbose: int = 0,
    ) -> None:
        self.graphs, self.options, self.rng = graphs, options, rng
        self.references, self.checkpoint, self.verbose = references, checkpoint, verbose
        self.swap_ratio = options.specification("twins").swap_ratio
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
        self.training_flows = model.flows(training_graphs)
        # The held-out twins, one per flag, and the references of the held-out loss are fixed.
        self.held_out_graphs = graphs[self.held_out]
        flags = np.repeat(np.arange(self.n_flags), len(self.held_out))
        self.held_out_twins = self._draw_twins(np.tile(self.held_out, self.n_flags), flags)
        n_references = None if options.batch_size is None else 2 * options.batch_size
        self.held_out_references = training_graphs[:n_references]
        # Each graph's density when it was last in a batch, for the selection of references.
        self.last_log_density = np.zeros(len(graphs))
        self.generator = torch.Generator(device=device).manual_seed(int(rng.randint(2**31)))
        self.encoder = model.encoder
        logits = nn.ParameterList(
            nn.Parameter(torch.tensor(x.kde.logits).float(), requires_grad=options.learn_weights)
            for x in model.densities
        )
        parts = {"encoder": model.encoder} if isinstance(model.encoder, EncoderModule) else {}
        self.weights = nn.ModuleDict({**parts, "logits": logits}).to(device)
        # While they are trained, the logits of the mixtures and the points are tensors.
        for density, parameter in zip(model.densities, logits, strict=True):
            density.kde.logits = parameter
        on_device = _TensorEncoder(model.encoder, device, self.generator)
        self.density = DensityModel(on_device, model.densities)
        learned = [parameter for parameter in self.weights.parameters() if parameter.requires_grad]
        # Numbers of Python, because torch loads no NumPy scalars from a checkpoint.
        self.optimizer = torch.optim.Adam(
            learned, float(options.learning_rate), weight_decay=float(options.weight_decay)
        )
        n_steps = int(options.max_iter) * len(_split(self.trained_on, options.batch_size))
        is_constant = options.schedule == "constant"
        self.schedule = torch.optim.lr_scheduler.LambdaLR(
            self.optimizer,
            lambda step: 1.0 if is_constant else _learning_rate_factor(step / n_steps),
        )
        self.contrast = contrast if options.loss == "ratio" else log_contrast

    @one_torch_thread()
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
        if self.checkpoint is not None and (state := self.checkpoint.load()) is not None:
            self.load_state_dict(state)
        n_done, most = len(self.history["loss"]), self.options.max_iter + 1
        with tqdm(
            range(n_done, most), desc="training", unit="epoch", total=most, initial=n_done,
            disable=not self.verbose,
        ) as bar:  # fmt: skip
            for epoch in bar:
                if epoch - 1 - self.best_epoch >= self.options.n_iter_no_change:
                    break
                self._train_epoch(epoch)
                bar.set_postfix(held_out=f"{self.history['validation_loss'][-1]:.4f}")
                if self.checkpoint is not None:
                    self.checkpoint.save(self.state_dict())
        self.weights.load_state_dict(self.best_state)
        self.weights.eval()
        for density in self.density.densities:
            density.kde.logits = to_numpy(density.kde.logits).astype(float)
        return self.history

    def state_dict(self) -> dict[str, Any]:
        """State that the next epochs depend on and the constructor does not create."""
        of_torch = {
            "weights": self.weights.state_dict(),
            "best": self.best_state,
            "optimizer": self.optimizer.state_dict(),
            "schedule": self.schedule.state_dict(),
            "generator": self.generator.get_state(),
        }
        file = io.BytesIO()
        torch.save(of_torch, file)
        return {
            "history": {name: np.array(column) for name, column in self.history.items()},
            "torch": np.frombuffer(file.getvalue(), np.uint8),
            "rng": self.rng.get_state(legacy=False),
            "last_log_density": self.last_log_density,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restore the state that :meth:`state_dict` returned."""
        self.history = {name: column.tolist() for name, column in state["history"].items()}
        self.best_epoch = int(np.argmin(self.history["validation_loss"]))
        self.rng.set_state(state["rng"])
        self.last_log_density = state["last_log_density"]
        file = io.BytesIO(state["torch"].tobytes())
        of_torch = torch.load(file, map_location="cpu", weights_only=True)
        self.best_state = of_torch["best"]
        self.weights.load_state_dict(of_torch["weights"])
        self.optimizer.load_state_dict(of_torch["optimizer"])
        self.schedule.load_state_dict(of_torch["schedule"])
        self.generator.set_state(of_torch["generator"])
        self._adapted_references()

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
        densities = self.density.densities
        weights = np.concatenate([x.kde.mixture_weights for x in densities]).tolist()
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
        """Contrast of a mini-batch under references from its graphs."""
        graphs, n = GraphBatch.concatenate([self.graphs[index], twins]), len(index)
        embedded = self.density.embed(graphs)
        originals, embedded_twins = embedded[:n], embedded[n:]
        chosen = self._choose_references(index)
        references = originals if len(chosen) == n else originals[chosen]
        own = own_of_twins = None
        if self.options.leave_one_out:  # exclude the graph from its twins' references, too
            own = own_references(inverse_index(chosen, n), len(chosen))
            own_of_twins = np.tile(own, (len(twins) // n, 1))
        log_density = self._log_density(originals, references, own)
        self.last_log_density[index] = log_density.detach().mean(0).cpu()
        twin_density = self._log_density(embedded_twins, references, own_of_twins)
        return self.contrast(log_density, twin_density)

    def _log_density(
        self, queries: EmbeddedGraphs, references: EmbeddedGraphs, left_out: np.ndarray | None
    ) -> torch.Tensor:
        """Log densities with gradients, shape (n_densities, n_queries)."""
        densities = enumerate(self.density.densities)
        return torch.stack(
            [density(queries.clouds(i), references.clouds(i), left_out) for i, density in densities]
        )

    def _choose_references(self, index: np.ndarray) -> np.ndarray:
        """Indices of the references among the graphs of a mini-batch."""
        if self.references is None:
            return np.arange(len(index))
        return self.references.choose(self.last_log_density[index], self.rng)

    @torch.no_grad()
    def _held_out_loss(self) -> float:
        """Contrast of the held-out graphs against training graphs, in evaluation mode."""
        references = self._adapted_references()
        log_densities = self.density.log_densities(self.held_out_graphs, references)
        twin_densities = self.density.log_densities(self.held_out_twins, references)
        both = torch.from_numpy(log_densities), torch.from_numpy(twin_densities)
        return self.contrast(*both).item()

    @torch.no_grad()
    def _adapted_references(self) -> EmbeddedGraphs:
        """References of the held-out loss, to which batch norms and densities are adapted."""
        self.weights.eval()
        self.encoder.standardize(self.training_flows)
        references = self.density.embed(self.held_out_references)
        self.density.adapt(references)
        return references


class _TensorEncoder(FittedEncoder):
    """Encoder whose points are tensors in single precision, with gradients where torch records."""

    def __init__(
        self, encoder: FittedEncoder, device: torch.device | str, generator: torch.Generator
    ) -> None:
        super().__init__(encoder.specification, encoder.in_dim, encoder.out_dim, encoder.n_layers)
        self.encoder, self.device, self.generator = encoder, device, generator

    def encode(self, flow: MessageFlow) -> torch.Tensor:
        if isinstance(self.encoder, EncoderModule):
            return self.encoder.points(flow, self.generator)
        return torch.tensor(self.encoder.encode(flow), dtype=torch.float32, device=self.device)


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
