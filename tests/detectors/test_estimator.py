"""GraphKDEDetector against slow transcriptions of its formulas; bad parameters and graphs."""

import copy
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

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Density,
    GraphBatch,
    GraphKDEDetector,
    GraphSchema,
    NodeFeatures,
    Novelty,
    Propagation,
    Split,
    UnseenCategoryWarning,
    _utils,
    read_graphs,
)
from skgraphkde.core.points.propagation import MessageFlow
from skgraphkde.core.scoring.combination import LogPValues
from skgraphkde.core.views.kernels import RELATIVE_MULTIPLES, log_size_kernel
from skgraphkde.datasets import load_mutag
from skgraphkde.explanation import explain, novel_nodes
from tests.conftest import densities, fitted_to, permuted, random_graphs, with_data
from tests.core.distances.common import squared_mmd_slow
from tests.core.graphs.common import WEIGHTED, typed_graphs
from tests.core.views.common import DegreeEntropy, density_slow
from tests.detectors.conftest import make_detector
from tests.estimator_checks import check_as_scikit_learn_does, check_graph_detector

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


# -- methods ---------------------------------------------------------------------------------------


def test_transform_is_the_mean_node_embedding(fitted, new_graphs):
    points, ptr = clouds(fitted.model_, fitted.model_.features.transform(fitted.read(new_graphs)))
    means = [cloud.mean(0) for cloud in np.split(points, ptr[1:-1])]
    np.testing.assert_allclose(fitted.transform(new_graphs), means, atol=1e-12)


# -- invariants ------------------------------------------------------------------------------------


def test_verdicts_on_copies_of_one_graph_do_not_depend_on_rounding():
    """All training graphs are isomorphic, with the nodes in another order each."""
    one = read_graphs([nx.gnp_random_graph(12, 0.4, seed=0)])
    copies = GraphBatch.concatenate([permuted(one, seed) for seed in range(40)])
    views = (*densities(kernels=KDE(size_kernel=False)), "novelty")
    detector = make_detector(views=views).fit(copies[:30])
    for density in detector.model_.views[:2]:
        np.testing.assert_array_equal(density.bandwidths_, RELATIVE_MULTIPLES)
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


class EveryMove(_utils.Bar):
    """A bar that shows each of its moves."""

    def __init__(self, **options):
        super().__init__(mininterval=0, **options)


def test_bars_move_from_the_beginning_to_the_end(capsys, monkeypatch, train):
    """On a terminal; a log has a line for each stage. Blocks are as small as a graph."""
    detector = GraphKDEDetector(verbose=1).fit(train)
    stages = ["Reading", f"Fitting {len(train)} graphs"]
    assert capsys.readouterr().err.splitlines() == stages
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr(_utils, "Bar", EveryMove)
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


@pytest.mark.filterwarnings("ignore:node categories that fit did not see")
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
NETWORK = GraphKDEDetector(
    calibration="train",
    views=(*densities(kernels=KDE((0.5, 1.0))), "novelty"),
    encoder=GCN(hidden_dim=8),
    random_state=0,
)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks():
    check_as_scikit_learn_does(NETWORK)


@pytest.mark.parametrize(
    "detector", [DEFAULTS, pytest.param(NETWORK, marks=pytest.mark.slow)], ids=["defaults", "gcn"]
)
def test_checks_of_graphs(detector):
    check_graph_detector(detector, random_graphs(20, n_attributes=2))


def test_directed_and_typed_graphs():
    check_graph_detector(clone(DEFAULTS).set_params(schema=WEIGHTED), typed_graphs(20))


# -- what follows the training graphs, and bad parameters ------------------------------------------

# -- what follows the training graphs --------------------------------------------------------------


@pytest.mark.parametrize("method", ["exact", "random_features"])
def test_bias_correction_is_large_where_nodes_are_independent(method):
    """Nodes without edges, their attributes drawn one by one."""
    rng, views = np.random.RandomState(0), Density(MMD(method=method))
    clouds = [(np.zeros((n, n)), rng.standard_normal((n, 2))) for n in rng.randint(5, 40, 60)]
    detector = GraphKDEDetector(features=NodeFeatures(("attribute",)), views=views)
    assert detector.fit(clouds).model_.views[0].distance_.correction > 0.3


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
    detector.fit(graphs)
    scores = detector.score_samples([*graphs, nx.star_graph(40), nx.empty_graph(1)])
    assert np.isfinite(scores).all()
    assert np.isfinite(detector.offset_)


# -- bad parameters --------------------------------------------------------------------------------


def mmd(**parameters):
    return {"views": Density(MMD(**parameters))}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"contamination": 0.7}, "'contamination' parameter of GraphKDEDetector"),
        ({"calibration": "split"}, "holds out 2 of 25 graphs"),
        ({"calibration": "split", "contamination": "auto"}, "contamination=auto needs at least 4"),
        ({"calibration": Split(1.0)}, "'fraction' parameter of Split"),
        ({"max_references": 1}, "The 'max_references' parameter of GraphKDEDetector"),
        ({"n_jobs": 0}, "The 'n_jobs' parameter of GraphKDEDetector"),
        ({"encoder": "lstm"}, "'encoder' parameter of GraphKDEDetector"),
        ({"encoder": GCN(hidden_dim=0)}, "'hidden_dim' parameter of GCN"),
        ({"features": NodeFeatures(("colour",))}, "of NodeFeatures .* non-empty selection"),
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
@pytest.mark.filterwarnings("ignore:contamination counts from the next fit")
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
        with pytest.warns(UnseenCategoryWarning, match="Xe") as caught:
            assert np.isfinite(fitted.score_samples([odd] * 3)).all()
        assert len(caught) == 1
        assert np.isfinite(fitted.transform([odd] * 3)).all()  # it has been said


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
    cure = r"clip it, or compare exactly, by MMD\(method='exact'\)"
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


@pytest.mark.parametrize("part", ["node", "edge"])
def test_numbers_that_no_feature_of_a_density_has_are_refused(part):
    graphs = [nx.cycle_graph(n) for n in range(4, 24)]
    for graph in graphs:
        with_data(graph, {"x": float}, {"x": [float(i) for i in range(len(graph))]})
    schema = GraphSchema(**{f"{part}_numbers": "x"})
    detector = GraphKDEDetector(views="density", features=NodeFeatures(("degree",)), schema=schema)
    with pytest.raises(ValueError, match=f"{part}_numbers 'x' would count for nothing"):
        detector.fit(graphs)
    detector.set_params(views="auto").fit(graphs)
