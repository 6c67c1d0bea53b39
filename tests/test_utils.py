"""Blocks for any working memory, warnings that name the user's line, and compiled loops."""

import math
import warnings

import networkx as nx
import numpy as np
import pytest
from numba.core import caching
from sklearn import config_context

from skgraphkde import GraphKDEDetector, explanation, read_graphs
from skgraphkde._utils import blocks, compiled, elementwise, working_memory
from tests.conftest import with_data

GRAPHS = [with_data(nx.cycle_graph(n), {"temp": 1.0}) for n in range(5, 25)]
FITTED = GraphKDEDetector(schema="all").fit(GRAPHS)
NEW = with_data(nx.cycle_graph(9), {"temp": 1.0, "more": 1.0})


@pytest.mark.parametrize(
    "call",
    [
        lambda: GraphKDEDetector().fit(GRAPHS),
        lambda: GraphKDEDetector().fit_predict(GRAPHS),
        lambda: FITTED.predict([NEW]),
        lambda: FITTED.p_values([NEW]),
        lambda: explanation.results(FITTED, [NEW]),
        lambda: read_graphs([nx.path_graph(3), nx.DiGraph([(0, 1)])]),
    ],
)
def test_a_warning_points_to_the_line_that_called(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert caught
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize(
    ("mebibytes", "n_bytes", "n_blocks"),
    [(math.inf, 2**62, 1), (1e300, 2**62, 1), (1, 2**20, 3), (1e-9, 1, 5), (0, 1, 5), (-1, 1, 5)],
)
def test_any_working_memory(mebibytes, n_bytes, n_blocks):
    with config_context(working_memory=mebibytes):
        assert working_memory() == n_bytes
        assert len(blocks(np.full(5, 2.0**18))) == n_blocks


def test_loops_are_compiled_where_nothing_can_be_written(monkeypatch):
    """As numba finds it with a package and a home that are read-only."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compiled(lambda x: 2 * x)(2) == 4
    assert elementwise("int64(int64)")(lambda x: 2 * x)(np.arange(3)).tolist() == [0, 2, 4]
