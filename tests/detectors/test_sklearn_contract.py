"""scikit-learn's own checks, and its tools, on graphs."""

import pytest
from sklearn.base import clone

from skgraphkde import (
    GCN,
    KDE,
    Contrastive,
    GraphKDEDetector,
)
from tests.conftest import densities, random_graphs
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
