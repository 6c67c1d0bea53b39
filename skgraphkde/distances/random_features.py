"""Random Fourier features: frequencies whose cosines and sines approximate Gaussian kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from skgraphkde.computing.arrays import to_numpy

# Largest number of orthogonal directions in a block: a block of d directions takes d^3 operations.
MOST_DIRECTIONS = 1024
# Sines and cosines of larger angles have no significant digits.
LARGEST_ANGLE = 1e15


def draw_frequencies(d: int, n_components: int, seed: int = 0) -> np.ndarray:
    """Draw orthogonal random frequencies for a Gaussian kernel (Yu et al., NeurIPS 2016).

    The frequencies are blocks of up to d orthogonal directions, each with the length of a standard
    normal vector. The estimate of the kernel is unbiased, as with independent directions, and has
    a lower variance.

    Parameters
    ----------
    d : int
        Dimension of the points.
    n_components : int
        Number of features: one cosine and one sine per frequency.
    seed : int, default=0
        The default is part of the method: the frequencies are the same in every fit.

    Returns
    -------
    ndarray of shape (d, n_components // 2)
    """
    rng, n_frequencies = np.random.RandomState(seed), n_components // 2
    n_directions = d if d <= MOST_DIRECTIONS else min(n_frequencies, MOST_DIRECTIONS)
    blocks = []
    for _ in range(math.ceil(n_frequencies / n_directions)):
        directions, _ = np.linalg.qr(rng.standard_normal((d, n_directions)))
        lengths = np.linalg.norm(rng.standard_normal((d, n_directions)), axis=0)
        blocks.append(directions * lengths)
    return np.hstack(blocks)[:, :n_frequencies].copy()


def check_angles(points: Any, gammas: Sequence[float], frequencies: np.ndarray) -> None:
    """Check that random features of points have significant digits, as an encoder may enlarge them.

    Parameters
    ----------
    points : ndarray or Tensor of shape (n_points, d)
    gammas : sequence of float
        Exponents of the kernels.
    frequencies : ndarray of shape (d, n_frequencies)

    Raises
    ------
    ValueError
        If an angle may be too large or NaN.
    """
    points = to_numpy(points)
    longest = np.sqrt(np.einsum("ij,ij->i", points, points).max())
    lengths = longest * np.linalg.norm(frequencies, axis=0).max()
    if not lengths * math.sqrt(2 * max(gammas)) <= LARGEST_ANGLE:
        raise ValueError(
            "a node is too far from the nodes of the training graphs for random features: clip "
            "extreme numbers of nodes and edges, or use views=Density(MMD(method='exact'))"
        )
