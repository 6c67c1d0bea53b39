"""Several views in one detector: how they are joined, and that all else works as with one."""

import numpy as np
import pytest
from sklearn import config_context

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Density,
    GraphKDEDetector,
    LeaveOneOut,
    Novelty,
    Split,
    read_graphs,
)
from skgraphkde.core.distances import DiscreteMeasures
from skgraphkde.core.scoring.combination import LogPValues, view_weights
from skgraphkde.explanation import nearest_references, view_surprises
from tests.conftest import densities, random_graphs
from tests.golden import trace

RANDOM_FEATURES = (
    MMD(method="random_features"),
    MMD((1.0,), method="random_features", n_components=32),
)
VIEWS = {
    "defaults": {},
    "no novelty": {"views": densities()},
    "novelty first": {"views": ("novelty", *densities(), Novelty(1))},
    "random features": {"views": (*densities(*RANDOM_FEATURES), "novelty")},
    "few references": {"max_references": 16},
    "split": {"calibration": Split(fraction=0.3)},
    "train": {"calibration": "train"},
    "network": {"encoder": GCN(hidden_dim=8)},
}
TRAIN, NEW = random_graphs(40, seed=1), random_graphs(11, seed=2)


@pytest.fixture(scope="module", params=VIEWS)
def detector(request):
    return GraphKDEDetector(random_state=0, **VIEWS[request.param]).fit(TRAIN)


def test_the_score_is_the_weighted_sum_of_log_p_values(detector):
    model = detector.model_
    views = model.view_scores(read_graphs(NEW))
    known = [LogPValues(scores) for scores in model.training_scores]
    weights = view_weights(np.array([x.leave_one_out() for x in known]))
    expected = sum(w * p(new) for w, p, new in zip(weights, known, views, strict=True))
    np.testing.assert_allclose(detector.score_samples(NEW), expected, rtol=1e-12)
    surprises = view_surprises(detector, NEW)
    assert not np.signbit(surprises).any(axis=None)  # no -0
    assert tuple(surprises) == model.view_names
    np.testing.assert_allclose(-surprises.sum(axis=1), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore")
def test_labels_of_its_own_are_unseen_when_a_graph_is_left_out():
    graphs = random_graphs(12)
    for i, graph in enumerate(graphs):
        graph.nodes[0]["label"] = f"of graph {i}"
    detector = GraphKDEDetector(views=densities(), calibration=LeaveOneOut("apart")).fit(graphs)
    for graph in graphs:
        graph.nodes[0]["label"] = "new"
    expected = detector.model_.view_scores(detector.read(graphs), own=np.arange(12))
    np.testing.assert_allclose(detector.model_.training_scores, expected)


def test_each_density_learns_the_weights_of_its_bandwidths():
    kernels = KDE(), KDE([0.5, 1.0, 2.0, 4.0]), KDE(weights="equal"), KDE([9.0])
    detector = GraphKDEDetector(views=[Density(kernels=x) for x in kernels]).fit(TRAIN)
    weights = [view.mixture_weights_ for view in detector.model_.views]
    assert [len(x) for x in weights] == [9, 4, 9, 1]
    assert [np.ptp(x) > 0 for x in weights] == [True, True, False, False]


def test_blocks_of_graphs_leave_out_their_own_references(detector):
    batch, own = read_graphs(NEW), np.where(np.arange(11) % 3, np.arange(11), -1)
    expected = detector.model_.view_scores(batch, own=own)
    with config_context(working_memory=0.01):
        found = detector.model_.view_scores(batch, own=own)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_views_without_distances_have_no_nearest_references(detector):
    distances_of = detector.model_.densities
    found = nearest_references(detector, NEW, k=2, view=distances_of[0])
    for actual, expected in zip(found, nearest_references(detector, NEW, k=2), strict=True):
        np.testing.assert_array_equal(actual, expected)
    others = set(range(len(detector.model_.views))) - set(distances_of)
    for view in (*others, 9, -1):
        with pytest.raises(ValueError, match="view must be the index of a density, one of"):
            nearest_references(detector, NEW, view=view)


def test_names_and_lists_stand_for_views():
    expected = GraphKDEDetector(views=[Density(), Novelty()]).fit(TRAIN).score_samples(NEW)
    for views in (("density", "novelty"), [("a", Density()), ("b", "novelty")]):
        scores = GraphKDEDetector(views=views).fit(TRAIN).score_samples(NEW)
        np.testing.assert_array_equal(scores, expected)
    one, alone = (GraphKDEDetector(views=x).fit(TRAIN) for x in (["density"], "density"))
    np.testing.assert_array_equal(one.score_samples(NEW), alone.score_samples(NEW))


def test_auto_is_without_the_views_that_do_not_apply():
    names = GraphKDEDetector().fit(TRAIN).model_.view_names
    assert names[:2] == (
        "density (MMD with gamma 10, biased)",
        "density (MMD with gamma 1, unbiased)",
    )
    assert names[5:] == ("statistics",)
    typed = GraphKDEDetector(schema="all").fit([trace(seed) for seed in range(12)])
    assert typed.model_.view_names[6:] == ("numbers",)


# -- clouds of points that densities share ---------------------------------------------------------

OF_FEATURES = []
for gamma, estimator in ((10.0, "biased"), (1.0, "unbiased"), (0.5, "biased")):
    OF_FEATURES.append(Density(MMD((gamma,), estimator, "random_features", 32)))


@pytest.mark.parametrize("working_memory", [0.05, 1024])
def test_embedding_without_points(working_memory):
    """Random features block by block are those of all points at once."""
    model = GraphKDEDetector(views=OF_FEATURES).fit(TRAIN).model_
    embedding, graphs = model.embedding, model.references
    with config_context(working_memory=working_memory):
        flows = embedding.flows(graphs)
        assert (len(flows) > 3) == (working_memory < 1)
        found = embedding.of_references(graphs, flows)
    expected = embedding(graphs)
    for density in embedding.densities:
        x, y = found[density], expected[density]
        alone = density.distance_.embed(DiscreteMeasures(y.points, y.weights, y.sizes))
        for other in (x, y):
            np.testing.assert_allclose(other.features, alone.features, atol=1e-13)
            np.testing.assert_allclose(other.squared_norms, alone.squared_norms, atol=1e-13)
        assert x.points is None
        np.testing.assert_array_equal(x[3:5].sizes, y[3:5].sizes)


def test_an_adaptive_distance_keeps_its_points():
    adaptive = Density(MMD(method="random_features"))
    model = GraphKDEDetector(views=(adaptive, *OF_FEATURES)).fit(TRAIN).model_
    assert all(clouds.points is not None for clouds in model.clouds.values())
