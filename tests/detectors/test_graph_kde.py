"""GraphKDEDetector against slow transcriptions of its formulas, invariants, and real molecules."""

import math
import re
import sys

import networkx as nx
import numpy as np
import pytest
from scipy import stats
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from tqdm.auto import tqdm

from skgraphkde import (
    GCN,
    KDE,
    Contrastive,
    GraphBatch,
    GraphKDEDetector,
    NodeFeatures,
    Propagation,
    Twins,
    _utils,
    read_graphs,
)
from skgraphkde.combination import LogPValues
from skgraphkde.datasets import load_mutag
from skgraphkde.learned.twins import swap_features
from skgraphkde.propagation import MessageFlow
from skgraphkde.views.kernels import NEAREST_MULTIPLES, log_size_kernel
from tests.conftest import densities, permuted, random_graphs
from tests.detectors.conftest import make_detector
from tests.distances.common import squared_mmd_slow
from tests.estimator_checks import check_as_scikit_learn_does, check_graph_detector
from tests.graphs.test_refinement import WEIGHTED, typed_graphs
from tests.views.test_kernels import density_slow

# -- against slow transcriptions -------------------------------------------------------------------


def clouds(model, featurized):
    """The points of all nodes, by the fitted encoder, and where each graph starts."""
    flow = MessageFlow.unmerged(featurized, model.encoder.n_layers)
    return model.encoder.encode(flow), featurized.node_ptr


def log_densities_slow(detector, graphs, own, featurized=None):
    """Log densities by the formulas, from the fitted encoder and weights alone."""
    model, graphs = detector.model_, read_graphs(graphs)
    featurized = model.features.transform(graphs) if featurized is None else featurized
    queries, references = (
        clouds(model, x) for x in (featurized, model.features.transform(model.references))
    )
    scores = []
    for view in model.views:
        weights = [None] * len(graphs)
        if view.size_bandwidths_ is not None:
            weights = np.exp(log_size_kernel(graphs, model.references, view.size_bandwidths_))
        mixture = view.bandwidths_, view.mixture_weights_
        gammas, correction = view.distance_.gammas, view.distance_.correction
        D = squared_mmd_slow(*queries, *references, gammas, correction).tolist()
        rows = zip(D, weights, own, strict=True)
        scores.append([math.log(density_slow(row, *mixture, w, skip)) for row, w, skip in rows])
    return np.array(scores)


def scores_slow(detector, graphs, train, own):
    """Scores of new graphs by the formulas; `own` are the references that training graphs are."""
    of_graphs = log_densities_slow(detector, graphs, [None] * len(graphs))
    if len(of_graphs) == 1:
        return of_graphs[0]
    of_training = log_densities_slow(detector, train, own)
    return sum(LogPValues(x)(new) for x, new in zip(of_training, of_graphs, strict=True))


def loo_scores_slow(detector, train, own):
    """Scores of the training graphs, each by the others, by the formulas."""
    of_training = log_densities_slow(detector, train, own)
    if len(of_training) == 1:
        return of_training[0]
    return sum(LogPValues(x).leave_one_out() for x in of_training)


TWO_VIEWS = densities(kernels=KDE((0.2, 0.5, 2.0)))


@pytest.mark.parametrize(
    "parameters",
    [
        {"encoder": GCN(hidden_dim=8), "views": TWO_VIEWS},
        {"encoder": Propagation(), "views": TWO_VIEWS[:1], "max_references": 6},
        {"views": densities(kernels=KDE((0.2, 1.0), size_kernel=False)), "max_references": 6},
    ],
    ids=["two views", "one view, six references", "two views, six references"],
)
@pytest.mark.parametrize("calibration", ["loo", "train"])
def test_scores_and_threshold_equal_the_formulas(train, new_graphs, parameters, calibration):
    detector = make_detector(**parameters, calibration=calibration, contamination=0.2).fit(train)
    model = detector.model_
    assert len(model.references) == parameters.get("max_references", len(train))
    own = [None] * len(train)  # a training graph leaves itself out where it is a reference
    for reference, graph in enumerate(model.reference_index.tolist()):
        own[graph] = reference
        assert nx.utils.graphs_equal(model.references[reference].to_networkx()[0], train[graph])
    expected = scores_slow(detector, new_graphs, train, own)
    np.testing.assert_allclose(detector.score_samples(new_graphs), expected, atol=1e-9)
    if calibration == "loo":
        slow = loo_scores_slow(detector, train, own)
        threshold = np.sort(slow)[int(0.2 * (len(train) + 1)) - 1]
    else:
        slow = scores_slow(detector, train, train, own)
        threshold = np.quantile(slow, 0.2)
    np.testing.assert_allclose(detector.calibration_scores_, slow, atol=1e-6)
    assert detector.offset_ == pytest.approx(threshold, abs=1e-6)


def score_slow(detector, graphs):
    """Mean contrast, with the twins drawn from the same seed and their features made by hand."""
    rng, nobody = np.random.RandomState(detector.twin_seed_), [None] * len(graphs)
    twins, contrasts = detector.twins_, []
    log_f = log_densities_slow(detector, graphs, nobody)
    for twin in twins.structural(graphs, rng):
        featurized = detector.model_.features.transform(twin)
        swapped = swap_features(featurized, twins.swap_ratio, rng)
        ratio = np.exp(log_densities_slow(detector, twin, nobody, swapped) - log_f)
        contrasts.append((1 - ratio) / (1 + ratio))
    return np.mean(contrasts)


@pytest.mark.parametrize(
    ("twins", "features"),
    [
        (Twins(0.5), NodeFeatures()),
        (Twins(0.5, edges=None), NodeFeatures(("attribute",))),
        (Twins(0), NodeFeatures()),
    ],
    ids=["both", "features", "edges"],
)
def test_score_equals_the_formula(twins, features):
    """The attributes of the twins are the graphs' own: standardized once."""
    train, new = (random_graphs(n, seed=n, n_attributes=2, max_nodes=12) for n in (10, 4))
    for data in (data for graph in [*train, *new] for data in graph.nodes.values()):
        data["x"] = 100 + data["x"]
    views = densities()
    detector = make_detector(training__twins=twins, features=features, views=views).fit(train)
    expected = score_slow(detector, read_graphs(new))
    assert detector.score(new) == pytest.approx(expected, abs=1e-9)
    with config_context(working_memory=0.01):
        assert detector.score(new) == pytest.approx(expected, abs=1e-9)


# -- methods ---------------------------------------------------------------------------------------


def test_transform_is_the_mean_node_embedding(fitted, new_graphs):
    points, ptr = clouds(fitted.model_, fitted.model_.features.transform(new_graphs))
    means = [cloud.mean(0) for cloud in np.split(points, ptr[1:-1])]
    np.testing.assert_allclose(fitted.transform(new_graphs), means, atol=1e-12)


# -- invariants ------------------------------------------------------------------------------------


def test_verdicts_on_copies_of_one_graph_do_not_depend_on_rounding():
    """All training graphs are isomorphic, with the nodes in another order each."""
    one = read_graphs([nx.gnp_random_graph(12, 0.4, seed=0)])
    copies = GraphBatch.concatenate([permuted(one, seed) for seed in range(40)])
    views = (*densities(kernels=KDE(size_kernel=False)), "novelty")
    detector = make_detector(training=None, views=views).fit(copies[:30])
    for density in detector.model_.views[:2]:
        np.testing.assert_array_equal(density.bandwidths_, NEAREST_MULTIPLES)
        assert density.distance_.correction == 0
    assert (detector.predict(copies[30:]) == 1).all()
    assert detector.predict([nx.star_graph(11)]) == [-1]


@pytest.mark.parametrize("n_views", [1, 2])
def test_the_correction_does_not_depend_on_rounding(n_views):
    """All distances to the nearest neighbor are 0, and the order of graphs decides its sign."""
    graphs = [nx.complete_graph(n) for n in range(3, 40)]
    graphs += [nx.cycle_graph(n) for n in range(3, 40)]
    detector = GraphKDEDetector(features=NodeFeatures("given"), views=densities()[-n_views:])
    corrections = set()
    for ordered in (graphs, graphs[::-1]):
        views = detector.fit(ordered).model_.views
        corrections.add(tuple(view.distance_.correction for view in views))
    assert len(corrections) == 1


class EveryMove(tqdm):
    """A bar that shows each of its moves."""

    def __init__(self, **options):
        super().__init__(mininterval=0, **options)


def test_bars_move_from_the_beginning_to_the_end(capsys, monkeypatch, train):
    """On a terminal; a log has a line for each stage. Blocks are as small as a graph."""
    detector = GraphKDEDetector(verbose=1).fit(train)
    stages = ["Reading", f"Fitting {len(train)} graphs"]
    assert capsys.readouterr().err.splitlines() == stages
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(_utils, "tqdm", EveryMove)
    with config_context(working_memory=0.01):
        detector.fit(train)
    shown = capsys.readouterr().err
    for name in stages:
        shares = [int(x) for x in re.findall(rf"{name}: +(\d+)%", shown)]
        assert shares == sorted(shares)
        assert len(set(shares)) > 9
        assert shares[0] == 0
        assert shares[-1] == 100


# -- on real molecules -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:node labels that fit did not see")
def test_false_alarms_on_fresh_molecules():
    """Half of the normal molecules are fitted, the other half is fresh; ten times."""
    molecules, y = load_mutag(return_X_y=True)
    rates = {"loo": [], "train": []}
    for seed in range(10):
        known, fresh = train_test_split(molecules[y == 1], test_size=0.5, random_state=seed)
        for calibration, values in rates.items():
            detector = GraphKDEDetector(calibration=calibration, random_state=seed).fit(known)
            values.append(np.mean(detector.predict(fresh) == -1))
    low, high = stats.t.interval(0.95, 9, np.mean(rates["loo"]), stats.sem(rates["loo"]))
    assert low <= 0.1 <= high
    assert np.mean(rates["train"]) > high


# -- the contract of an estimator ------------------------------------------------------------------

DEFAULTS = GraphKDEDetector(random_state=0)
TRAINED = GraphKDEDetector(
    calibration="train",
    views=(*densities(kernels=KDE((0.5, 1.0))), "novelty"),
    encoder=GCN(hidden_dim=8),
    training=Contrastive(max_iter=2),
    random_state=0,
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks():
    check_as_scikit_learn_does(TRAINED)


@pytest.mark.parametrize(
    "detector", [DEFAULTS, pytest.param(TRAINED, marks=pytest.mark.slow)], ids=["defaults", "gcn"]
)
def test_checks_of_graphs(detector):
    check_graph_detector(detector, random_graphs(20, n_attributes=2))


def test_directed_and_typed_graphs():
    check_graph_detector(clone(DEFAULTS).set_params(schema=WEIGHTED), typed_graphs(20))
