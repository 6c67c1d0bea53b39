"""scikit-learn's own checks, and its tools, on graphs."""

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
)
from tests.conftest import densities, random_graphs
from tests.detectors.conftest import make_detector
from tests.estimator_checks import check_as_scikit_learn_does, check_graph_detector
from tests.graphs.test_refinement import WEIGHTED, typed_graphs

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


# -- scikit-learn's tools on lists of networkx graphs and on GraphBatch ----------------------------


def two_kinds_of_graphs():
    """Rings with a tail are normal, stars are not."""
    rng = np.random.RandomState(0)
    rings = [nx.lollipop_graph(int(rng.randint(3, 6)), int(rng.randint(2, 5))) for _ in range(30)]
    stars = [nx.star_graph(int(rng.randint(4, 9))) for _ in range(10)]
    return rings + stars, np.repeat([1, -1], [30, 10])


SMALL_GRAPHS_REPEAT = pytest.mark.filterwarnings("ignore:.*training graphs are copies of others")


@pytest.fixture(scope="module")
def data():
    return two_kinds_of_graphs()


@SMALL_GRAPHS_REPEAT
def test_grid_search_with_labels(data):
    graphs, y = data
    folds = StratifiedKFold(2)  # the default for an outlier detector is not stratified
    grid = {"encoder__hidden_dim": [2], "views__distance": [MMD(), MMD(estimator="biased")]}
    search = GridSearchCV(
        make_detector(training=None, views=Density()), grid, scoring="roc_auc", cv=folds
    ).fit(graphs, y)
    assert search.best_score_ > 0.5
    assert search.predict(graphs).shape == (40,)


def test_estimator_type():
    assert make_detector().__sklearn_tags__().estimator_type == "outlier_detector"
