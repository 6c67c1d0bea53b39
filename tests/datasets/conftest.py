"""A data set that several tests write."""

import pytest

from skgraphkde.reading import read_graphs
from tests.conftest import random_graphs
from tests.datasets.common import tu_files


@pytest.fixture
def files():
    return tu_files(read_graphs(random_graphs(5, n_attributes=2)), [1, 1, 2, 1, 2])
