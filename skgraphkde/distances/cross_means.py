"""Cross means: mean kernels between a sample of measures and all, for several passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

from skgraphkde.computing.blocks import blocks
from skgraphkde.distances.base import fits_in_memory
from skgraphkde.distances.kernel_means import EmbeddedMeasures


class CrossMeans:
    """Mean kernels between a sample of measures and all, for several passes.

    They are computed once if they fit in memory, and for all pairs of measures if these fit.

    Parameters
    ----------
    cross : callable
        Function of two batches of measures, which returns their mean kernels, shape (n_gammas,
        len(P), len(Q)).
    P : EmbeddedMeasures
        All measures.
    sample : ndarray of int
        Indices of the sample.
    n_gammas, n_members : int
        Numbers of kernels and of MMDs.
    """

    def __init__(
        self,
        cross: Callable[[EmbeddedMeasures, EmbeddedMeasures], torch.Tensor],
        P: EmbeddedMeasures,
        sample: np.ndarray,
        n_gammas: int,
        n_members: int,
    ) -> None:
        self.cross, self.P, self.n_gammas = cross, P, n_gammas
        n = len(P)
        # One number per gamma and pair, one per MMD and pair, and two for intermediate results.
        fits = fits_in_memory((n_gammas + n_members + 2.0) * n * n)
        self.everything = cross(P, P) if fits else None
        self.parts = self.blocks(sample)
        self.of_sample: torch.Tensor | None = None
        if self.everything is None and len(self.parts) == 1:
            self.of_sample = cross(P[sample], P)

    def blocks(self, rows: np.ndarray) -> list[np.ndarray]:
        """Split `rows` into parts whose squared distances to all measures fit in memory."""
        cost = 8.0 * 4 * self.n_gammas * len(self.P)
        return [rows[part] for part in blocks(np.full(len(rows), cost))]

    def __iter__(self) -> Iterator[tuple[np.ndarray, torch.Tensor]]:
        """Generate indices of measures and their mean kernels with all, block by block."""
        for rows in self.parts:
            if self.everything is not None:
                yield rows, self.everything[:, rows]
            elif self.of_sample is not None:
                yield rows, self.of_sample
            else:
                yield rows, self.cross(self.P[rows], self.P)
