"""Groups: a fitted model -> small sets of references that are alike, and unlike all others.

Anomalies that resemble each other hide each other: each has near neighbors. A group is a set of
references that would be far from everything if each of them were alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.cluster import HDBSCAN
from sklearn.neighbors import NearestNeighbors

from skgraphkde._utils import one_blas_thread, progress
from skgraphkde.core.graphs.arrays import codes_in
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.core.views.neighborhoods import (
    NeighborhoodView,
    as_sets,
    count_pairs,
)
from skgraphkde.core.views.statistics import Statistics

# Members of a group: at least, and at most, or this share of the references if that is more.
SMALLEST = 3
LARGEST = 30
LARGEST_SHARE = 0.02
# At most this share of the references, and as many as in so many such groups, are as far apart.
APART = 0.1
SIMILAR = 10
# A group takes the place of a part of it that is at most so many times as distinct.
WIDER = 1.5
# Smallest clusters that are looked for in the statistics.
CLUSTERS = (3, 5, 10)


class Things(NamedTuple):
    """Things that graphs have or lack, and the references that have each."""

    owners: sp.csr_array  # (n_things, n_references), sets
    category: str  # of the nodes at the ends of edges; "" for neighborhoods
    radius: int  # of neighborhoods
    # Of each thing: values of the two ends and the category of the edge, (3, n_things), as codes;
    # or the first node of the references with the neighborhood, (1, n_things).
    data: np.ndarray
    values: tuple  # of the category, by code; () for neighborhoods


class Group(NamedTuple):
    """References that are alike and unlike the others."""

    members: np.ndarray  # indices of training graphs that are references, ascending
    share: float  # of the references that would be as far apart, were they as many
    references: np.ndarray  # indices of references that share the things
    things: Things | None  # of which all of these have some that no other reference has
    shared: np.ndarray  # indices of these things
    is_only: bool  # no other training graph has them


def find_groups(model: GraphModel) -> list[Group]:
    """Find small groups of references that are alike and set apart.

    There are two kinds. References of the first share things that no other has: a pair of
    categories at the ends of an edge, or a neighborhood of one radius. Those of the second are a
    cluster (HDBSCAN) of the statistics of whole graphs. A group of k is set apart as far as few
    references are: those that share a thing with at most k - 1 others, or those whose neighbors in
    the statistics, without the k - 1 nearest, are as far. Groups with the least share
    of these for each member come first, a group comes in the place of a part of it that is about as
    distinct, and no reference is in two groups. One with a category that no other graph has is in
    none: it is unlike the rest of its group.

    Time grows as for the scores of the references, and memory with their number.

    Parameters
    ----------
    model : GraphModel

    Returns
    -------
    list of Group
        The most distinct ones first.
    """
    n = len(model.references)
    largest = max(LARGEST, int(LARGEST_SHARE * n))
    kinds = list(_things(model))
    found = [x for things in kinds for x in _sharing(things.owners, largest)]
    statistics = model.first(Statistics)
    if statistics is not None:
        found += _clusters(statistics.metric.points, largest)
    chosen: list[tuple[float, np.ndarray]] = []
    group_of = np.full(n, -1)
    for share, members in sorted(found, key=_share_of_each):
        if share > APART or _share_of_each((share, members)) * n > SIMILAR:
            continue
        before = np.unique(group_of[members])
        if before[-1] < 0:
            group_of[members] = len(chosen)
            chosen.append((share, members))
            continue
        part = chosen[before[-1]]  # the last group that it meets
        is_wider = set(part[1]) == set(members[group_of[members] >= 0])
        if is_wider and _share_of_each((share, members)) <= WIDER * _share_of_each(part):
            group_of[members] = before[-1]
            chosen[before[-1]] = share, members
    groups = []
    has_own = _has_own_value(model)
    is_sample = n < model.n_training_graphs
    for share, members in chosen:
        things, shared = _find_shared(kinds, members)
        is_only = len(shared) > 0 and not (is_sample or has_own[members].any())
        kept = members[~has_own[members]]
        if len(kept) > 1:
            index = model.reference_index[kept]
            groups.append(Group(index, share, members, things, shared, is_only))
    return groups


def _has_own_value(model: GraphModel) -> np.ndarray:
    """Mark references with a category that no other graph has, where few have one of their own."""
    counts = model.categories
    owners = []
    for table in counts.tables.values():
        _, of_reference = table.factors
        if of_reference > 1:
            owners.append(table.known.owners)
    return np.isin(model.reference_index, np.concatenate([[], *owners]))


def _share_of_each(group: tuple[float, np.ndarray]) -> float:
    """The share of references that are as far apart, divided by the number of members."""
    share, members = group
    return share / len(members)


# -- things ----------------------------------------------------------------------------------------


def _things(model: GraphModel) -> Iterator[Things]:
    """Generate the kinds of things, the plainest first."""
    graphs = model.references
    if graphs.labels is not None:
        for name, values in graphs.values_by_category("node").items():
            yield _pairs(graphs, name, values)
    view = model.first(NeighborhoodView)
    if view is not None:
        known = view.neighborhoods_
        for radius, numbers in enumerate(known.numbers(graphs)):
            yield _neighborhoods(graphs, radius, numbers)


def _pairs(graphs: GraphBatch, name: str, values: tuple) -> Things:
    """Edges, by one category of the nodes at their ends and by their own."""
    distinct = dict.fromkeys(values)
    code = codes_in(values, distinct)[graphs.labels]
    source = code[graphs.source_of_arc]
    target = code[graphs.adjacency.indices]
    if not graphs.directed:
        source, target = np.minimum(source, target), np.maximum(source, target)
    edge = np.zeros_like(source) if graphs.edge_labels is None else np.asarray(graphs.edge_labels)
    pairs, thing = np.unique([source, target, edge], axis=1, return_inverse=True)
    owners = _owners(thing.ravel(), graphs.graph_of_arc, len(graphs))
    return Things(owners, name, 0, pairs, tuple(distinct))


def _neighborhoods(graphs: GraphBatch, radius: int, numbers: np.ndarray) -> Things:
    """Neighborhoods of one radius."""
    _, first, thing = np.unique(numbers, return_index=True, return_inverse=True)

    owners = _owners(thing, graphs.graph_of_node, len(graphs))
    return Things(owners, "", radius, first[np.newaxis], ())


def _owners(thing: np.ndarray, graph: np.ndarray, n_graphs: int) -> sp.csr_array:
    """The graphs that have each thing; 1 however often they have it."""
    shape = int(thing.max(initial=-1)) + 1, n_graphs
    return as_sets(count_pairs(thing, graph, shape))


def _sharing(owners: sp.csr_array, largest: int) -> Iterator[tuple[float, np.ndarray]]:
    """Generate share and members of the groups that share a thing."""
    owners = owners[np.diff(owners.indptr) > 1]
    n_owners = np.diff(owners.indptr)
    n = owners.shape[1]
    least = np.full(n, n + 1)  # the owners of the rarest thing that each graph shares
    np.minimum.at(least, owners.indices, np.repeat(n_owners, n_owners))
    shares = np.searchsorted(np.sort(least), n_owners, side="right") / n
    is_small = (n_owners >= SMALLEST) & (n_owners <= largest) & (shares <= APART)
    for i in np.flatnonzero(is_small):
        yield shares[i], owners.indices[slice(*owners.indptr[i : i + 2])]


def _find_shared(kinds: list[Things], members: np.ndarray) -> tuple[Things | None, np.ndarray]:
    """Things of the first kind that all members have and no other reference."""
    for things in kinds:
        owners = things.owners
        n_members = owners[:, members].sum(axis=1)
        only = np.flatnonzero((n_members == len(members)) & (np.diff(owners.indptr) == n_members))
        if len(only):
            return things, only
    return None, np.empty(0, dtype=np.int64)


# -- statistics ------------------------------------------------------------------------------------


def _clusters(points: np.ndarray, largest: int) -> Iterator[tuple[float, np.ndarray]]:
    """Generate share and members of the small clusters of points."""
    n_near = largest + 5
    if len(points) <= n_near:
        return
    with one_blas_thread():
        near, index = NearestNeighbors(n_neighbors=n_near).fit(points).kneighbors(points)
    for smallest in progress(CLUSTERS):
        clusters = HDBSCAN(
            min_cluster_size=smallest, min_samples=1, cluster_selection_method="leaf", copy=True
        ).fit_predict(points)
        for i in range(clusters.max() + 1):
            members = np.flatnonzero(clusters == i)
            k = len(members)
            if k <= largest:
                is_other = ~np.isin(index[members], members)
                to_others = [
                    x[other][:5].mean() for x, other in zip(near[members], is_other, strict=True)
                ]
                share = (near[:, k : k + 5].mean(axis=1) >= np.median(to_others)).mean()
                yield float(share), members
