"""GraphKDEDetector: what parameters choose, what follows the training graphs, and bad input."""

import copy
import math

import networkx as nx
import numpy as np
import pytest
import torch
from scipy import stats
from sklearn import config_context
from sklearn.base import clone

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
    NodeFeatures,
    Novelty,
    References,
    SpectralEdges,
    Split,
    Twins,
    read_graphs,
)
from skgraphkde.datasets import load_mutag
from skgraphkde.detectors import fitting
from tests.conftest import densities, random_graphs
from tests.detectors.conftest import ONE_VIEW, make_detector

# -- choices ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sampling", ["stratified", "importance"])
def test_few_graphs_make_the_densities_that_references_are_chosen_by(train, sampling, monkeypatch):
    chosen_by = []
    choose = References.choose
    monkeypatch.setattr(
        References,
        "choose",
        lambda self, density, rng: chosen_by.append(density) or choose(self, density, rng),
    )
    full = make_detector(references=sampling, references__ratio=0.4, training=None)
    few = clone(full)
    full.fit(train)
    monkeypatch.setattr(fitting, "PILOT_GRAPHS", 12)
    few.fit(train)
    assert len(few.model_.references) == len(full.model_.references) == 10
    assert stats.spearmanr(*chosen_by).statistic > 0.5
    assert not np.allclose(*chosen_by)


# -- what follows the training graphs --------------------------------------------------------------


def test_bias_correction_is_the_share_of_possible_distances(train):
    """Of each graph to the one that is nearest by the biased estimate, counted one by one."""
    batch = read_graphs(train)
    biased, unbiased = (
        make_detector(training=None, views=Density(MMD(estimator=name))).fit(batch)
        for name in ("biased", "unbiased")
    )
    of_biased, of_unbiased = (x.model_.views[0].distance_ for x in (biased, unbiased))
    assert [of_biased.correction, of_unbiased.correction] == [0, 1]
    squared = of_unbiased.squared(unbiased.model_._references.measures[0])
    D = biased.pairwise_distances(batch) + np.diag(np.full(len(batch), np.inf))
    # A distance of 0, as between copies, comes out as 0 up to rounding: 1e-16 times 50 terms.
    possible = [squared[i, row.argmin()] >= -1e-12 for i, row in enumerate(D)]
    assert 0 < np.mean(possible) < 1
    [adaptive] = make_detector(training=None, **ONE_VIEW).fit(batch).model_.views
    assert adaptive.distance_.correction == pytest.approx(np.mean(possible), rel=1e-12)


@pytest.mark.parametrize("method", ["exact", "random_features"])
def test_bias_correction_is_large_where_nodes_are_independent(method):
    """Nodes without edges, their attributes drawn one by one; molecules are no such thing."""
    rng = np.random.RandomState(0)
    clouds = [(np.zeros((n, n)), rng.standard_normal((n, 2))) for n in rng.randint(5, 40, 60)]
    detector = make_detector(
        training=None,
        features=NodeFeatures(("attribute",)),
        encoder="propagation",
        views=Density(MMD(method=method)),
    )
    [view] = detector.fit(clouds).model_.views
    assert view.distance_.correction > 0.3
    molecules, y = load_mutag(return_X_y=True)
    detector = make_detector(training=None, encoder="propagation", **ONE_VIEW)
    [view] = detector.fit(molecules[y == 1]).model_.views
    assert view.distance_.correction < 0.2


def test_what_training_changed():
    # No two of them are alike: rounding would decide which of two copies ranks higher.
    train = random_graphs(25, seed=1, n_attributes=2)
    assert GraphKDEDetector().fit(train).untrained_rank_correlation_ == 1
    training = Contrastive(max_iter=5, learning_rate=0.1, n_iter_no_change=5)
    trained, untrained = (
        make_detector(training=x, random_state=3).fit(train) for x in (training, None)
    )
    assert untrained.untrained_rank_correlation_ == 1
    # The mean of the ranks' products, in units of their variance; log densities of both distances.
    ranks = [
        stats.rankdata(x.model_.training_scores[:2].mean(axis=0)) for x in (untrained, trained)
    ]
    expected = np.corrcoef(*ranks)[0, 1]
    assert trained.untrained_rank_correlation_ == pytest.approx(expected, abs=1e-9)
    assert expected < 0.999


@pytest.mark.parametrize(
    "graphs",
    [
        [nx.empty_graph(1)] * 6,
        [nx.path_graph(3)] * 6,
        [nx.empty_graph(4), nx.complete_graph(5), nx.path_graph(2)],
        [nx.path_graph(2), nx.path_graph(3)],
    ],
    ids=["single nodes", "all equal", "three", "two"],
)
def test_degenerate_training_sets_give_finite_scores(graphs):
    detector = make_detector(views=(*densities(), Density(kernels=KDE((1e-2, 1.0))), "novelty"))
    if len(graphs) < 3:
        with pytest.raises(ValueError, match=r"training needs at least 3 graphs.* and got 2"):
            detector.fit(graphs)
        detector.set_params(training=None)
    detector.fit(graphs)
    scores = detector.score_samples([*graphs, nx.star_graph(40), nx.empty_graph(1)])
    assert np.isfinite(scores).all()
    assert np.isfinite(detector.offset_)
    assert np.isfinite(detector.score(graphs))


# -- bad input -------------------------------------------------------------------------------------


def edges(tau):
    return {"training__twins": Twins(edges=SpectralEdges(tau))}


def mmd(**parameters):
    return one_view(**{f"distance__{name}": x for name, x in parameters.items()})


def one_view(**parameters):
    return {**ONE_VIEW, **{f"views__{name}": x for name, x in parameters.items()}}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"contamination": 0.7}, "'contamination' parameter of GraphKDEDetector"),
        ({"encoder__hidden_dim": 0}, "'hidden_dim' parameter of GCN"),
        (mmd(gammas=(1.0, -1.0)), "'gammas' parameter of MMD must be"),
        (one_view(kernels__bandwidths=(math.nan,)), "'bandwidths' parameter of KDE must be"),
        ({"views__distance__gammas": (1.0,)}, "has no parameters, set views itself first"),
        ({"views": ("density", Novelty(-1))}, "'radius' parameter of Novelty"),
        ({"views": ("density", "numbers")}, "Numbers needs numbers of nodes, edges or graphs"),
        (edges(("low", "high")), "of SpectralEdges must be .* 0 < tau_1 <= tau_2 <= 1"),
        ({"features": NodeFeatures(("colour",))}, "of NodeFeatures .* non-empty selection"),
        ({"device": "abacus"}, "device='abacus' is not supported"),
        ({"calibration": "split"}, "holds out 2 of 25 graphs"),
        ({"training": Contrastive(learning_rate=1e38, max_iter=20)}, "loss is not finite"),
        ({"encoder": "propagation", "training__learn_weights": False}, "nothing to train"),
        ({"encoder": "lstm"}, "'encoder' parameter of GraphKDEDetector"),
        ({"encoder": GCN}, r"GCN is a class: write encoder=GCN\(\)"),
        ({"n_jobs": 0}, "The 'n_jobs' parameter of GraphKDEDetector"),
        ({"training": Twins()}, "'training' parameter of GraphKDEDetector"),
        (mmd(n_components=63), "n_components must be even"),
        (one_view(distance=MMD(method="exact", n_components=64)), "method='exact' has none"),
        ({"training__twins": Twins(0, edges=None)}, "twins are copies of the graphs"),
        ({"training__checkpoint": "a", "random_state": None}, "needs an integer random_state"),
        ({"calibration": Split(1.0)}, "'fraction' parameter of Split"),
    ],
    ids=str,
)
def test_a_bad_parameter_is_one_error_and_leaves_a_fitted_detector_usable(
    fitted, train, new_graphs, parameters, message
):
    detector = copy.deepcopy(fitted)
    expected = detector.decision_function(new_graphs)
    good = detector.get_params(deep=False)
    with pytest.raises(ValueError, match=message):
        detector.set_params(**parameters).fit(train)
    np.testing.assert_array_equal(
        detector.set_params(**good).decision_function(new_graphs), expected
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_gpu_that_is_not_there(train):
    with pytest.raises(ValueError, match="torch sees no such GPU"):
        make_detector(device="cuda").fit(train)


def test_graphs_unlike_those_of_fit(fitted):
    with pytest.raises(
        ValueError, match="graph 0 has no node attribute 'label', which earlier graphs had"
    ):
        fitted.predict([nx.path_graph(3)])
    odd = nx.path_graph(3)
    nx.set_node_attributes(odd, "Xe", "label")
    with config_context(working_memory=0.01):
        for method in (fitted.score_samples, fitted.score, fitted.transform):
            with pytest.warns(UserWarning, match="Xe") as caught:
                assert np.isfinite(method([odd] * 3)).all()
            assert len(caught) == 1


def test_labels_that_only_graphs_set_aside_have():
    graphs = random_graphs(30, labels="C")
    graphs[0].nodes[0]["label"] = "rare"
    seeds = [s for s in range(9) if 0 in np.random.RandomState(s).permutation(30)[:15]]
    with pytest.warns(UserWarning, match="rare"):
        make_detector(calibration=Split(0.5), random_state=seeds[0]).fit(graphs)


def test_a_density_that_is_not_finite_is_an_error_and_no_verdict(train, new_graphs):
    detector = make_detector().fit(train)
    detector.model_._density.encoder.weights[0].data.fill_(np.nan)
    for method in (detector.score_samples, detector.predict, detector.score):
        with pytest.raises(ValueError, match="score of graph 0 is not a finite number"):
            method(new_graphs)
