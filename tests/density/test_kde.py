import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import trapezoid

from skgraphkde import KDE, GraphKDEDetector
from skgraphkde.density.kde import (
    LIKELIHOOD_MULTIPLES,
    NEAREST_MULTIPLES,
    own_references,
)
from skgraphkde.learned import tensors  # noqa: F401  registers the operations on tensors
from tests.conftest import densities, random_graphs

BANDWIDTHS = (1e-2, 1e-1, 1.0, 1e1, 1e2)


def density_slow(squared, bandwidths, weights, second=None, skip=None):
    """f = sum_k pi_k mean_i K(d_i, h_k) w_i for the squared distances d_i^2 of one graph."""
    total = 0.0
    for h, pi in zip(bandwidths, weights, strict=True):
        kernels = [
            math.exp(-di_squared / (2 * h**2))
            / (math.sqrt(2 * math.pi) * h)
            * (1 if second is None else second[i])
            for i, di_squared in enumerate(squared)
            if i != skip
        ]
        total += pi * sum(kernels) / len(kernels)
    return total


def make_kde(logits, bandwidths=BANDWIDTHS):
    kde = KDE(bandwidths).build()
    kde.logits = np.array(logits, float)
    return kde


@pytest.mark.parametrize(
    ("convert", "dtype", "tolerance"),
    [
        (np.asarray, "float64", 1e-10),
        (torch.tensor, "float64", 1e-10),
        (torch.tensor, "float32", 1e-5),
    ],
)
@pytest.mark.parametrize("second_kernel", [False, True])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_density_equals_the_formula(convert, dtype, tolerance, second_kernel, leave_one_out):
    rng = np.random.RandomState(0)
    logits, D, W = rng.standard_normal(5), rng.rand(6, 6), rng.rand(6, 6)
    squared = np.round((D + D.T) / 2, 4) ** 2 - 0.2  # unbiased: may be < 0
    squared[range(6), range(6)] = 0
    squared[2, 3] = np.inf
    weights = np.exp(logits) / np.exp(logits).sum()
    expected = [
        math.log(
            density_slow(
                squared[i],
                BANDWIDTHS,
                weights,
                W[i] if second_kernel else None,
                i if leave_one_out else None,
            )
        )
        for i in range(6)
    ]
    actual = make_kde(logits)(
        convert(squared.astype(dtype)),
        np.log(W) if second_kernel else None,
        own_references(np.arange(6), 6) if leave_one_out else None,
    )
    assert str(actual.dtype).endswith(dtype)
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("convert", [np.asarray, torch.tensor])
def test_the_density_of_what_is_infinitely_far_is_0(convert):
    assert make_kde([0.0] * 5)(convert([[np.inf, np.inf]])).tolist() == [-np.inf]


def test_the_plain_kernel_underflows_where_the_log_does_not():
    far = np.array([[0.9**2], [1.8**2]])
    kde = make_kde([0.0], bandwidths=(0.01,))
    assert density_slow([0.9**2], (0.01,), (1.0,)) == 0
    a, b = kde(far)
    assert a == pytest.approx(-(0.9**2) / 2e-4 - math.log(math.sqrt(2 * math.pi) * 0.01))
    assert b < a < -1000


def test_it_is_a_density_on_a_line():
    """Normalized where the metric is one-dimensional and Euclidean, as the docstring says."""
    grid, references = np.linspace(-40, 40, 20001), np.array([-1.0, 0.2, 3.0])
    kde = make_kde([0.3, -0.2, 0.1], bandwidths=(0.1, 1.0, 4.0))
    f = np.exp(kde((grid[:, None] - references) ** 2))
    assert trapezoid(f, grid) == pytest.approx(1, abs=1e-6)


@given(st.integers(0, 10**6))
def test_order_and_duplicates_of_references(seed):
    rng = np.random.RandomState(seed)
    D, kde = rng.rand(3, 8), make_kde(rng.standard_normal(5))
    f = kde(D)
    np.testing.assert_allclose(kde(D[:, rng.permutation(8)]), f)
    np.testing.assert_allclose(kde(np.hstack([D, D])), f)  # every reference twice: the same mean
    closer = D.copy()
    closer[:, 0] = 0
    assert (kde(closer) > f).all()


def test_gradients_are_finite_with_references_left_out():
    kde = make_kde([0.0] * 5)
    kde.logits = torch.zeros(5, requires_grad=True)
    D = torch.rand(4, 4, dtype=torch.float64, requires_grad=True)
    kde(D, None, own_references(np.arange(4), 4)).sum().backward()
    assert torch.isfinite(D.grad).all()
    assert (D.grad.diagonal() == 0).all()
    assert torch.isfinite(kde.logits.grad).all()


def test_nearest_bandwidths_follow_the_scale_of_the_distances():
    D = np.array([[0.0, 1, 9], [1, 0, 4], [9, 4, 0]])  # squared
    own, nearest = own_references(np.arange(3), 3), np.array([1.0, 1.0, 4.0])
    kde = KDE("nearest").build()
    kde.scale_to_nearest(nearest)
    np.testing.assert_allclose(kde.bandwidths, NEAREST_MULTIPLES)
    f = kde(D, None, own)
    kde.scale_to_nearest(100 * nearest)  # forgets the first ones
    np.testing.assert_allclose(kde.bandwidths, 10 * np.array(NEAREST_MULTIPLES))
    np.testing.assert_allclose(kde(100 * D, None, own), f - math.log(10))  # same ranking


@pytest.mark.parametrize(
    ("nearest", "scale"),
    [
        ([9.0, 9.0, 0.0, 0.0], 3),  # two graphs are equal
        ([1e-14, -1e-15, 1e-13], 1),  # all are, but for rounding
        ([0.04, 0.04, 0.04, 2.0], 0.2),  # one is far from all
        ([-0.04, 0.04, -0.09], 0.2),  # unbiased estimates
    ],
)
def test_nearest_bandwidths_survive_duplicates_and_outliers(nearest, scale):
    kde = KDE("nearest").build()
    kde.scale_to_nearest(np.array(nearest))
    assert kde.scale == pytest.approx(scale)


def test_given_bandwidths_do_not_follow_the_distances():
    model = GraphKDEDetector(views=densities(kernels=KDE([0.5, 2]))).fit(random_graphs(9)).model_
    assert [h.tolist() for h in model.bandwidths] == [[0.5, 2.0]] * 2
    assert [view.mixture_weights_.tolist() for view in model.views] == [[0.5, 0.5]] * 2


def test_bandwidths_of_the_largest_likelihood():
    """Against the formula, on points of a line whose best bandwidth is known."""
    x = np.random.RandomState(0).standard_normal(150)
    squared, own = (x[:, None] - x) ** 2, own_references(np.arange(150), 150)
    kde = KDE("likelihood").build()
    kde.scale_by_likelihood(torch.tensor(100 * squared), None, own)
    (far,) = kde.bandwidths
    kde.scale_by_likelihood(squared, None, own)
    (h,) = kde.bandwidths
    scipy = 1.06 * x.std() * 150**-0.2  # Silverman's rule for a normal density
    assert h == pytest.approx(scipy, rel=0.5)
    assert far == pytest.approx(10 * h)
    median = math.sqrt(np.median(squared[squared > 0]))

    def log_likelihood(h):
        total = 0.0
        for i, of_point in enumerate(squared.tolist()):
            total += math.log(density_slow(of_point, [h], [1.0], skip=i))
        return total

    best = log_likelihood(h)
    for multiple in LIKELIHOOD_MULTIPLES[5::4]:
        assert best >= log_likelihood(multiple * median)


def test_likelihood_of_equal_graphs_is_no_trouble():
    graphs = random_graphs(1) * 9
    detector = GraphKDEDetector(views=densities(kernels=KDE("likelihood"))).fit(graphs)
    assert np.isfinite(detector.score_samples(random_graphs(4, seed=3))).all()


@pytest.mark.parametrize("bandwidths", [[], [0.0], [1.0, -1.0], [np.inf], [1e-11], [[1.0]], ["a"]])
def test_bad_bandwidths(bandwidths):
    message = "'bandwidths' parameter of KDE must be a list of numbers between 1e-10 and 1e"
    with pytest.raises(ValueError, match=message):
        KDE(bandwidths).validate()


@pytest.mark.parametrize(
    ("parameters", "name"), [({"bandwidths": "far"}, "bandwidths"), ({"size_kernel": 2}, "size")]
)
def test_bad_parameters(parameters, name):
    with pytest.raises(ValueError, match=f"'{name}.*' parameter of KDE must be"):
        KDE(**parameters).validate()
