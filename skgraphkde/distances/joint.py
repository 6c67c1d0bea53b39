"""Several distances between the same measures, computed together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from skgraphkde.distances.base import Distance, FittedDistance
from skgraphkde.distances.fitted_mmd import FittedMMD
from skgraphkde.distances.kernel_means import EmbeddedMeasures
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.distances.mmds import MMDs

# Measures, embedded by each group of distances.
Embedded = tuple[DiscreteMeasures, ...]


class Distances:
    """One or several distances between the same measures; MMDs share their mean kernels.

    Parameters
    ----------
    members : sequence of FittedDistance

    Attributes
    ----------
    members : tuple of FittedDistance
    adaptive : bool
        Whether :meth:`adapted` changes a member.
    numbers_per_pair : int
        Sum over the members, see FittedDistance.
    largest_coordinate : float
        Smallest limit of the members, in standard deviations.
    """

    def __init__(self, members: Iterable[FittedDistance]) -> None:
        self.members = tuple(members)
        self._groups = _grouped(self.members)
        self.adaptive = any(x.adaptive for x in self.members)
        self.numbers_per_pair = sum(x.numbers_per_pair for x in self.members)
        self.largest_coordinate = min(x.largest_coordinate for x in self.members)

    @classmethod
    def build(
        cls, specifications: Sequence[Distance], dim: int, n_points: int, rng: np.random.RandomState
    ) -> Distances:
        """Build the distances; MMDs share their random features.

        Parameters
        ----------
        specifications : sequence of Distance
        dim, n_points, rng
            As for :meth:`Distance.build`.

        Returns
        -------
        Distances
        """
        seed = rng.randint(2**31) if len(specifications) > 1 else None
        return cls(
            x.build(dim, n_points, rng if seed is None else np.random.RandomState(seed))
            for x in specifications
        )

    def __len__(self) -> int:
        return len(self.members)

    def __getstate__(self) -> dict[str, Any]:
        return {"members": self.members}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["members"])  # type: ignore[misc]

    def embed(self, P: DiscreteMeasures) -> Embedded:
        """Add the terms of each group of distances that depend on single measures."""
        return tuple(group.embed(P) for group, _ in self._groups)

    def concatenate(self, parts: Sequence[Embedded]) -> Embedded:
        """Concatenate embedded measures; the embeddings of MMDs are not computed again."""
        joined: list[DiscreteMeasures] = []
        for (group, _), group_parts in zip(self._groups, zip(*parts, strict=True), strict=True):
            plain = DiscreteMeasures.concatenate(group_parts)
            if isinstance(group, MMDs):
                joined.append(EmbeddedMeasures.with_embeddings(plain, group_parts))
            else:
                joined.append(group.embed(plain))
        return tuple(joined)

    def squared(self, P: Embedded, Q: Embedded | None = None) -> torch.Tensor:
        """Squared distances of all members.

        Parameters
        ----------
        P, Q : tuple of DiscreteMeasures
            Measures from :meth:`embed`. None for `Q` means `P`.

        Returns
        -------
        Tensor of shape (n_members, n_measures_P, n_measures_Q)
        """
        others = [None] * len(P) if Q is None else Q
        parts = [
            group.squared(p, q) for (group, _), p, q in zip(self._groups, P, others, strict=True)
        ]
        return self._in_order(parts)

    def has_bounds(self, Q: Embedded) -> bool:
        """True if all members are MMDs, and lower bounds of distances to `Q` save time."""
        group = self._groups[0][0]
        return len(self._groups) == 1 and isinstance(group, MMDs) and group.has_bounds(Q[0])

    def lower_bounds(self, P: Embedded, Q: Embedded, rows: slice) -> torch.Tensor:
        """Lower bounds of some rows of :meth:`squared`; requires :meth:`has_bounds`.

        Parameters
        ----------
        P, Q : tuple of DiscreteMeasures
            Measures from :meth:`embed`.
        rows : slice
            Measures of P.

        Returns
        -------
        Tensor of shape (n_members, n_rows, n_measures_Q)
        """
        return self._groups[0][0].lower_bounds(P[0], Q[0], rows)  # type: ignore[union-attr, arg-type]

    def squared_at(
        self, P: Embedded, Q: Embedded, wanted: torch.Tensor, tolerance: float
    ) -> torch.Tensor:
        """Selected entries of :meth:`squared`; requires :meth:`has_bounds`.

        Parameters
        ----------
        P, Q : tuple of DiscreteMeasures
            Measures from :meth:`embed`.
        wanted : bool Tensor of shape (n_measures_P, n_measures_Q)
            Entries to compute.
        tolerance : float
            Largest allowed error.

        Returns
        -------
        Tensor of shape (n_members, n_wanted)
        """
        return self._groups[0][0].squared_at(P[0], Q[0], wanted, None, tolerance)  # type: ignore[union-attr, arg-type]

    def adapted(
        self, P: Embedded, sample: np.ndarray
    ) -> tuple[Distances, torch.Tensor, torch.Tensor | None]:
        """Adapt each member to references, see :meth:`FittedDistance.adapted`.

        Parameters
        ----------
        P : tuple of DiscreteMeasures
            The references, from :meth:`embed`.
        sample : ndarray of int
            Indices of references whose nearest neighbors are needed.

        Returns
        -------
        Distances
        nearest : Tensor of shape (n_members, len(sample))
        squared : Tensor of shape (n_members, n_measures, n_measures) or None
        """
        adapted = [group.adapted(p, sample) for (group, _), p in zip(self._groups, P, strict=True)]
        members = list(self.members)
        for (_, member_index), (group, _, _) in zip(self._groups, adapted, strict=True):
            for i, member in zip(member_index, group.members, strict=True):
                members[i] = member
        nearest = self._in_order([nearest for _, nearest, _ in adapted])
        squares = [squared for _, _, squared in adapted if squared is not None]
        everything = self._in_order(squares) if len(squares) == len(adapted) else None
        return Distances(members), nearest, everything

    def _in_order(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """Concatenate the results of the groups in the order of the members."""
        if len(parts) == 1:
            return parts[0]
        member_index = np.concatenate([index for _, index in self._groups])
        return torch.cat(parts)[np.argsort(member_index)]


class _Alone:
    """Group of a single distance, which shares no computations with others."""

    def __init__(self, member: FittedDistance) -> None:
        self.members = (member,)

    def embed(self, P: DiscreteMeasures) -> DiscreteMeasures:
        return self.members[0].embed(P)

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None) -> torch.Tensor:
        member, shape = self.members[0], (len(P), len(P if Q is None else Q))
        squared = member.squared(P, Q)
        if not isinstance(squared, torch.Tensor) or squared.shape != shape:
            raise TypeError(
                f"{type(member).__name__}.squared must return a tensor of shape {shape}, and "
                f"returned a {type(squared).__name__} of shape {tuple(np.shape(squared))}"
            )
        return squared[None]

    def adapted(
        self, P: DiscreteMeasures, sample: np.ndarray
    ) -> tuple[_Alone, torch.Tensor, torch.Tensor | None]:
        member, nearest, squared = self.members[0].adapted(P, sample)
        return _Alone(member), nearest[None], None if squared is None else squared[None]


def _grouped(members: tuple[FittedDistance, ...]) -> list[tuple[MMDs | _Alone, list[int]]]:
    """Groups of members that are computed together, each with the indices of its members."""
    groups: list[list[int]] = []
    for i, member in enumerate(members):
        for group in groups:
            if _share_means(members[group[0]], member):
                group.append(i)
                break
        else:
            groups.append([i])
    return [(_group([members[i] for i in group]), group) for group in groups]


def _share_means(first: FittedDistance, second: FittedDistance) -> bool:
    """True if both are MMDs, exact or with the same random features."""
    if type(first) is not FittedMMD or type(second) is not FittedMMD:
        return False
    if first.frequencies is None or second.frequencies is None:
        return first.frequencies is second.frequencies
    return torch.equal(first.frequencies, second.frequencies)


def _group(members: list[FittedDistance]) -> MMDs | _Alone:
    mmds = tuple(x for x in members if type(x) is FittedMMD)
    return MMDs(mmds) if mmds else _Alone(members[0])
