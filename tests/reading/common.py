"""Graphs, tables and logs that several tests read."""

import networkx as nx
import numpy as np
import pandas as pd


def measured_graphs(kind, seed=0, n_graphs=5):
    """Graphs of a class of networkx, whose nodes and edges have categories and numbers."""
    rng = np.random.RandomState(seed)
    graphs = []
    for _ in range(n_graphs):
        graph, n_nodes = kind(), rng.randint(3, 8)
        for k in range(n_nodes):
            kinds = {"atom": "CNO"[rng.randint(3)], "node_type": "pq"[rng.randint(2)]}
            graph.add_node(f"n{k}", **kinds, temp=rng.rand())
        for u, v in rng.randint(n_nodes, size=(10, 2)):
            if u != v:
                data = {"label": "sd"[rng.randint(2)], "flow": float(rng.randint(3)), "w": 1.5}
                graph.add_edge(f"n{u}", f"n{v}", **data)
        graphs.append(graph)
    return graphs


def span(trace, parent, own, **more):
    times = {"startTimeUnixNano": "1706000000000000000", "endTimeUnixNano": "1706000000002500000"}
    ids = {"traceId": trace, "spanId": own, "parentSpanId": parent}
    return {**ids, "name": f"call {own}", **times, **more}


def exported(service, *spans):
    attributes = [{"key": "service.name", "value": {"stringValue": service}}]
    resource = {"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(spans)}]}
    return {"resourceSpans": [resource]}


COLUMNS = {"graph": "case", "source": "from", "target": "to", "node": "step"}


def tables(n_cases=3, seed=0):
    """Tables in no order, and the graphs that they are."""
    rng, graphs, edges, nodes, cases = np.random.default_rng(seed), [], [], [], []
    for i in range(n_cases):
        case = {"case": f"case{i}"}
        graph = nx.DiGraph(name=f"case{i}", amount=float(rng.normal()))
        cases.append(case | {"amount": graph.graph["amount"]})
        for v in range(6):
            who = {} if v == 3 else {"who": "xyz"[rng.integers(3)]}
            graph.add_node(f"s{v}", **who)
            nodes.append(case | {"step": f"s{v}"} | who)
        for u, v in nx.gnp_random_graph(6, 0.4, seed=i, directed=True).edges:
            hours = float(rng.gamma(2))
            graph.add_edge(f"s{u}", f"s{v}", hours=hours)
            edges.append(case | {"from": f"s{u}", "to": f"s{v}", "hours": hours})
        graphs.append(graph)
    in_disorder = pd.DataFrame(edges).sample(frac=1, random_state=seed)
    return in_disorder, pd.DataFrame(nodes), pd.DataFrame(cases), graphs
