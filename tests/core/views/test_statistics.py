"""Statistics of whole graphs, against networkx and nearest neighbors written out."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, GraphSchema, Statistics, read_graphs
from skgraphkde.core.views.rows import MOST_FOLDS, Whitening, folds, winsorized
from skgraphkde.explanation.of_statistics import name_statistic, say_statistic
from tests.conftest import random_graphs, with_data
from tests.core.graphs.common import typed_graphs
from tests.core.views.common import context_of, fit, scores_of


def table(graphs, **options):
    batch = read_graphs(graphs, **options)
    view = fit(Statistics(), batch)
    words = batch.schema.words
    names = [name_statistic(key, words, view.vocabulary_) for key in view.keys_]
    return dict(zip(names, view.table_.T, strict=True))


def structure_slow(graph):
    n, m, degrees = len(graph), graph.number_of_edges(), [d for _, d in graph.degree]
    n_components = nx.number_connected_components(graph)
    return {
        "nodes": np.log(n),
        "edges": np.log1p(m),
        "pairs of nodes that are linked": nx.density(graph),
        "average number of links at one node": np.mean(degrees),
        "typical deviation of numbers of links at one node from their average": np.std(degrees),
        "most links at one node": np.log1p(max(degrees)),
        "pairs of nodes linked to a common third that are also linked to each other": (
            nx.transitivity(graph)
        ),
        "parts with no edges between them": np.log(n_components),
        "edges beyond those needed to connect the nodes": np.log1p(m - n + n_components),
        "nodes linked to no other": np.mean([d == 0 for d in degrees]),
        "nodes linked to only one other": np.mean([d == 1 for d in degrees]),
        "nodes linked to two others": np.mean([d == 2 for d in degrees]),
    }


@given(st.integers(0, 10**6))
def test_structure_is_that_of_networkx(seed):
    graphs = random_graphs(8, seed, max_nodes=14)
    found, expected = table(graphs), [structure_slow(graph) for graph in graphs]
    for name in expected[0]:
        np.testing.assert_allclose(found[name], [x[name] for x in expected], atol=1e-7)
    for label in "CNO":
        of_graphs = [list(dict(graph.nodes(data="label")).values()) for graph in graphs]
        shares = [labels.count(label) / len(labels) for labels in of_graphs]
        if any(shares):
            np.testing.assert_allclose(found[f"nodes ({label})"], shares)


def test_directions_categories_and_numbers():
    graphs, rng = typed_graphs(6), np.random.RandomState(0)
    found = table(graphs)
    for i, graph in enumerate(graphs):
        kinds = [kind for *_, kind in graph.edges(data="label")]
        for kind in set(kinds):
            share = kinds.count(kind) / len(kinds)
            assert found[f"edges ('{kind}')"][i] == pytest.approx(share)
        with_data(graph, {"temp": lambda v: rng.choice([None, rng.normal(20, 3)]) if v else 20.0})
    found = table(graphs, schema=GraphSchema(node_numbers="temp", missing="indicate"))
    given_ = [[x for _, x in graph.nodes(data="temp") if x is not None] for graph in graphs]
    np.testing.assert_allclose(found["average temp of nodes"], [*map(np.mean, given_)])
    np.testing.assert_allclose(
        found["typical deviation of temp of nodes from its average"], [*map(np.std, given_)]
    )


IN_PARTS = {v: [] for v in range(11)} | {1: [2, 3], 2: [3], 3: [4, 5, 6], 7: [8], 9: [10]}


@pytest.mark.parametrize(
    ("ways", "usual", "expected"),
    [
        (IN_PARTS, 9.0, {"most links at one node: 5": (3,)}),
        (
            IN_PARTS,
            0.0,
            {
                "most links at one node: 5": (3,),
                "1 triangle: 25% of the pairs of nodes linked to a common third are also linked to "
                "each other": ((1, 2), (1, 3), (2, 3)),
                "4 parts with no edges between them": (0, 7, 9, 8, 10),
                "1 of 11 nodes linked to no other (9%)": (0,),
                "7 of 11 nodes linked to only one other (64%)": (4, 5, 6, 7, 8),
                "2 of 11 nodes linked to two others (18%)": (1, 2),
                "3 of 11 nodes with outgoing edges only (27%)": (1, 7, 9),
                "5 of 11 nodes with incoming edges only (45%)": (4, 5, 6, 8, 10),
            },
        ),
        (  # equal parts
            {0: [1], 1: [0], 2: [3], 3: [2]},
            0.5,
            {
                "most links at one node: 1": (0, 1, 2, 3),
                "2 parts with no edges between them": (2, 3),
                "4 of 4 nodes linked to only one other (100%)": (0, 1, 2, 3),
            },
        ),
    ],
)
def test_what_is_more_than_usual_in_the_structure_is_about_nodes(ways, usual, expected):
    graph = read_graphs([nx.DiGraph(ways)])
    view, context, known = fit(Statistics(), graph), context_of(graph), np.full(5, usual)
    reasons = [
        say_statistic(graph, unusual, known, context)
        for unusual in view.properties(graph, np.array([-1]), np.zeros(1), context)
    ]
    assert {x.statement: x.edges or x.nodes for x in reasons if x.nodes} == expected


def far_outliers_slow(column):
    """Ten interquartile ranges from the quartiles; everything, if one half is a single number."""
    low = np.quantile(column, 0.25, method="lower")
    high = np.quantile(column, 0.75, method="higher")
    reach = 10 * (high - low) if high > low else np.inf
    return np.array([low - reach, high + reach])


@pytest.mark.parametrize("n_neighbors", [1, 3])
@given(st.integers(0, 10**6))
def test_scores_equal_the_definition(n_neighbors, seed):
    far = with_data(nx.star_graph(90), {"label": "C"})
    references, batch = read_graphs([*random_graphs(11, seed), far]), random_graphs(5, seed + 1)
    view, batch = fit(Statistics(n_neighbors), references), read_graphs(batch)
    for own in (*range(12), -1):  # what is learned of the others alone; of all, for new graphs
        others = np.delete(view.table_, own, axis=0) if own >= 0 else view.table_
        n, n_columns = others.shape
        usual = np.clip(others, *np.apply_along_axis(far_outliers_slow, 0, others))
        scales = np.sqrt(usual.var(axis=0) + view.steps_**2 / n)
        mean = usual.mean(axis=0)
        known, usual = ((x - mean) / scales for x in (others, usual))
        inverse = np.linalg.inv(usual.T @ usual / n + (0.1 + n_columns / n) * np.eye(n_columns))
        graphs = references[own] if own >= 0 else batch
        expected = []
        for row in (view.table(context_of(graphs)) - mean) / scales:
            D = np.sqrt([(row - x) @ inverse @ (row - x) for x in known])
            expected.append(-np.sort(D)[:n_neighbors].mean())
        scores = scores_of(view, graphs, np.full(len(graphs), own))
        np.testing.assert_allclose(scores, expected, atol=1e-6)


def constant_within(n_graphs, seed, noise=0.0, unit=1.0):
    """Graphs whose nodes have one number, or nearly so."""
    rng, graphs = np.random.RandomState(seed), random_graphs(n_graphs, seed, labels="")
    for graph in graphs:
        values = unit * rng.normal(20, 3) * (1 + noise * rng.normal(size=len(graph)))
        with_data(graph, {"t": values.tolist()})
    return graphs


@pytest.mark.parametrize("unit", [1.0, 3.7, 1e-9])
def test_rounding_within_a_graph_is_no_evidence(unit):
    """Of numbers that are equal within each graph, in whatever units."""
    detector = GraphKDEDetector(schema=GraphSchema(node_numbers="t"))
    expected = detector.fit(constant_within(60, 0)).score_samples(constant_within(20, 1))
    for known in (0, 1e-12):
        detector.fit(constant_within(60, 0, noise=known, unit=unit))
        for noise in (0, 1e-15, 1e-9):
            new = constant_within(20, 1, noise=noise, unit=unit)
            np.testing.assert_allclose(detector.score_samples(new), expected, atol=0.05)


@pytest.mark.parametrize("unit", [1.0, 1e-9])
@pytest.mark.parametrize("part", ["node", "edge", "graph"])
def test_units_of_a_number_that_never_varies_do_not_matter(part, unit):
    def graphs(value):
        data = {f"{part}s": {"t": value}} if part != "graph" else {"t": value}
        return [with_data(nx.cycle_graph(n), **data) for n in range(5, 45)]

    detector = GraphKDEDetector(schema=GraphSchema(**{f"{part}_numbers": "t"}))
    assert (detector.fit(graphs(unit)).predict(graphs(1.1 * unit)[:3]) == -1).all()


@given(st.integers(0, 10**6), st.integers(1, 40), st.integers(1, 4))
def test_numbers_of_each_kind_have_their_own_fences(seed, n, n_kinds):
    rng = np.random.default_rng(seed)
    kinds = rng.integers(n_kinds, size=n)
    values = [1.0, 2.0, 3.0, 40.0, -900.0, np.nan]
    table = rng.choice(values, (n, 2), p=[0.3, 0.2, 0.2, 0.1, 0.1, 0.1])
    expected = table.copy()
    for j, kind in np.ndindex(2, n_kinds):
        column = table[kinds == kind, j]
        if not np.isnan(column).all():
            fences = far_outliers_slow(column[~np.isnan(column)])
            expected[kinds == kind, j] = np.clip(column, *fences)
    np.testing.assert_array_equal(winsorized(table, kinds), expected)


# -- rows of a table -------------------------------------------------------------------------------


def rows_of(seed, n=50, n_columns=4):
    return np.random.default_rng(seed).standard_normal((n, n_columns))


@given(st.integers(0, 2**32 - 1), st.sampled_from([2, 5, 20, 47]))
def test_folds_are_of_equal_sizes_whatever_the_order_and_the_last_digits(seed, n):
    rows, rng = rows_of(seed, n), np.random.default_rng(seed)
    fold, left_out = folds(rows)
    sizes = np.bincount(fold)
    assert len(sizes) == min(n, MOST_FOLDS)
    assert np.ptp(sizes) <= 1
    np.testing.assert_array_equal(left_out, fold)
    order = rng.permutation(n)
    for changed in (rows[order], rows[order][:, rng.permutation(4)], rows[order] + 1e-12):
        np.testing.assert_array_equal(folds(changed), (fold[order], fold[order]))


def test_copies_leave_out_the_same_fold():
    rows = rows_of(1)
    fold, left_out = folds(np.vstack([rows, rows[:10], rows[:5] + 1e-9]))
    assert (left_out[50:60] == left_out[:10]).all()
    assert (left_out[60:] == left_out[:5]).all()
    assert (fold[50:60] != fold[:10]).all()  # a copy is known, as it is for a new graph


@pytest.mark.parametrize("shape", [(40, 5), (5, 5), (4, 30), (0, 3)])
def test_whitening_is_the_root_of_the_inverse_covariance(shape):
    rng = np.random.default_rng(3)
    rows = rng.standard_normal(shape) @ rng.standard_normal((shape[1], shape[1]))
    rows -= rows.mean(axis=0) if len(rows) else 0
    whiten, identity = Whitening(rows, 0.1), np.eye(shape[1])
    covariance = rows.T @ rows / max(len(rows), 1) + 0.1 * identity
    W = whiten(identity)
    np.testing.assert_allclose(W.T @ covariance @ W, identity, atol=1e-9)
    assert whiten.norm == pytest.approx(np.linalg.norm(W, 2))
