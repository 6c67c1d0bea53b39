import math

import networkx as nx
import numpy as np

from skgraphkde import read_graphs
from skgraphkde.density.size_kernel import SizeKernel
from tests.conftest import random_graphs


def test_size_kernel_equals_the_formula():
    references, graphs = read_graphs(random_graphs(9)), read_graphs(random_graphs(4, seed=5))

    def sizes(batch):
        pairs = zip(batch.n_nodes_per_graph, batch.n_edges_per_graph, strict=True)
        return np.array([[math.log(n), math.log(1 + m)] for n, m in pairs])

    x, y = sizes(references), sizes(graphs)
    h = 9 ** (-1 / 6)
    expected = [
        [-(((b - a) / x.std(0)) ** 2).sum() / (2 * h**2) - math.log(2 * math.pi) for a in x]
        for b in y
    ]
    np.testing.assert_allclose(SizeKernel.fit(references)(graphs, references), expected, rtol=1e-12)


def test_size_kernel_of_graphs_of_one_size():
    batch = read_graphs([nx.path_graph(4)] * 3)
    values = SizeKernel.fit(batch)(read_graphs([nx.path_graph(4), nx.path_graph(9)]), batch)
    assert np.isfinite(values).all()
    assert (values[0] > values[1]).all()
