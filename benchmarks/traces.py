"""Simulated traces of service calls with faults, for the benchmark of drift.

A trace is a tree: the request reaches a gateway, which calls services, which call others.
"""

from __future__ import annotations

from collections.abc import Iterable

import networkx as nx
import numpy as np

from skgraphkde import GraphSchema

SCHEMA = GraphSchema(
    node_categories="service", edge_categories="status", edge_numbers="delay", directed=True
)

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
_SHAPE = 60  # of the gamma distribution of delays: a standard deviation of 13%
_MADE = 0.95  # probability of each call
_TWICE = 0.2  # probability that it is made for two items
_RETRIED = 0.03  # probability that a call fails, and is made again
_SLOWNESS = 1.6


def _calls(rng: np.random.RandomState, retried: float = _RETRIED) -> nx.DiGraph:
    """A tree of calls that reaches the database, each with its service and status."""
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


def _with_delays(tree: nx.DiGraph, rng: np.random.RandomState) -> nx.DiGraph:
    """The tree, with a delay drawn for each call."""
    for _, call, data in tree.edges(data=True):
        data["delay"] = float(rng.gamma(_SHAPE, _DELAYS[tree.nodes[call]["service"]] / _SHAPE))
    return tree


# -- a trace of each kind --------------------------------------------------------------------------


def _normal(rng: np.random.RandomState) -> nx.DiGraph:
    return _with_delays(_calls(rng), rng)


def _slow(rng: np.random.RandomState) -> nx.DiGraph:
    tree = _normal(rng)
    for _, call, data in tree.edges(data=True):
        if tree.nodes[call]["service"] == "database":
            data["delay"] *= _SLOWNESS
    return tree


def _other_order(rng: np.random.RandomState) -> nx.DiGraph:
    tree = _calls(rng)
    inner = [(u, v) for u, v in tree.edges if u != 0]
    caller, call = inner[rng.randint(len(inner))]
    services = tree.nodes(data="service")
    exchanged = {caller: services[call], call: services[caller]}
    nx.set_node_attributes(tree, exchanged, "service")
    return _with_delays(tree, rng)


def _retries(rng: np.random.RandomState) -> nx.DiGraph:
    tree = _calls(rng, 10 * _RETRIED)
    while all(status == "ok" for *_, status in tree.edges(data="status")):
        tree = _calls(rng, 10 * _RETRIED)
    return _with_delays(tree, rng)


_KINDS = {"normal": _normal, "slow": _slow, "other_order": _other_order, "retries": _retries}


def draw_traces(kinds: Iterable[str], seed: int) -> list[nx.DiGraph]:
    """Draw trees of calls between the services of a shop.

    A node is a call, with the category "service". An arc leads from a call to one that it makes,
    with the category "status" (ok; error, if it fails; retry, if it is made again after that) and
    the number "delay", in milliseconds.

    Parameters
    ----------
    kinds : iterable of str
        "normal" or a fault, for each trace:

        - "slow": calls of the database take 1.6 times as long;
        - "other_order": a call and one that it makes exchange their services;
        - "retries": 30% of the calls fail, instead of 3%, and are made again.
    seed : int

    Returns
    -------
    list of nx.DiGraph
    """
    rng = np.random.RandomState(seed)
    return [_KINDS[kind](rng) for kind in kinds]
