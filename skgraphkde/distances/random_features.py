"""Random Fourier features: frequencies whose cosines and sines approximate Gaussian kernels."""

from __future__ import annotations

import math

import numpy as np
import torch


def draw_frequencies(d: int, n_components: int, rng: np.random.RandomState) -> torch.Tensor:
    """Orthogonal random frequencies for a Gaussian kernel (Yu et al., NeurIPS 2016).

    Blocks of d orthogonal directions, each with the length of a standard normal vector: the
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
    blocks = []
    for _ in range(math.ceil(n_frequencies / d)):
        directions, _ = np.linalg.qr(rng.standard_normal((d, d)))
        blocks.append(directions * np.linalg.norm(rng.standard_normal((d, d)), axis=0))
    return torch.from_numpy(np.hstack(blocks)[:, :n_frequencies].copy())
