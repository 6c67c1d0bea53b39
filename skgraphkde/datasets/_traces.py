"""Traces of service calls with planted faults: counts, a fault and a seed -> graphs, targets.

A trace is a tree: the request reaches a gateway, which calls services, which call others.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any

import networkx as nx
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from skgraphkde.datasets._planting import planned, planted
from skgraphkde.graphs.schema import GraphSchema

# Which services each one calls.
_CALLS = {
    "gateway": ("auth", "catalog", "cart"),
    "auth": ("database",),
    "catalog": ("stock", "pricing"),
    "cart": ("stock", "pricing"),
    "stock": ("database",),
    "pricing": ("database",),
}
# Milliseconds that a call takes on average, without the calls that it makes.
_DELAYS = {"auth": 20, "catalog": 25, "cart": 25, "stock": 20, "pricing": 25, "database": 20}
_NEW = {"probe": 20}  # a service never seen
_SHAPE = 60  # of the gamma distribution of delays: a standard deviation of 13%
_MADE = 0.95  # probability of each call
_TWICE = 0.2  # probability that it is made for two items
_RETRIED = 0.03  # probability that a call fails, and is made again
_SLOWNESS = 1.6


def _calls(rng: np.random.RandomState, retried: float = _RETRIED) -> nx.DiGraph:
    """A tree of calls with their services and their status, that reaches the database."""
    tree = nx.DiGraph()
    while "database" not in nx.get_node_attributes(tree, "service").values():
        tree = _tree(rng, retried)
    return tree


def _tree(rng: np.random.RandomState, retried: float) -> nx.DiGraph:
    tree = nx.DiGraph()
    tree.add_node(0, service="gateway")
    waiting = [0]
    while waiting:
        caller = waiting.pop(0)
        for service in _CALLS.get(tree.nodes[caller]["service"], ()):
            n_calls = (rng.rand() < _MADE) * (1 + (rng.rand() < _TWICE))
            for _ in range(n_calls):
                fails = rng.rand() < retried
                for status in ("error", "retry") if fails else ("ok",):
                    call = len(tree)
                    tree.add_node(call, service=service)
                    tree.add_edge(caller, call, status=status)
                waiting.append(call)  # one that fails calls nothing
    return tree


def _measure(tree: nx.DiGraph, rng: np.random.RandomState) -> None:
    """Draw the delays of all calls."""
    means = _DELAYS | _NEW
    for _, call, data in tree.edges(data=True):
        data["delay"] = float(rng.gamma(_SHAPE, means[tree.nodes[call]["service"]] / _SHAPE))


# -- faults: each draws a tree, and returns it with the calls that are odd -------------------------


def _normal(rng: np.random.RandomState) -> tuple[nx.DiGraph, list[int]]:
    tree = _calls(rng)
    _measure(tree, rng)
    return tree, []


def _slow(rng: np.random.RandomState) -> tuple[nx.DiGraph, list[int]]:
    tree, _ = _normal(rng)
    calls = [call for call, service in tree.nodes(data="service") if service == "database"]
    for *_, data in tree.in_edges(calls, data=True):
        data["delay"] *= _SLOWNESS
    return tree, calls


def _other_order(rng: np.random.RandomState) -> tuple[nx.DiGraph, list[int]]:
    tree = _calls(rng)
    inner = [(u, v) for u, v in tree.edges if u != 0]
    caller, call = inner[rng.randint(len(inner))]
    services = tree.nodes(data="service")
    exchanged = {caller: services[call], call: services[caller]}
    nx.set_node_attributes(tree, exchanged, "service")
    _measure(tree, rng)
    return tree, [caller, call]


def _retries(rng: np.random.RandomState) -> tuple[nx.DiGraph, list[int]]:
    culprits: list[int] = []
    while not culprits:
        tree = _calls(rng, retried=10 * _RETRIED)
        culprits = [call for _, call, status in tree.edges(data="status") if status != "ok"]
    _measure(tree, rng)
    return tree, culprits


def _new_service(rng: np.random.RandomState) -> tuple[nx.DiGraph, list[int]]:
    tree = _calls(rng)
    call = rng.randint(1, len(tree))
    (tree.nodes[call]["service"],) = _NEW
    _measure(tree, rng)
    return tree, [call]


_FAULTS: dict[str, Callable[[np.random.RandomState], tuple[nx.DiGraph, list[int]]]] = {
    "slow": _slow,
    "other_order": _other_order,
    "retries": _retries,
    "new_service": _new_service,
}


@validate_params(
    {
        "n_normal": [Interval(Integral, 0, None, closed="left")],
        "n_anomalies": [Interval(Integral, 0, None, closed="left")],
        "kind": [StrOptions({"mixed", *_FAULTS})],
        "random_state": ["random_state"],
        "return_X_y": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def make_traces(
    n_normal: int = 1000,
    n_anomalies: int = 0,
    *,
    kind: str = "mixed",
    random_state: Any = None,
    return_X_y: bool = False,
) -> Any:
    """Trees of calls between the services of a shop, and planted faults.

    A node is a call, with the category "service". An arc leads from a call to one that it makes,
    with the category "status" (ok; error, if it fails; retry, if it is made again after that) and
    the number "delay", the milliseconds that it takes by itself. In normal traces 3% of the calls
    fail, and delays vary by 13% around the mean of their service.

    The faults are

    - "slow": the calls of the database take 1.6 times as long;
    - "other_order": a call and one that it makes have exchanged their services: the same services
      are joined the other way;
    - "retries": 30% of the calls fail, and are made again;
    - "new_service": one call is that of a service that no normal trace has.

    Parameters
    ----------
    n_normal, n_anomalies : int, default=1000 and 0
        Number of graphs of each kind. Normal graphs come first.
    kind : str, default="mixed"
        The fault, as above. "mixed" takes them in turn.
    random_state : int, RandomState instance or None, default=None
    return_X_y : bool, default=False
        Whether to return ``(graphs, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        - graphs : GraphBatch, directed;
        - target : ndarray of shape (n_graphs,), 1 for normal graphs and -1 for faults;
        - kind : ndarray of str, shape (n_graphs,), "normal" or the fault;
        - culprits : list of ndarray of int, one per graph: the nodes of the graph that the fault
          concerns, none in normal graphs.

    See Also
    --------
    make_provenance_graphs : What processes did on a computer.

    Examples
    --------
    >>> from skgraphkde.datasets import make_traces
    >>> drawn = make_traces(2, 3, random_state=0)
    >>> drawn.kind.tolist()
    ['normal', 'normal', 'slow', 'other_order', 'retries']
    >>> drawn.graphs.label_names
    ('auth', 'cart', 'catalog', 'database', 'gateway', 'pricing', 'stock')
    >>> trace = drawn.graphs.to_networkx()[0]
    >>> trace.nodes[1], trace.edges[0, 1]["status"], round(trace.edges[0, 1]["delay"], 1)
    ({'service': 'auth'}, 'ok', 24.9)
    """
    plan = planned(n_normal, n_anomalies, kind, _FAULTS)
    rng = check_random_state(random_state)
    drawn, culprits = zip(*(_FAULTS.get(x, _normal)(rng) for x in plan), strict=True)
    schema = GraphSchema(
        node_categories="service", edge_categories="status", edge_numbers="delay", directed=True
    )
    return planted(drawn, schema, plan, culprits, return_X_y)
