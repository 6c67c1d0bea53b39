"""Fit of a density: a model and training graphs -> GraphDensity and leave-one-out scores."""

from __future__ import annotations

import numpy as np

from skgraphkde.calibration import finite
from skgraphkde.density.graph_density import GraphDensity
from skgraphkde.density.model import DensityModel, EmbeddedGraphs
from skgraphkde.density.novelty import Novelty
from skgraphkde.density.references import References, inverse_index
from skgraphkde.features import NodeFeatures
from skgraphkde.graphs.batch import GraphBatch

# Largest number of graphs in the pilot density that selects references.
PILOT_GRAPHS = 2_000


def fit_density(
    features: NodeFeatures,
    model: DensityModel,
    novelty: Novelty | None,
    graphs: GraphBatch,
    featurized: GraphBatch,
    references: References | None,
    rng: np.random.RandomState,
    *,
    leave_one_out: bool = True,
    verbose: int = 0,
) -> tuple[GraphDensity, np.ndarray, np.ndarray | None]:
    """Set the encoder's statistics, select and embed the references, and adapt to them.

    Parameters
    ----------
    features : NodeFeatures
        Fitted features.
    model : DensityModel
        Trained or untrained model, which becomes part of the density.
    novelty : Novelty or None
    graphs, featurized : GraphBatch
        The training graphs, without and with their node features.
    references : References or None
        Selection of the references; None keeps all graphs.
    rng : RandomState
    leave_one_out : bool, default=True
        Whether to return leave-one-out scores.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    density : GraphDensity
    own : ndarray of shape (n_graphs,)
        Index of each graph among the references; -1 if it is not a reference.
    scores : ndarray of shape (n_graphs,) or None
        Leave-one-out scores of the graphs.
    """
    standardize(model, featurized)
    n, chosen = len(graphs), np.arange(len(graphs))
    if references is not None and not references.keeps_all(n):
        log_density = np.zeros(n)
        if references.needs_density:
            log_density = _pilot_densities(features, model, graphs, featurized, rng)
        chosen = references.choose(log_density, rng)
    has_views = novelty is not None or len(model.distances) > 1
    needed = leave_one_out or has_views  # several views need the scores for their p-values
    density, scores = with_references(features, model, graphs[chosen], featurized[chosen], needed)
    own = inverse_index(chosen, n)
    if not needed:
        return density, own, None
    if scores is None or len(chosen) < n:
        scores = density.log_densities(featurized, own=own, featurized=True, verbose=verbose)
    for view_scores in scores:
        finite(view_scores)
    if not has_views:
        return density, own, scores[0]
    known = None if novelty is None else novelty.fit(density.references)
    if known is not None:
        scores = np.vstack([scores, known.scores(graphs, own)])
    density = density.with_views(known, scores)
    return density, own, density.leave_one_out()


def standardize(model: DensityModel, featurized: GraphBatch) -> None:
    """Set the encoder's statistics, and prepare the model for scoring.

    Parameters
    ----------
    model : DensityModel
        The model, which is changed in place.
    featurized : GraphBatch
        The training graphs with their node features.
    """
    model.double().encoder.standardize(model.flows(featurized))
    model.float().double().eval()  # files store single precision


def _pilot_densities(
    features: NodeFeatures,
    model: DensityModel,
    graphs: GraphBatch,
    featurized: GraphBatch,
    rng: np.random.RandomState,
) -> np.ndarray:
    """Log densities under at most PILOT_GRAPHS graphs; the mean over several distances."""
    n, pilot = len(graphs), np.arange(len(graphs))
    if n > PILOT_GRAPHS:
        pilot = np.sort(rng.permutation(n)[:PILOT_GRAPHS])
    density, scores = with_references(features, model, graphs[pilot], featurized[pilot])
    if scores is None or len(pilot) < n:
        scores = density.log_densities(featurized, own=inverse_index(pilot, n), featurized=True)
    return scores.mean(axis=0)


def with_references(
    features: NodeFeatures,
    model: DensityModel,
    graphs: GraphBatch,
    featurized: GraphBatch,
    leave_one_out: bool = True,
) -> tuple[GraphDensity, np.ndarray | None]:
    """Build a density with given references.

    Parameters
    ----------
    features : NodeFeatures
    model : DensityModel
        A standardized model, whose distances and bandwidths are adapted to the references.
    graphs, featurized : GraphBatch
        The references, without and with their node features.
    leave_one_out : bool, default=True
        Whether to return leave-one-out scores.

    Returns
    -------
    density : GraphDensity
    scores : ndarray of shape (n_distances, n_references) or None
        Leave-one-out log densities of the references. None if they were not requested.
    """
    references = EmbeddedGraphs(graphs, model.embed_all(featurized).measures)
    squared = model.adapt(references, all_pairs=leave_one_out)
    scores = model.leave_one_out(references, squared) if leave_one_out else None
    return GraphDensity(features, model, references), scores
