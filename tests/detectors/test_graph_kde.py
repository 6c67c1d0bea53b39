"""GraphKDEDetector against slow transcriptions of its formulas, invariants, and real molecules."""

import math

import networkx as nx
import numpy as np
import pytest
import torch
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats
from sklearn import config_context
from sklearn.model_selection import cross_val_score, train_test_split

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphBatch,
    GraphKDEDetector,
    LeaveOneOut,
    NodeFeatures,
    References,
    Twins,
    paper_settings,
    read_graphs,
)
from skgraphkde.datasets import load_mutag
from skgraphkde.density.kde import NEAREST_MULTIPLES
from skgraphkde.detectors import fitting
from skgraphkde.learned.twins import swap_features
from skgraphkde.model_selection import OneClassKFold
from skgraphkde.propagation import MessageFlow
from skgraphkde.views.p_values import LogPValues
from tests.conftest import GAMMAS, densities, permuted, random_graphs
from tests.density.test_kde import density_slow
from tests.detectors.conftest import ONE_VIEW, make_detector
from tests.distances.common import squared_mmd_slow

# -- against slow transcriptions -------------------------------------------------------------------


@pytest.fixture(scope="module")
def train():
    return random_graphs(15, seed=1)


def clouds(model, graphs):
    """The points of all nodes, by the fitted encoder, and where each graph starts."""
    features, encoder = model.features.transform(graphs), model.encoder
    return encoder.encode(MessageFlow.unmerged(features, encoder.n_layers)), features.node_ptr


def log_densities_slow(detector, graphs, skip):
    """Log densities by the formulas, from the fitted encoder and weights alone."""
    model = detector.model_
    queries, references = (clouds(model, x) for x in (graphs, model.references))
    scores = []
    for view, density in zip(model.views, model._density.densities, strict=True):
        weights = [None] * len(graphs)
        if density.size_kernel is not None:
            weights = np.exp(density.size_kernel(read_graphs(graphs), model.references))
        distance, mixture = view.distance_, (view.bandwidths_, view.mixture_weights_)
        D = squared_mmd_slow(*queries, *references, distance.gammas, distance.correction)
        scores.append(
            [
                math.log(density_slow(row.tolist(), *mixture, w, skip(i)))
                for i, (row, w) in enumerate(zip(D, weights, strict=True))
            ]
        )
    return np.array(scores)


def scores_slow(detector, graphs, train, own=lambda i: i):
    """Scores of new graphs by the formulas; `own` is the reference that a training graph is."""
    densities = log_densities_slow(detector, graphs, lambda i: None)
    if len(densities) == 1:
        return densities[0]
    of_training = log_densities_slow(detector, train, own)
    return sum(LogPValues(x)(new) for x, new in zip(of_training, densities, strict=True))


def loo_scores_slow(detector, train, own=lambda i: i):
    """Scores of the training graphs, each by the others, by the formulas."""
    densities = log_densities_slow(detector, train, own)
    return (
        densities[0]
        if len(densities) == 1
        else sum(LogPValues(x).leave_one_out() for x in densities)
    )


def with_kernels(kernels, n_views):
    """The densities of the defaults, or one, with these kernels."""
    return densities(kernels=kernels) if n_views == 2 else Density("mmd", kernels)


@pytest.mark.parametrize(
    ("encoder", "size_kernel", "n_views"),
    [(GCN(hidden_dim=8), True, 2), ("propagation", True, 1), ("propagation", False, 2)],
    ids=str,
)
def test_scores_equal_the_formulas(train, new_graphs, encoder, size_kernel, n_views):
    views = with_kernels(KDE((0.2, 0.5, 2.0), size_kernel=size_kernel), n_views)
    detector = make_detector(encoder=encoder, views=views).fit(train)
    first, last = (detector.model_.views[i] for i in (0, -1))
    assert first.distance_.gammas == GAMMAS
    assert 0 < last.distance_.correction < 1
    np.testing.assert_allclose(
        detector.score_samples(new_graphs), scores_slow(detector, new_graphs, train), atol=1e-9
    )
    own = np.array([3, -1, 0, -1, -1, 14, -1, -1])
    np.testing.assert_allclose(
        detector.model_.log_densities(read_graphs(new_graphs), own=own),
        log_densities_slow(detector, new_graphs, dict(enumerate(own.tolist())).get),
        atol=1e-9,
    )


@pytest.mark.parametrize(
    ("calibration", "method", "n_views"),
    [("loo", "weibull", 2), ("loo", "weibull", 1), ("train", "linear", 2)],
    ids=["loo of two views", "loo of one view", "train"],
)
def test_threshold_equals_the_formulas(train, calibration, method, n_views):
    views = with_kernels(KDE((0.2, 1.0)), n_views)
    detector = make_detector(calibration=calibration, contamination=0.2, views=views).fit(train)
    if calibration == "loo":
        slow = loo_scores_slow(detector, train)
    else:
        slow = scores_slow(detector, train, train)
    np.testing.assert_allclose(detector.calibration_scores_, slow, atol=1e-6)
    assert detector.offset_ == pytest.approx(np.quantile(slow, 0.2, method=method), abs=1e-6)


@pytest.mark.parametrize(
    ("sampling", "calibration", "n_views"),
    [("uniform", "loo", 2), ("importance", "train", 2), ("stratified", "loo", 1)],
    ids=str,
)
def test_fewer_references(train, new_graphs, sampling, calibration, n_views, chosen):
    references, views = References(sampling, ratio=0.4), with_kernels(KDE((0.2, 1.0)), n_views)
    detector = make_detector(references=references, calibration=calibration, views=views).fit(train)
    assert len(detector.model_.references) == 6
    references = detector.model_.references.to_networkx()
    for k, graph in zip(chosen[-1], references, strict=True):
        assert nx.utils.graphs_equal(graph, train[k])
    # A training graph leaves itself out where it is a reference.
    own = dict(zip(chosen[-1].tolist(), range(6), strict=True)).get
    np.testing.assert_allclose(
        detector.score_samples(new_graphs), scores_slow(detector, new_graphs, train, own), atol=1e-9
    )
    if calibration == "loo":
        slow = loo_scores_slow(detector, train, own)
    else:
        slow = scores_slow(detector, train, train, own)
    np.testing.assert_allclose(detector.calibration_scores_, slow, atol=1e-6)


@pytest.fixture
def chosen(monkeypatch):
    """The indices of references, as they are chosen; the last ones are those of the density."""
    choose, indices = References.choose, []
    monkeypatch.setattr(
        References, "choose", lambda *args: indices.append(choose(*args)) or indices[-1]
    )
    return indices


def score_slow(detector, graphs):
    """Mean contrast, with the twins drawn from the same seed and their features made by hand."""
    rng = np.random.RandomState(detector.twin_seed_)
    twins, model = detector.training.specification("twins"), detector.model_
    of_graphs = model.log_densities(graphs)
    contrasts = []
    for twin in map(model.features.transform, twins.structural(graphs, rng)):
        if twins.swap_ratio:
            twin = swap_features(twin, twins.swap_ratio, rng)
        for i, log_f in enumerate(of_graphs.T):
            log_twin = model.log_densities(twin[i], featurized=True)[:, 0]
            for difference in log_twin - log_f:  # in each distance
                ratio_of_densities = math.exp(min(difference, 700.0))
                contrasts.append((1 - ratio_of_densities) / (1 + ratio_of_densities))
    return np.mean(contrasts)


@pytest.mark.parametrize(
    ("twins", "features"),
    [
        (Twins(0.5), "auto"),
        (Twins(0.5, edges=None), NodeFeatures(("attribute",))),
        (Twins(0, edges="random"), "auto"),
    ],
    ids=["both", "features", "random_edges"],
)
def test_score_equals_the_formula(twins, features):
    """The attributes of the twins are the graphs' own: standardized once."""
    train, new = (random_graphs(n, seed=n, n_attributes=2, max_nodes=12) for n in (10, 4))
    for graph in [*train, *new]:
        for node in graph:
            graph.nodes[node]["x"] = 100 + graph.nodes[node]["x"]
    detector = make_detector(training__twins=twins, features=features).fit(train)
    expected = score_slow(detector, read_graphs(new))
    assert detector.score(new) == pytest.approx(expected, abs=1e-9)
    with config_context(working_memory=0.01):
        assert detector.score(new) == pytest.approx(expected, abs=1e-9)


# -- methods ---------------------------------------------------------------------------------------


def test_pairwise_distances(fitted, train, new_graphs):
    D = fitted.pairwise_distances(train)
    np.testing.assert_array_equal(D, D.T)
    assert (D.diagonal() == 0).all()
    cross = fitted.pairwise_distances(new_graphs, train)
    assert cross.shape == (8, 15)
    np.testing.assert_allclose(fitted.pairwise_distances(train, train), D, atol=1e-6)


def test_transform_is_the_mean_node_embedding(fitted, new_graphs):
    points, ptr = clouds(fitted.model_, new_graphs)
    means = [cloud.mean(0) for cloud in np.split(points, ptr[1:-1])]
    np.testing.assert_allclose(fitted.transform(new_graphs), means, atol=1e-12)


def test_history(fitted):
    assert list(fitted.history_) == ["loss", "validation_loss", "mixture_weights", "seconds"]
    assert {len(values) for values in fitted.history_.values()} == {3}
    assert make_detector(training=None).fit(random_graphs(4)).history_ == {}


# -- invariants ------------------------------------------------------------------------------------


def scores_and_views(detector, graphs):
    """Scores, and what they are made of: p-values alone would hide a small change."""
    batch = read_graphs(graphs)
    return np.vstack([detector.score_samples(batch), detector.model_.view_scores(batch)])


@given(st.integers(0, 10**6))
def test_node_order_graph_order_and_company_do_not_matter(fitted, seed):
    batch = read_graphs(random_graphs(5, seed))
    scores = scores_and_views(fitted, batch)
    order = np.random.RandomState(seed).permutation(5)
    for others, expected in ((permuted(batch, seed), scores), (batch[order], scores[:, order])):
        np.testing.assert_allclose(scores_and_views(fitted, others), expected, rtol=1e-9)
    alone = np.hstack([scores_and_views(fitted, batch[i]) for i in range(5)])
    np.testing.assert_allclose(alone, scores, rtol=1e-9)


@given(st.integers(0, 10**6), st.floats(0.01, 1))
def test_block_size_does_not_matter(fitted, seed, working_memory):
    batch = read_graphs(random_graphs(8, seed))
    expected = scores_and_views(fitted, batch), fitted.pairwise_distances(batch)
    with config_context(working_memory=working_memory):
        np.testing.assert_allclose(scores_and_views(fitted, batch), expected[0], rtol=1e-9)
        np.testing.assert_allclose(fitted.pairwise_distances(batch), expected[1], atol=1e-6)


def test_propagation_draws_nothing(train, new_graphs):
    one, other = (GraphKDEDetector(random_state=seed).fit(train) for seed in (0, 1))
    np.testing.assert_array_equal(one.score_samples(new_graphs), other.score_samples(new_graphs))


@given(st.integers(0, 10**6))
def test_a_duplicate_raises_the_density_there(seed):
    """Without training: a graph that joins the references; and every reference twice."""
    train, new = random_graphs(9, seed), random_graphs(3, seed + 1)
    detector = make_detector(
        training=None,
        features=NodeFeatures(("label", "degree")),
        encoder__batch_norm=False,
        views=Density(MMD(estimator="biased"), KDE((0.1, 1.0), size_kernel=False)),
        calibration=LeaveOneOut(copies="apart"),
    )
    before = detector.fit([*train, *new]).score_samples(new)
    assert detector.fit([*train, *new, new[0]]).score_samples(new)[0] > before[0]
    twice = detector.fit(2 * [*train, *new]).score_samples(new)
    np.testing.assert_allclose(twice, before, atol=1e-9)


@given(st.integers(0, 10**6), st.integers(1, 4))
def test_isolated_nodes_are_seen(fitted, seed, n_isolated):
    """They are nodes like any other, wherever they stand among the nodes."""
    graph = random_graphs(1, seed)[0]
    assume(graph.number_of_edges())  # one more of nothing but such nodes: the same distribution
    alone = nx.empty_graph(n_isolated)
    nx.set_node_attributes(alone, "C", "label")
    first, last = nx.disjoint_union(alone, graph), nx.disjoint_union(graph, alone)
    scores = scores_and_views(fitted, [graph, first, last])
    assert np.isfinite(scores).all()
    assert scores[:, 1] == pytest.approx(scores[:, 2], rel=1e-9)
    of_densities = scores[1:][fitted.model_.densities]
    assert (of_densities[:, 0] != of_densities[:, 1]).all()


def test_verdicts_on_copies_of_one_graph_do_not_depend_on_rounding():
    """All training graphs are isomorphic, with the nodes in another order each."""
    one = read_graphs([nx.gnp_random_graph(12, 0.4, seed=0)])
    copies = GraphBatch.concatenate([permuted(one, seed) for seed in range(40)])
    views = (*densities(kernels=KDE(size_kernel=False)), "novelty")
    detector = make_detector(training=None, views=views).fit(copies[:30])
    np.testing.assert_array_equal(detector.model_.bandwidths, [NEAREST_MULTIPLES] * 2)
    assert [view.distance_.correction for view in detector.model_.views[:2]] == [0, 0]
    assert (detector.predict(copies[30:]) == 1).all()
    assert detector.predict([nx.star_graph(11)]) == [-1]


def test_fit_within_no_grad(train, new_graphs, fitted):
    with torch.no_grad():
        detector = make_detector().fit(train)
    np.testing.assert_array_equal(
        detector.score_samples(new_graphs), fitted.score_samples(new_graphs)
    )


def test_a_long_fit_is_announced(monkeypatch, train):
    plain = GraphKDEDetector().fit(train)
    for name, value in (("MANY_GRAPHS", 15), ("TIMED_GRAPHS", 5), ("PATIENCE", 0)):
        monkeypatch.setattr(fitting, name, value)
    with pytest.warns(UserWarning, match="comparison of 15 training graphs with 15 references"):
        detector = GraphKDEDetector().fit(train)
    np.testing.assert_array_equal(detector.calibration_scores_, plain.calibration_scores_)


def test_a_long_fit_of_large_graphs_is_announced_once(monkeypatch, train):
    for name, value in (("MANY_NODES", 1), ("PATIENCE", 0)):
        monkeypatch.setattr(fitting, name, value)
    with pytest.warns(UserWarning, match="fit of 15 graphs with .* seconds so far") as caught:
        GraphKDEDetector().fit(train)
    assert sum("so far" in str(warning.message) for warning in caught) == 1


def test_each_long_stage_of_a_fit_shows_its_blocks(capsys, train):
    """Blocks are as small as a graph, so that each stage has several."""
    with config_context(working_memory=0.01):
        GraphKDEDetector(verbose=1).fit(train)
    shown = capsys.readouterr().err
    assert all(f"{stage}:" in shown for stage in ("node features", "views"))


# -- on real molecules -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:node labels that fit did not see")
@pytest.mark.parametrize("parameters", [ONE_VIEW, {}], ids=["one view", "defaults"])
def test_detection_on_mutag(parameters):
    """The five folds of the protocol; the paper's settings are in the table of the benchmark."""
    molecules, y = load_mutag(return_X_y=True)
    folds = OneClassKFold(5, shuffle=True, random_state=0)
    detector = GraphKDEDetector(random_state=0, **parameters)
    scores = cross_val_score(detector, molecules, y, cv=folds, scoring="roc_auc")
    # Means of 90.4 and 85.8 have standard errors of 2.0 and 0.9 over the folds.
    assert scores.mean() >= (0.86 if parameters else 0.84)


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


def test_paper_settings_name_every_choice_of_the_paper():
    assert set(paper_settings()) <= set(GraphKDEDetector().get_params())
    settings = paper_settings(training=Contrastive(max_iter=1, leave_one_out=False))
    detector = GraphKDEDetector(**settings, random_state=0).fit(random_graphs(6))
    assert detector.model_.features.kinds_ == ("label",)
    assert not paper_settings()["training"].leave_one_out
    assert isinstance(detector.model_.references, GraphBatch)
    np.testing.assert_allclose(detector.model_.bandwidths, [[1e-2, 1e-1, 1, 1e1, 1e2]])
    assert len(detector.model_.views) == 1
