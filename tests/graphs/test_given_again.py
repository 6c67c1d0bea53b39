"""Graphs that are given again, against isomorphism and binomial coefficients; who says so."""

import pickle
from math import comb

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import skgraphkde
from skgraphkde import GraphKDEDetector, Split, read_graphs
from skgraphkde.graphs.copies import LEVEL_KNOWN, KnownGraphs, kinds_of
from skgraphkde.monitoring import DriftMonitor
from tests.conftest import permuted, random_graphs, warned, with_data
from tests.detectors.test_base import EdgeCount
from tests.graphs.test_refinement import WEIGHTED, typed_graphs

AGAIN = r"graphs seem to be training graphs, which look normal"
WORLDS = [nx.connected_watts_strogatz_graph(20, 4, 0.1, seed=i) for i in range(170)]


@given(st.integers(0, 10**6), st.booleans())
def test_known_graphs_are_found_as_among_all_at_once(seed, directed):
    """The vocabularies of two batches differ, and so do the orders of nodes."""
    known = read_graphs(typed_graphs(12, seed, directed=directed), schema=WEIGHTED)
    others = read_graphs(typed_graphs(8, seed + 1, directed=directed), schema=WEIGHTED)
    few = KnownGraphs(known[:6], np.arange(6))
    of_known, of_others = kinds_of(known[:6], permuted(known, seed))
    assert few.contain(permuted(known, seed)).tolist() == np.isin(of_others, of_known).tolist()
    of_known, of_others = kinds_of(known[:6], others)
    assert few.contain(others).tolist() == np.isin(of_others, of_known).tolist()


def test_a_category_that_no_known_graph_has_makes_a_graph_new():
    # B is the first of its own vocabulary, as C is.
    known, new = (with_data(nx.path_graph(3), {"label": label}) for label in "CB")
    found = KnownGraphs(read_graphs([known] * 2), np.arange(2)).contain(read_graphs([new]))
    assert found.tolist() == [False]


def slow_chance(n_known, n_repeated, n_known_graphs, n):
    """At least so many repeated ones among n of all graphs, by counting the subsets."""
    total, repeated = n_known_graphs + n, n_repeated + n_known
    ways = [comb(repeated, k) * comb(total - repeated, n - k) for k in range(n_known, n + 1)]
    return sum(ways) / comb(total, n)


@pytest.mark.parametrize("n_copies", [0, 4, 40])
def test_chance_counts_subsets(n_copies):
    known = [nx.cycle_graph(i) for i in range(5, 65 - n_copies // 2)]
    known = [*known, *known[: n_copies // 2]]
    assert len(known) == 60
    graphs = KnownGraphs(read_graphs(known), np.arange(60))
    for n, k in ((1, 1), (2, 2), (3, 3), (9, 2), (9, 5), (20, 0), (20, 11), (20, 20)):
        chance = slow_chance(k, n_copies, 60, n)
        assert graphs.exceed_chance(k, n) == (chance < LEVEL_KNOWN)


# -- who says so -----------------------------------------------------------------------------------


@pytest.mark.parametrize("detector", [EdgeCount(), GraphKDEDetector(calibration=Split(0.3))])
@pytest.mark.parametrize(
    "method", ["score_samples", "decision_function", "predict", "p_values", "select"]
)
def test_each_judgement_says_that_training_graphs_are_given_again(detector, method):
    detector = detector.set_params(random_state=0).fit(WORLDS[:60])
    judge = getattr(detector, method)
    warned(rf"60 of 60 {AGAIN}", judge, WORLDS[:60])
    warned(rf"12 of 22 {AGAIN}", judge, WORLDS[60:70] + WORLDS[:12])
    judge(WORLDS[60:80])  # warnings are errors
    judge(WORLDS[:1])
    judge(WORLDS[59:99])  # one may come again


def test_who_was_fitted_counts_and_not_who_was_before(tmp_path):
    detector = GraphKDEDetector(random_state=0).fit(WORLDS[:40])
    warned(AGAIN, detector.predict, WORLDS[:9])
    detector.save(tmp_path / "model.skg")
    loaded = skgraphkde.load(tmp_path / "model.skg")
    for other in (loaded, pickle.loads(pickle.dumps(detector))):
        assert other._known_graphs is None  # of no file
        warned(AGAIN, other.predict, WORLDS[:9])
    detector.fit(WORLDS[60:100])
    detector.predict(WORLDS[:9])


def test_confirmed_anomalies_may_be_given_again():
    odd = [nx.barabasi_albert_graph(20, 2, seed=i) for i in range(6)]
    detector = GraphKDEDetector(random_state=0).fit(WORLDS[:40]).learn(odd, [-1] * 6)
    assert (detector.predict(odd) == -1).all()
    warned(rf"4 of 10 {AGAIN}", detector.predict, odd + WORLDS[:4])


def test_a_doubled_list_is_given_again():
    detector = warned("are copies of others", GraphKDEDetector(random_state=0).fit, WORLDS[:30] * 2)
    warned(rf"30 of 30 {AGAIN}", detector.predict, WORLDS[:30])


# -- drift -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [[], [1], range(1, 120), [7, 60, 61]])
def test_training_graphs_are_left_out_however_they_are_divided(cuts):
    """They sound no alarm, and change nothing for new graphs after them."""
    detector = GraphKDEDetector(random_state=0).fit(WORLDS[:100])
    stream = WORLDS[100:110] + WORLDS[:100] + WORLDS[110:120]
    parts = np.split(np.arange(120), list(cuts))
    monitor = DriftMonitor(detector, random_state=0)
    with pytest.warns(UserWarning, match="graphs seem to be training graphs: they are left out"):
        tables = [monitor.update([stream[i] for i in part]) for part in parts]
    table = pd.concat(tables)
    is_used = table["p_value"].notna().to_numpy()
    assert (monitor.alarms_, monitor.n_graphs_) == ([], 120)
    assert np.add.reduceat(is_used, [0, 10, 110]).tolist() == [10, 0, 10]
    assert (np.diff(table["statistic"])[9:109] == 0).all()
    alone = DriftMonitor(detector, random_state=0)
    expected = alone.update([x for x, used in zip(stream, is_used, strict=True) if used])
    for name in ("p_value", "statistic"):
        np.testing.assert_allclose(table.loc[is_used, name], expected[name])


def test_graphs_that_repeat_by_chance_are_not_left_out():
    small = random_graphs(300, labels="C", max_nodes=5)
    detector = GraphKDEDetector(random_state=0).fit(small[:100])
    table = DriftMonitor(detector, random_state=0).update(small[100:])
    assert detector.known_graphs.contain(read_graphs(small[100:])).mean() > 0.5
    assert table["p_value"].notna().all()
