"""Cases and distances that several tests use."""

import networkx as nx
import numpy as np

from skgraphkde.core.distances import DiscreteMeasures
from tests.conftest import with_data


def case(rng, planted=""):
    """A case of an order: steps in a row, some of which come again, with a wait at each."""
    steps = ["Receive", "Match", "Approve", "Post", "Pay"]
    for _ in range(rng.poisson(0.7)):
        steps[2:2] = ["Correct", "Match"]
    for optional, before in (("Query", "Match"), ("Remind", "Pay"), ("Check", "Post")):
        if rng.rand() < 0.3:
            steps.insert(steps.index(before), optional)
    if planted == "category":  # it is paid before it is posted
        steps.remove("Post")
        steps.append("Post")
    if planted == "structure":  # a ring of other steps
        steps += ["Remind", "Query", "Check"]
    graph = nx.path_graph(len(steps), create_using=nx.DiGraph)
    if planted == "structure":
        graph.add_edge(len(steps) - 1, 0)
    amount = rng.uniform(9_900, 9_990) if planted == "number" else rng.lognormal(6, 1)
    if planted == "extreme":
        amount = 30_000.0
    return with_data(graph, {"step": steps, "wait": lambda _: rng.gamma(5.0), "amount": amount})


def cases(n, k, planted, seed=0):
    rng = np.random.RandomState(seed)
    return [case(rng) for _ in range(n)] + [case(rng, planted) for _ in range(k)]


def squared_distances(model, batch, other, view):
    """Signed, as the kernels take them; both are embedded anew, for this view alone."""
    density = model.views[view]
    clouds = [model.embedding(graphs)[density] for graphs in (batch, other)]
    P, Q = (DiscreteMeasures(x.points, x.weights, x.sizes) for x in clouds)
    return density.distance_.squared(P, Q)
