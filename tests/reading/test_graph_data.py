"""Data of graphs as a whole: read from every format, used, and named in reasons."""

import json

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.core.graphs.copies import isomorphism_classes
from skgraphkde.explanation import explain
from skgraphkde.reading.files import find_files, read_batch
from tests.conftest import permuted
from tests.core.graphs.common import assert_same, check_refused

SCHEMA = GraphSchema(graph_categories="channel", graph_numbers=("amount", "days"))


def case(seed, **odd):
    """Two numbers that go together, and a category."""
    rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(15, 0.2, seed=seed)
    days = rng.normal()
    channel = "shop" if seed % 3 else "web"
    usual = {"amount": 100 * days, "days": days + 0.05 * rng.normal(), "channel": channel}
    graph.graph.update(usual | odd)
    return graph


KNOWN = [case(seed) for seed in range(60)]


def test_data_of_all_formats_are_the_same():
    igraph = pytest.importorskip("igraph")
    expected = read_graphs(KNOWN[:4], schema=SCHEMA)
    assert [x.graph for x in expected.to_networkx()] == [x.graph for x in KNOWN[:4]]
    lists = [{"edges": list(x.edges), "num_nodes": len(x), "graph": x.graph} for x in KNOWN[:4]]
    of_igraph = [igraph.Graph(len(x), list(x.edges), graph_attrs=x.graph) for x in KNOWN[:4]]
    for graphs in (lists, of_igraph, expected.to_networkx()):
        assert_same(read_graphs(graphs, schema=SCHEMA), expected)


def test_tensors_of_one_row():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    values = {"amount": torch.tensor([1.0]), "days": torch.tensor(3.0), "y": 1}  # not the target
    graph = data.Data(edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, **values)
    batch = read_graphs([graph], schema="all")
    assert batch.schema.graph_numbers == (("amount", 1), ("days", 1))
    assert batch.graph_attributes.tolist() == [[1, 3]]


@pytest.mark.parametrize("suffix", ["graphml", "gml", "json"])
def test_data_of_files(suffix, tmp_path):
    for i, graph in enumerate(KNOWN[:3]):
        path = tmp_path / f"{i}.{suffix}"
        if suffix == "json":
            path.write_text(json.dumps(nx.node_link_data(graph, edges="edges")))
        else:
            getattr(nx, f"write_{suffix}")(graph, path)
    batch = read_batch(find_files([tmp_path]), schema=SCHEMA)
    assert_same(batch, read_graphs(KNOWN[:3], schema=SCHEMA))


def test_graphs_that_differ_in_their_data_are_no_copies():
    batch = read_graphs(
        [case(0), case(0), case(0, amount=1e6), case(0, channel="fax")], schema=SCHEMA
    )
    assert isomorphism_classes(batch).tolist() == [0, 0, 2, 3]


ODD = {
    "amount": ({"amount": 1000.0}, "amount 1000 of the graph; usually .*"),
    "contradiction": (
        {"amount": 100.0, "days": -1.0},
        r"amount 100 and days -1 of the graph: each is usual, but none of \d+ other graphs has "
        "about both; nearest: amount .* and days .*",
    ),
    "channel": ({"channel": "fax"}, "never seen: channel=fax"),
}


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector(schema=SCHEMA).fit(KNOWN)


@pytest.mark.filterwarnings("ignore:graph categories that fit did not see")
@pytest.mark.parametrize("name", ODD)
def test_odd_data_are_found_and_named(detector, name):
    changes, text = ODD[name]
    odd = [case(100 + seed, **changes) for seed in range(20)]
    scores = detector.score_samples(odd)
    assert (scores < detector.score_samples([case(100 + seed) for seed in range(20)])).all()
    first = explain(detector, odd, n_reasons=1)["reason"]
    assert first.str.fullmatch(text).mean() > 0.8, first.tolist()
    moved = permuted(detector.read(odd), 0)
    np.testing.assert_allclose(detector.score_samples(moved), scores, rtol=1e-9)


@pytest.mark.parametrize(
    ("graph", "schema", "message"),
    [
        (case(1, amount=np.nan), SCHEMA, "graph 1: the graph attribute 'amount' is nan: impute"),
        (
            case(1, days=None),
            SCHEMA,
            "graph 1 has no graph attribute 'days', and other graphs have",
        ),
        (KNOWN[1], GraphSchema(graph_numbers="total"), "no graph has the graph attribute 'total'"),
        ({"edges": [(0, 1)], "graph": 3}, None, "'graph' must be a dict of name -> value"),
    ],
)
def test_what_is_missing_is_refused(graph, schema, message):
    check_refused([KNOWN[0], graph], message, schema)


@pytest.mark.filterwarnings("ignore:graph categories that fit did not see")
@pytest.mark.parametrize("n", [1, 3])
def test_an_attribute_that_no_graph_has_any_more_is_named(n):
    gaps = GraphSchema.everything(missing="indicate")
    rare = [case(seed, rare=float(seed)) for seed in range(100, 103)]  # new graphs may lack it
    detector = GraphKDEDetector(schema=gaps).fit([*KNOWN[:40], *rare])
    graphs = [case(200 + seed) for seed in range(3)]
    for graph in graphs[:n]:
        del graph.graph["amount"], graph.graph["channel"]
    what = "graph attribute 'amount', graph attribute 'channel', which the training graphs had: did"
    with pytest.warns(UserWarning, match=f"^no graph here has {what}"):
        detector.score_samples(graphs[:n])
    detector.score_samples([case(300), *graphs])


def test_names_of_graphs_are_no_data():
    graph = nx.path_graph(3)
    graph.graph.update(name="case 7", label="odd")  # what somebody may want to predict
    assert read_graphs([graph], schema="all").graph_labels is None
    named = read_graphs([graph], schema=GraphSchema(graph_categories="name"))
    assert named.graph_label_names == ("case 7",)
