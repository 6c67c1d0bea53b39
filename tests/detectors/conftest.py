"""A detector that fits in a moment, and graphs for it."""

import pytest

from skgraphkde import GCN, GraphKDEDetector
from tests.conftest import random_graphs


def make_detector(**params):
    """A small network; parameters by nested names, too."""
    detector = GraphKDEDetector(encoder=GCN(hidden_dim=8), random_state=0)
    return detector.set_params(**params)


@pytest.fixture(scope="module")
def train():
    return random_graphs(25, seed=1)


@pytest.fixture(scope="module")
def new_graphs():
    return random_graphs(8, seed=2)


@pytest.fixture(scope="module")
def fitted(train):
    return make_detector().fit(train)
