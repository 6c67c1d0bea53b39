"""One list of typed graphs by every route that can hold it gives the same graphs."""

import json
import tempfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphSchema, read_graphs, read_tables
from skgraphkde.reading.files import find_files, read_batch

igraph = pytest.importorskip("igraph")
pa = pytest.importorskip("pyarrow")

SCHEMAS = {
    "named": GraphSchema(
        node_categories="kind", node_numbers="ms", edge_categories="via", edge_numbers="amount"
    ),
    "all": "all",
}


def draw_graphs(seed, is_directed):
    """A few graphs whose nodes and edges have a category and a number, and ids that are texts."""
    rng = np.random.default_rng(seed)
    graphs = []
    for i in range(3):
        n = int(rng.integers(3, 7))
        plain = nx.gnm_random_graph(n, n + 1, seed=int(rng.integers(2**31)), directed=is_directed)
        graph = nx.relabel_nodes(plain, {v: f"n{v}" for v in plain})
        graph.graph["name"] = f"g{i}"
        for data in graph.nodes.values():
            data.update(kind=str(rng.choice(["pump", "valve"])), ms=round(rng.normal(), 3))
        for data in graph.edges.values():
            data.update(via=str(rng.choice(["mail", "call"])), amount=round(rng.normal(), 3))
        graphs.append(graph)
    return graphs


def tables_of(graphs):
    """The table of edges, and that of nodes."""
    edges = [
        {"graph": x.graph["name"], "source": u, "target": v, **data}
        for x in graphs
        for u, v, data in x.edges(data=True)
    ]
    nodes = [
        {"graph": x.graph["name"], "node": v, **data}
        for x in graphs
        for v, data in x.nodes(data=True)
    ]
    return pd.DataFrame(edges), pd.DataFrame(nodes)


def write_tables(folder, graphs, ending):
    for name, table in zip(("edges", "nodes"), tables_of(graphs), strict=True):
        path = folder / f"{name}.{ending}"
        if ending == "csv":
            table.to_csv(path, index=False)
        else:
            table.to_parquet(path)


def write_each(folder, graphs, write, ending):
    for graph in graphs:
        write(graph, folder / f"{graph.graph['name']}.{ending}")


def write_json(folder, graphs):
    documents = [nx.node_link_data(graph, edges="links") for graph in graphs]
    (folder / "all.json").write_text(json.dumps(documents))


WRITERS = {
    "CSV": lambda folder, graphs: write_tables(folder, graphs, "csv"),
    "Parquet": lambda folder, graphs: write_tables(folder, graphs, "parquet"),
    "JSON": write_json,
    "GraphML": lambda folder, graphs: write_each(folder, graphs, nx.write_graphml, "graphml"),
    "GEXF": lambda folder, graphs: write_each(folder, graphs, nx.write_gexf, "gexf"),
}


def read_each_way(graphs, schema, is_directed):
    """The batch of each route."""
    edges, nodes = tables_of(graphs)
    yield "networkx", read_graphs(graphs, schema=schema)
    yield "igraph", read_graphs([igraph.Graph.from_networkx(x) for x in graphs], schema=schema)
    for kind, convert in (("pandas", lambda x: x), ("Arrow", pa.Table.from_pandas)):
        tables = read_tables(convert(edges), convert(nodes), directed=is_directed)
        yield kind, read_graphs(tables, schema=schema)
    for name, write in WRITERS.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), graphs)
            if name in ("CSV", "Parquet") and is_directed:  # which do not say it
                continue
            yield name, read_batch(find_files([folder]), schema)


def contents_of(batch):
    """Of each graph, the data of its nodes and edges by ids."""
    found = []
    ids = batch.ids_by_graph()
    for graph, names in zip(batch.to_networkx(), ids, strict=True):
        name = [str(x) for x in names]
        nodes = {name[v]: (data["kind"], data["ms"]) for v, data in graph.nodes(data=True)}
        edges = {}
        for u, v, data in graph.edges(data=True):
            ends = (name[u], name[v]) if graph.is_directed() else frozenset((name[u], name[v]))
            edges[ends] = (data["via"], data["amount"])
        found.append((nodes, edges))
    return found


@pytest.mark.parametrize("schema", SCHEMAS)
@given(st.integers(0, 2**31 - 1), st.booleans())
def test_a_list_is_the_same_by_every_route(schema, seed, is_directed):
    graphs = draw_graphs(seed, is_directed)
    routes = dict(read_each_way(graphs, SCHEMAS[schema], is_directed))
    expected = contents_of(routes.pop("networkx"))
    for route, batch in routes.items():
        found = contents_of(batch)
        if route == "igraph":  # whose ids are positions
            names = [list(graph) for graph in graphs]
            found = [renamed(*pair) for pair in zip(found, names, strict=True)]
        assert found == expected, route


def renamed(contents, names):
    """The contents of a graph with ids in place of positions."""
    nodes, edges = contents
    of_edges = {}
    for ends, data in edges.items():
        of_edges[type(ends)(names[int(x)] for x in ends)] = data
    return {names[int(v)]: data for v, data in nodes.items()}, of_edges
