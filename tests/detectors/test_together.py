"""Lists that are judged as lists: weights against loops, symmetry, closed tests of all subsets."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, norm

from skgraphkde import BaseGraphDetector, Density, GraphKDEDetector, Split
from skgraphkde.core.scoring.calibration import conformal_p_values
from skgraphkde.detectors.together import least_number_odd, scores_together


def log_p_values(n_views, n_calibration, n_judged, seed):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 1.5, (n_views, 1))
    found = -rng.exponential(1.5, (n_views, n_calibration + n_judged)) * weights
    return weights, found[:, :n_calibration], found[:, n_calibration:]


@given(st.integers(1, 4), st.integers(2, 6), st.integers(1, 6), st.integers(0, 10_000))
def test_scores_are_those_of_loops(n_views, n_calibration, n_judged, seed):
    weights, calibration, judged = log_p_values(n_views, n_calibration, n_judged, seed)
    together = np.hstack([calibration, judged])
    n = n_calibration + n_judged
    expected = []
    for i in range(n):
        factors = []
        for v in range(n_views):
            others = [min(-together[v, j] / weights[v, 0], 10) for j in range(n) if j != i]
            factors.append(1 + max((sum(others) - len(others)) / n_judged, 0))
        mean = sum(factors) / n_views
        expected.append(sum(f / mean * together[v, i] for v, f in enumerate(factors)))
    found = scores_together(calibration, judged, weights, weights)
    assert np.concatenate(found) == pytest.approx(np.array(expected))


@given(st.integers(0, 10_000))
def test_graphs_of_both_kinds_are_scored_by_one_rule(seed):
    """Exchanged between calibration and list, each graph keeps its score: p-values stay valid."""
    weights, calibration, judged = log_p_values(3, 8, 5, seed)
    together = np.hstack([calibration, judged])
    order = np.random.default_rng(seed).permutation(13)
    before = np.concatenate(scores_together(calibration, judged, weights, weights))
    after = scores_together(together[:, order[:8]], together[:, order[8:]], weights, weights)
    assert np.concatenate(after) == pytest.approx(before[order])


def test_surprises_are_those_of_the_weights_of_each_graph():
    """Weights that were learned from verdicts differ from one calibration graph to the next."""
    weights, calibration, judged = log_p_values(2, 4, 3, 0)
    of_each = weights * np.random.default_rng(1).uniform(0.5, 2, (2, 4))
    known, scores = scores_together(calibration / weights * of_each, judged, of_each, weights)
    plain, expected = scores_together(calibration, judged, weights, weights)
    assert scores == pytest.approx(expected)  # no surprise has changed
    assert known != pytest.approx(plain)


def test_a_list_is_judged_after_verdicts_by_the_weights_of_each_graph(monkeypatch):
    seen = []
    monkeypatch.setattr(
        "skgraphkde.detectors.estimator.scores_together",
        lambda *args: seen.append(args) or scores_together(*args),
    )
    detector = GraphKDEDetector(random_state=0).fit(networks(30, 0))
    detector.learn(networks(3, 5, rewired=0.9), [-1] * 3)
    detector.p_values(networks(10, 1), adapt=True)
    calibration, _, of_calibration, weights = seen[0]
    learned = detector.model_.learned_weights
    assert of_calibration.tolist() == learned.training.tolist()
    assert weights[:, 0].tolist() == learned.views.tolist()
    p_values = calibration / of_calibration  # log p-values of ranks among 30
    of_views = np.array([x.leave_one_out() for x in detector.model_.log_p_values])
    assert p_values == pytest.approx(of_views)


@given(st.integers(1, 7), st.integers(0, 10_000))
def test_closed_testing_is_that_of_all_subsets(m, seed):
    """At least as many are odd as are outside of the largest subset that may be normal."""
    rng = np.random.default_rng(seed)
    calibration = rng.integers(0, 20, 30).astype(float)  # with ties
    scores = rng.integers(-10, 20, m).astype(float)
    largest = 0
    for size in range(1, m + 1):
        for subset in combinations(scores, size):
            found = mannwhitneyu(subset, calibration, alternative="less", method="asymptotic")
            variance = 30 * size * (31 + size) / 12  # without the correction for ties
            z = (found.statistic - 30 * size / 2 + 0.5) / np.sqrt(variance)
            largest = size if norm.cdf(z) > 0.05 else largest
    assert least_number_odd(scores, calibration, 0.05) == m - largest


@pytest.mark.slow
def test_a_normal_list_has_no_odd_graph_but_in_one_of_twenty():
    rng = np.random.default_rng(0)
    draws = [rng.normal(size=120) for _ in range(2000)]
    found = np.mean([least_number_odd(x[:40], x[40:], 0.05) > 0 for x in draws])
    assert found < 0.065  # but in one of a thousand


def networks(n_graphs, seed, rewired=0.1):
    rng = np.random.RandomState(seed)
    return [nx.connected_watts_strogatz_graph(12 + rng.randint(5), 4, rewired, seed=rng)
            for _ in range(n_graphs)]  # fmt: skip


@pytest.mark.parametrize("calibration", ["loo", Split(0.5)])
def test_a_list_is_judged_by_the_views_in_which_it_is_odd(calibration):
    detector = GraphKDEDetector(calibration=calibration, random_state=0).fit(networks(60, 0))
    graphs = [*networks(20, 1), *networks(20, 2, rewired=0.9)]
    p_values = detector.p_values(graphs, adapt=True)
    model = detector.model_
    of_list = model.as_log_p_values(model.view_scores(detector.read(graphs)))
    if calibration == "loo":
        of_known = model.leave_one_out_log_p_values()
    else:
        held_out = detector.training_graphs_[detector.calibration_graphs_]
        of_known = model.as_log_p_values(model.view_scores(held_out))
    weights = model.view_weights[:, np.newaxis]
    known, scores = scores_together(of_known, of_list, weights, weights)
    assert p_values.tolist() == conformal_p_values(scores, known).tolist()
    assert len(known) == len(detector.calibration_scores_)
    selected = detector.select(graphs, 0.2, adapt=True)
    assert selected[20:].sum() > 5 >= selected[:20].sum()
    assert 5 < detector.count_odd(graphs, adapt=True) <= 24
    assert detector.count_odd(networks(20, 3)) == detector.count_odd([]) == 0
    assert detector.p_values([], adapt=True).shape == detector.select([], adapt=True).shape == (0,)


def test_one_view_has_nothing_to_choose():
    detector = GraphKDEDetector(views=(Density(),)).fit(networks(20, 0))
    graphs = networks(5, 1)
    assert detector.p_values(graphs, adapt=True).tolist() == detector.p_values(graphs).tolist()


class Sizes(BaseGraphDetector):
    """Scores of sizes."""

    def _fit_batch(self, batch, rng):
        return -abs(batch.n_nodes_per_graph - 14.0)

    def _score_batch(self, batch):
        return -abs(batch.n_nodes_per_graph - 14.0)


def test_what_cannot_be_judged_together_is_an_error():
    detector = Sizes().fit(networks(20, 0))
    with pytest.raises(ValueError, match="Sizes has no views, among which a list could choose"):
        detector.select(networks(5, 1), adapt=True)
    for confidence in (0, 1):
        with pytest.raises(ValueError, match="confidence"):
            detector.count_odd(networks(5, 1), confidence)
    trained = GraphKDEDetector(calibration="train").fit(networks(20, 0))
    with pytest.raises(ValueError, match="calibration='train'"):
        trained.p_values(networks(5, 1), adapt=True)


def test_a_parameter_that_is_set_counts_from_the_next_fit_on():
    detector = GraphKDEDetector(random_state=0).fit(networks(40, 0))
    before = detector.p_values(networks(20, 1), adapt=True)
    detector.set_params(calibration=Split(0.3))
    assert detector.p_values(networks(20, 1), adapt=True).tolist() == before.tolist()
