"""The fused kernels, on a GPU or else in Triton's interpreter, against the engine of the CPU."""

import numpy as np
import pytest
import torch

from skgraphkde.distances import DiscreteMeasures
from skgraphkde.learned.engines import cpu
from tests.conftest import GAMMAS

pytest.importorskip("triton", minversion="3")  # whose interpreter has all that is needed

from skgraphkde.learned.engines import triton_gpu

DEVICES = {cpu: "cpu", triton_gpu: "cuda" if torch.cuda.is_available() else "cpu"}


def measures(seed, sizes, dtype, shared=False):
    """Clouds of these sizes; `shared` lets all of them draw from a few common points."""
    rng = np.random.RandomState(seed)
    ptr = np.concatenate([[0], np.cumsum(sizes)])
    points = torch.tensor(rng.standard_normal((ptr[-1], 5)) / 3, dtype=dtype).requires_grad_()
    if not shared:
        return DiscreteMeasures.from_clouds(points, ptr)
    colors = rng.randint(7, size=ptr[-1])
    return DiscreteMeasures.from_colors(points, colors, colors, ptr)


def mean_kernels(engine, which, P, Q):
    x, y = (M.points.to(DEVICES[engine]) for M in (P, Q))
    if which == "self":
        means = engine.self_means(x, P.weights, GAMMAS)
    elif which == "symmetric":
        means = engine.kernel_means(x, P.weights, None, None, GAMMAS)
    else:
        means = engine.kernel_means(x, P.weights, y, Q.weights, GAMMAS)
    return means.cpu()


@pytest.mark.parametrize("which", ["cross", "symmetric", "self"])
@pytest.mark.parametrize(("shared", "dtype"), [(False, torch.float32), (True, torch.float64)])
def test_fused_kernels_equal_the_loops(which, shared, dtype):
    P = measures(0, [1, 34, 5, 20], dtype, shared)  # one longer than a block
    Q = measures(1, [33, 2], dtype, shared)
    tolerance = 1e-12 if dtype == torch.float64 else 1e-4
    results = []
    for engine in (triton_gpu, cpu):
        means = mean_kernels(engine, which, P, Q)
        weights = torch.randn(means.shape, generator=torch.Generator().manual_seed(0)).to(means)
        weights[1] = 0  # a gamma without gradient
        inputs = [P.points, Q.points] if which == "cross" else [P.points]
        results.append((means, *torch.autograd.grad((means * weights).sum(), inputs)))
    for ours, expected in zip(*results, strict=True):
        assert ours.shape == expected.shape
        assert (ours - expected).abs().max() < tolerance
        assert expected.abs().max() > 1e-3
