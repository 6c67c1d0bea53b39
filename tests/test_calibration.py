import numpy as np
import pytest

from skgraphkde import read_graphs
from skgraphkde.calibration import offset, split_off
from tests.conftest import random_graphs


@pytest.mark.parametrize("contamination", [0.05, 0.1, 0.25, 0.5])
def test_offset_has_the_nominal_rate_on_new_scores(contamination):
    """Over many samples of 19 scores, a 20th falls below the threshold with the nominal rate."""
    rng = np.random.RandomState(0)
    scores = rng.standard_normal((20_000, 20))
    below = [s[-1] < offset(s[:-1], contamination, "loo") for s in scores]
    error = 1.96 * np.sqrt(contamination * (1 - contamination) / len(below))
    assert abs(np.mean(below) - contamination) < 2 * error


def test_offset_of_the_paper_is_the_percentile():
    scores = np.random.RandomState(0).standard_normal(37)
    assert offset(scores, 0.1, "train") == pytest.approx(np.percentile(scores, 10), abs=2e-9)


def test_a_tie_with_the_offset_is_no_anomaly():
    scores = np.full(30, -7.5)
    rounded = scores * (1 + 1e-13 * np.random.RandomState(0).standard_normal(30))
    assert (scores >= offset(rounded, 0.1, "loo")).all()


def test_split_off_takes_each_graph_once():
    graphs = read_graphs(random_graphs(40, labels="", n_attributes=1))
    calibration, training = split_off(graphs, 0.25, 0.1, np.random.RandomState(0))
    assert (len(calibration), len(training)) == (10, 30)
    both = np.concatenate([calibration.attributes, training.attributes])
    np.testing.assert_array_equal(np.sort(both, 0), np.sort(graphs.attributes, 0))


@pytest.mark.parametrize(("fraction", "contamination"), [(0.1, 0.1), (0.95, 0.1)])
def test_too_few_graphs_to_set_aside(fraction, contamination):
    graphs = read_graphs(random_graphs(20))
    with pytest.raises(
        ValueError, match=r"sets .* of 20 graphs aside, but .*needs at least 9, and 2"
    ):
        split_off(graphs, fraction, contamination, np.random.RandomState(0))
