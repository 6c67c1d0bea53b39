"""Graphs and an encoder that several tests of reasons use."""

import networkx as nx
from scipy.spatial.distance import cdist

from skgraphkde import Distance, FittedDistance
from tests.conftest import with_data


def ring(n, long=None):
    """A ring whose nodes count from 1, with a length at each edge."""
    graph = nx.relabel_nodes(nx.cycle_graph(n), {i: i + 1 for i in range(n)})
    lengths = {"len": lambda edge: 50.0 if edge == long else 1 + sum(edge) % 3 / 10}
    return with_data(graph, None, lengths)


class Sums(Distance):
    """Distances between sums of points, which are no sums over nodes."""

    def build(self, dim, n_points, rng):
        return FittedSums()


class FittedSums(FittedDistance):
    def squared(self, P, Q=None):
        P, Q = (x.weights @ x.points * x.sizes[:, None] for x in (P, P if Q is None else Q))
        return cdist(P, Q, "sqeuclidean")
