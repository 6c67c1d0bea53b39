"""Simulated provenance graphs with attacks, for `plot_provenance.py` and the benchmark of drift.

A normal graph is drawn from one of four templates of ordinary activity. An attack changes a normal
graph and keeps its number of nodes and, as far as possible, the numbers of its parts.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import networkx as nx
import numpy as np

from skgraphkde import GraphSchema

SCHEMA = GraphSchema(
    node_categories="kind", edge_categories="action", edge_numbers="bytes", directed=True
)

# Median bytes of an arc. To fork moves nothing.
_BYTES = {
    "fork": 0,
    "execute": 8000,
    "read": 4000,
    "write": 4000,
    "connect": 500,
    "send": 3000,
    "receive": 6000,
}
_SPREAD = 0.4  # standard deviation of the logarithm of the bytes
_VOLUME = 2.0  # how many times the bytes, where they are the attack
_OPPOSITE = {"read": "write", "write": "read"}


class _Host:
    """A provenance graph that grows."""

    def __init__(self, rng: np.random.RandomState) -> None:
        self.graph, self.rng = nx.DiGraph(), rng

    def node(self, kind: str) -> int:
        """A new node."""
        self.graph.add_node(len(self.graph), kind=kind)
        return len(self.graph) - 1

    def files(self, n: int) -> list[int]:
        """New files."""
        return [self.node("file") for _ in range(n)]

    def flow(self, source: int, target: int, action: str) -> None:
        """A new arc."""
        n_bytes = float(np.rint(_BYTES[action] * np.exp(self.rng.normal(0, _SPREAD))))
        self.graph.add_edge(source, target, action=action, bytes=n_bytes)

    def fork(self, parent: int, program: int | None = None) -> int:
        """A new process, and the file that it executes."""
        child = self.node("process")
        self.flow(parent, child, "fork")
        if program is not None:
            self.flow(program, child, "execute")
        return child

    def some(self, items: Iterable, least: int, most: int) -> list:
        """Between `least` and `most` of the items, in random order."""
        items = list(items)
        order = self.rng.permutation(len(items))
        return [items[i] for i in order[: self.rng.randint(least, most + 1)]]

    def one(self, items: Iterable) -> Any:
        """One of the items."""
        return self.some(items, 1, 1)[0]

    def arcs(self, *actions: str) -> list[tuple[int, int]]:
        """The arcs with one of these actions."""
        return [(u, v) for u, v, action in self.graph.edges(data="action") if action in actions]

    def children(self) -> list[int]:
        """All processes but the first."""
        return [child for _, child in self.arcs("fork")]

    def move(self, old: tuple[int, int], new: tuple[int, int], action: str) -> None:
        """Replace an arc by another one with as many bytes."""
        n_bytes = self.graph.edges[old]["bytes"]
        self.graph.remove_edge(*old)
        self.graph.add_edge(*new, action=action, bytes=n_bytes)


# -- ordinary activity -----------------------------------------------------------------------------


def _shell(host: _Host) -> None:
    """A shell forks tools, which read documents; most write a file."""
    shell = host.node("process")
    for profile in host.files(2):
        host.flow(profile, shell, "read")
    programs, documents = host.files(3), host.files(4)
    for i in range(host.rng.randint(4, 8)):
        tool = host.fork(shell, programs[host.rng.randint(3)])
        for document in host.some(documents, 1, 2):
            host.flow(document, tool, "read")
        if i == 0 or host.rng.rand() < 0.6:
            host.flow(tool, host.node("file"), "write")


def _build(host: _Host) -> None:
    """Compilers read a source and headers and write an object; the linker reads all objects."""
    make, (makefile, compiler, linker) = host.node("process"), host.files(3)
    host.flow(makefile, make, "read")
    headers, objects = host.files(3), []
    for _ in range(host.rng.randint(4, 7)):
        child = host.fork(make, compiler)
        for source in [host.node("file"), *host.some(headers, 1, 3)]:
            host.flow(source, child, "read")
        objects.append(host.node("file"))
        host.flow(child, objects[-1], "write")
    child = host.fork(make, linker)
    for item in objects:
        host.flow(item, child, "read")
    host.flow(child, host.node("file"), "write")


def _browser(host: _Host) -> None:
    """Tabs read cookies, connect to sites, receive pages and write them to a cache."""
    browser, (cookies, fonts) = host.node("process"), host.files(2)
    host.flow(cookies, browser, "read")
    for _ in range(host.rng.randint(3, 6)):
        tab = host.fork(browser)
        for file in [cookies, *host.some([fonts], 0, 1)]:
            host.flow(file, tab, "read")
        for _ in range(host.rng.randint(1, 3)):
            site = host.node("socket")
            host.flow(tab, site, "connect")
            host.flow(site, tab, "receive")
        for _ in range(host.rng.randint(1, 3)):
            host.flow(tab, host.node("file"), "write")


def _server(host: _Host) -> None:
    """Workers receive a request, read documents, send the answer and write a log."""
    listener, (settings, log) = host.node("process"), host.files(2)
    host.flow(settings, listener, "read")
    documents = host.files(4)
    for _ in range(host.rng.randint(4, 7)):
        worker, client = host.fork(listener), host.node("socket")
        host.flow(client, worker, "receive")
        for document in host.some(documents, 1, 3):
            host.flow(document, worker, "read")
        host.flow(worker, client, "send")
        host.flow(worker, log, "write")


_ACTIVITIES = (_shell, _build, _browser, _server)


# -- attacks: each changes a graph ----------------------------------------------------------------


def _exfiltrate(host: _Host) -> None:
    """A process reads all files, each in place of another reading, and sends to one socket."""
    graph = host.graph
    thief = host.one(host.children())
    if not any(u == thief for u, _ in host.arcs("send")):
        # What some process writes, and nothing reads, becomes a socket.
        writer, sink = host.one((u, v) for u, v in host.arcs("write") if graph.degree(v) == 1)
        graph.nodes[sink]["kind"] = "socket"
        graph.remove_edge(writer, sink)
        host.flow(thief, sink, "send")
    mine = {*graph.predecessors(thief), *graph.successors(thief)}
    for file in [v for v, kind in graph.nodes(data="kind") if kind == "file" and v not in mine]:
        reads = [arc for arc in host.arcs("read") if arc[1] != thief]
        # Another reading of it, or of a file that has others.
        spare = [arc for arc in reads if arc[0] == file]
        spare = spare or [arc for arc in reads if graph.degree(arc[0]) > 1]
        if spare:
            host.move(host.one(spare), (file, thief), "read")


def _reverse(host: _Host) -> None:
    """Exchange reads and writes."""
    arcs = host.arcs("read", "write")
    actions = [host.graph.edges[arc]["action"] for arc in arcs]
    for (u, v), action in zip(arcs, actions, strict=True):
        host.move((u, v), (v, u), _OPPOSITE[action])


def _inject(host: _Host) -> None:
    """Two processes are injected instead of forked: an action that no normal graph has."""
    arcs = host.some(host.arcs("fork"), 2, 2)
    for arc in arcs:
        host.graph.edges[arc]["action"] = "inject"


def _enlarge(host: _Host) -> None:
    """Every arc moves twice as many bytes."""
    for *_, data in host.graph.edges(data=True):
        data["bytes"] *= _VOLUME


ATTACKS = {
    "exfiltration": _exfiltrate,
    "reversed_flow": _reverse,
    "new_action": _inject,
    "volume": _enlarge,
}


def draw_provenance_graphs(kinds: Iterable[str], seed: int) -> tuple[list[nx.DiGraph], np.ndarray]:
    """Draw processes, files and sockets of a computer, and the flows between them.

    Nodes have the category "kind": process, file or socket. Arcs have the category "action" (fork,
    execute, read, write, connect, send, receive) and the number "bytes".

    Parameters
    ----------
    kinds : iterable of str
        "normal" or the name of an attack, for each graph:

        - "exfiltration": one process reads nearly all files and sends to one socket;
        - "reversed_flow": reads and writes are exchanged;
        - "new_action": two processes are the targets of ``inject`` instead of ``fork``;
        - "volume": every arc moves twice as many bytes.
    seed : int

    Returns
    -------
    graphs : list of nx.DiGraph
        Graphs of 10 to 28 nodes.
    activities : ndarray of str, shape (n_graphs,)
        The template of each graph: "shell", "build", "browser" or "server".
    """
    kinds, rng = list(kinds), np.random.RandomState(seed)
    activities = rng.randint(len(_ACTIVITIES), size=len(kinds))
    graphs = []
    for kind, activity in zip(kinds, activities, strict=True):
        host = _Host(rng)
        _ACTIVITIES[activity](host)
        host.graph.remove_nodes_from(list(nx.isolates(host.graph)))  # files that nothing used
        host.graph = nx.convert_node_labels_to_integers(host.graph)
        if kind != "normal":
            ATTACKS[kind](host)
        graphs.append(host.graph)
    return graphs, np.array([activity.__name__[1:] for activity in _ACTIVITIES])[activities]
