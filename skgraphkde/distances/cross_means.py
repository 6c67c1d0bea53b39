"""Mean kernels between a sample of measures and all, computed once for several passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import torch

from skgraphkde.computing.blocks import blocks
from skgraphkde.distances.base import fits_in_memory
from skgraphkde.distances.kernel_means import EmbeddedMeasures


class CrossMeans:
    """Mean kernels between a sample of measures and all, for several passes.

    They are computed once if they fit in memory, of all pairs of measures if these do.

    Parameters
    ----------
    cross : callable
        Mean kernels between two batches of measures, shape (n_gammas, len(P), len(Q)).
    P : EmbeddedMeasures
    sample : ndarray of int
    n_gammas, n_members : int
        Kernels, and the MMDs that are made of them.
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
        # One number per gamma and pair, and a few more for what is made of them.
        fits = fits_in_memory((n_gammas + n_members + 2.0) * n * n)
        self.everything = cross(P, P) if fits else None
        self.parts = self.blocks(sample)
        self.of_sample: torch.Tensor | None = None
        if self.everything is None and len(self.parts) == 1:
            self.of_sample = cross(P[sample], P)

    def blocks(self, rows: np.ndarray) -> list[np.ndarray]:
        """Parts of `rows` whose squared distances to all can be computed at once."""
        cost = 8.0 * 4 * self.n_gammas * len(self.P)
        return [rows[part] for part in blocks(np.full(len(rows), cost))]

    def __iter__(self) -> Iterator[tuple[np.ndarray, torch.Tensor]]:
        """Indices of measures, and their mean kernels with all, block by block."""
        for rows in self.parts:
            if self.everything is not None:
                yield rows, self.everything[:, rows]
            elif self.of_sample is not None:
                yield rows, self.of_sample
            else:
                yield rows, self.cross(self.P[rows], self.P)
