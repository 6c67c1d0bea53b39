"""Calls that are refused, and what is said; :mod:`tests.test_hostile_input` has bad graphs."""

import networkx as nx
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import skgraphkde
from skgraphkde import (
    LGKDE,
    BaseGraphDetector,
    Density,
    FittedDistance,
    GraphKDEDetector,
    GraphSchema,
    NodeFeatures,
    Novelty,
    Propagation,
    Split,
    Tanimoto,
    View,
    read_graphs,
)
from skgraphkde.explanation import explain, nearest_references, node_contributions, results
from skgraphkde.learned import gpu
from skgraphkde.model_selection import OneClassKFold
from skgraphkde.monitoring import DriftMonitor
from tests.conftest import random_graphs, with_data
from tests.core.views.common import fit
from tests.detectors.common import EdgeCount
from tests.explanation.common import Sums

TRAIN = random_graphs(25, seed=1)
NEW = random_graphs(8, seed=2)
CYCLES = [nx.cycle_graph(n) for n in range(10, 30)]
CASES = [with_data(nx.path_graph(n), total=float(n), country="AB"[n % 2]) for n in range(5, 35)]
FITTED = GraphKDEDetector().fit(TRAIN)
COUNT = EdgeCount().fit(TRAIN)
PLAIN = EdgeCount(calibration="train").fit(TRAIN)


def build(**parameters):
    return GraphKDEDetector(random_state=0, **parameters)


class WithoutScores(View):
    def fit(self, references, context):
        return self


class Wrong(WithoutScores):
    def __init__(self, returned=None):
        self.returned = returned

    def scores(self, graphs, own, context):
        return self.returned


class WrongDistance(FittedDistance):
    """Returns a list or an array of another shape."""

    def __init__(self, returned):
        self.returned = returned

    def squared(self, P, Q=None):
        return self.returned


def squared(returned):
    density = Density()
    density.distance_ = WrongDistance(returned)
    return density.squared(TRAIN, TRAIN)


def beside(view):
    return build(views=("density", view)).fit(TRAIN)


def of_cases(views, **schema):
    """Data of whole graphs, and views that read none of it."""
    return build(views=views, schema=GraphSchema(**schema)).fit(CASES)


def split_fit():
    return build(calibration="split", contamination=0.5).fit(TRAIN)


def split(y):
    return list(OneClassKFold(4).split(range(10), y))


def change(**parameters):
    return build(encoder=Propagation()).set_params(**parameters)


def transform(kinds, labels="CNO", n_attributes=2):
    """Features of graphs with other data than fit has seen."""
    graphs = random_graphs(3, labels=labels, n_attributes=n_attributes)
    known = read_graphs(random_graphs(3, n_attributes=2))
    return NodeFeatures(kinds).fit(known).transform(read_graphs(graphs))


def monitor(rate, detector=COUNT):
    return DriftMonitor(detector, false_alarm_rate=rate)


ONE_SCORE = r"Wrong\.scores must return one score for each of 25 graphs"
POSITIVE = "k and n_reasons must be at least 1"
HELD_OUT = r"holds out .* of 20 graphs, but .*needs at least 9, and training needs 2"
INCLUDES = "calibration='train' includes each training"
NO_X = r"\['attribute'\] were requested, but the graphs carry none"
TOTAL = {"graph_numbers": "total"}
NO_PARAMETERS = r"has no parameters, set \w+ to an object first"
NOVELTY, NAMED = [("new", Novelty())], [("new", "novelty")]
VALUE_ERRORS = [
    # explanation
    (POSITIVE, lambda: explain(FITTED, NEW, k=0)),
    (POSITIVE, lambda: explain(FITTED, NEW, n_reasons=0)),
    ("names must have one name for each of 8 gr", lambda: results(FITTED, NEW, names=range(7))),
    ("got one text", lambda: results(FITTED, NEW, names="abcdefgh")),
    (r"alpha must be in \(0, 1\], got 0", lambda: results(FITTED, NEW, alpha=0)),
    ("fit with calibration='loo'", lambda: results(split_fit())),
    ("k must be an integer of at least 1, got 0", lambda: nearest_references(FITTED, NEW, 0)),
    (
        r"the distance of Density\(distance=Sums\(\)\) is not a sum over nodes: use 'mmd', or",
        lambda: node_contributions(build(views=Density(Sums())).fit(TRAIN), NEW),
    ),
    # calibration
    *[
        (r"alpha must be in \(0, 1\]", lambda alpha=x: GraphKDEDetector().select([], alpha))
        for x in ("x", 0, 1.1, None)
    ],
    (INCLUDES, lambda: PLAIN.p_values(NEW)),
    (INCLUDES, lambda: PLAIN.set_params(calibration="loo").select(NEW)),  # by what was fitted
    ("fit with calibration='loo'", lambda: build(calibration="train").fit(TRAIN).suggest(3)),
    ("fit with calibration='loo'", lambda: split_fit().set_params(calibration="loo").suggest(3)),
    (HELD_OUT, lambda: build(calibration=Split(0.1)).fit(TRAIN[:20])),
    (HELD_OUT, lambda: build(calibration=Split(0.95)).fit(TRAIN[:20])),
    ("'contamination' parameter", lambda: build(contamination="few").fit(TRAIN)),
    # monitoring and selection
    ("^false_alarm_rate ", lambda: monitor(0)),
    ("^false_alarm_rate ", lambda: monitor(0.2)),
    ("calibration='split', or 'loo'", lambda: monitor(0.001, PLAIN)),
    ("needs y", lambda: split(None)),
    *[
        (r"y must be 1 .* np\.where\(y == 1, -1, 1\)", lambda y=y: split(y * 5))
        for y in ([0, 1], [True, False], [1, 2], ["1", "-1"])
    ],
    ("y contains no graph of the anomaly class -1, only", lambda: split([1] * 10)),
    ("inconsistent numbers of samples", lambda: split([1, -1] * 4)),
    ("there is one anomaly", lambda: split([1] * 9 + [-1])),
    (r"3 anomalies for 4 test folds.*: use n_splits=3", lambda: split([1] * 7 + [-1] * 3)),
    # names of parameters
    ("Invalid parameter", lambda: change(n_layers=1)),
    ("Invalid parameter", lambda: change(encodr__n_layers=1)),
    ("Invalid parameter", lambda: change(encoder__depth=1)),
    ("Invalid parameter", lambda: change(views=NOVELTY, new__gammas=[1.0])),
    ("new='novelty' has no parameters", lambda: change(views=NAMED, new__radius=2)),
    (NO_PARAMETERS, lambda: build().set_params(encoder__n_layers=1)),
    (NO_PARAMETERS, lambda: build(views=["density"]).set_params(views__radius=1)),
    (NO_PARAMETERS, lambda: Density().set_params(kernels__size_kernel=1)),
    ("the name", lambda: build(views=[("n", Novelty()), ("n", Tanimoto()), "density"]).validate()),
    ("the name", lambda: build(views=[("encoder", Novelty()), "density"]).validate()),
    ("the name", lambda: build(views=[("a__b", Novelty()), "density"]).validate()),
    (r"code must be 'text' or 'released'\. Got 'mine'", lambda: LGKDE.published(code="mine")),
    # features
    ("non-empty selection", lambda: NodeFeatures(("label", "size")).fit(read_graphs(TRAIN))),
    ("non-empty selection", lambda: NodeFeatures(()).fit(read_graphs(TRAIN))),
    ("non-empty selection", lambda: build(features=NodeFeatures(())).fit(TRAIN)),
    ("must be 'auto', 'given' or a non-empty", lambda: NodeFeatures("all").fit(read_graphs(TRAIN))),
    ("such as .'degree',.. Got 'all'", lambda: build(features=NodeFeatures("all")).fit(TRAIN)),
    (NO_X, lambda: NodeFeatures(("attribute",)).fit(read_graphs(TRAIN))),
    (NO_X, lambda: build(features=NodeFeatures(("attribute",))).fit(TRAIN)),
    ("fit saw node labels; these graphs have none", lambda: transform("auto", labels="")),
    ("2 node attributes; these graphs have 3", lambda: transform("auto", n_attributes=3)),
    (
        "2 node attributes; these graphs have none",
        lambda: transform(["raw_attribute"], n_attributes=0),
    ),
    # views, distances and devices
    (ONE_SCORE, lambda: beside(Wrong(np.zeros((25, 1))))),
    (rf"{ONE_SCORE}, .*\(3,\)", lambda: beside(Wrong(np.zeros(3)))),
    ("scores returned nan: scores must be finite", lambda: beside(Wrong(np.full(25, np.nan)))),
    (
        "needs node labels.*use categories='deg",
        lambda: fit(Novelty(2, "label"), read_graphs(CYCLES)),
    ),
    (
        r"Novelty\(edges=True\) needs categories",
        lambda: fit(Novelty(edges=True), read_graphs(CYCLES)),
    ),
    (r"graph_numbers 'total' .* views density .* add", lambda: of_cases("density", **TOTAL)),
    ("'statistics' or 'numbers' to views", lambda: of_cases(("density", "novelty"), **TOTAL)),
    ("'total' would count for", lambda: of_cases(("density", ("near", Tanimoto())), **TOTAL)),
    (
        "add 'novelty' or 'statis",
        lambda: of_cases(("density", "neighbors"), graph_categories="country"),
    ),
    (
        "torch does not find device='cuda:9'",
        lambda: build(views=Density(gpu.TorchMMD(device="cuda:9"))).fit(TRAIN),
    ),
    ("device='meta' cannot be used: use 'cpu'", lambda: gpu.find_device("meta")),
]
SHAPE = r"WrongDistance.squared must return an array of shape \(25, 25\)"
OTHER_ERRORS = [
    (TypeError, SHAPE, lambda: squared(np.zeros(2))),
    (TypeError, SHAPE, lambda: squared([[0.0] * 25] * 24)),
    (TypeError, "^false_alarm_rate ", lambda: monitor("x")),
    (TypeError, "must be a fitted BaseGraphDetector, got 1", lambda: monitor(0.001, 1)),
    (TypeError, "argument 'trainin'", lambda: LGKDE.published(trainin=None)),
    (AttributeError, "has no attribute 'PAPER'", lambda: skgraphkde.PAPER),
    (NotImplementedError, "has no method _fit_batch", lambda: BaseGraphDetector().fit(TRAIN)),
    (NotImplementedError, r"View has no method fit\(references, context\)", lambda: beside(View())),
    (
        NotImplementedError,
        r"WithoutScores has no method scores\(graphs, own, context\)",
        lambda: beside(WithoutScores()),
    ),
    (NotFittedError, "EdgeCount instance is not fitted", lambda: EdgeCount().predict(TRAIN)),
    (NotFittedError, "is not fitted", lambda: monitor(0.001, EdgeCount())),
    (NotFittedError, "is not fitted", lambda: build().learn(TRAIN[:2], [-1, -1])),
    (NotFittedError, "is not fitted", lambda: build().suggest(3)),
    (NotFittedError, "is not fitted", lambda: results(build(), NEW)),
    (NotFittedError, "is not fitted", lambda: nearest_references(build(), NEW)),
    (NotFittedError, "is not fitted", lambda: node_contributions(build(), NEW)),
]


@pytest.mark.parametrize(
    ("error", "message", "call"), [*((ValueError, *x) for x in VALUE_ERRORS), *OTHER_ERRORS]
)
def test_a_bad_call_is_one_clear_error(error, message, call):
    with pytest.raises(error, match=message):
        call()
