"""Densities of which far references are left out, against those of all."""

import numpy as np
import pytest
import torch

from skgraphkde import KDE, MMD, Density, GraphKDEDetector, Propagation
from skgraphkde.density import near
from skgraphkde.density.kde import MultiBandwidthKDE as KDEModule
from skgraphkde.density.near import _add_wanted
from skgraphkde.distances import landmarks
from tests.conftest import densities, random_graphs

GRAPHS, NEW = random_graphs(60, seed=0), random_graphs(20, seed=1)


def fitted(monkeypatch, points_from, **parameters):
    monkeypatch.setattr(landmarks, "MIN_POINTS", points_from)
    monkeypatch.setattr(landmarks, "MIN_REFERENCES", 1)
    detector = GraphKDEDetector(random_state=0, **parameters).fit(GRAPHS)
    return detector, detector.model_.view_scores(detector.read(NEW))


@pytest.mark.parametrize(
    ("parameters", "leaves_out"),
    [
        ({}, True),
        ({"views": Density(MMD(gammas=(1, 10), estimator="unbiased"))}, True),
        ({"views": densities(kernels=KDE(bandwidths=(0.01, 0.5), size_kernel=False))}, False),
        ({"references": "uniform"}, False),
    ],
    ids=["defaults", "unbiased", "wide", "sampled"],
)
def test_densities_are_too_low_by_a_hundredth_at_most(parameters, leaves_out, monkeypatch):
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
    assert (error < near.MAX_MISSING_SHARE + rounding).all()
    widths = [x.model_.bandwidths for x in (detector, expected)]
    np.testing.assert_allclose(*widths, rtol=1e-5)
    rank = [np.argsort(x.calibration_scores_, kind="stable") for x in (detector, expected)]
    assert (rank[0] == rank[1]).mean() > 0.8
    if leaves_out:
        assert not (masks[-2] | masks[-1]).all()


def test_single_precision_changes_no_density_by_more_than_promised(monkeypatch):
    def singles(n, spread, seed):
        rng = np.random.default_rng(seed)
        x = rng.choice([-1, 1], n) + spread * rng.standard_normal(n)
        return [(np.zeros((1, 1)), np.array([[value]])) for value in x]

    def log_densities(method):
        mmd = MMD(gammas=(9000.0,), estimator="biased", method=method)
        kde = KDE(bandwidths=[0.007])
        detector = GraphKDEDetector(features="given", views=Density(mmd, kde))
        return detector.fit(singles(600, 0.1, 0)).score_samples(singles(100, 0.15, 1))

    monkeypatch.setattr(landmarks, "MIN_POINTS", 1)
    near_ones, all_of_them = log_densities("auto"), log_densities("exact")
    np.testing.assert_allclose(
        near_ones, all_of_them, rtol=0, atol=near.MAX_MISSING_SHARE + near.LOG_DENSITY_TOL
    )


def alone(detector):
    return np.hstack([detector.model_.view_scores(detector.read([graph])) for graph in NEW])


def test_a_graph_alone_has_the_score_that_it_has_in_company(monkeypatch):
    detector, scores = fitted(monkeypatch, 1)
    # The company may decide the last digit of a point, and so to which number of single precision
    # it is rounded. Squared distances of size 1 are off by four such roundings then, and bandwidths
    # make a log density of them: d^2 / 2h^2.
    single = 4 * np.finfo(np.float32).eps / (2 * detector.model_.bandwidths.min() ** 2)
    assert single < near.LOG_DENSITY_TOL / 10
    np.testing.assert_allclose(alone(detector), scores, rtol=0, atol=single)


def test_a_graph_alone_has_the_same_score_to_the_last_digits_if_all_is_exact(monkeypatch):
    exact = MMD(estimator="biased", method="exact"), MMD(gammas=(1.0,), method="exact")
    detector, scores = fitted(monkeypatch, 1, views=(*densities(*exact), "novelty"))
    np.testing.assert_allclose(alone(detector), scores, rtol=0, atol=1e-9)


def test_other_distances_have_no_bounds(monkeypatch):
    detector, _ = fitted(monkeypatch, 1, views=densities("mmd", "mean"))
    density = detector.model_._density
    assert not density.distances.has_bounds(detector.model_._references.measures)


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


def one_node_graphs(n, seed):
    rng = np.random.RandomState(seed)
    return [{"edges": [], "num_nodes": 1, "x": rng.standard_normal((1, 2))} for _ in range(n)]


@pytest.mark.parametrize("bandwidths", ["nearest", [1e-4], [1e-3, 1.0]])
def test_short_bandwidths_take_double_precision(bandwidths, monkeypatch):
    monkeypatch.setattr(landmarks, "MIN_POINTS", 1)
    monkeypatch.setattr(landmarks, "MIN_REFERENCES", 1)
    graphs, new = one_node_graphs(200, 0), one_node_graphs(30, 1)
    scores = []
    for method in ("auto", "exact"):
        detector = GraphKDEDetector(
            features="given",
            encoder=Propagation(n_layers=0),
            views=Density(
                MMD(estimator="biased", method=method),
                KDE(bandwidths=bandwidths, size_kernel=False),
            ),
            random_state=0,
        ).fit(graphs)
        of_both = detector.model_.view_scores(detector.read(new))
        scores.append(np.append(of_both, detector.calibration_scores_))
    error, rounding = scores[1] - scores[0], 1e-9 * np.abs(scores[0])
    assert (error > -near.MAX_MISSING_SHARE - rounding).all()
    assert (error < 2 * near.MAX_MISSING_SHARE + rounding).all()


def test_negative_squares_take_double_precision(monkeypatch):
    """There the shortest bandwidth counts most, however wide the widest is."""
    scores = []
    monkeypatch.setattr(landmarks, "MIN_POINTS", 1)
    monkeypatch.setattr(landmarks, "MIN_REFERENCES", 1)
    for method in ("auto", "exact"):
        detector = GraphKDEDetector(
            views=Density(MMD(estimator="unbiased", method=method), KDE(bandwidths=[1e-4, 0.01])),
            random_state=0,
        ).fit(GRAPHS)
        scores.append(detector.model_.view_scores(detector.read(NEW)))
    assert scores[1].max() > 1e4  # the kernels of negative squares
    assert np.abs(scores[0] - scores[1]).max() < near.MAX_MISSING_SHARE


def test_terms_of_very_low_densities_are_not_lost(monkeypatch):
    """In single precision numbers of this size are 1000 apart."""
    kde = KDE(bandwidths=[1e-5], size_kernel=False).build(1).double()
    monkeypatch.setattr(near, "MAX_BLOCK_ELEMENTS", 7)
    squared = 2 + 1e-9 * torch.rand(1, 20, 5, dtype=torch.float64, generator=torch.manual_seed(0))

    class Distances:
        def __len__(self):
            return 1

        def lower_bounds(self, P, Q, rows):
            return squared[:, rows]

        def squared_at(self, P, Q, wanted, single):
            return squared[:, wanted]

    near_sums = near.near_log_sums(Distances(), kde, (range(20),), (range(5),), None, None)
    with torch.no_grad():
        expected = kde.log_sums(squared, None, None)
    assert expected.max() < -9e9
    assert (expected - near_sums).abs().max() < near.MAX_MISSING_SHARE
