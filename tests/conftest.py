"""What several test modules share: small graphs, drawn from a seed."""

import os
import signal

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import settings

from skgraphkde import MMD, Density, GraphBatch, GraphKDEDetector, GraphSchema, read_graphs

# Nothing asserts a time. `make test-slow` searches longer: HYPOTHESIS_PROFILE=slow.
# Continuous integration draws the same examples each time: a commit is red for what it changed.
same = {"deadline": None, "derandomize": "CI" in os.environ}
settings.register_profile("fast", max_examples=10, **same)
settings.register_profile("slow", max_examples=100, **same)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fast"))

GAMMAS = (1e-2, 1e-1, 1.0, 1e1, 1e2)


def random_graphs(n_graphs, seed=0, labels="CNO", n_attributes=0, max_nodes=9):
    """Small random graphs; some have isolated nodes, some fall apart."""
    rng = np.random.RandomState(seed)
    graphs = []
    for _ in range(n_graphs):
        n = rng.randint(2, max_nodes)
        graph = nx.gnp_random_graph(n, 0.4, seed=int(rng.randint(1000)))
        for node in graph:
            if labels:
                graph.nodes[node]["label"] = labels[rng.randint(len(labels))]
            if n_attributes:
                graph.nodes[node]["x"] = rng.standard_normal(n_attributes)
        graphs.append(graph)
    return graphs


def with_data(graph, nodes=None, edges=None, **of_graph):
    """The graph, with data: a list has values in order, a function one for each node or edge.

    Anything else is the value of all, and None is none.
    """
    for parts, data in ((graph.nodes, nodes or {}), (graph.edges, edges or {})):
        for name, values in data.items():
            for i, part in enumerate(parts):
                value = values[i] if isinstance(values, list) else values
                value = value(part) if callable(value) else value
                if value is not None:
                    parts[part][name] = value
    graph.graph |= of_graph
    return graph


def spied(monkeypatch, owner, name):
    """The arguments of calls of a function that is called as before."""
    calls, function = [], getattr(owner, name)
    monkeypatch.setattr(owner, name, lambda *of, **by: calls.append(of) or function(*of, **by))
    return calls


@pytest.fixture
def hears_interrupts():
    """A process that Ctrl-C interrupts, also if a shell has started it in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def refused(message, function, *args, **options):
    """Check that the function raises a ValueError with this message."""
    with pytest.raises(ValueError, match=message):
        function(*args, **options)


def warned(message, function, *args, **options):
    """What the function returns, which gives a warning with this message."""
    with pytest.warns(UserWarning, match=message):
        return function(*args, **options)


def densities(*distances, **kernels):
    """A view for each of these distances; without any, for each of two."""
    distances = distances or (MMD(estimator="biased"), MMD(gammas=(1.0,)))
    return tuple(Density(distance, **kernels) for distance in distances)


def fitted_to(graphs, views="auto", **schema):
    """A detector that reads these data of graphs, fitted to them."""
    return GraphKDEDetector(views=views, schema=GraphSchema(**schema)).fit(graphs)


def permuted(batch: GraphBatch, seed: int) -> GraphBatch:
    """The same graphs, the nodes of each in another order."""
    rng, order = np.random.RandomState(seed), []
    for start, stop in zip(batch.node_ptr[:-1], batch.node_ptr[1:], strict=True):
        order.append(start + rng.permutation(stop - start))
    order = np.concatenate(order)
    position = np.argsort(order)
    source, target = position[batch.source_of_arc], position[batch.adjacency.indices]
    arcs = np.lexsort((target, source))
    indptr = np.append(0, np.cumsum(np.bincount(source, minlength=batch.n_nodes)))
    adjacency = sp.csr_array(
        (batch.adjacency.data[arcs], target[arcs], indptr), shape=batch.adjacency.shape
    )
    return batch.replace(
        adjacency=adjacency,
        node=batch.data("node").take(order),
        edge=batch.data("edge").take(arcs),
    )


@pytest.fixture
def graphs():
    return random_graphs(12)


@pytest.fixture
def batch(graphs):
    return read_graphs(graphs)
