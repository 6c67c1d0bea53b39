"""GraphSchema: what is read, what is left out and said, and what is refused."""

import datetime

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skgraphkde import GraphBatch, GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.core.graphs.arrays import sorted_labels
from skgraphkde.core.graphs.problems import GraphError, Ignored, IgnoredWarning
from skgraphkde.core.graphs.schema import unread_attributes
from tests.conftest import random_graphs, refused, warned, with_data
from tests.core.graphs.common import EVERYTHING, PLANTS, assert_same, plant

# -- what is read ----------------------------------------------------------------------------------


def test_every_kind_of_data_is_read():
    batch, union = read_graphs(PLANTS, schema=EVERYTHING), nx.disjoint_union_all(PLANTS)
    assert batch.directed
    nodes = list(union.nodes.values())
    assert [batch.label_names[x] for x in batch.labels] == [(d["kind"], d["owner"]) for d in nodes]
    expected = [[data["temp"], *data["position"]] for data in nodes]
    np.testing.assert_array_equal(batch.attributes, expected)
    assert batch.schema.node_columns == ("temp", "position_0", "position_1")
    pairs = zip(batch.source_of_arc.tolist(), batch.adjacency.indices.tolist(), strict=True)
    edges = [union.edges[pair] for pair in pairs]
    assert len(edges) == union.number_of_edges() == batch.n_edges_per_graph.sum()
    assert [batch.edge_label_names[x] for x in batch.edge_labels] == [d["material"] for d in edges]
    np.testing.assert_array_equal(batch.edge_attributes[:, 0], [d["flow"] for d in edges])
    np.testing.assert_array_equal(batch.adjacency.data, [d["capacity"] for d in edges])


@pytest.mark.parametrize("form", [list, tuple])
def test_all_may_stand_beside_a_name_which_is_read_as_the_kind_that_names_it(form):
    schema = GraphSchema.everything(node_categories=form(["all", "owner"]))
    batch = read_graphs(PLANTS, schema=schema)
    assert set(batch.schema.node_categories) == {"kind", "owner"}
    assert set(batch.schema.names("node_numbers")) == {"temp", "position"}
    assert_same(read_graphs(batch, schema=schema), batch)
    assert not unread_attributes(schema, batch.schema.ignored)
    refused(
        "has the node attribute 'hue', which the schema names",
        read_graphs,
        PLANTS,
        schema=GraphSchema(node_categories=("all", "hue")),
    )


@pytest.mark.parametrize("directed", [True, False])
def test_round_trip_to_networkx(directed):
    graphs = [plant(seed, directed) for seed in range(4)]
    batch = read_graphs(graphs, schema=EVERYTHING)
    back = batch.to_networkx()
    assert type(back[0]) is (nx.DiGraph if directed else nx.Graph)
    again = read_graphs(back, schema=EVERYTHING)
    assert_same(again, batch)
    assert again.schema == batch.schema


def test_everything_by_its_type():
    schema = read_graphs(PLANTS, schema="all").schema
    assert (schema.node_categories, schema.edge_categories) == (("kind",), ("material",))
    assert dict(schema.node_numbers) == {"owner": 1, "temp": 1, "position": 2}
    assert (dict(schema.edge_numbers), schema.ignored) == ({"capacity": 1, "flow": 1}, ())


@pytest.mark.parametrize("numbers", ["all", "auto"])
def test_text_in_x_is_a_category_of_all(numbers):
    graph = with_data(nx.path_graph(3), {"x": "C", "y": 1.0})
    schema = read_graphs([graph], schema=GraphSchema.everything(node_numbers=numbers)).schema
    assert schema.node_categories == ("x",)
    with pytest.raises(GraphError, match="'x' is not a number"):
        read_graphs([graph], schema=GraphSchema.everything(node_numbers="x"))


def test_conventions_and_what_is_left_out():
    of_nodes, of_edges = {"label": "C", "x": 1.5, "weight": 3}, {"label": "double", "length": 0.5}
    graph = with_data(nx.path_graph(3), of_nodes, of_edges)
    schema = read_graphs([graph]).schema
    assert schema.node_categories == schema.edge_categories == ("label",)
    assert schema.node_numbers == (("x", 1),)
    assert list(map(str, schema.ignored)) == ["node attribute 'weight'", "edge attribute 'length'"]
    decided = GraphSchema(node_categories=None, node_numbers=None, edge_categories=None)
    ignored = read_graphs([graph], schema=decided).schema.ignored
    assert unread_attributes(decided, ignored) == [Ignored("edge", "length")]


def test_what_is_ignored_of_several_batches_is_listed_once():
    graphs = [nx.Graph([(0, 0), (0, 1, {"flow": 1.0})]) for _ in range(2)]
    with_data(graphs[1], {"temp": 60.0})
    schema = GraphBatch.concatenate([read_graphs([graph]) for graph in graphs]).schema
    assert schema.ignored == read_graphs(graphs).schema.ignored
    assert list(map(str, schema.ignored)) == ["node attribute 'temp'", "edge attribute 'flow'"]
    assert schema.n_self_loops == 2


def test_a_named_attribute_is_not_read_twice_and_a_name_must_be_text():
    graph = with_data(nx.path_graph(3), {"label": 4, 7: 1.0})
    batch = read_graphs([graph], schema=GraphSchema(node_numbers="label"))
    assert batch.labels is None
    assert batch.attributes.tolist() == [[4]] * 3
    [ignored] = read_graphs([graph], schema="all").schema.ignored
    assert str(ignored) == "node attribute 7 (rename it: this is no text)"


def test_parallel_edges_that_differ_stay_apart():
    graph = nx.MultiGraph()
    graph.add_edges_from([(0, 1, {"label": x, "w": 2.0}) for x in "aba"])
    batch = read_graphs([graph], schema=GraphSchema(edge_weight="w"))
    arcs = sorted(zip(batch.edge_labels.tolist(), batch.adjacency.data.tolist(), strict=True))
    assert arcs == [(0, 4.0), (0, 4.0), (1, 2.0), (1, 2.0)]
    assert batch.underlying.toarray().tolist() == [[0, 6], [6, 0]]
    assert batch.degrees.tolist() == [1, 1]
    assert_same(GraphBatch.concatenate([batch, batch])[1], batch)
    (back,) = batch.to_networkx()
    assert isinstance(back, nx.MultiGraph)
    assert_same(read_graphs([back], schema=GraphSchema(edge_weight="w")), batch)


# -- missing values --------------------------------------------------------------------------------


def with_gaps(n_missing):
    graph = plant()
    for node in range(n_missing):
        graph.nodes[node]["temp"] = [None, float("nan")][node % 2]
        del graph.nodes[node]["kind"]
    return graph


SCHEMA = GraphSchema(
    node_categories="kind",
    node_numbers="temp",
    edge_categories=None,
    edge_numbers=None,
    missing="indicate",
)


def test_missing_values_are_an_error_or_evidence():
    named = GraphSchema(node_categories="kind", node_numbers="temp")
    refused(
        r"node 0 has no .*missing='indicate' in the GraphS",
        read_graphs,
        [with_gaps(1)],
        schema=named,
    )
    batch = read_graphs([with_gaps(2)], schema=SCHEMA)
    assert np.isnan(batch.attributes[:, 0]).tolist() == [True, True, *[False] * 5]
    assert [batch.label_names[x] for x in batch.labels[:2]] == [None, None]
    assert_same(GraphBatch.concatenate([batch, batch])[0], batch)


# -- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (GraphSchema(node_categories="knd"), "no graph has the node attribute 'knd'.* have 'kind'"),
        (GraphSchema(edge_numbers=("flow", "speed")), "the edge attribute 'speed'.* 'flow'"),
        (GraphSchema(edge_weight="flw"), "the edge attribute 'flw'.* have 'flow'"),
        (GraphSchema(node_numbers="kind"), "'kind' is not a number or a vector of numbers"),
        (GraphSchema(node_numbers="temp", node_categories="temp"), "'temp' is named twice"),
        (GraphSchema(node_numbers=("temp", "temp")), "'temp' is named twice"),
        (GraphSchema(node_numbers=[3]), "must hold names of attributes. Got 3"),
        (GraphSchema(node_numbers={"a"}), "'node_numbers' parameter of GraphSchema must be"),
        (GraphSchema(directed="yes"), "'directed' parameter of GraphSchema must be"),
        (GraphSchema(missing="drop"), "'missing' parameter of GraphSchema must be"),
    ],
)
def test_bad_schemas(schema, message):
    for read in (read_graphs, lambda x, schema: GraphKDEDetector(schema=schema).fit(x)):
        refused(message, read, PLANTS, schema=schema)


# -- batches ---------------------------------------------------------------------------------------


def test_a_batch_gives_what_is_named():
    batch = read_graphs(PLANTS, schema=EVERYTHING)
    named = {"node_categories": "owner", "node_numbers": "position", "edge_categories": None}
    chosen = read_graphs(batch, schema=GraphSchema(**named))
    same = GraphSchema(**named, edge_numbers="flow", edge_weight="capacity")
    assert_same(chosen, read_graphs(PLANTS, schema=same))
    assert chosen.schema.node_numbers == (("position", 2),)
    refused(
        "no node attribute 'color' that was read as categories",
        read_graphs,
        batch,
        schema=GraphSchema(node_categories="color"),
    )
    refused("were read as directed", read_graphs, batch, schema=GraphSchema(directed=False))


def test_numbers_of_a_batch_that_are_all_named_are_no_positions():
    batch = read_graphs(PLANTS[:3], schema=GraphSchema(node_numbers="all"))
    assert batch.schema.is_explicit_feature.all()  # "all" names them, too
    named = read_graphs(batch, schema=GraphSchema(node_numbers=batch.schema.names("node_numbers")))
    assert named.schema.is_explicit_feature.all()
    assert_same(named, batch)


# -- the detector ----------------------------------------------------------------------------------


def test_graphs_are_read_as_those_of_fit():
    detector = GraphKDEDetector(schema=EVERYTHING).fit(PLANTS)
    batch = read_graphs(PLANTS, schema=EVERYTHING)
    np.testing.assert_array_equal(detector.score_samples(PLANTS), detector.score_samples(batch))
    detector.score_samples([nx.create_empty_copy(PLANTS[0])])  # no edges, so no edge data
    batch = read_graphs(PLANTS, schema=GraphSchema(node_categories="kind", edge_weight="capacity"))
    refused("no node attribute 'owner' that was read as categories", detector.score_samples, batch)


@pytest.mark.filterwarnings("ignore:graph 0 is undirected")
def test_directed_graphs_are_refused_where_fit_saw_undirected_ones():
    graphs, arrow = [nx.path_graph(n) for n in range(4, 12)], nx.DiGraph(nx.path_graph(5).edges)
    detector = GraphKDEDetector().fit(graphs)
    refused(
        r"graph 1 is directed, and fit saw undirected graphs",
        detector.score_samples,
        [graphs[0], arrow],
    )
    detector = GraphKDEDetector(schema=GraphSchema(directed=False)).fit(read_graphs(graphs))
    scores = detector.score_samples([arrow, nx.path_graph(5)])
    assert scores[0] == pytest.approx(scores[1])


# -- identifiers -----------------------------------------------------------------------------------


def hosts(n_graphs, n_names, seed=0):
    rng, graphs = np.random.RandomState(seed), []
    for _ in range(n_graphs):
        names = [f"host {name}" for name in rng.choice(n_names, 12, replace=False)]
        graphs.append(with_data(nx.gnm_random_graph(12, 18, seed=rng), {"label": names}))
    return graphs


def test_identifiers_are_left_out_by_convention_and_warned_of_by_name():
    coming_again = GraphKDEDetector().fit(hosts(20, 60))
    assert coming_again.schema_.node_categories == ("label",)
    graphs = [with_data(x, {"node_type": lambda v: "ab"[v % 2]}) for x in hosts(20, 10**6)]
    detector = warned(
        r"not read: node attribute 'label' \(an identifier\)", GraphKDEDetector().fit, graphs
    )
    assert detector.model_.references.label_names == ("a", "b")
    named = warned(
        r"'label' has 2\d\d values .* it is an identifier",
        GraphKDEDetector(schema=GraphSchema(node_categories="label")).fit,
        graphs,
    )
    assert named.model_.references.labels is not None


# The values of an attribute of graph i -> why they are not read, as text of a warning.
NO_DATA = {
    "nr": (lambda i: 1000 + i, "a running number"),
    "orderID": (lambda i: 7 * i * i, "an identifier"),
    "opened": (lambda i: f"2026-01-{i + 1:02}", "a time"),
    "german": (lambda i: f"{i + 1:02}.01.2026 12:0{i % 3}", "a time"),
    "day": (lambda i: datetime.date(2026, 1, i % 5 + 1), "a time"),
    "numpy_day": (lambda i: np.datetime64("2026-01-01") + i, "a time"),
    "start_time": (lambda i: 1.7e9 + 3600.5 * (i % 7), "a time"),
    "amount": (lambda i: f"{i + 1}.{i + 1:03},{i} EUR", "numbers as text, with decimal commas"),
    "dollars": (lambda i: f"${i + 1}.14", "numbers as text"),
    "share": (lambda i: f"{i}%", "numbers as text"),
    "delay": (lambda i: f"17{i} ms", "numbers as text"),
    "blank": (lambda i: f"1 {i:03}.50", "numbers as text"),
    "host": (lambda i: f"10.0.0.{i}", "an identifier"),
    "code": (lambda i: f"{i} (a)", "an identifier"),
}
DATA = {
    "total": lambda i: 7 * i * i,
    "n_items": lambda i: i % 8,
    "age": lambda i: 30 + 11 * i % 40,
    "channel": lambda i: f"0{i % 3}.01.2026",
}


def test_running_numbers_and_times_are_left_out_of_all():
    graphs = [nx.path_graph(3 + i % 4) for i in range(24)]
    values = DATA | {name: value for name, (value, _) in NO_DATA.items()}
    for i, graph in enumerate(graphs):
        graph.graph.update({name: value(i) for name, value in values.items()})
    with pytest.warns(IgnoredWarning, match="use there, or None for none, such as") as caught:
        detector = GraphKDEDetector(schema="all").fit(graphs)
    said = str(caught[0].message)
    for name, (_, why) in NO_DATA.items():
        assert f"graph attribute {name!r} ({why}" in said
    found = [*detector.schema_.names("graph_numbers"), *detector.schema_.graph_categories]
    assert sorted(found) == sorted(DATA)
    named = GraphSchema(graph_numbers=("nr", "start_time"), graph_categories=None)
    assert len(GraphKDEDetector(schema=named).fit(graphs).schema_.graph_numbers) == 2


# -- what an adversary found -----------------------------------------------------------------------


def test_a_graph_of_nothing_but_loops_does_not_shift_the_data_of_others():
    loops = nx.Graph([(0, 0, {"label": "loop", "x": 9.0})])
    loops.add_node(1)
    other = nx.Graph()
    other.add_edges_from([(0, 1, {"label": "a", "x": 1.0}), (1, 2, {"label": "b", "x": 2.0})])
    other.add_edge(2, 2, label="c", x=3.0)
    for graphs in ([loops, other], [other, loops], [loops, other, loops]):
        back = read_graphs(graphs).to_networkx()[graphs.index(other)]
        assert sorted(back.edges(data="label")) == [(0, 1, "a"), (1, 2, "b")]
        assert sorted(back.edges(data="x")) == [(0, 1, 1.0), (1, 2, 2.0)]


def logs(n_graphs, seed):
    """Parallel edges that only an identifier tells apart."""
    rng = np.random.RandomState(seed)
    graphs = [nx.MultiDiGraph() for _ in range(n_graphs)]
    for graph in graphs * 20:
        u, v = rng.choice(5, 2, replace=False).tolist()
        graph.add_edge(u, v, label="rw"[rng.randint(2)], edge_type=int(rng.randint(10**9)))
    return graphs


@pytest.mark.filterwarnings("ignore:not read")
def test_edges_that_only_an_identifier_tells_apart_are_one():
    graphs = logs(30, 0)
    detector = GraphKDEDetector().fit(graphs)
    assert detector.schema_.edge_categories == ("label",)
    named = read_graphs(graphs, schema=GraphSchema(edge_categories="label"))
    assert_same(detector.model_.references, named)
    assert (detector.predict(logs(30, 1)) == 1).mean() > 0.7


@pytest.mark.filterwarnings("ignore:not read")
def test_weights_are_read_alike():
    weighted, plain = (
        read_graphs(PLANTS, schema=GraphSchema(edge_weight=x, edge_categories=None))
        for x in ("capacity", None)
    )
    refused(
        "were read without the edge weight 'capacity'",
        GraphKDEDetector().fit(weighted).score_samples,
        plain,
    )
    refused(
        r"read, edge weight None and 'capacity'",
        GraphKDEDetector().fit(plain).score_samples,
        weighted,
    )
    refused(
        r"batches differ .* edge weight 'capacity' and None",
        GraphBatch.concatenate,
        [weighted, plain],
    )


def test_sets_as_labels_have_one_order_however_they_were_made():
    """Numbers of the same remainder are in a set in the order in which they were put in.

    So are words in another process, whose hashes differ.
    """
    labels = [frozenset((i, i + 8)) for i in range(4)]
    turned = [frozenset((max(x), min(x))) for x in labels]
    assert any(repr(x) != repr(y) for x, y in zip(labels, turned, strict=True))
    assert sorted_labels({*labels}) == sorted_labels({*turned})


# -- vectors with one 1 say a category -------------------------------------------------------------


X = GraphSchema(node_categories="x")


def labeled(n_graphs, seed, labels=(0, 1, 2)):
    return random_graphs(n_graphs, seed=seed, labels=labels)


def one_hot(graph, width=3, convert=list):
    """The same graph with a vector in place of each label."""
    label = dict(graph.nodes(data="label"))
    rows = {"x": lambda node: convert([float(i == label[node]) for i in range(width)])}
    return with_data(nx.from_dict_of_lists(nx.to_dict_of_lists(graph)), rows)


def as_arrays(graph, width=3):
    """The pair of an adjacency matrix and a block of the features."""
    labels = [label for _, label in graph.nodes(data="label")]
    return nx.to_numpy_array(graph), np.eye(width)[labels]


def as_table(graph, width=3):
    """Features in a table of pandas, of which get_dummies makes Booleans."""
    block = pd.DataFrame(as_arrays(graph, width)[1].astype(bool))
    return {"num_nodes": len(graph), "edges": list(graph.edges), "x": block}


LAYOUTS = {
    "lists": one_hot,
    "tuples": lambda graph, width=3: one_hot(graph, width, tuple),
    "arrays": lambda graph, width=3: one_hot(graph, width, np.array),
    "matrices": as_arrays,
    "table": as_table,
}


@pytest.mark.parametrize("schema", [None, "all", X])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_one_hot_blocks_are_categories_in_each_format(layout, schema):
    """Also of later graphs, in which a category and a column are new."""
    graphs, later = labeled(30, 0), labeled(12, 1, labels=(0, 1, 2, 3))
    batch = read_graphs([LAYOUTS[layout](x) for x in graphs], schema=schema)
    expected = read_graphs(graphs)
    assert batch.schema.node_categories == ("x",)
    assert batch.attributes is None
    np.testing.assert_array_equal(batch.labels, expected.labels)
    assert batch.label_names == expected.label_names == (0, 1, 2)
    new = read_graphs([LAYOUTS[layout](x, 4) for x in later], schema=batch.schema)
    np.testing.assert_array_equal(new.labels, read_graphs(later).labels)
    assert new.label_names == (0, 1, 2, 3)


def test_bonds_and_graphs_have_one_hot_vectors_too():
    graphs = labeled(20, 0)
    for i, graph in enumerate(graphs):
        graph.graph["site"] = [i % 3 == k for k in range(3)]
        for k, edge in enumerate(graph.edges):
            graph.edges[edge]["edge_attr"] = [1, 0] if k % 2 else [0, 1]
    batch = read_graphs(graphs, schema="all")
    assert batch.schema.edge_categories == ("edge_attr",)
    assert batch.edge_label_names == (0, 1)
    assert batch.schema.graph_categories == ("site",)
    assert batch.graph_labels.tolist() == [i % 3 for i in range(20)]
    assert batch.schema.edge_numbers == batch.schema.graph_numbers == ()


@pytest.mark.parametrize(
    ("row", "schema"),
    [
        ([1, 0, 0], GraphSchema(node_numbers="x")),
        *[(row, None) for row in ([0, 0, 0], [1, 1, 0], [0, 0.5, 0.5], [2, 0, 0])],
    ],
)
def test_what_is_named_as_numbers_and_a_block_with_one_other_row_stay_numbers(row, schema):
    graphs = [one_hot(x) for x in labeled(20, 0)]
    graphs[7].nodes[0]["x"] = row
    batch = read_graphs(graphs, schema=schema)
    assert (batch.labels, batch.schema.node_numbers) == (None, (("x", 3),))


def test_a_column_is_no_category():
    graphs = [with_data(graph, {"x": (1.0,)}) for graph in labeled(20, 0, labels="")]
    assert read_graphs(graphs).schema.node_numbers == (("x", 1),)


def test_rows_with_no_1_or_several_are_categories_that_nobody_has():
    detector = GraphKDEDetector(random_state=0).fit([one_hot(x) for x in labeled(60, 0)])
    graphs = [one_hot(x) for x in labeled(2, 1)]
    graphs[0].nodes[0]["x"], graphs[1].nodes[0]["x"] = [0, 0, 0], [1, 0, 1]
    batch = read_graphs(graphs, schema=detector.schema_)
    assert {(), (0, 2)} <= set(batch.label_names)
    with pytest.warns(UserWarning, match="categories that fit did not see"):
        assert detector.predict(graphs).tolist() == [-1, -1]
    graphs[1].nodes[0]["x"] = [0.5, 0.5, 0]
    refused(r"graph 1, node 0 has the label \[0.5, 0.5, 0\] as 'x'", detector.read, graphs)


def test_missing_vectors_are_a_category_of_their_own():
    graphs = [one_hot(x) for x in labeled(20, 0)]
    del graphs[3].nodes[0]["x"]
    refused("graph 3, node 0 has no 'x'", read_graphs, graphs)
    batch = read_graphs(graphs, schema=GraphSchema(missing="indicate"))
    assert set(batch.label_names) == {None, 0, 1, 2}
    again = read_graphs(graphs[3:4], schema=batch.schema)
    assert again.label_names[again.labels[0]] is None
