import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from skgraphkde import KDE, Density, GraphKDEDetector
from skgraphkde.density.kde import (
    LIKELIHOOD_MULTIPLES,
    NEAREST_MULTIPLES,
    MultiBandwidthKDE,
    own_references,
)
from tests.conftest import densities, random_graphs

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
    """For several distances if there is a list of logits for each."""
    logits = torch.tensor(np.atleast_2d(logits), dtype=torch.float64)
    kde = KDE(bandwidths).build(len(logits))
    kde.mixture_logits.data = logits
    return kde.double()


def in_one_distance(kde, squared, *arguments):
    (log_densities,) = kde(squared[None], *arguments)
    return log_densities


@pytest.mark.parametrize("second_kernel", [False, True])
@pytest.mark.parametrize("leave_one_out", [False, True])
def test_compiled_loops_equal_torch(second_kernel, leave_one_out):
    rng = np.random.RandomState(0)
    kde = make_kde(rng.standard_normal((2, 5)))
    squared = torch.tensor(rng.rand(2, 6, 6) * 4 - 1)  # an unbiased estimate can be negative
    squared[0, 2, 3] = squared[1, 4] = torch.inf  # far away, one and all
    arguments = (
        torch.tensor(rng.standard_normal((6, 6)) * 30) if second_kernel else None,
        own_references(np.array([0, 1, 2, -1, 4, 5]), 6, CPU) if leave_one_out else None,
    )
    expected = kde(squared, *arguments)
    with torch.no_grad():
        log_densities = kde(squared, *arguments)
        log_kernels = kde.log_kernels(squared, *arguments)
    assert expected.requires_grad
    torch.testing.assert_close(log_densities, expected.detach(), rtol=1e-13, atol=1e-12)
    assert torch.isneginf(log_densities[1, 4])
    with torch.no_grad():
        sums = kde.log_sums(squared, *arguments)
    # The largest of five terms is no more than their sum, and no less than a fifth of it.
    largest = torch.logsumexp(log_kernels, 2)
    some = ~torch.isneginf(sums)
    assert (largest[some] <= sums[some] + 1e-12).all()
    assert (largest[some] >= sums[some] - math.log(5) - 1e-12).all()


@pytest.mark.parametrize("second_kernel", [False, True])
def test_sums_of_some_pairs_equal_those_with_the_others_left_out(second_kernel):
    rng = np.random.RandomState(0)
    kde = make_kde(rng.standard_normal((2, 5)))
    squared = torch.tensor(rng.rand(2, 7, 6) * 4 - 1)
    log_weights = torch.tensor(rng.standard_normal((7, 6))) if second_kernel else None
    of_pairs = torch.tensor(rng.rand(7, 6) < 0.4)
    of_pairs[3] = False  # a graph without terms
    with torch.no_grad():
        expected = kde.log_sums(squared, log_weights, ~of_pairs)
        sums = kde.log_sums_of_pairs(squared[:, of_pairs], log_weights, of_pairs)
        none = kde.log_sums_of_pairs(squared[:, :0, 0], log_weights, of_pairs & False)
    torch.testing.assert_close(sums, expected, rtol=1e-14, atol=1e-14)
    assert torch.isneginf(sums[:, 3]).all()
    assert torch.isneginf(none).all()


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-5)])
@pytest.mark.parametrize("second_kernel", [False, True])
@pytest.mark.parametrize("leave_one_out", [False, True])
@pytest.mark.parametrize("n_distances", [1, 3])
def test_density_equals_the_formula(dtype, tolerance, second_kernel, leave_one_out, n_distances):
    rng = np.random.RandomState(0)
    logits = rng.standard_normal((n_distances, 5))
    D = rng.rand(n_distances, 6, 6)
    D = np.round((D + D.swapaxes(1, 2)) / 2, 4)
    D[:, range(6), range(6)] = 0
    W = rng.rand(6, 6)
    weights = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    expected = [
        [
            math.log(
                density_slow(
                    D[view, i] ** 2,
                    BANDWIDTHS,
                    weights[view],
                    W[i] if second_kernel else None,
                    i if leave_one_out else None,
                )
            )
            for i in range(6)
        ]
        for view in range(n_distances)
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
    a, b = in_one_distance(kde, far).tolist()
    assert a == pytest.approx(-(0.9**2) / 2e-4 - math.log(math.sqrt(2 * math.pi) * 0.01))
    assert b < a < -1000


def test_it_is_a_density_on_a_line():
    """Normalized where the metric is one-dimensional and Euclidean, as the docstring says."""
    grid = torch.linspace(-40, 40, 20001, dtype=torch.float64)
    references = torch.tensor([-1.0, 0.2, 3.0], dtype=torch.float64)
    kde = make_kde([0.3, -0.2, 0.1], bandwidths=(0.1, 1.0, 4.0))
    f = in_one_distance(kde, (grid[:, None] - references) ** 2).exp().detach()
    assert torch.trapezoid(f, grid).item() == pytest.approx(1, abs=1e-6)


@given(st.integers(0, 10**6))
def test_order_and_duplicates_of_references(seed):
    rng = np.random.RandomState(seed)
    D = torch.tensor(rng.rand(3, 8))
    kde = make_kde(rng.standard_normal(5))
    f = in_one_distance(kde, D)
    shuffled = D[:, torch.tensor(rng.permutation(8))]
    torch.testing.assert_close(in_one_distance(kde, shuffled), f)
    twice = torch.cat([D, D], 1)  # every reference twice: the same mean
    torch.testing.assert_close(in_one_distance(kde, twice), f)
    closer = D.clone()
    closer[:, 0] = 0
    assert (in_one_distance(kde, closer) > f).all()


def test_gradients_are_finite_with_references_left_out():
    kde = make_kde([0.0] * 5)
    D = torch.rand(4, 4, dtype=torch.float64, requires_grad=True)
    in_one_distance(kde, D, None, own_references(np.arange(4), 4, CPU)).sum().backward()
    assert torch.isfinite(D.grad).all()
    assert (D.grad.diagonal() == 0).all()
    assert torch.isfinite(kde.mixture_logits.grad).all()


def test_nearest_bandwidths_follow_the_scale_of_the_distances():
    D = torch.tensor([[0, 1, 9], [1, 0, 4], [9, 4, 0]], dtype=torch.float64)  # squared
    own = own_references(np.arange(3), 3, CPU)
    nearest = torch.tensor([1.0, 1.0, 4.0], dtype=torch.float64)
    kde = KDE("nearest").build().double()
    kde.scale_to_nearest(nearest[None])
    np.testing.assert_allclose(kde.bandwidths, [NEAREST_MULTIPLES])
    f = in_one_distance(kde, D, None, own)
    kde.scale_to_nearest(100 * nearest[None])
    farther = in_one_distance(kde, 100 * D, None, own)
    torch.testing.assert_close(farther, f - math.log(10))  # same ranking
    two = KDE("nearest").build(2).double()
    two.scale_to_nearest(
        torch.stack([nearest, 100 * nearest])
    )  # each distance by its own neighbors
    expected = torch.stack([f, f - math.log(10)])
    torch.testing.assert_close(two(torch.stack([D, 100 * D]), None, own), expected)


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
    kde.scale_to_nearest(torch.tensor([nearest], dtype=torch.float64))
    assert kde.scales == pytest.approx([scale])


def test_given_bandwidths_do_not_follow_the_distances():
    model = GraphKDEDetector(views=densities(kernels=KDE([0.5, 2]))).fit(random_graphs(9)).model_
    assert model.bandwidths.tolist() == [[0.5, 2.0]] * 2
    assert [view.mixture_weights_.tolist() for view in model.views] == [[0.5, 0.5]] * 2


def test_bandwidths_of_the_largest_likelihood():
    """Against the formula, on points of a line whose best bandwidth is known."""
    x = torch.from_numpy(np.random.RandomState(0).standard_normal(400))
    squared = (x[:, None] - x) ** 2
    own = own_references(np.arange(400), 400, CPU)
    kde = KDE("likelihood").build(2).double()
    kde.scale_by_likelihood(torch.stack([squared, 100 * squared]), None, own)
    scipy = 1.06 * x.std().item() * 400**-0.2  # Silverman's rule for a normal density
    assert kde.bandwidths[0, 0] == pytest.approx(scipy, rel=0.5)
    assert kde.bandwidths[1, 0] == pytest.approx(10 * kde.bandwidths[0, 0])
    median = squared[squared > 0].median().sqrt().item()

    def log_likelihood(h):
        total = 0.0
        for i, of_point in enumerate(squared.tolist()):
            total += math.log(density_slow(of_point, [h], [1.0], skip=i))
        return total

    best = log_likelihood(kde.bandwidths[0, 0])
    for multiple in LIKELIHOOD_MULTIPLES[5::4]:
        assert best >= log_likelihood(multiple * median)


def test_likelihood_of_equal_graphs_is_no_trouble():
    graphs = random_graphs(1) * 9
    detector = GraphKDEDetector(views=densities(kernels=KDE("likelihood"))).fit(graphs)
    assert np.isfinite(detector.score_samples(random_graphs(4, seed=3))).all()


@pytest.mark.parametrize("working_memory", [1024, 0.02])
def test_likelihood_does_not_depend_on_memory(working_memory):
    graphs = random_graphs(40)
    detector = GraphKDEDetector(views=densities(kernels=KDE("likelihood")))
    expected = detector.fit(graphs).model_.bandwidths
    with config_context(working_memory=working_memory):
        found = detector.fit(graphs).model_.bandwidths
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_scales_are_relative_to_the_last_call():
    kde = MultiBandwidthKDE((1.0, 3.0), "nearest")
    for nearest in (100.0, 4.0):
        kde.scale_to_nearest(torch.tensor([[nearest]], dtype=torch.float64))
    assert kde.bandwidths.tolist() == [[2.0, 6.0]]


@pytest.mark.parametrize("bandwidths", [[], [0.0], [1.0, -1.0], [np.inf], [1e-11], [[1.0]], ["a"]])
def test_bad_bandwidths(bandwidths):
    message = "'bandwidths' parameter of KDE must be a list of numbers between 1e-10 and 1e"
    with pytest.raises(ValueError, match=message):
        KDE(bandwidths).validate()
    with pytest.raises(ValueError, match=message):
        GraphKDEDetector(views=Density(kernels=KDE(bandwidths))).fit(random_graphs(4))


@pytest.mark.parametrize(
    ("parameters", "name"), [({"bandwidths": "far"}, "bandwidths"), ({"size_kernel": 2}, "size")]
)
def test_bad_parameters(parameters, name):
    with pytest.raises(ValueError, match=f"'{name}.*' parameter of KDE must be"):
        KDE(**parameters).validate()


def test_the_largest_term_survives_rounding():
    squared = torch.tensor([[[0.3, 1.0, 0.7]]], dtype=torch.float64)
    for bandwidth in (1e-3, 1e-9, 1e-10):
        kde = MultiBandwidthKDE([bandwidth], "fixed").double()
        expected = kde(squared)
        with torch.no_grad():
            torch.testing.assert_close(kde(squared), expected.detach(), rtol=1e-12, atol=0)
