"""P-values are independent and uniform; the statistic is the sum over all gamblers; alarms."""

import copy
import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from online_fdr.p_values.batching.bh import BatchBH
from scipy.stats import beta, kstest
from sklearn.exceptions import NotFittedError

from skgraphkde import BaseGraphDetector, GraphKDEDetector
from skgraphkde.monitoring import DriftMonitor, OnlinePValues, OnlineSelection, ShiryaevRoberts

SHAPES = [(a, b) for a in (0.25, 0.5, 1, 2, 4) for b in (0.25, 0.5, 1, 2, 4) if (a, b) != (1, 1)]
P_VALUES = np.random.RandomState(0).rand(12) / np.repeat([1, 20], [7, 5])


def slow_statistic(p_values):
    """The capital of all gamblers, and when the most successful one of them began."""
    ends = np.array([0.001, 0.999])
    bets = []
    for a, b in SHAPES:
        bet = beta(a, b)
        mean = np.diff(bet.cdf(ends))[0] + 0.001 * bet.pdf(ends).sum()
        bets.append(bet.pdf(np.clip(p_values, *ends)) / mean)
    bets = np.array(bets)
    n = len(p_values)
    capital = [[bets[k, j:].prod() for j in range(n)] for k in range(len(bets))]
    return np.sum(capital) / len(bets), int(np.argmax(np.max(capital, axis=0)))


def test_the_statistic_is_the_sum_over_gamblers_and_beginnings():
    statistic, alarms = ShiryaevRoberts(1e9).update(P_VALUES)
    expected = [slow_statistic(P_VALUES[: n + 1])[0] for n in range(12)]
    np.testing.assert_allclose(statistic, expected, rtol=1e-9)
    assert alarms == []


def test_an_alarm_says_since_when_and_all_begins_anew():
    known = ShiryaevRoberts(1e9).update(P_VALUES)[0]
    at = int(np.argmax(known > 30))
    repeated = np.append(P_VALUES[: at + 1], P_VALUES)
    statistic, alarms = ShiryaevRoberts(30.0).update(repeated)
    assert alarms[0] == (at, slow_statistic(P_VALUES[: at + 1])[1])
    np.testing.assert_allclose(statistic[at + 1 : 2 * at + 2], known[: at + 1])
    assert alarms[1] == (2 * at + 1, at + 1 + alarms[0][1])


def test_false_alarms_are_as_few_as_promised():
    rng, threshold, n_steps = np.random.RandomState(0), 20.0, 200
    counts = [len(ShiryaevRoberts(threshold).update(rng.rand(n_steps))[1]) for _ in range(100)]
    promised = n_steps / threshold
    assert 0.2 * promised < np.mean(counts) < promised + 3 * np.std(counts) / 100**0.5


# -- p-values --------------------------------------------------------------------------------------


def slow_p_value(score, before, u):
    lower, equal = (before < score).sum(), (before == score).sum()
    return (lower + u * (1 + equal)) / (len(before) + 1)


@pytest.mark.parametrize("cuts", [[], [7], [1, 2, 12]])
def test_p_values_are_those_of_the_formula_however_scores_are_divided(cuts):
    rng = np.random.RandomState(0)
    scores = rng.randint(5, size=30).astype(float)
    ranks = OnlinePValues(scores[:10], 3)
    p_values = np.concatenate([ranks.rank(x) for x in np.split(scores[10:], cuts)])
    u = np.random.RandomState(np.random.RandomState(3).randint(2**31)).random_sample(20)
    expected = [slow_p_value(scores[10 + i], scores[: 10 + i], u[i]) for i in range(20)]
    np.testing.assert_allclose(p_values, expected)


def test_scores_that_rounding_tells_apart_are_equal():
    ranks = OnlinePValues(np.full(99, 1000.0), 0)
    p_values = ranks.rank(1000 + 1e-8 * np.arange(-40, 40))
    assert kstest(p_values, "uniform").pvalue > 0.01


def test_scores_of_copies_count_as_equal():
    """Against ranks among calibration scores in which those of the copies are replaced."""
    calibration = np.array([-3.0, -2.0, -1.0, -1.0, 0.5, 2.0])
    scores = np.array([-0.9, 0.0, -5.0])
    copies = [calibration[2:4], calibration[4:], calibration[:0]]
    actual = OnlinePValues(calibration, 0).rank(scores, copies)
    for i in range(3):
        before = np.where(np.isin(calibration, copies[i]), scores[i], calibration)
        expected = OnlinePValues(np.append(before, scores[:i]), 0)
        expected._random.random_sample(i)
        assert actual[i] == expected.rank(scores[i : i + 1])[0]


# -- the monitor -----------------------------------------------------------------------------------


def worlds(n_graphs, seed, n_nodes=12, p=0.1):
    rng = np.random.RandomState(seed)
    return [
        nx.watts_strogatz_graph(n_nodes + rng.randint(8), 4, p, seed=rng) for _ in range(n_graphs)
    ]


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector(random_state=0).fit(worlds(50, 0))


@pytest.fixture(scope="module")
def stream():
    return worlds(40, 1) + worlds(40, 2, n_nodes=15, p=0.6)


@pytest.fixture(scope="module")
def watched(detector, stream):
    monitor = DriftMonitor(detector, random_state=0)
    return monitor, monitor.update(stream)


def test_a_change_is_noticed(watched, detector, stream):
    monitor, table = watched
    assert (monitor.n_graphs_, monitor.threshold_) == (80, 1000)
    assert 40 <= monitor.alarms_[0].since <= monitor.alarms_[0].at <= 55
    np.testing.assert_allclose(table["score"], detector.score_samples(stream))
    assert np.flatnonzero(table["alarm"]).tolist() == [alarm.at for alarm in monitor.alarms_]
    assert np.isfinite(table.to_numpy(dtype=float)).all()


@pytest.mark.parametrize("cuts", [range(37, 48), [3, 50]])
def test_portions_and_pickling_make_no_difference(cuts, watched, detector, stream):
    expected, table = watched
    monitor, parts = DriftMonitor(detector, random_state=0), []
    for start, stop in zip([0, *cuts], [*cuts, 80], strict=True):
        parts.append(monitor.update(stream[start:stop]))
        monitor = pickle.loads(pickle.dumps(monitor))
    assert monitor.alarms_ == expected.alarms_
    pd.testing.assert_frame_equal(pd.concat(parts), table, check_index_type=False, rtol=1e-6)


def test_graphs_that_cannot_be_read_leave_a_monitor_as_it_was(watched, detector, stream):
    monitor = DriftMonitor(detector, random_state=0)
    monitor.update(stream[:30])
    with pytest.raises(TypeError):
        monitor.update([stream[30], "no graph"])
    pd.testing.assert_frame_equal(monitor.update(stream[30:]), watched[1][30:], rtol=1e-6)


@pytest.mark.parametrize("views", ["auto", "density"])
def test_a_source_that_repeats_a_graph_is_no_change(views):
    """A new copy has one copy more to be compared with than a training graph that is left out."""
    n_alarms, p_values, detector = 0, [], GraphKDEDetector(views=views)
    for seed in range(4):
        rng, [repeated, *others] = np.random.RandomState(seed), worlds(301, seed)
        drawn = [repeated if rng.rand() < 0.5 else x for x in others]
        monitor = DriftMonitor(detector.fit(drawn[:100]), random_state=seed)
        table = monitor.update(drawn[100:])
        n_alarms += len(monitor.alarms_)
        p_values += table["p_value"][[x is repeated for x in drawn[100:]]].tolist()
    assert n_alarms <= 1  # of 800 graphs; it was four or more
    np.testing.assert_allclose(np.mean(p_values), 0.75, atol=0.06)  # those above the median


def test_a_detector_may_be_fitted_again_meanwhile(watched, detector, stream):
    """The monitor goes on with the detector of its start."""
    living = copy.copy(detector)
    monitor = DriftMonitor(living, random_state=0)
    living.fit(worlds(30, 90))
    pd.testing.assert_frame_equal(monitor.update(stream), watched[1], rtol=1e-6)


# -- discoveries in a stream -----------------------------------------------------------------------


class PValues(BaseGraphDetector):
    """Scores are numbers of nodes, so that p-values are what a test wants."""

    def _fit_batch(self, graphs, rng):
        return self._score_batch(graphs)

    def _score_batch(self, graphs):
        return graphs.n_nodes_per_graph.astype(float)


def test_discoveries_in_a_stream_are_those_of_the_procedure():
    known = PValues().fit([nx.empty_graph(n) for n in range(10, 410)])
    selection = OnlineSelection(known, alpha=0.2)
    batches = [[nx.empty_graph(n) for n in sizes] for sizes in ([1, 2, 300], [5] * 9, [200] * 4)]
    expected = BatchBH(0.2)
    n = 0
    for batch in batches:
        table = selection.update(batch)
        p_values = known.p_values(batch)
        assert table["selected"].tolist() == expected.test_batch(p_values.tolist())
        np.testing.assert_array_equal(table["p_value"], p_values)
        assert table.index.tolist() == list(range(n, n + len(batch)))
        n += len(batch)
    assert selection.n_graphs_ == n
    assert selection.n_selected_ > 9


@pytest.mark.slow
def test_few_discoveries_are_false_over_a_long_stream():
    """The share of false discoveries in 30 streams of 40 batches, one graph in 20 of them odd."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(30):
        known = PValues().fit([nx.empty_graph(int(n)) for n in rng.integers(50, 250, 800)])
        selection = OnlineSelection(known, alpha=0.2)
        false = 0
        for _ in range(10):
            sizes = rng.integers(50, 250, 50)
            is_odd = rng.random(50) < 0.05
            sizes[is_odd] = 3
            found = selection.update([nx.empty_graph(int(n)) for n in sizes])["selected"]
            false += int((found & ~is_odd).sum())
        shares.append(false / max(selection.n_selected_, 1))
    assert np.mean(shares) < 0.2


def test_selection_needs_p_values(detector):
    for wrong, error in ((3, TypeError), (GraphKDEDetector(), NotFittedError)):
        with pytest.raises(error):
            OnlineSelection(wrong)
    train = GraphKDEDetector(calibration="train").fit([nx.cycle_graph(n) for n in range(5, 30)])
    with pytest.raises(ValueError, match="selection needs p-values"):
        OnlineSelection(train)
    with pytest.raises(ValueError, match=r"alpha == 0\.0, must be > 0"):
        OnlineSelection(detector, alpha=0.0)
