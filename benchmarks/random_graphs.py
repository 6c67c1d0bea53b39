"""Random graphs of the paper's synthetic experiments: counts and a seed -> graphs and targets.

Makers take the numbers of normal graphs and of anomalies, which come last, and return a Bunch of
`graphs`, with the normalized degree as node attribute, their `target`, 1 for normal graphs and -1
for anomalies, and `density`, the one that the paper gives each graph.

Graphs have `n_nodes` nodes, from the smallest to the largest number, all equally likely. From Wang
et al., ICML 2026, the appendices on synthetic graphs and on distribution shifts.
"""

import math
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp
from scipy.special import zeta
from scipy.stats import beta
from sklearn.utils import Bunch, check_random_state

from skgraphkde import GraphBatch, read_graphs

N_NODES = (20, 50)
N_BLOCKS = 3  # communities of the stochastic block model


def make_erdos_renyi(n_normal, n_anomalies=0, *, n_nodes=N_NODES, random_state=None) -> Bunch:
    """Graphs with independent edges, whose probability p is drawn for each graph.

    Normal graphs draw p from Beta(2, 2), whose density is theirs, anomalies from the extremes,
    [0, 0.2] and [0.8, 1], as in the paper's distribution shifts: it does not say what these are.
    """
    rng = check_random_state(random_state)
    p = np.concatenate([rng.beta(2, 2, size=n_normal), _draw_extremes(n_anomalies, rng)])
    graphs = _draw_independent_edges(_draw_sizes(len(p), n_nodes, rng), lambda i, j, g: p[g], rng)
    return _result(graphs, n_normal, beta(2, 2).pdf(p), p=p)


def make_barabasi_albert(n_normal, n_anomalies=0, *, n_nodes=N_NODES, random_state=None) -> Bunch:
    """Scale-free graphs: each new node links to two nodes, preferably of high degree.

    New nodes of even anomalies link to one node only. Odd anomalies have 30% of their edges moved
    to random pairs. The density is 1 / (1 + KL(P || k^-3)), with P the distribution of the degrees
    k >= 1, and k^-3 divided by its sum, zeta(3). The paper does not say how many links a new node
    has. With two, hardly any degree is 1, so this density prefers the anomalies with one link.
    """
    rng = check_random_state(random_state)
    kind = np.arange(n_anomalies) % 2
    m = np.concatenate([np.full(n_normal, 2), np.where(kind == 0, 1, 2)])
    rewired = np.concatenate([np.zeros(n_normal), np.where(kind == 0, 0.0, 0.3)])
    sizes = _draw_sizes(len(m), n_nodes, rng)
    drawn = [
        _rewire(nx.barabasi_albert_graph(n, links, seed=rng), share, rng)
        for n, links, share in zip(sizes.tolist(), m.tolist(), rewired, strict=True)
    ]
    density = np.array([_power_law_fit(graph) for graph in drawn])
    return _result(read_graphs(drawn), n_normal, density)


def make_watts_strogatz(n_normal, n_anomalies=0, *, n_nodes=N_NODES, random_state=None) -> Bunch:
    """Small worlds: rings of nodes with four neighbors each, and a fifth of the edges moved.

    With p the share of edges that are moved, even anomalies are too regular, with p in [0, 0.05],
    and odd anomalies too random, with p in [0.8, 1]. The density is the mean of
    1 / (1 + 10 (C - 1/2)^2) and 1 / (1 + (L - log n / log 4)^2 / 10), with C the average clustering
    and L the average length of the shortest paths.
    """
    rng = check_random_state(random_state)
    kind = np.arange(n_anomalies) % 2
    anomalous = np.where(kind == 0, 0.05 * rng.rand(n_anomalies), 1 - 0.2 * rng.rand(n_anomalies))
    p = np.concatenate([np.full(n_normal, 0.2), anomalous])
    sizes = _draw_sizes(len(p), n_nodes, rng)
    pairs = zip(sizes.tolist(), p, strict=True)
    drawn = [nx.watts_strogatz_graph(n, 4, rewired, seed=rng) for n, rewired in pairs]
    clustering = np.array([nx.average_clustering(graph) for graph in drawn])
    length = np.array([_average_path_length(graph) for graph in drawn])
    of_clustering = 1 / (1 + 10 * (clustering - 0.5) ** 2)
    of_length = 1 / (1 + 0.1 * (length - np.log(sizes) / math.log(4)) ** 2)
    return _result(read_graphs(drawn), n_normal, (of_clustering + of_length) / 2)


def make_stochastic_block(n_normal, n_anomalies=0, *, n_nodes=N_NODES, random_state=None) -> Bunch:
    """Three communities, dense inside (p_in in [0.4, 0.8]), sparse between (p_out in [0.01, 0.1]).

    Even anomalies have no communities: p_in and p_out are both replaced by their mean over all
    pairs. In odd anomalies, p_in and p_out are exchanged. The density is
    max(0, Q) / (1 + 0.3 |c - 3|), with Q the modularity of the c communities of Louvain's method.
    """
    rng = check_random_state(random_state)
    n_graphs = n_normal + n_anomalies
    p_in, p_out = rng.uniform(0.4, 0.8, n_graphs), rng.uniform(0.01, 0.1, n_graphs)
    flat, inverted = np.arange(n_normal, n_graphs, 2), np.arange(n_normal + 1, n_graphs, 2)
    # About one in three of all pairs is inside a community.
    p_in[flat] = p_out[flat] = (p_in[flat] + 2 * p_out[flat]) / 3
    p_in[inverted], p_out[inverted] = p_out[inverted].copy(), p_in[inverted].copy()
    sizes = _draw_sizes(n_graphs, n_nodes, rng)

    def probability(i: np.ndarray, j: np.ndarray, graph: np.ndarray) -> np.ndarray:
        same = N_BLOCKS * i // sizes[graph] == N_BLOCKS * j // sizes[graph]
        return np.where(same, p_in[graph], p_out[graph])

    graphs = _draw_independent_edges(sizes, probability, rng)
    density = np.array([_community_fit(graph, rng) for graph in graphs.to_networkx()])
    return _result(graphs, n_normal, density)


def make_distribution_shift(scenario, *, n_train=2000, n_test=500, random_state=None) -> Bunch:
    """Training graphs, test graphs from the same or a shifted distribution, and anomalies.

    For training graphs, p is drawn from a normal distribution with mean 0.5 and standard deviation
    0.1, clipped to [0.2, 0.8]. The mean p of normal test graphs is 0.5, 0.3 or 0.7. Anomalies have
    an extreme p: in [0, 0.2] or [0.8, 1]; in [0, 0.15]; or in [0.85, 1]. In the shifted scenarios,
    every other anomaly is instead a normal test graph with half of its edges moved to random pairs,
    which gives another graph with independent edges: no detector can find it.

    The scenarios are "in_distribution", "sparse" and "dense"; `n_test` counts test graphs of each
    kind. The Bunch has `train` and `test`, normal graphs first, the `target` of the latter
    and `rewired`, the share of its edges that are moved.
    """
    rng = check_random_state(random_state)
    mean = {"in_distribution": 0.5, "sparse": 0.3, "dense": 0.7}[scenario]
    trained = np.clip(rng.normal(0.5, 0.1, n_train), 0.2, 0.8)
    rewired = np.zeros(2 * n_test)
    p = np.clip(rng.normal(mean, 0.1, 2 * n_test), 0, 1)
    if scenario == "in_distribution":
        p[n_test:] = _draw_extremes(n_test, rng)
    else:
        low = 0.0 if scenario == "sparse" else 0.85
        p[n_test::2] = rng.uniform(low, low + 0.15, len(p[n_test::2]))
        rewired[n_test + 1 :: 2] = 0.5
    probabilities = np.concatenate([trained, p])
    graphs = _draw_independent_edges(
        _draw_sizes(len(probabilities), N_NODES, rng), lambda i, j, g: probabilities[g], rng
    )
    pairs = zip(graphs[n_train:].to_networkx(), rewired, strict=True)
    test = [_rewire(graph, share, rng) for graph, share in pairs]
    return Bunch(
        train=_with_degrees(graphs[:n_train]),
        test=_with_degrees(read_graphs(test)),
        target=np.repeat([1, -1], n_test),
        rewired=rewired,
    )


# -- drawing ---------------------------------------------------------------------------------------


def _draw_sizes(n_graphs: int, n_nodes: tuple[int, int], rng: np.random.RandomState) -> np.ndarray:
    return rng.randint(n_nodes[0], n_nodes[1] + 1, size=n_graphs)


def _draw_extremes(n: int, rng: np.random.RandomState) -> np.ndarray:
    """Probabilities that are uniform on the union of [0, 0.2] and [0.8, 1]."""
    p = 0.4 * rng.rand(n)
    return np.where(p < 0.2, p, p + 0.6)


def _draw_independent_edges(
    sizes: np.ndarray,
    probability: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    rng: np.random.RandomState,
) -> GraphBatch:
    """Graphs in which edge (i, j) of graph g exists with ``probability(i, j, g)``."""
    node_ptr = np.append(0, np.cumsum(sizes))
    n = int(node_ptr[-1])
    graph = np.repeat(np.arange(len(sizes)), sizes)
    n_later = node_ptr[1:][graph] - np.arange(n) - 1
    u = np.repeat(np.arange(n), n_later)  # every pair u < v within one graph
    v = u + 1 + np.arange(len(u)) - np.repeat(np.cumsum(n_later) - n_later, n_later)
    start = node_ptr[graph[u]]
    is_edge = rng.random_sample(len(u)) < probability(u - start, v - start, graph[u])
    u, v = u[is_edge], v[is_edge]
    ends = (np.concatenate([u, v]), np.concatenate([v, u]))
    adjacency = sp.coo_array((np.ones(2 * len(u)), ends), shape=(n, n)).tocsr()
    adjacency.sort_indices()
    return GraphBatch(node_ptr, sp.csr_array(adjacency))


def _rewire(graph: nx.Graph, share: float, rng: np.random.RandomState) -> nx.Graph:
    """The graph with a share of its edges moved to pairs that were not connected."""
    edges, gaps = list(graph.edges), list(nx.non_edges(graph)) if share else []
    n_moved = min(round(share * len(edges)), len(gaps))
    if not n_moved:
        return graph
    moved = nx.Graph(graph)
    moved.remove_edges_from(edges[i] for i in rng.permutation(len(edges))[:n_moved])
    moved.add_edges_from(gaps[i] for i in rng.permutation(len(gaps))[:n_moved])
    return moved


def _with_degrees(graphs: GraphBatch) -> GraphBatch:
    """The graphs with degree / (n - 1) as their node attribute."""
    sizes = graphs.n_nodes_per_graph
    return graphs.with_node_numbers((graphs.degrees / (np.repeat(sizes, sizes) - 1))[:, None])


# -- the densities of the paper --------------------------------------------------------------------


def _power_law_fit(graph: nx.Graph) -> float:
    """1 / (1 + KL(P || Q)), with P the distribution of the degrees and Q(k) = k^-3 / zeta(3)."""
    degrees = np.array([degree for _, degree in graph.degree if degree])
    k, counts = np.unique(degrees, return_counts=True)
    P = counts / counts.sum()
    return float(1 / (1 + np.sum(P * np.log(P * k**3.0 * zeta(3)))))


def _average_path_length(graph: nx.Graph) -> float:
    """Mean length of the shortest paths, over the pairs of nodes that a path connects."""
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    return float(np.mean([d for from_node in lengths.values() for d in from_node.values() if d]))


def _community_fit(graph: nx.Graph, rng: np.random.RandomState) -> float:
    """max(0, Q) / (1 + 0.3 |c - 3|), with Q the modularity of the c communities of Louvain."""
    if not graph.size():
        return 0.0  # modularity is undefined without edges
    communities = nx.community.louvain_communities(graph, seed=rng)
    modularity = nx.community.modularity(graph, communities)
    return max(0.0, modularity) / (1 + 0.3 * abs(len(communities) - N_BLOCKS))


def _result(graphs: GraphBatch, n_normal: int, density: np.ndarray, **parameters: Any) -> Bunch:
    target = np.repeat([1, -1], [n_normal, len(graphs) - n_normal])
    return Bunch(graphs=_with_degrees(graphs), target=target, density=density, **parameters)
