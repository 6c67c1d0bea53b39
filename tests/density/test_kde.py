import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from skgraphkde import KDE, GraphKDEDetector
from skgraphkde.density.kde import NEAREST_MULTIPLES, MultiBandwidthKDE, own_references
from tests.conftest import random_graphs

BANDWIDTHS = (1e-2, 1e-1, 1.0, 1e1, 1e2)
CPU = torch.device("cpu")


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
    kde.mixture_logits.data = torch.tensor(logits, dtype=torch.float64)
    return kde.double()


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize("second_kernel", [False, True])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_density_equals_the_formula(dtype, tolerance, second_kernel, leave_one_out):
    rng = np.random.RandomState(0)
    logits = rng.standard_normal(5)
    D = rng.rand(6, 6)
    D = np.round((D + D.T) / 2, 4)
    np.fill_diagonal(D, 0)
    W = rng.rand(6, 6)
    weights = np.exp(logits) / np.exp(logits).sum()
    expected = [
        math.log(
            density_slow(
                D[i] ** 2,
                BANDWIDTHS,
                weights,
                W[i] if second_kernel else None,
                i if leave_one_out else None,
            )
        )
        for i in range(6)
    ]
    with torch.no_grad():
        actual = make_kde(logits).to(dtype)(
            torch.tensor(D**2, dtype=dtype),
            torch.tensor(W, dtype=dtype).log() if second_kernel else None,
            own_references(np.arange(6), 6, CPU) if leave_one_out else None,
        )
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def test_the_plain_kernel_underflows_where_the_log_does_not():
    far = torch.tensor([[0.9**2], [1.8**2]], dtype=torch.float64)
    kde = make_kde([0.0], bandwidths=(0.01,))
    assert density_slow([0.9**2], (0.01,), (1.0,)) == 0
    a, b = kde(far).tolist()
    assert a == pytest.approx(-(0.9**2) / 2e-4 - math.log(math.sqrt(2 * math.pi) * 0.01))
    assert b < a < -1000


def test_it_is_a_density_on_a_line():
    """Normalized where the metric is one-dimensional and Euclidean, as the docstring says."""
    grid = torch.linspace(-40, 40, 20001, dtype=torch.float64)
    references = torch.tensor([-1.0, 0.2, 3.0], dtype=torch.float64)
    kde = make_kde([0.3, -0.2, 0.1], bandwidths=(0.1, 1.0, 4.0))
    f = kde((grid[:, None] - references) ** 2).exp().detach()
    assert torch.trapezoid(f, grid).item() == pytest.approx(1, abs=1e-6)


@given(st.integers(0, 10**6))
@settings(deadline=None, max_examples=25)
def test_order_and_duplicates_of_references(seed):
    rng = np.random.RandomState(seed)
    D = torch.tensor(rng.rand(3, 8))
    kde = make_kde(rng.standard_normal(5))
    f = kde(D)
    torch.testing.assert_close(kde(D[:, torch.tensor(rng.permutation(8))]), f)
    torch.testing.assert_close(kde(torch.cat([D, D], 1)), f)  # every reference twice: the same mean
    closer = D.clone()
    closer[:, 0] = 0
    assert (kde(closer) > f).all()


def test_gradients_are_finite_with_references_left_out():
    kde = make_kde([0.0] * 5)
    D = torch.rand(4, 4, dtype=torch.float64, requires_grad=True)
    kde(D, None, own_references(np.arange(4), 4, CPU)).sum().backward()
    assert torch.isfinite(D.grad).all()
    assert (D.grad.diagonal() == 0).all()
    assert torch.isfinite(kde.mixture_logits.grad).all()


def test_nearest_bandwidths_follow_the_scale_of_the_distances():
    D = torch.tensor([[0, 1, 9], [1, 0, 4], [9, 4, 0]], dtype=torch.float64)  # squared
    own = own_references(np.arange(3), 3, CPU)
    nearest = torch.tensor([1.0, 1.0, 4.0], dtype=torch.float64)
    kde = KDE("nearest").build().double()
    kde.scale_to(nearest)
    np.testing.assert_allclose(kde.bandwidths, NEAREST_MULTIPLES)
    f = kde(D, None, own)
    kde.scale_to(100 * nearest)
    torch.testing.assert_close(kde(100 * D, None, own), f - math.log(10))  # same ranking


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
    kde.scale_to(torch.tensor(nearest, dtype=torch.float64))
    assert kde.scale == pytest.approx(scale)


def test_given_bandwidths_do_not_follow_the_distances():
    kde = KDE([0.5, 2]).build()
    kde.scale_to(torch.tensor([9.0, 16.0]))
    assert kde.bandwidths.tolist() == [0.5, 2.0]
    assert kde.mixture_weights.tolist() == [0.5, 0.5]


def test_scales_are_relative_to_the_last_call():
    kde = MultiBandwidthKDE((1.0, 3.0), relative=True)
    for nearest in (100.0, 4.0):
        kde.scale_to(torch.tensor([nearest], dtype=torch.float64))
    assert kde.bandwidths.tolist() == [2.0, 6.0]


@pytest.mark.parametrize("bandwidths", [[], [0.0], [1.0, -1.0], [np.inf], [1e-11], [[1.0]], ["a"]])
def test_bad_bandwidths(bandwidths):
    message = "'bandwidths' parameter of KDE must be a list of numbers between 1e-10 and 1e"
    with pytest.raises(ValueError, match=message):
        KDE(bandwidths).validate()
    with pytest.raises(ValueError, match=message):
        GraphKDEDetector(density=KDE(bandwidths)).fit(random_graphs(4))


@pytest.mark.parametrize(
    ("parameters", "name"), [({"bandwidths": "far"}, "bandwidths"), ({"size_kernel": 2}, "size")]
)
def test_bad_parameters(parameters, name):
    with pytest.raises(ValueError, match=f"'{name}.*' parameter of KDE must be"):
        KDE(**parameters).validate()
