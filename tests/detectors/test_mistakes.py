"""What a user gets wrong, and what is said: detectors of one's own, parameters, classes."""

import networkx as nx
import numpy as np
import pytest
from scipy.spatial.distance import cdist
from skgraphkde.persistence.registry import _classes

from skgraphkde import (
    BaseGraphDetector,
    Density,
    Distance,
    FittedDistance,
    GraphKDEDetector,
    load,
)
from skgraphkde.distances.measures import pooled
from tests.conftest import densities


class Broken(BaseGraphDetector):
    """Returns whatever `scores` is, and one score for any number of new graphs."""

    scores = np.zeros(12)

    def _fit_batch(self, graphs, rng):
        return self.scores

    def _score_batch(self, graphs):
        return np.zeros(1)


@pytest.mark.parametrize("scores", [None, np.zeros(3), 0.0, np.zeros((12, 1))])
def test_wrong_scores_of_the_training_graphs_are_refused(graphs, scores):
    detector = Broken()
    detector.scores = scores
    with pytest.raises(ValueError, match=r"Broken\._fit_batch must return the scores of the 12"):
        detector.fit(graphs)


def test_wrong_scores_of_new_graphs_are_refused(graphs):
    detector = Broken().fit(graphs)
    with pytest.raises(ValueError, match=r"Broken\._score_batch must return one score for each"):
        detector.predict(graphs)


@pytest.mark.parametrize("alpha", ["x", 0, 1.1, None])
def test_alpha_is_checked_before_anything_is_scored(alpha):
    with pytest.raises(ValueError, match=r"alpha must be in \(0, 1\]"):
        GraphKDEDetector().select([], alpha)


def test_p_values_go_by_what_was_fitted(graphs, tmp_path):
    """Set after the fit, the parameter would make p-values of scores that contain the graph."""
    detector = GraphKDEDetector(calibration="train").fit(graphs).set_params(calibration="loo")
    detector.save(tmp_path / "a.skg")
    for fitted in (detector, load(tmp_path / "a.skg")):
        with pytest.raises(ValueError, match="in its own reference set"):
            fitted.p_values(graphs)
    detector = GraphKDEDetector().fit(graphs).set_params(calibration="train")
    assert detector.p_values(graphs).min() > 0


class FittedPower(FittedDistance):
    """Constants with defaults, and no state."""

    def __init__(self, power=1.0):
        self.power = power

    def squared(self, P, Q=None):
        return cdist(pooled(P, "mean"), pooled(P if Q is None else Q, "mean")) ** self.power


class Power(Distance):
    def build(self, dim, n_points, rng):
        return FittedPower(3.0)


def test_state_that_a_file_would_lack_is_no_file(graphs, monkeypatch, tmp_path):
    for cls in (FittedPower, Power):
        monkeypatch.setitem(_classes, cls.__name__, cls)
    detector = GraphKDEDetector(views=(Density(Power()), "novelty")).fit(graphs)
    with pytest.raises(
        ValueError, match="FittedPower has the constants power, which a file would not contain"
    ):
        detector.save(tmp_path / "a.skg")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("views", ["density", densities()], ids=["one", "two"])
def test_the_correction_does_not_depend_on_rounding(views):
    """All distances to the nearest neighbor are 0, and the order of graphs decides its sign."""
    graphs = [nx.complete_graph(n) for n in range(3, 40)]
    graphs += [nx.cycle_graph(n) for n in range(3, 40)]
    detector = GraphKDEDetector(features="given", views=views)
    corrections = {
        tuple(view.distance_.correction for view in detector.fit(x).model_.views[:2])
        for x in (graphs, graphs[::-1])
    }
    assert len(corrections) == 1
