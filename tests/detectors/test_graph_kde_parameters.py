"""GraphKDEDetector: what follows the training graphs, and bad parameters and graphs."""

import copy
import math

import networkx as nx
import numpy as np
import pytest
from scipy import stats
from sklearn import config_context

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
    GraphSchema,
    NodeFeatures,
    Novelty,
    Propagation,
    SpectralEdges,
    Split,
    Twins,
)
from skgraphkde.explanation import explain, novel_nodes
from tests.conftest import densities, fitted_to, random_graphs, with_data
from tests.detectors.conftest import make_detector
from tests.views.test_base import DegreeEntropy

# -- what follows the training graphs --------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "random_features"])
def test_bias_correction_is_large_where_nodes_are_independent(method):
    """Nodes without edges, their attributes drawn one by one."""
    rng, views = np.random.RandomState(0), Density(MMD(method=method))
    clouds = [(np.zeros((n, n)), rng.standard_normal((n, 2))) for n in rng.randint(5, 40, 60)]
    detector = GraphKDEDetector(features=NodeFeatures(("attribute",)), views=views)
    assert detector.fit(clouds).model_.views[0].distance_.correction > 0.3


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
    kernels = KDE((1e-2, 1.0))
    detector = make_detector(views=(*densities(), Density(kernels=kernels), "novelty"))
    if len(graphs) < 3:
        with pytest.raises(ValueError, match=r"training needs at least 3 graphs.* and got 2"):
            detector.fit(graphs)
        detector.set_params(training=None)
    detector.fit(graphs)
    scores = detector.score_samples([*graphs, nx.star_graph(40), nx.empty_graph(1)])
    assert np.isfinite(scores).all()
    assert np.isfinite(detector.offset_)
    assert np.isfinite(detector.score(graphs))


# -- bad parameters --------------------------------------------------------------------------------

TAU = SpectralEdges(("low", "high"))


def mmd(**parameters):
    return {"views": Density(MMD(**parameters))}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"contamination": 0.7}, "'contamination' parameter of GraphKDEDetector"),
        ({"calibration": "split"}, "holds out 2 of 25 graphs"),
        ({"calibration": Split(1.0)}, "'fraction' parameter of Split"),
        ({"max_references": 1}, "The 'max_references' parameter of GraphKDEDetector"),
        ({"n_jobs": 0}, "The 'n_jobs' parameter of GraphKDEDetector"),
        ({"encoder": "lstm"}, "'encoder' parameter of GraphKDEDetector"),
        ({"encoder": GCN(hidden_dim=0)}, "'hidden_dim' parameter of GCN"),
        ({"features": NodeFeatures(("colour",))}, "of NodeFeatures .* non-empty selection"),
        ({"training": Twins()}, "'training' parameter of GraphKDEDetector"),
        (
            {"training": Contrastive(learning_rate=1e38, max_iter=20)},
            "not finite in epoch .*lower l",
        ),
        ({"training": Contrastive(twins=Twins(0, edges=None))}, "twins are copies of the graphs"),
        ({"training": Contrastive(twins=Twins(edges=TAU))}, "of SpectralEdges must be .* 0 < tau"),
        (
            {"encoder": Propagation(), "training": Contrastive(learn_weights=False)},
            "nothing to train",
        ),
        (
            {
                "encoder": Propagation(),
                "views": densities(kernels=KDE([0.5])),
                "training": Contrastive(max_iter=1),
            },
            "there is nothing to train: Propagation",
        ),
        (mmd(gammas=(1.0, -1.0)), "'gammas' parameter of MMD must be"),
        (mmd(n_components=63), "n_components must be even"),
        (mmd(method="exact", n_components=64), "method='exact' has none"),
        ({"views": Density(kernels=KDE((math.nan,)))}, "'bandwidths' parameter of KDE must be"),
        ({"views": Density(kernels=MMD())}, "'kernels' parameter of Density must be"),
        ({"views": ("density", Novelty(-1))}, "'radius' parameter of Novelty"),
        ({"views": [("a", Novelty(-1)), "density"]}, "'radius' parameter of Novelty"),
        ({"views": ("density", "numbers")}, "Numbers needs numbers of nodes, edges or graphs"),
        ({"views": ()}, r"views=\(\) has no Density"),
        ({"views": ("novelty", Novelty())}, "has no Density, .*: add 'density'"),
        ({"views": ("density", None)}, "each view must be a View, .* Got None"),
        ({"views": ("density", "auto")}, "Got 'auto'"),
        ({"views": ("density", MMD())}, r"Got MMD\(\)"),
        ({"views": ("density", Novelty)}, "Got <class '.*Novelty'>"),
        ({"views": "novelti"}, "each view must be .* Got 'novelti'"),
        ({"views": MMD()}, r"each view must be .* Got MMD\(\)"),
    ],
    ids=str,
)
def test_a_bad_parameter_is_one_error_and_leaves_a_fitted_detector_usable(
    fitted, train, new_graphs, parameters, message
):
    detector, expected = copy.copy(fitted), fitted.decision_function(new_graphs)
    good = detector.get_params(deep=False)
    with pytest.raises(ValueError, match=message):
        detector.set_params(**parameters).fit(train)
    detector.set_params(**good)
    np.testing.assert_array_equal(detector.decision_function(new_graphs), expected)


# -- graphs unlike those of fit --------------------------------------------------------------------


def test_graphs_unlike_those_of_fit(fitted):
    with pytest.raises(
        ValueError, match="graph 0 has no node attribute 'label', which earlier graphs had"
    ):
        fitted.predict([nx.path_graph(3)])
    odd = with_data(nx.path_graph(3), {"label": "Xe"})
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


# -- numbers far beyond those of the training graphs -----------------------------------------------

SCHEMA = GraphSchema(node_numbers="temp", edge_numbers="amount")
RANDOM = MMD(method="random_features", n_components=64)
# Questions that differ in what they compute, each with one number out of all bounds.
QUESTIONS = {
    "score_samples": (lambda detector, graphs: detector.score_samples(graphs), 1e20),
    "pairwise_distances": (lambda detector, graphs: detector.pairwise_distances(graphs), 1e20),
    "other": (lambda detector, graphs: detector.pairwise_distances(graphs[:1], graphs), 1e99),
    "novel_nodes": (lambda *asked: np.hstack(novel_nodes(*asked)), 1e20),
    "explain": (lambda *asked: explain(*asked)["strength"], 1e99),
}


def measured_graph(seed, temp=None, amount=None, unit=1.0):
    rng = np.random.default_rng(seed)
    made = nx.gnp_random_graph(8 + seed % 4, 0.4, seed=seed)
    with_data(made, {"temp": lambda _: unit * rng.normal()})
    with_data(made, None, {"amount": lambda _: unit * rng.normal()})
    if temp is not None:
        made.nodes[1]["temp"] = temp
    if amount is not None:
        made.edges[next(iter(made.edges))]["amount"] = amount
    return made


def fit_measured(*distances, unit=1.0):
    views = (*densities(*distances), "novelty", "numbers")
    detector = GraphKDEDetector(schema=SCHEMA, views=views, random_state=0)
    return detector.fit([measured_graph(seed, unit=unit) for seed in range(12)])


@pytest.fixture(scope="module")
def detectors():
    return {
        "random": fit_measured(RANDOM),
        "both": fit_measured(RANDOM, MMD()),
        "exact": fit_measured(MMD()),
    }


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ("temp", "graph 1, node 1: node attribute 'temp'"),
        ("amount", r"graph 1, edge \(\d, \d\): edge attribute 'amount'"),
    ],
)
@pytest.mark.parametrize("name", ["random", "both"])
@pytest.mark.parametrize(("question", "value"), QUESTIONS.values(), ids=QUESTIONS)
def test_what_random_features_cannot_compute_is_refused_by_name(
    detectors, question, value, name, data, what
):
    cure = r"clip it, or use views=Density\(MMD\(method='exact'\)\)"
    with pytest.raises(ValueError, match=rf"{what} is {value:.0e}.*{cure}".replace("e+", r"e\+")):
        question(detectors[name], [measured_graph(51), measured_graph(50, **{data: value})])


@pytest.mark.parametrize(("question", "value"), QUESTIONS.values(), ids=QUESTIONS)
def test_the_cure_cures(detectors, question, value):
    graphs = [measured_graph(50, temp=value), measured_graph(50, amount=value), measured_graph(51)]
    assert np.isfinite(question(detectors["exact"], graphs)).all()


@pytest.mark.parametrize("data", [{"temp": 1e99}, {"amount": 1e99}], ids=str)
@pytest.mark.parametrize("distances", [(MMD(),), (MMD(), MMD(gammas=(1.0,)))], ids=str)
def test_what_overflows_in_standard_deviations_is_refused(distances, data):
    detector = fit_measured(*distances, unit=1e-90)
    message = r"is 1e\+99, more than .* which cannot be computed: clip it$"
    with pytest.raises(ValueError, match=message):
        detector.pairwise_distances([measured_graph(50, **data, unit=1e-90)])


# -- data of graphs as a whole ---------------------------------------------------------------------


def cases(n_graphs):
    rng = np.random.RandomState(0)
    return [
        with_data(graph, total=float(rng.normal(100, 5)), country="AB"[rng.randint(2)])
        for graph in random_graphs(n_graphs, seed=3)
    ]


def test_a_view_of_ones_own_may_read_all_data_of_graphs():
    views = ("density", DegreeEntropy())
    assert fitted_to(cases(30), views, graph_numbers="total", graph_categories=None).model_


@pytest.mark.parametrize("reader", ["statistics", "numbers"])
def test_data_of_graphs_that_a_view_reads_are_used(reader):
    views = ("density", reader)
    detector = fitted_to(cases(30), views, graph_numbers="total", graph_categories=None)
    usual, odd = cases(2)[0], cases(2)[0]
    odd.graph["total"] = 1e6
    assert detector.score_samples([usual])[0] > detector.score_samples([odd])[0]


def test_what_all_reads_and_no_view_looks_at_is_said():
    for schema in ("all", GraphSchema.everything()):
        with (
            pytest.warns(UserWarning, match="graph_categories 'country' would count"),
            pytest.warns(UserWarning, match="graph_numbers 'total' would count"),
        ):
            GraphKDEDetector(views="density", schema=schema).fit(cases(30))
