"""The window test: its descriptions, its p-values, and when it looks."""

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from skgraphkde import GraphKDEDetector, read_graphs
from skgraphkde.monitoring.window import WindowTest, mmd_p_value
from tests.conftest import random_graphs


def slow_mmd(X, Y, bandwidth):
    def mean(A, B):
        return np.mean([[np.exp(-np.sum((a - b) ** 2) / bandwidth) for b in B] for a in A])

    return mean(X, X) + mean(Y, Y) - 2 * mean(X, Y)


def test_p_values_are_shares_of_permutations():
    rng = np.random.RandomState(0)
    X, Y = rng.randn(4, 2) + 0.7, rng.randn(6, 2)
    Z, which = np.vstack([X, Y]), np.arange(10) < 4
    bandwidth = np.median(pdist(Z) ** 2)
    permuted = np.random.default_rng(5).permuted(np.tile(which, (60, 1)), axis=1)
    slow = np.array([slow_mmd(Z[x], Z[~x], bandwidth) for x in permuted])
    expected = (1 + (slow >= slow_mmd(X, Y, bandwidth) - 1e-12).sum()) / 61
    assert 1 / 61 < expected < 1
    assert mmd_p_value(X, Y, 60, np.random.default_rng(5)) == pytest.approx(expected)


def test_p_values_of_equal_distributions_are_uniform_and_of_others_small():
    rng, draws = np.random.default_rng(0), np.random.RandomState(0)
    equal = [mmd_p_value(draws.randn(15, 3), draws.randn(30, 3), 99, rng) for _ in range(300)]
    assert 0.05 < np.mean(np.array(equal) <= 0.1) < 0.15
    assert mmd_p_value(draws.randn(15, 3) + 2, draws.randn(30, 3), 1500, rng) == 1 / 1501
    assert mmd_p_value(np.ones((5, 2)), np.ones((9, 2)), 99, rng) == 1


@pytest.fixture(scope="module")
def model():
    return GraphKDEDetector(random_state=0).fit(random_graphs(30)).model_


def test_a_graph_is_described_by_its_distances_from_landmarks(model):
    test = WindowTest(model, 20, 0.001, seed=0)
    graphs = read_graphs(random_graphs(5, seed=1), schema=model.references.schema)
    rows = test.describe(graphs)
    assert rows.shape == (5, 2 * (30 // 4))
    order = np.random.default_rng(0).permutation(30)
    landmarks, known = np.sort(order[:7]), np.sort(order[7:])
    for view in range(2):
        of_view = model.distances(model.references[known], view=view)[:, landmarks]
        expected = model.distances(graphs, view=view)[:, landmarks] / np.median(of_view)
        # A graph may be a landmark: a square of 0 is off by 1e-14 at most, its root by 1e-7.
        np.testing.assert_allclose(rows[:, 7 * view :][:, :7], expected, rtol=1e-6, atol=1e-6)


def test_tests_are_due_four_times_per_window(model):
    test = WindowTest(model, 20, 0.04, seed=0)
    assert test.level == pytest.approx(5 * 0.04)
    draws = np.random.RandomState(0)
    rows = np.vstack([test._known[draws.choice(23, 30)], draws.rand(35, 14) + 0.5])
    p_values, alarms = test.update(rows, 0)
    (first, since), (second, _) = alarms
    assert (since, second) == (first - 19, first + 20)  # and no test before the window is full
    due = [*range(20, first + 2, 5), *range(second + 1, 66, 20)]
    expected = [
        mmd_p_value(rows[n - 20 : n], test._known, 199, np.random.default_rng([0, n])) for n in due
    ]
    assert p_values[np.array(due) - 1].tolist() == expected
    assert np.flatnonzero(np.diff(p_values, prepend=1)).tolist() == [n - 1 for n in due]
    assert [p <= test.level for p in expected] == [n - 1 in (first, second) for n in due]
    np.testing.assert_array_equal(test.rows, rows[second + 1 :])


@pytest.mark.parametrize(
    ("n_graphs", "window", "rate", "message"),
    [
        (30, 20, 1e-6, "window=20 is too short .* take at least 400, or None"),
        (30, 800, 0.005, "window=800 is too long .* take from 20 to 799, or None"),
        (30, 80, 0.05, "window=80 is too long .* take from 20 to 79, or None"),
        (7, 20, 1e-3, "7 references are too few"),
    ],
)
def test_what_cannot_be_tested(n_graphs, window, rate, message, model):
    few = GraphKDEDetector(contamination=0.3).fit(random_graphs(n_graphs)).model_
    with pytest.raises(ValueError, match=message):
        WindowTest(few, window, rate, seed=0)
