"""Fit of a GraphKDEDetector: its parameters and the training graphs -> the fitted model."""

from __future__ import annotations

import copy
import time
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy.stats import spearmanr
from sklearn.base import clone
from tqdm.auto import tqdm

from skgraphkde.calibration import finite
from skgraphkde.computing.warn import warn
from skgraphkde.density.kernel_density import KernelDensity
from skgraphkde.density.model import DensityModel, EmbeddedGraphs
from skgraphkde.density.references import inverse_index
from skgraphkde.density.size_kernel import SizeKernel
from skgraphkde.detectors.model import GraphModel, device_of, moved
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.learned.checkpoint import Checkpoint
from skgraphkde.learned.torch_encoder import check_torch
from skgraphkde.views.base import View
from skgraphkde.views.density import Density

# Largest number of graphs in the pilot density that selects references.
PILOT_GRAPHS = 2_000
# A fit that takes longer (seconds) is announced: from so many graphs on, so many are timed; with so
# many nodes, once half of that time has passed. The first fit of fewer compiles for as long.
PATIENCE, MANY_GRAPHS, TIMED_GRAPHS, MANY_NODES = 60, 5_000, 100, 200_000


class ModelFitter:
    """Fits the model of a detector.

    Parameters
    ----------
    detector : GraphKDEDetector
        Provides the parameters; the fit does not change it.
    graphs : GraphBatch
        The training graphs.
    rng : RandomState

    Attributes
    ----------
    model : GraphModel
        On the CPU.
    history : dict of lists
        Losses, mixture weights and times of the training, by epoch.
    untrained_rank_correlation : float
        Rank correlation of the training graphs' densities with and without training.
    """

    def __init__(self, detector: Any, graphs: GraphBatch, rng: np.random.RandomState) -> None:
        self.detector, self.graphs, self.rng = detector, graphs, rng
        self.views = _applicable(detector, graphs)
        self.densities = [view for view in self.views if isinstance(view, Density)]
        n_stages = 3 + len(self.views) - len(self.densities)
        self.progress = tqdm(total=n_stages, disable=not detector.verbose)
        self.start, self.is_announced = time.perf_counter(), graphs.n_nodes < MANY_NODES
        self.progress.set_description("node features")
        self.features = detector.specification("features").fit(graphs)
        self.training = detector.specification("training")
        self.references = detector.specification("references")
        self.history: dict[str, list] = {}
        self.untrained_rank_correlation = 1.0
        self.model: GraphModel
        self.device: Any = None

    @cached_property
    def featurized(self) -> GraphBatch:
        """The training graphs with their node features, for what does not go by :attr:`flows`."""
        return self.features.transform_batch(self.graphs)

    def fit(self) -> np.ndarray | None:
        """Fit the model.

        Returns
        -------
        ndarray of shape (n_graphs,) or None
            Leave-one-out scores of the training graphs; None if the calibration does not use them.
        """
        with self.progress:
            density = self._build_density()
            self.device = device_of(self.detector.device, density.encoder)
            untrained = None
            if self.training is not None:
                untrained = copy.deepcopy(density)
                self.history = self._train(density)
            own, scores = self._fit_views(moved(density, self.device))
            if untrained is not None:
                self._compare_with(untrained, own)
            self.model = self.model.on(None)
            self.progress.update()
        return scores

    def _next(self, stage: str) -> None:
        """Say in the progress bar what comes next, and once in a warning if it takes long."""
        self.progress.update()
        self.progress.set_description(stage)
        seconds = time.perf_counter() - self.start
        if not self.is_announced and seconds > PATIENCE / 2:
            self.is_announced = True
            warn(
                f"the fit of {len(self.graphs)} graphs with {self.graphs.n_nodes} nodes has taken "
                f"{seconds:.0f} seconds so far; next: {stage}. verbose=1 shows its progress, and "
                "half of the graphs take half of the time"
            )

    def _build_density(self) -> DensityModel:
        encoder = self.detector.specification("encoder")
        seed = int(self.rng.randint(2**31)) if encoder.is_random else None
        n_relations = self.features.edge_groups_.n_relations
        module = encoder.build(self.features.n_features_out_, n_relations, seed)
        self.flows = DensityModel(module, ()).flows(
            self.graphs, self.features.transform_batch, self.detector.verbose
        )
        n_points = len(np.unique(np.concatenate([flow.colors for flow in self.flows])))
        densities = []
        for view in self.densities:
            distance = view.specification("distance").build(module.out_dim, n_points, self.rng)
            kernels = view.specification("kernels")
            size_kernel = SizeKernel.fit(self.graphs) if kernels.size_kernel else None
            densities.append(KernelDensity(distance, kernels.build(), size_kernel))
        return DensityModel(module, densities)

    def _fit_views(self, density: DensityModel) -> tuple[np.ndarray, np.ndarray | None]:
        """Select the references, and fit all views to them.

        Parameters
        ----------
        density : DensityModel
            Trained or untrained; it becomes part of the model.

        Returns
        -------
        own : ndarray of shape (n_graphs,)
            Index of each graph among the references; -1 if it is not a reference.
        scores : ndarray of shape (n_graphs,) or None
            Leave-one-out scores of the graphs; None if nothing needs them.
        """
        graphs, n = self.graphs, len(self.graphs)
        self._next("encoder")
        density.encoder.prepare(self.flows)
        self._next("densities")
        chosen = np.arange(n)
        if self.references is not None and not self.references.keeps_all(n):
            log_density = np.zeros(n)
            if self.references.needs_density:
                log_density = self._pilot_densities(density)
            chosen = self.references.choose(log_density, self.rng)
        # Several views need the scores for their p-values.
        needed = self.detector.leaves_one_out or len(self.views) > 1
        references, log_densities = self._adapted(density, chosen, needed and len(chosen) == n)
        own = inverse_index(chosen, n)
        if needed and log_densities is None:
            log_densities = density.log_densities(
                self.featurized, references, own=own, verbose=self.detector.verbose
            )
        if log_densities is not None:
            self._leave_out_own_values(log_densities, density, references, own)
        views = list(self.views)
        for i, view in enumerate(views):
            if not isinstance(view, Density):
                self._next(view.name)
                views[i] = view.fit(references.graphs)
        build = partial(GraphModel, self.features, density, references, views, device=self.device)
        self.model = build()
        if len(views) == 1:
            if log_densities is None:
                return own, None
            self.model = build(training_scores=finite(log_densities.T).T)
            return own, log_densities[0]
        self._advise(own, log_densities)
        scores = self.model.view_scores(
            graphs, own=own, log_densities=log_densities, verbose=self.detector.verbose
        )
        finite(scores.T)
        self.model = build(training_scores=scores)
        if len(chosen) == n:
            self.model.reference_scores = scores
        return own, self.model.leave_one_out()

    def _leave_out_own_values(
        self,
        log_densities: np.ndarray,
        density: DensityModel,
        references: EmbeddedGraphs,
        own: np.ndarray,
    ) -> None:
        """Score graphs again, in place, that have categories which no other has."""
        features, has_own = self.features.without_own_values(self.graphs)
        some = np.flatnonzero(has_own)
        if len(some):
            featurize = features.transform_batch
            left_out = density.log_densities(self.graphs[some], references, featurize, own[some])
            log_densities[:, some] = left_out

    def _advise(self, own: np.ndarray, log_densities: np.ndarray | None) -> None:
        """Warn if the comparison of all graphs with the references will take more than a minute.

        A few graphs are compared twice: the first time includes what is computed once.
        """
        n, n_references = len(self.graphs), len(self.model.references)
        if n < MANY_GRAPHS:
            return
        some = np.linspace(0, n - 1, TIMED_GRAPHS).astype(int)
        graphs, seconds = self.graphs[some], 0.0
        known = None if log_densities is None else log_densities[:, some]
        for _ in range(2):
            start = time.perf_counter()
            self.model.view_scores(graphs, own=own[some], log_densities=known)
            seconds = (time.perf_counter() - start) * n / TIMED_GRAPHS
        if seconds > PATIENCE:
            warn(
                f"the comparison of {n} training graphs with {n_references} references will take "
                f"about {seconds / 60:.0f} minutes; references=References('uniform', ratio=0.25) "
                "takes a quarter of the time"
            )

    def _pilot_densities(self, density: DensityModel) -> np.ndarray:
        """Log densities under at most PILOT_GRAPHS graphs; the mean over several distances."""
        n, pilot = len(self.graphs), np.arange(len(self.graphs))
        if n > PILOT_GRAPHS:
            pilot = np.sort(self.rng.permutation(n)[:PILOT_GRAPHS])
        references, scores = self._adapted(density, pilot, len(pilot) == n)
        if scores is None:
            own = inverse_index(pilot, n)
            scores = density.log_densities(self.featurized, references, own=own)
        return scores.mean(axis=0)

    def _adapted(
        self, density: DensityModel, chosen: np.ndarray, leave_one_out: bool
    ) -> tuple[EmbeddedGraphs, np.ndarray | None]:
        """Adapt a density to some of the graphs.

        Parameters
        ----------
        density : DensityModel
            Standardized; its distances and bandwidths are adapted to the references.
        chosen : ndarray of int
            Indices of the references.
        leave_one_out : bool
            Whether to return leave-one-out scores.

        Returns
        -------
        references : EmbeddedGraphs
        scores : ndarray of shape (n_densities, n_references) or None
            Leave-one-out log densities of the references. None if they were not requested.
        """
        if len(chosen) == len(self.graphs):
            verbose = self.detector.verbose
            embedded = density.embed_without_points(self.graphs, self.flows, verbose).measures
        else:
            embedded = density.embed(self.featurized[chosen]).measures
        references = EmbeddedGraphs(self.graphs[chosen], embedded)
        squared = density.adapt(references, all_pairs=leave_one_out)
        if not leave_one_out:
            return references, None
        of_densities = zip(density.densities, squared, strict=True)
        scores = [x.leave_one_out(references.clouds(i), D) for i, (x, D) in enumerate(of_densities)]
        return references, np.array(scores)

    def _train(self, density: DensityModel) -> dict[str, list]:
        self._check_training(density)
        from skgraphkde.learned.trainer import Trainer

        checkpoint = None if self.training.checkpoint is None else self._checkpoint()
        twins = self.training.specification("twins").structural(self.graphs, self.rng)
        trainer = Trainer(
            density,
            self.device or "cpu",
            self.featurized,
            [self.features.transform_batch(twin) for twin in twins],
            self.training,
            self.references,
            self.rng,
            checkpoint,
            self.detector.verbose,
        )
        history = trainer.train()
        if checkpoint is not None:
            checkpoint.path.unlink(missing_ok=True)
        return history

    def _check_training(self, density: DensityModel) -> None:
        check_torch(f"training={self.detector.training!r}")
        has_mixtures = any(len(x.kde.multiples) > 1 for x in density.densities)
        learns_weights = self.training.learn_weights and has_mixtures
        if not density.encoder.is_trainable and not learns_weights:
            raise ValueError(
                f"there is nothing to train: encoder={self.detector.encoder!r} has no weights, "
                "and there are no mixture weights to learn; use training=None or encoder='gcn'"
            )
        if len(self.graphs) < 3:
            raise ValueError(
                "training needs at least 3 graphs, because it holds one out, and got "
                f"{len(self.graphs)}: give more, or use training=None"
            )

    def _checkpoint(self) -> Checkpoint:
        """Create the checkpoint of this fit, and check early that it can be written."""
        other = clone(self.detector).set_params(training__checkpoint=None)
        # A hash covers all digits, unlike repr.
        values = {"parameters": joblib.hash(other.saved_params())}
        graphs, featurized = self.graphs, self.featurized
        arrays = {"features": np.asarray(featurized.attributes), "node_ptr": graphs.node_ptr}
        arrays |= {k: getattr(graphs.adjacency, k) for k in ("data", "indices", "indptr")}
        edge_data = {"edge_labels": graphs.edge_labels, "edge_attributes": graphs.edge_attributes}
        arrays |= {name: array for name, array in edge_data.items() if array is not None}
        checkpoint = Checkpoint(Path(self.training.checkpoint), values, arrays)
        checkpoint.check()
        return checkpoint

    def _compare_with(self, untrained: DensityModel, own: np.ndarray) -> None:
        """Set the rank correlation with the untrained model on at most PILOT_GRAPHS graphs."""
        n = len(self.graphs)
        some = np.unique(np.linspace(0, n - 1, min(n, PILOT_GRAPHS)).astype(int))
        untrained = moved(untrained, self.device)
        untrained.encoder.prepare(self.flows)
        references, _ = self._adapted(untrained, np.flatnonzero(own >= 0), leave_one_out=False)
        graphs = self.featurized[some]
        old = untrained.log_densities(graphs, references, own=own[some]).mean(axis=0)
        new = self.model.log_densities(graphs, own=own[some], featurized=True).mean(axis=0)
        if np.ptp(old) and np.ptp(new):  # ranks of equal numbers are undefined
            self.untrained_rank_correlation = float(spearmanr(old, new).statistic)


def _applicable(detector: Any, graphs: GraphBatch) -> list[View]:
    """Views of a detector; of "auto", those that apply to the training graphs."""
    views = detector.specification("views")
    if not isinstance(views, tuple):
        return [views]
    is_auto = isinstance(detector.views, str)
    return [view for view in views if not is_auto or view.applies_to(graphs)]
