"""Fit of a GraphKDEDetector: its parameters and the training graphs -> the fitted density."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import torch
from scipy.stats import spearmanr
from sklearn.base import clone

from skgraphkde.computing.devices import resolve_device
from skgraphkde.density.fit import PILOT_GRAPHS, fit_density, standardize, with_references
from skgraphkde.density.graph_density import GraphDensity
from skgraphkde.density.model import DensityModel
from skgraphkde.density.size_kernel import SizeKernel
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.distances.joint import Distances
from skgraphkde.encoders.base import build_encoder
from skgraphkde.encoders.message_flow import node_colors
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.training.checkpoint import Checkpoint
from skgraphkde.training.trainer import Trainer


class DensityFitter:
    """Fits the density of a detector.

    Parameters
    ----------
    detector : GraphKDEDetector
        Provides the parameters; the fit does not change it.
    graphs : GraphBatch
        The training graphs.
    rng : RandomState

    Attributes
    ----------
    density : GraphDensity
        On the CPU.
    history : dict of lists
        Losses, mixture weights and times of the training, by epoch.
    untrained_rank_correlation : float
        Rank correlation of the training graphs' densities with and without training.
    """

    def __init__(
        self, detector: BaseGraphDetector, graphs: GraphBatch, rng: np.random.RandomState
    ) -> None:
        self.detector, self.graphs, self.rng = detector, graphs, rng
        self.options: dict[str, Any] = detector.get_params(deep=False)
        self.features = detector.specification("features").fit(graphs)
        # Computed once, because random walks take time.
        self.featurized = self.features.transform_batch(graphs)
        self.training = detector.specification("training")
        self.references = detector.specification("references")
        self.history: dict[str, list] = {}
        self.untrained_rank_correlation = 1.0
        self.density: GraphDensity

    def fit(self) -> np.ndarray | None:
        """Fit the density.

        Returns
        -------
        ndarray of shape (n_graphs,) or None
            Leave-one-out scores of the training graphs; None if the calibration does not use them.
        """
        model = self._build_model()
        untrained = None
        if self.training is not None:
            untrained = copy.deepcopy(model)
            self.history = self._train(model)
        self.density, own, scores = fit_density(
            self.features,
            model,
            self.detector.specification("novelty"),
            self.graphs,
            self.featurized,
            self.references,
            self.rng,
            leave_one_out=self.detector.leaves_one_out,
            verbose=self.options["verbose"],
        )
        if untrained is not None:
            self._compare_with(untrained, own)
        self.density = self.density.on(torch.device("cpu"))
        return scores

    def _build_model(self) -> DensityModel:
        encoder, density = (self.detector.specification(x) for x in ("encoder", "density"))
        seed = int(self.rng.randint(2**31)) if encoder.is_random else None
        n_relations = self.features.edge_groups_.n_relations
        module = build_encoder(encoder, self.features.n_features_out_, seed, n_relations)
        specifications = self.detector.specification("distance")
        if not isinstance(specifications, tuple):
            specifications = (specifications,)
        n_points = len(np.unique(node_colors(self.featurized, module.n_layers)[-1]))
        distances = Distances.build(specifications, module.out_dim, n_points, self.rng)
        size_kernel = SizeKernel.fit(self.graphs) if density.size_kernel else None
        kde = density.build(len(distances))
        model = DensityModel(module, distances, kde, size_kernel)
        return model.to(resolve_device(self.options["device"]))

    def _train(self, model: DensityModel) -> dict[str, list]:
        self._check_training(model)
        checkpoint = None if self.training.checkpoint is None else self._checkpoint()
        twins = self.training.specification("twins").structural(self.graphs, self.rng)
        trainer = Trainer(
            model,
            self.featurized,
            [self.features.transform_batch(twin) for twin in twins],
            self.training,
            self.references,
            self.rng,
            checkpoint,
            self.options["verbose"],
        )
        history = trainer.train()
        if checkpoint is not None:
            checkpoint.path.unlink(missing_ok=True)
        return history

    def _check_training(self, model: DensityModel) -> None:
        learns_weights = self.training.learn_weights and len(model.kde.multiples) > 1
        if not model.encoder.is_trainable and not learns_weights:
            raise ValueError(
                f"there is nothing to train: encoder={self.options['encoder']!r} has no weights, "
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
        n, is_reference = len(self.graphs), own >= 0
        some = np.unique(np.linspace(0, n - 1, min(n, PILOT_GRAPHS)).astype(int))
        standardize(untrained, self.featurized)
        references = self.graphs[is_reference], self.featurized[is_reference]
        before, _ = with_references(self.features, untrained, *references, leave_one_out=False)
        old, new = (
            density.log_densities(self.featurized[some], own=own[some], featurized=True).mean(0)
            for density in (before, self.density)
        )
        if np.ptp(old) and np.ptp(new):  # ranks of equal numbers are undefined
            self.untrained_rank_correlation = float(spearmanr(old, new).statistic)
