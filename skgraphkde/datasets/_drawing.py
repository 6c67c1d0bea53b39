"""Drawing random graphs, and measuring what the paper's target densities are functions of.

The drawing functions take sizes, probabilities and a RandomState and return graphs. The measuring
functions take graphs and return one number per graph.
"""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.special import zeta

from skgraphkde.graphs.arrays import offsets, ranges
from skgraphkde.graphs.batch import GraphBatch

N_BLOCKS = 3  # communities of the stochastic block model


# -- drawing ---------------------------------------------------------------------------------------


def draw_sizes(n_graphs: int, n_nodes: tuple[int, int], rng: np.random.RandomState) -> np.ndarray:
    """Numbers of nodes, uniform between the smallest and the largest in `n_nodes`."""
    smallest, largest = n_nodes
    if not 5 <= smallest <= largest:
        raise ValueError(f"n_nodes must be (smallest, largest), 5 <= smallest, got {n_nodes!r}")
    if n_graphs == 0:
        raise ValueError("n_normal and n_anomalies are both 0: ask for at least one graph")
    return rng.randint(smallest, largest + 1, size=n_graphs)


def draw_extremes(n: int, rng: np.random.RandomState) -> np.ndarray:
    """Probabilities that are uniform on the union of [0, 0.2] and [0.8, 1]."""
    p = 0.4 * rng.rand(n)
    return np.where(p < 0.2, p, p + 0.6)


def draw_independent_edges(
    sizes: np.ndarray,
    probability: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    rng: np.random.RandomState,
) -> GraphBatch:
    """Graphs in which edge (i, j) of graph g exists with ``probability(i, j, g)``."""
    node_ptr = offsets(sizes)
    n = int(node_ptr[-1])
    graph = np.repeat(np.arange(len(sizes)), sizes)
    end = node_ptr[1:][graph]
    u = np.repeat(np.arange(n), end - np.arange(n) - 1)  # every pair u < v within one graph
    v = ranges(np.arange(n) + 1, end)
    start = node_ptr[graph[u]]
    is_edge = rng.random_sample(len(u)) < probability(u - start, v - start, graph[u])
    u, v = u[is_edge], v[is_edge]
    ends = (np.concatenate([u, v]), np.concatenate([v, u]))
    adjacency = sp.coo_array((np.ones(2 * len(u)), ends), shape=(n, n)).tocsr()
    adjacency.sort_indices()
    return GraphBatch(node_ptr, sp.csr_array(adjacency))


def rewire(graph: nx.Graph, share: float, rng: np.random.RandomState) -> nx.Graph:
    """The graph with a share of its edges moved to pairs that were not connected."""
    edges, gaps = list(graph.edges), list(nx.non_edges(graph)) if share else []
    n_moved = min(round(share * len(edges)), len(gaps))
    if not n_moved:
        return graph
    moved = nx.Graph(graph)
    moved.remove_edges_from(edges[i] for i in rng.permutation(len(edges))[:n_moved])
    moved.add_edges_from(gaps[i] for i in rng.permutation(len(gaps))[:n_moved])
    return moved


def with_degrees(graphs: GraphBatch) -> GraphBatch:
    """The graphs with degree / (n - 1) as their node attribute."""
    others = np.repeat(graphs.n_nodes_per_graph, graphs.n_nodes_per_graph) - 1
    return graphs.replace(attributes=(graphs.degrees / others)[:, np.newaxis])


# -- measuring -------------------------------------------------------------------------------------


def power_law_fit(graph: nx.Graph) -> float:
    """1 / (1 + KL(P || Q)), with P the distribution of the degrees and Q(k) = k^-3 / zeta(3)."""
    degrees = np.array([degree for _, degree in graph.degree if degree])
    k, counts = np.unique(degrees, return_counts=True)
    P = counts / counts.sum()
    return float(1 / (1 + np.sum(P * np.log(P * k**3.0 * zeta(3)))))


def average_clustering(graphs: GraphBatch) -> np.ndarray:
    """Mean over each graph's nodes of (edges between neighbors) / (pairs of neighbors)."""
    A, degrees = graphs.adjacency, graphs.degrees
    twice_edges = np.asarray((A @ A).multiply(A).sum(axis=1)).ravel()
    clustering = twice_edges / np.maximum(degrees * (degrees - 1), 1)
    return np.add.reduceat(clustering, graphs.node_ptr[:-1]) / graphs.n_nodes_per_graph


def average_path_length(graphs: GraphBatch) -> np.ndarray:
    """Mean length of the shortest paths, over the pairs of a graph's nodes that a path connects."""
    lengths = np.zeros(len(graphs))
    for i in range(len(graphs)):
        A = graphs[i].adjacency
        # SciPy 1.13 accepts 32-bit indices only.
        indices = A.indices.astype(np.int32), A.indptr.astype(np.int32)
        D = sp.csgraph.shortest_path(sp.csr_array((A.data, *indices), A.shape), unweighted=True)
        lengths[i] = D[np.isfinite(D) & (D > 0)].mean()
    return lengths


def community_fit(graph: nx.Graph, rng: np.random.RandomState) -> float:
    """max(0, Q) / (1 + 0.3 |c - 3|), with Q the modularity of the c communities of Louvain."""
    if not graph.size():
        return 0.0  # modularity is undefined without edges
    communities = nx.community.louvain_communities(graph, seed=rng)
    modularity = nx.community.modularity(graph, communities)
    return max(0.0, modularity) / (1 + 0.3 * abs(len(communities) - N_BLOCKS))
