"""Small clouds of points, and their MMD by the formula, which fast code is compared with."""

import math

import numpy as np
import torch

from skgraphkde.core.distances import DiscreteMeasures
from skgraphkde.core.distances.kernels import draw_frequencies
from skgraphkde.core.distances.mmd import FittedMMD

TOLERANCE = {"float64": 1e-10, "float32": 1e-5}


def clouds(seed, n=6, max_size=9, d=3):
    """Points of n graphs, end to end, and where each graph begins and ends."""
    rng = np.random.RandomState(seed)
    ptr = np.concatenate([[0], np.cumsum(rng.randint(1, max_size, size=n))])
    return rng.standard_normal((ptr[-1], d)) / 2, ptr


def measures(seed, convert=np.asarray, **options):
    """The same clouds as measures, on arrays or tensors."""
    x, ptr = clouds(seed, **options)
    return DiscreteMeasures.from_clouds(convert(x), ptr)


def frequencies(n_components, seed=0, d=3):
    return draw_frequencies(d, n_components, seed)


def assert_close(actual, expected, atol=1e-10, rtol=0.0):
    """Arrays, or tensors without their gradients."""
    actual, expected = (
        x.detach() if isinstance(x, torch.Tensor) else x for x in (actual, expected)
    )
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol)


def squared_mmd(P, Q, gammas, correction=0.0, frequencies=None):
    return FittedMMD(tuple(gammas), correction, frequencies=frequencies).squared(P, Q)


def gaussian(a, b, gamma):
    """Kernel values between all points of a and of b."""
    return torch.exp(-gamma * ((a[:, None] - b[None]) ** 2).sum(-1))


def mean_cosine(frequencies):
    """The kernel that random features of these frequencies compute."""
    w = torch.from_numpy(frequencies)

    def kernel(a, b, gamma):
        return torch.cos(math.sqrt(2 * gamma) * ((a[:, None] - b[None]) @ w)).mean(-1)

    return kernel


def squared_mmd_slow(x, ptr, y, qtr, gammas, correction, kernel=gaussian):
    """The paper's eq. mmd_distance, graph by graph, its U-statistic, or what lies between.

    Points are arrays or tensors; the distances are a tensor, with gradients.
    """
    x, y = torch.as_tensor(x), torch.as_tensor(y)

    def mean_kernel(a, b, gamma, within=False):
        K = kernel(a, b, gamma)
        n = len(a)
        if within and n > 1:
            unbiased = (K.sum() - K.trace()) / (n * (n - 1))
            return (1 - correction) * K.mean() + correction * unbiased
        return K.mean()

    rows = []
    for i in range(len(ptr) - 1):
        a = x[ptr[i] : ptr[i + 1]]
        for j in range(len(qtr) - 1):
            b = y[qtr[j] : qtr[j + 1]]
            values = [
                mean_kernel(a, a, g, True) + mean_kernel(b, b, g, True) - 2 * mean_kernel(a, b, g)
                for g in gammas
            ]
            rows.append(torch.stack(values).max())
    return torch.stack(rows).reshape(len(ptr) - 1, len(qtr) - 1)
