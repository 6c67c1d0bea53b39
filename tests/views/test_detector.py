"""Several views in one detector: how they are joined, and that all else works as with one."""

import warnings

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
    GraphSchema,
    LeaveOneOut,
    Novelty,
    Split,
    read_graphs,
)
from skgraphkde.combination import LogPValues, view_weights
from skgraphkde.explanation import nearest_references, view_surprises
from tests.conftest import densities, permuted, random_graphs, with_data
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
    "trained": {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=2)},
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


def test_each_view_is_that_of_a_detector_of_its_own():
    """With the share of the bias and the kernels of its own."""
    kernels = KDE([0.5, 2.0], size_kernel=False)
    views = (*densities(), Density(MMD((3.0,)), kernels), Density(MMD((0.1, 2.0))))
    several = GraphKDEDetector(views=views).fit(TRAIN).model_
    scores = several.view_scores(read_graphs(NEW))
    for i, view in enumerate(views):
        detector = GraphKDEDetector(views=view).fit(TRAIN)
        [alone] = detector.model_.views
        np.testing.assert_allclose(scores[i], detector.score_samples(NEW), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(
            several.training_scores[i], detector.calibration_scores_, rtol=1e-10, atol=1e-10
        )
        np.testing.assert_allclose(several.views[i].bandwidths_, alone.bandwidths_, rtol=1e-12)
        assert several.views[i].name == alone.name


def test_densities_with_different_kernels_are_trained():
    kernels = KDE(), KDE([0.5, 1.0, 2.0, 4.0]), KDE([9.0])
    views = [Density(kernels=x) for x in kernels]
    detector = GraphKDEDetector(views=views, training=Contrastive(max_iter=1), random_state=0)
    detector.fit(TRAIN)
    assert [len(view.mixture_weights_) for view in detector.model_.views] == [3, 4, 1]
    assert [len(x) for x in detector.history_["mixture_weights"]] == [8, 8]


@given(st.integers(0, 10**6), st.floats(0.01, 1))
def test_company_order_and_block_size_do_not_matter(detector, seed, working_memory):
    """Neither for scores nor for what they are made of: p-values may hide a small change."""

    def results(batch):
        return np.vstack([detector.score_samples(batch), detector.model_.view_scores(batch)])

    batch = read_graphs(random_graphs(5, seed))
    expected, D = results(batch), detector.pairwise_distances(batch)
    order = np.random.RandomState(seed).permutation(5)
    found = [results(permuted(batch, seed)), results(batch[order])[:, np.argsort(order)]]
    found.append(np.hstack([results(batch[i]) for i in range(5)]))
    with config_context(working_memory=working_memory):
        found.append(results(batch))
        np.testing.assert_allclose(detector.pairwise_distances(batch), D, atol=1e-6)
    for one in found:
        np.testing.assert_allclose(one, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(
    ("train", "new", "options"),
    [
        (TRAIN, NEW, {}),
        (
            [trace(seed) for seed in range(60)],
            [trace(seed) for seed in range(60, 70)],
            {"schema": "all"},
        ),
        (random_graphs(100, 5, labels=""), random_graphs(11, 6, labels=""), {}),
        (random_graphs(520, 6), NEW, {}),
        (TRAIN, NEW, {"max_references": 25, "calibration": LeaveOneOut("apart")}),
    ],
    ids=["labels", "all data", "same statistics", "more than the sample of 500", "references"],
)
def test_the_order_of_the_training_graphs_does_not_matter(train, new, options):
    expected = GraphKDEDetector(**options).fit(train).score_samples(new)
    for seed in range(2):
        order = np.random.RandomState(seed).permutation(len(train))
        shuffled = GraphKDEDetector(**options).fit([train[i] for i in order])
        np.testing.assert_allclose(shuffled.score_samples(new), expected, rtol=1e-8, atol=1e-8)


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
        "nodes and their surroundings (MMD with gamma 10, biased)",
        "nodes and their surroundings (MMD with gamma 1, unbiased)",
    )
    assert names[5:] == ("statistics of the graph",)
    typed = GraphKDEDetector(schema="all").fit([trace(seed) for seed in range(12)])
    assert typed.model_.view_names[6:] == ("numbers together",)


RARER = 1 / np.arange(1, 301) / (1 / np.arange(1, 301)).sum()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n", "labels"),
    [
        (20, lambda rng: 5 * rng.randint(20) + rng.randint(5, size=10)),  # topics of five words
        (40, lambda rng: rng.choice(300, size=10, p=RARER)),
    ],
    ids=["topics", "rare words"],
)
def test_false_alarms_where_labels_nearly_say_which_graph_it_is(n, labels):
    """36% and 19% are flagged, if the density knows the labels of a graph that is left out."""
    rates = []
    for seed in range(20):
        rng = np.random.RandomState(seed)
        graphs = []
        for _ in range(n + 40):
            graph = nx.connected_watts_strogatz_graph(10, 4, 0.3, seed=rng)
            graphs.append(with_data(graph, {"label": list(map(str, labels(rng)))}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            detector = GraphKDEDetector(schema=GraphSchema(node_categories="label"))
            rates.append((detector.fit(graphs[:n]).predict(graphs[n:]) == -1).mean())
    assert 0.03 <= np.mean(rates) <= 0.14
