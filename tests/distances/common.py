"""Small clouds of points, and their MMD by the formula, which fast code is compared with."""

import math

import numpy as np
import torch

from skgraphkde.distances.fitted_mmd import FittedMMD
from skgraphkde.distances.random_features import draw_frequencies

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-5}


def clouds(seed, n=6, dtype=torch.float64, max_size=9, d=3):
    """Points of n graphs, end to end, and where each graph begins and ends."""
    rng = np.random.RandomState(seed)
    ptr = np.concatenate([[0], np.cumsum(rng.randint(1, max_size, size=n))])
    return torch.tensor(rng.standard_normal((ptr[-1], d)) / 2, dtype=dtype), ptr


def frequencies(n_components, seed=0, d=3):
    return draw_frequencies(d, n_components, np.random.RandomState(seed))


def squared_mmd(P, Q, gammas, correction=0.0, frequencies=None):
    return FittedMMD(tuple(gammas), correction, frequencies=frequencies).squared(P, Q)


def gaussian(a, b, gamma):
    """Kernel values between all points of a and of b."""
    return torch.exp(-gamma * ((a[:, None] - b[None]) ** 2).sum(-1))


def mean_cosine(frequencies):
    """The kernel that random features of these frequencies compute."""

    def kernel(a, b, gamma):
        return torch.cos(math.sqrt(2 * gamma) * ((a[:, None] - b[None]) @ frequencies)).mean(-1)

    return kernel


def squared_mmd_slow(x, ptr, y, qtr, gammas, correction, kernel=gaussian):
    """The paper's eq. mmd_distance, graph by graph, its U-statistic, or what lies between."""

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
