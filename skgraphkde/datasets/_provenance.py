"""Provenance graphs with planted attacks: counts, a kind of attack and a seed -> graphs, targets.

A normal graph is drawn from one of four templates of ordinary activity. An attack changes a normal
graph, with as many nodes, about as many arcs, and as far as possible with nothing that each part
taken alone would betray.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from numbers import Integral
from typing import Any

import networkx as nx
import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from skgraphkde.datasets._planting import planned, planted
from skgraphkde.graphs.schema import GraphSchema

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


# -- attacks: each changes a graph, and returns the nodes that take part ---------------------------


def _exfiltrate(host: _Host) -> list[int]:
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
    return [thief, *(v for u, v in host.arcs("send") if u == thief)]


def _drop(host: _Host) -> list[int]:
    """A process receives a program, writes and forks it; that connects back for orders."""
    graph = host.graph
    dropper, dropped = host.some(host.children(), 2, 2)
    parent = next(u for u, v in host.arcs("fork") if v == dropped)
    before = graph.number_of_edges()
    graph.remove_edge(parent, dropped)
    graph.remove_edges_from([arc for arc in host.arcs("execute") if arc[1] == dropped])
    # The program that the child was, if nobody else executes it, and nodes that others use once
    # serve as the socket and the file: the number of nodes stays.
    mine = {dropper, dropped, *nx.all_neighbors(graph, dropper), *nx.all_neighbors(graph, dropped)}
    once = [v for v in graph if graph.degree(v) == 1 and v not in mine]
    once = [v for v in once if graph.nodes[v]["kind"] != "process"]
    free = [*nx.isolates(graph), *host.some(once, 2, 2)][:2]
    graph.remove_edges_from([*graph.in_edges(free), *graph.out_edges(free)])
    site, program = free + host.files(2 - len(free))
    graph.nodes[site]["kind"], graph.nodes[program]["kind"] = "socket", "file"
    host.flow(site, dropper, "receive")
    host.flow(dropper, program, "write")
    host.flow(dropper, dropped, "fork")
    host.flow(program, dropped, "execute")
    host.flow(dropped, site, "connect")
    host.flow(site, dropped, "receive")
    # The program reads less than the process in whose place it is.
    shared = [(f, v) for f, v in host.arcs("read") if v == dropped and graph.degree(f) > 1]
    graph.remove_edges_from(shared[: max(0, graph.number_of_edges() - before)])
    return [dropper, dropped, site, program]


def _reverse(host: _Host) -> list[int]:
    """Processes write what they should read, and read what they should write."""
    arcs = host.arcs("read", "write")
    actions = [host.graph.edges[arc]["action"] for arc in arcs]
    for (u, v), action in zip(arcs, actions, strict=True):
        host.move((u, v), (v, u), _OPPOSITE[action])
    return [v for arc in arcs for v in arc]


def _inject(host: _Host) -> list[int]:
    """Two processes are not forked but injected: an action never seen."""
    arcs = host.some(host.arcs("fork"), 2, 2)
    for arc in arcs:
        host.graph.edges[arc]["action"] = "inject"
    return [v for arc in arcs for v in arc]


def _enlarge(host: _Host) -> list[int]:
    """Every arc moves twice as many bytes."""
    for *_, data in host.graph.edges(data=True):
        data["bytes"] *= _VOLUME
    return list(host.graph)


_ATTACKS: dict[str, Callable[[_Host], list[int]]] = {
    "exfiltration": _exfiltrate,
    "dropper": _drop,
    "reversed_flow": _reverse,
    "new_action": _inject,
    "volume": _enlarge,
}


@validate_params(
    {
        "n_normal": [Interval(Integral, 0, None, closed="left")],
        "n_anomalies": [Interval(Integral, 0, None, closed="left")],
        "kind": [StrOptions({"mixed", *_ATTACKS})],
        "random_state": ["random_state"],
        "return_X_y": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def make_provenance_graphs(
    n_normal: int = 1000,
    n_anomalies: int = 0,
    *,
    kind: str = "mixed",
    random_state: Any = None,
    return_X_y: bool = False,
) -> Any:
    """What processes, files and sockets of a computer did to each other, and planted attacks.

    Nodes have the category "kind": process, file or socket. Arcs follow what flows, and have the
    category "action" and the number "bytes": a process can ``fork`` another one, ``read`` a file,
    ``execute`` it or ``write`` it, ``connect`` to a socket, ``send`` to it or ``receive`` from it.

    Normal graphs have 10 to 28 nodes and are, with equal probability, a shell that forks tools; a
    build, whose compilers read sources and write objects; a browser, whose tabs connect, receive
    and write a cache; or a server, whose workers receive, read documents and send.

    Attacks change such a graph and keep its number of nodes, and its number of arcs to within a
    few:

    - "exfiltration": one process reads nearly all files, each in place of another reading, and
      sends to one socket;
    - "dropper": a process receives a program from a socket, writes it to a file and forks a child
      that executes it, connects back and receives;
    - "reversed_flow": processes write what they should read, and read what they should write;
    - "new_action": two processes are the targets of ``inject``, an action that no normal graph has,
      instead of ``fork``;
    - "volume": every arc moves twice as many bytes.

    Parameters
    ----------
    n_normal, n_anomalies : int, default=1000 and 0
        Number of graphs of each kind. Normal graphs come first.
    kind : str, default="mixed"
        The attack, as above. "mixed" takes them in turn.
    random_state : int, RandomState instance or None, default=None
    return_X_y : bool, default=False
        Whether to return ``(graphs, target)`` instead of a Bunch.

    Returns
    -------
    Bunch
        - graphs : GraphBatch, directed;
        - target : ndarray of shape (n_graphs,), 1 for normal graphs and -1 for attacks;
        - kind : ndarray of str, shape (n_graphs,), "normal" or the attack;
        - activity : ndarray of str, shape (n_graphs,), "shell", "build", "browser" or "server";
        - culprits : list of ndarray of int, one per graph: the nodes of the graph that take part in
          the attack, none in normal graphs.

    See Also
    --------
    make_traces : Trees of service calls.

    Examples
    --------
    >>> from skgraphkde.datasets import make_provenance_graphs
    >>> drawn = make_provenance_graphs(3, 2, random_state=0)
    >>> drawn.kind.tolist()
    ['normal', 'normal', 'normal', 'exfiltration', 'dropper']
    >>> sorted(drawn.graphs.edge_label_names)
    ['connect', 'execute', 'fork', 'read', 'receive', 'send', 'write']
    >>> graph = drawn.graphs.to_networkx()[0]
    >>> graph.nodes[0], graph.nodes[1], graph.edges[1, 0]["action"]
    ({'kind': 'process'}, {'kind': 'file'}, 'read')
    """
    plan = planned(n_normal, n_anomalies, kind, _ATTACKS)
    rng = check_random_state(random_state)
    activities = rng.randint(len(_ACTIVITIES), size=len(plan))
    drawn, culprits = [], []
    for attack, activity in zip(plan, activities, strict=True):
        host = _Host(rng)
        _ACTIVITIES[activity](host)
        isolated = list(nx.isolates(host.graph))  # files that nothing used
        host.graph.remove_nodes_from(isolated)
        host.graph = nx.convert_node_labels_to_integers(host.graph)
        culprits.append([] if attack == "normal" else _ATTACKS[attack](host))
        drawn.append(host.graph)
    schema = GraphSchema(
        node_categories="kind", edge_categories="action", edge_numbers="bytes", directed=True
    )
    names = np.array([_ACTIVITIES[i].__name__[1:] for i in activities])
    return planted(drawn, schema, plan, culprits, return_X_y, activity=names)
