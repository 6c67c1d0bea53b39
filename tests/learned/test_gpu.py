"""MMDs of tensors and their gradients, on the CPU, against formulas."""

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn import config_context

from skgraphkde import MMD, Density, GraphKDEDetector
from skgraphkde.core.distances import DiscreteMeasures
from skgraphkde.core.distances.mmd import FittedMMD
from skgraphkde.learned import gpu
from tests.conftest import GAMMAS, random_graphs, spied
from tests.core.distances.common import (
    TOLERANCE,
    assert_close,
    frequencies,
    mean_cosine,
    measures,
    squared_mmd,
    squared_mmd_slow,
)


@pytest.fixture(params=["one block", "blocks", "blocks without memory for distances"])
def width(request, monkeypatch):
    if request.param != "one block":
        monkeypatch.setitem(gpu.WIDTHS, "cpu", 5)
        monkeypatch.setattr(gpu, "GROUP", 5)
    with config_context(working_memory=0 if "without" in request.param else None):
        yield


@pytest.mark.usefixtures("width")
@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("features", [None, frequencies(16)], ids=["exact", "features"])
@pytest.mark.parametrize("correction", [0.0, 0.3])
@pytest.mark.parametrize("symmetric", [True, False])
def test_mmd_and_its_gradient_equal_the_formula(dtype, features, correction, symmetric):
    def tensor(x):
        return torch.tensor(x.astype(dtype), requires_grad=True)

    given = [measures(0, tensor)] if symmetric else [measures(0, tensor), measures(1, tensor, n=4)]
    slow = [M.points.detach().double().requires_grad_() for M in given]
    clouds = [(x, M.weights.indptr) for x, M in zip(slow, given, strict=True)]
    kernel = {} if features is None else {"kernel": mean_cosine(features)}
    distance = FittedMMD(GAMMAS, correction, frequencies=features)
    squared = gpu.squared_mmd(distance, *(gpu.embed(distance, M) for M in given))
    expected = squared_mmd_slow(*clouds[0], *clouds[-1], GAMMAS, correction, **kernel)
    assert squared.dtype == given[0].points.dtype
    assert_close(squared, expected, 10 * TOLERANCE[dtype])
    weights = torch.randn(expected.shape, generator=torch.Generator().manual_seed(0)).double()
    weights.fill_diagonal_(0)  # the supremum has no gradient at a graph and itself
    gradients = torch.autograd.grad((squared * weights).sum(), [M.points for M in given])
    slow_gradients = torch.autograd.grad((expected * weights).sum(), slow)
    for found, by_formula in zip(gradients, slow_gradients, strict=True):
        assert_close(found, by_formula, 100 * TOLERANCE[dtype])


def test_shared_points_and_parts_of_measures():
    rng = np.random.RandomState(0)
    index, ptr = rng.randint(7, size=20), np.array([0, 4, 13, 14, 20])
    arrays = DiscreteMeasures.of_nodes(rng.standard_normal((7, 3)), index, ptr)
    tensors = DiscreteMeasures(torch.from_numpy(arrays.points), arrays.weights, arrays.sizes)
    distance = FittedMMD(GAMMAS, 1.0)
    embedded = gpu.embed(distance, tensors)
    squared = gpu.squared_mmd(distance, embedded[2:], embedded[:2])
    assert_close(squared, squared_mmd(arrays[2:], arrays[:2], GAMMAS, 1.0))


def test_sparse_products_have_gradients():
    matrix = sp.csr_array(sp.random(7, 5, density=0.5, random_state=0))
    dense = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    assert_close(gpu.sparse_product(matrix, dense), matrix @ dense.detach().numpy(), 1e-12)
    assert torch.autograd.gradcheck(lambda x: gpu.sparse_product(matrix, x), [dense])


def test_a_detector_whose_distances_are_computed_by_torch(monkeypatch):
    by_torch = spied(monkeypatch, gpu, "kernel_means")
    graphs, new = random_graphs(20, seed=1), random_graphs(5, seed=2)
    scores = [
        GraphKDEDetector(views=Density(distance)).fit(graphs).score_samples(new)
        for distance in (MMD(), gpu.TorchMMD(device="cpu"))
    ]
    np.testing.assert_allclose(*scores, rtol=1e-9)
    assert by_torch


def test_a_machine_without_the_gpu_of_the_fit_takes_its_cpu():
    assert gpu.device_or_cpu("cuda:99") == torch.device("cpu")
    assert gpu.device_or_cpu("auto") == gpu.find_device("auto")


def test_without_a_gradient_there_is_none_in_the_points():
    points = torch.rand(6, 2, requires_grad=True)
    measures = DiscreteMeasures.from_clouds(points, np.array([0, 3, 6]))
    means = gpu.kernel_means(measures, None, (1.0,))
    (gradient,) = torch.autograd.grad(means, points, torch.zeros_like(means))
    assert not gradient.any()
