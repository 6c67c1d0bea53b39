"""Winsorizing, against quartiles of NumPy; and views whose scales follow no far outlier."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.explanation import results
from skgraphkde.views.winsorizing import winsorized


def winsorized_slow(column, kinds):
    """The fences of each kind, one after the other."""
    clipped = column.copy()
    for kind in np.unique(kinds):
        values = column[(kinds == kind) & ~np.isnan(column)]
        if not len(values):
            continue
        low = np.quantile(values, 0.25, method="lower")
        high = np.quantile(values, 0.75, method="higher")
        if high > low:
            fence = low - 10 * (high - low), high + 10 * (high - low)
            clipped[kinds == kind] = np.clip(column[kinds == kind], *fence)
    return clipped


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 4))
def test_each_kind_has_its_own_fences(seed, n, n_kinds):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(n_kinds, size=n)
    table = rng.choice([1.0, 2.0, 3.0, 40.0, -900.0, np.nan], (n, 2), p=[0.3, 0.2, 0.2, *[0.1] * 3])
    expected = np.column_stack([winsorized_slow(column, kinds) for column in table.T])
    np.testing.assert_array_equal(winsorized(table, kinds), expected)


def test_no_rows():
    assert winsorized(np.zeros((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("of", ["graph", "node"])
def test_extreme_numbers_do_not_mask_each_other(of):
    """95,000 where the others are in the thousands, beside 9,000,000."""
    rng, graphs = np.random.default_rng(0), []
    for k in range(40):
        graph = nx.gnp_random_graph(int(rng.integers(6, 12)), 0.35, seed=k)
        graph.graph["amount"] = float(rng.uniform(1231, 4165))
        nx.set_node_attributes(graph, {v: float(rng.uniform(5, 50)) for v in graph}, "hours")
        graphs.append(graph)
    for graph, factor in ((graphs[3], 1), (graphs[8], 100)):
        if of == "graph":
            graph.graph["amount"] = 95_000.0 * factor
        else:
            graph.nodes[0]["hours"] = 1_100.0 * factor
    schema = GraphSchema(node_numbers="hours", graph_numbers="amount")
    found = results(GraphKDEDetector(schema=schema).fit(graphs))
    assert set(found["score"].nsmallest(2).index) == {3, 8}
