"""LGKDE as an estimator: flat parameters, what it learns, and that it works with scikit-learn."""

import ast
import pickle
import re
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skgraphkde import (
    GCN,
    KDE,
    LGKDE,
    MMD,
    Density,
    GraphKDEDetector,
    GraphSchema,
    NodeFeatures,
    load,
    read_graphs,
)
from skgraphkde.core.distances.mmd import FIVE_DECADES
from skgraphkde.core.graphs.problems import IgnoredWarning
from skgraphkde.core.points.twins import swap_features
from skgraphkde.core.views.mixture import contrast, learn_weights
from skgraphkde.learned import dgl_backend
from tests.conftest import random_graphs, warned

TRAIN, NEW = random_graphs(30, seed=1, max_nodes=14), random_graphs(8, seed=2, max_nodes=14)


def make(**changes):
    return LGKDE(**{"hidden_dim": 8, "max_iter": 20, "random_state": 0} | changes)


@pytest.fixture(scope="module")
def fitted():
    return make().fit(TRAIN)


def test_what_is_learned_is_on_the_estimator(fitted):
    assert fitted.mixture_weights_.shape == fitted.bandwidths_.shape == (9,)
    np.testing.assert_allclose(fitted.bandwidths_[1:] / fitted.bandwidths_[:-1], 2)
    assert fitted.mixture_weights_.sum() == pytest.approx(1)
    assert fitted.gammas_ == FIVE_DECADES
    assert fitted.encoder_.out_dim == 8
    history = fitted.history_
    assert fitted.n_iter_ == fitted.max_iter == len(history["loss"]) - 1
    assert {len(values) for values in history.values()} == {21}
    np.testing.assert_allclose(history["mixture_weights"][0], 1 / 9)
    np.testing.assert_allclose(history["mixture_weights"][-1], fitted.mixture_weights_, atol=1e-6)
    assert history["loss"][-1] < history["loss"][1]
    assert np.isnan(history["validation_loss"]).all()


def test_steps_of_adam_reach_the_minimum():
    """The weights that Adam finds have nearly the loss of those that Newton finds."""
    detector = make(max_iter=400, swap=0.0, n_layers=1).fit(TRAIN)
    view, graphs = detector.model_.views[0], detector.training_graphs_
    clouds = detector.model_.clouds[view]
    own = np.eye(30, dtype=bool)
    of_graphs = view.log_densities(graphs, clouds, graphs, clouds, own)
    of_twins = [
        view.log_densities(x, detector.model_.embedding(x)[view], graphs, clouds, own)
        for x in detector.twins(TRAIN)
    ]
    of_twins, of_graphs = np.concatenate(of_twins), np.tile(of_graphs, (2, 1))
    best = contrast(learn_weights(of_graphs, of_twins), of_graphs, of_twins)[0]
    start = contrast(np.zeros(9), of_graphs, of_twins)[0]
    found = contrast(np.log(detector.mixture_weights_), of_graphs, of_twins)[0]
    assert found - best < 0.1 * (start - best)


def test_points_have_variance_one(fitted):
    clouds = fitted.model_.clouds[fitted.model_.views[0]]
    weights = clouds.weights
    shares = np.asarray(weights.multiply(clouds.sizes[:, None]).sum(axis=0)).ravel()
    shares /= shares.sum()
    deviations = clouds.points - shares @ clouds.points
    assert (shares @ deviations**2).sum() == pytest.approx(1, rel=1e-5)


def test_the_encoder_is_trained_if_asked(fitted):
    trained = make(learn_encoder=True, max_iter=2, learning_rate=0.01).fit(TRAIN)
    start, same = (
        x.encoder_.weights[0].numpy(force=True) for x in (make(max_iter=1).fit(TRAIN), fitted)
    )
    np.testing.assert_array_equal(start, same)
    assert np.abs(trained.encoder_.weights[0].numpy(force=True) - start).max() > 1e-3


@pytest.mark.parametrize("learn_encoder", [False, True])
def test_early_stopping_holds_graphs_out(learn_encoder):
    settings = {"learn_encoder": learn_encoder, "early_stopping": True, "max_iter": 3}
    history = make(**settings).fit(TRAIN).history_
    assert np.isfinite(history["validation_loss"]).all()


def test_the_same_seed_gives_the_same_scores(fitted):
    expected = fitted.score_samples(NEW)
    np.testing.assert_array_equal(make().fit(TRAIN).score_samples(NEW), expected)
    other = make(random_state=1).fit(TRAIN).score_samples(NEW)
    assert np.abs(other - expected).max() > 1e-6


def test_scikit_learn(fitted):
    grid = {"hidden_dim": [4, 8], "n_layers": [1], "swap": [0.2], "size_kernel": [True, False]}
    search = GridSearchCV(make(max_iter=2), grid | {"gammas": [(1.0,)]}, cv=2).fit(TRAIN)
    assert set(search.best_params_) == {"hidden_dim", "n_layers", "swap", "size_kernel", "gammas"}
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    scores = fitted.score_samples(NEW)
    np.testing.assert_array_equal(clone(fitted).fit(TRAIN).score_samples(NEW), scores)
    pipeline = make_pipeline(FunctionTransformer(list), make()).fit(TRAIN)
    np.testing.assert_array_equal(pipeline.score_samples(NEW), scores)


@pytest.mark.parametrize("through", ["pickle", "file"])
def test_copies_of_a_fitted_detector_score_the_same(fitted, through, tmp_path):
    if through == "pickle":
        other = pickle.loads(pickle.dumps(fitted))
    else:
        fitted.save(tmp_path / "model.skg")
        other = load(tmp_path / "model.skg")
    np.testing.assert_allclose(other.score_samples(NEW), fitted.score_samples(NEW), rtol=1e-9)
    np.testing.assert_array_equal(other.mixture_weights_, fitted.mixture_weights_)
    assert repr(other.history_) == repr(fitted.history_)
    assert other.score(NEW) == pytest.approx(fitted.score(NEW), abs=1e-9)


def test_graphs_of_dgl():
    if not dgl_backend.supports(torch.device("cpu")):
        pytest.skip("DGL has no build for this Python")
    import dgl

    graphs = [nx.gnp_random_graph(9, 0.4, seed=seed) for seed in range(12)]
    expected = make().fit(graphs).score_samples(graphs)
    of_dgl = [dgl.from_networkx(graph) for graph in graphs]
    np.testing.assert_allclose(make().fit(of_dgl).score_samples(of_dgl), expected, rtol=1e-9)


def test_twins_to_look_at(fitted):
    removed, added = fitted.twins(NEW)
    graphs = read_graphs(NEW)
    assert removed.n_nodes_per_graph.tolist() == graphs.n_nodes_per_graph.tolist()
    assert removed.adjacency.nnz < graphs.adjacency.nnz < added.adjacency.nnz
    with_swaps = make(energies=None, max_iter=1).fit(TRAIN)
    assert len(with_swaps.twins(NEW)) == 1


def test_score_equals_the_formula(fitted):
    rng = np.random.RandomState(fitted.twin_seed_)
    batch, model, view = fitted.read(NEW), fitted.model_, fitted.model_.views[0]
    log_f, contrasts = fitted.score_samples(NEW), []
    for twins in fitted._twins.structural(batch, rng):
        swapped = swap_features(model.features.transform(twins), 0.2, rng)
        flow = model.embedding.__class__(None, model.encoder, [view])(swapped)
        by_bandwidth = view.log_densities(twins, flow[view], model.references, model.clouds[view])
        log_twins = np.log((np.exp(by_bandwidth) * fitted.mixture_weights_).sum(axis=1))
        ratio = np.exp(log_twins - log_f)
        contrasts.append((1 - ratio) / (1 + ratio))
    assert fitted.score(NEW) == pytest.approx(np.mean(contrasts), abs=1e-9)


def test_untrained_it_is_a_detector_of_one_view():
    """One epoch moves weights a little; bandwidths and distances are those of the views."""
    one = make(max_iter=1, weights_learning_rate=1e-9).fit(TRAIN)
    views = Density(MMD(FIVE_DECADES, estimator="biased"), KDE(weights="equal"))
    encoder, features = GCN(hidden_dim=8, scale_points=True), NodeFeatures("given")
    other = GraphKDEDetector(features=features, encoder=encoder, views=views, random_state=0)
    expected = other.fit(TRAIN).score_samples(NEW)
    np.testing.assert_allclose(one.score_samples(NEW), expected, rtol=1e-5)


def test_published_has_the_literal_choices():
    text, released = LGKDE.published(), LGKDE.published("released", contamination=0.3)
    assert (text.loss, text.hidden_dim, text.n_twins, text.self_loops) == ("ratio", 128, 1, False)
    assert (text.learning_rate, text.weights_learning_rate) == (1e-3, 1e-3)
    assert (released.loss, released.out_dim, released.batch_size) == ("log_ratio", 16, None)
    assert released.contamination == 0.3
    text.set_params(max_iter=1, hidden_dim=8, random_state=0)
    with pytest.warns(UserWarning, match="expect 30 to 99% of new normal graphs"):
        text.fit(TRAIN)
    np.testing.assert_allclose(text.bandwidths_, FIVE_DECADES)


def test_the_table_of_parameters_has_the_values():
    page = (Path(__file__).parents[2] / "docs" / "paper.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]* \| (.*) \| (.*) \| (.*) \|$", page, re.MULTILINE)
    detectors = LGKDE.published(), LGKDE.published("released"), LGKDE()
    assert len(rows) == 26
    for name, *texts in rows:
        for detector, text in zip(detectors, texts, strict=True):
            value = getattr(detector, name)
            if value == FIVE_DECADES:
                assert text == "0.01 to 100"
            else:
                assert ast.literal_eval(text) == value, name


def test_a_single_bandwidth_has_no_weight_to_learn():
    detector = make(bandwidths=[0.1])
    warned("with one bandwidth and learn_encoder=False, nothing is learned", detector.fit, TRAIN)
    assert detector.mixture_weights_.tolist() == [1.0]
    assert np.isfinite(detector.score_samples(NEW)).all()


def test_what_counts_for_the_network_alone_is_said():
    warned("dropout, n_twins count only with", make(dropout=0.5, n_twins=4).fit, TRAIN)
    warned("batch_size counts only with", make(batch_size=7).fit, TRAIN)


def test_graphs_that_are_marked_as_odd_do_not_count_in_the_score():
    detector = make().fit(TRAIN)
    y = np.repeat([1, -1], [len(NEW) - 2, 2])
    assert detector.score(NEW, y) == detector.score(NEW[: len(NEW) - 2])
    with pytest.raises(ValueError, match="no normal graph to make twins of"):
        detector.score(NEW, [-1] * len(NEW))


def test_a_target_has_the_length_of_the_graphs(fitted):
    for y in ([1], [1] * 50):
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            fitted.score(NEW, y)


def test_a_target_is_1_or_minus_1(fitted):
    with pytest.raises(ValueError, match="1 for normal graphs and -1"):
        fitted.score(NEW, [0] * len(NEW))


def test_it_learns_in_inference_mode(fitted):
    with torch.inference_mode():
        again = make().fit(TRAIN)
    np.testing.assert_array_equal(again.mixture_weights_, fitted.mixture_weights_)


def test_held_out_twins_that_are_copies_do_not_stop_the_training():
    """Of graphs without edges, which some seeds hold out, every twin is a copy."""
    graphs = [nx.gnp_random_graph(9, 0.4, seed=seed) for seed in range(9)]
    graphs += [nx.empty_graph(n) for n in (5, 6, 7, 8)]
    n_said = 0
    for seed in range(20):
        detector = make(early_stopping=True, features="given", random_state=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            detector.fit(graphs)
        if any("does not stop early" in str(x.message) for x in caught):
            n_said += 1
            assert detector.n_iter_ == detector.max_iter
            assert np.ptp(detector.mixture_weights_) > 0.001
    assert n_said


def test_raw_numbers_that_no_network_can_take_are_refused():
    graphs = [nx.path_graph(4) for _ in range(6)]
    for i, graph in enumerate(graphs):
        nx.set_node_attributes(graph, {node: 1.0 * node + i for node in graph}, "x")
    graphs[3].nodes[2]["x"] = 1e24
    features = NodeFeatures(("raw_attribute",))
    detector = make(features=features, schema=GraphSchema(node_numbers="x"))
    with pytest.raises(ValueError, match=r"graph 3, node 2: 1e\+24 is too large for 'raw_attri"):
        detector.fit(graphs)
    for i, graph in enumerate(graphs):  # charges in coulombs
        nx.set_node_attributes(graph, {node: 1.6e-19 * (node - i) for node in graph}, "x")
    with pytest.raises(ValueError, match=r"'x' is nowhere above 1e-10, too small for 'raw_attri"):
        detector.fit(graphs)


def test_distances_on_a_cpu_are_those_of_the_core(fitted):
    assert fitted.device == "auto"
    if not torch.cuda.is_available():
        assert type(fitted._views()[0].distance) is MMD


def test_too_few_graphs_and_too_fast_steps():
    with pytest.raises(ValueError, match=r"training needs at least 3 graphs of .* and got 2"):
        make().fit(TRAIN[:2])
    with pytest.raises(ValueError, match=r"not finite in epoch .*lower learning_rate"):
        make(learn_encoder=True, learning_rate=1e30).fit(TRAIN)


def test_numbers_that_a_schema_names_count_or_are_refused():
    graphs = random_graphs(20, seed=1, n_attributes=1)
    schema = GraphSchema(node_categories="label", node_numbers="x")
    with pytest.raises(ValueError, match=r"node_numbers 'x' would count for nothing.*'attribute'"):
        make(schema=schema).fit(graphs)
    message = "schema=None: node_numbers 'x' would count for nothing"
    with pytest.warns(IgnoredWarning, match=message):
        make().fit(graphs)
    features = NodeFeatures(("label", "attribute"))
    detector = make(schema=schema, features=features).fit(graphs)
    far = graphs[0].copy()
    for data in far.nodes.values():
        data["x"] = 50.0
    assert detector.score_samples([far])[0] < detector.score_samples([graphs[0]])[0] - 1
    for data in (data for graph in graphs for *_, data in graph.edges(data=True)):
        data["w"] = 1.0
    with pytest.raises(ValueError, match=r"edge_numbers 'w' would count for nothing.*'edge'"):
        make(schema=GraphSchema(node_numbers=None, edge_numbers="w")).fit(graphs)
    for graph in graphs:
        graph.graph["total"] = 1.0
    schema = GraphSchema(node_numbers=None, graph_numbers="total")
    with pytest.raises(ValueError, match="use GraphKDEDetector, which has others"):
        make(schema=schema).fit(graphs)


def test_it_says_if_there_is_nothing_to_learn_from():
    with pytest.warns(UserWarning, match="every twin equals its graph, so that nothing is learned"):
        detector = make().fit([nx.empty_graph(n) for n in range(3, 33)])
    np.testing.assert_allclose(detector.mixture_weights_, 1 / 9, atol=0.01)


def test_the_order_of_graphs_does_not_matter_where_nothing_is_drawn():
    graphs = [nx.gnp_random_graph(5 + i % 4, 0.5, seed=i) for i in range(36)]
    order = np.random.RandomState(3).permutation(24)
    shuffled = [graphs[i] for i in order]
    a, b = (make(swap=0.0, max_iter=3).fit(x) for x in (graphs[:24], shuffled))
    np.testing.assert_allclose(a.score_samples(graphs[24:]), b.score_samples(graphs[24:]), 1e-5)


def test_arrays_of_the_user_stay_his():
    gammas, bandwidths = np.array([0.1, 1.0]), np.array([1.0, 2.0])
    make(gammas=gammas, bandwidths=bandwidths, max_iter=1).fit(TRAIN)
    gammas[0] = bandwidths[0] = 3.0
