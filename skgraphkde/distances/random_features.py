"""Random Fourier features: frequencies whose cosines and sines approximate Gaussian kernels."""

from __future__ import annotations

import math

import numpy as np
import torch

# Points of more coordinates have no more directions at once than needed, and at most so many: a
# block of d directions takes d^3 operations.
MOST_DIRECTIONS = 1024


def draw_frequencies(d: int, n_components: int, rng: np.random.RandomState) -> torch.Tensor:
    """Orthogonal random frequencies for a Gaussian kernel (Yu et al., NeurIPS 2016).

    Blocks of up to d orthogonal directions, each with the length of a standard normal vector: the
    kernel's estimate is unbiased as with independent directions, and varies less.

    Parameters
    ----------
    d : int
        Dimension of the points.
    n_components : int
        Number of features: one cosine and one sine per frequency.
    rng : RandomState

    Returns
    -------
    Tensor of shape (d, n_components // 2), on the CPU
    """
    n_frequencies = n_components // 2
    n_directions = d if d <= MOST_DIRECTIONS else min(n_frequencies, MOST_DIRECTIONS)
    blocks = []
    for _ in range(math.ceil(n_frequencies / n_directions)):
        directions, _ = np.linalg.qr(rng.standard_normal((d, n_directions)))
        lengths = np.linalg.norm(rng.standard_normal((d, n_directions)), axis=0)
        blocks.append(directions * lengths)
    return torch.from_numpy(np.hstack(blocks)[:, :n_frequencies].copy())
