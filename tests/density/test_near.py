"""Densities of which far references are left out, against those of all."""

import numpy as np
import pytest

from skgraphkde import MMD, GraphKDEDetector, Readout
from skgraphkde.density import near
from skgraphkde.density.kde import MultiBandwidthKDE as KDEModule
from skgraphkde.density.near import _add_wanted
from skgraphkde.distances import landmarks
from tests.conftest import random_graphs

GRAPHS, NEW = random_graphs(60, seed=0), random_graphs(20, seed=1)


def fitted(monkeypatch, points_from, **parameters):
    monkeypatch.setattr(landmarks, "POINTS_FROM", points_from)
    detector = GraphKDEDetector(random_state=0, **parameters).fit(GRAPHS)
    return detector, detector.density_.view_scores(detector.read(NEW))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"distance": MMD(gammas=(1, 10), estimator="unbiased"), "novelty": None},
        {"density": "likelihood_without_sizes"},
        {"references": "uniform"},
    ],
    ids=["defaults", "unbiased", "wide", "sampled"],
)
def test_densities_are_too_low_by_a_hundredth_at_most(parameters, monkeypatch):
    if "density" in parameters:
        parameters = {"density__bandwidths": "likelihood", "density__size_kernel": False}
        parameters = GraphKDEDetector().set_params(**parameters).get_params(deep=False)
        parameters.pop("random_state")
    masks, real = [], KDEModule.log_sums_of_pairs
    monkeypatch.setattr(
        KDEModule, "log_sums_of_pairs", lambda *x: masks.append(x[-1].numpy()) or real(*x)
    )
    expected, scores = fitted(monkeypatch, 10**9, **parameters)
    assert not masks
    detector, by_bounds = fitted(monkeypatch, 1, **parameters)
    assert len(masks) >= 4
    error, rounding = scores - by_bounds, 1e-5 * (1 + np.abs(scores))
    assert (error > -rounding).all()
    assert (error < near.TOLERANCE + rounding).all()
    widths = [x.density_.bandwidths for x in (detector, expected)]
    np.testing.assert_allclose(*widths, rtol=1e-5)
    rank = [np.argsort(x.calibration_scores_, kind="stable") for x in (detector, expected)]
    assert (rank[0] == rank[1]).mean() > 0.8
    if "density__bandwidths" not in parameters and "references" not in parameters:
        assert not (masks[-2] | masks[-1]).all()  # something was left out


def test_a_graph_alone_has_the_score_that_it_has_in_company(monkeypatch):
    detector, scores = fitted(monkeypatch, 1)
    alone = np.hstack([detector.density_.view_scores(detector.read([graph])) for graph in NEW])
    np.testing.assert_allclose(alone, scores, rtol=0, atol=1e-9)


def test_other_distances_have_no_bounds(monkeypatch):
    detector, _ = fitted(monkeypatch, 1, distance=(MMD(), Readout()))
    model = detector.density_._model
    assert not model.distances.has_bounds(detector.density_._references.measures)


def test_what_is_left_out_is_within_the_tolerance():
    rng = np.random.RandomState(0)
    upper = -30 * rng.rand(200, 500)
    best = upper.max(1) - rng.rand(200)  # of the exact terms: the bounds may be higher
    wanted = np.zeros(upper.shape, bool)
    _add_wanted(upper, best, 1e-3, wanted)
    missing = (np.exp(upper - best[:, None]) * ~wanted).sum(1)
    assert missing.max() <= 1e-3
    assert missing.max() > 1e-4  # and not much more is wanted than has to be
    assert wanted[upper >= best[:, None]].all()
    assert wanted.mean() < 0.8
