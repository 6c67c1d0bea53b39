"""Data of graphs as a whole: read from every format, used, and named in reasons."""

import json

import networkx as nx
import numpy as np
import pytest
from skgraphkde.density.references import joined_references

from skgraphkde import GraphBatch, GraphKDEDetector, GraphSchema, load, read_graphs
from skgraphkde.graphs.copies import isomorphism_classes
from skgraphkde.graphs.files import find_files, read_batch
from skgraphkde.inspection import explain
from tests.conftest import permuted
from tests.graphs.common import assert_same, check_refused

SCHEMA = GraphSchema(graph_categories="channel", graph_numbers=("amount", "days"))


def case(seed, **odd):
    """Two numbers that go together, and a category."""
    rng, graph = np.random.default_rng(seed), nx.gnp_random_graph(15, 0.2, seed=seed)
    days = rng.normal()
    channel = "shop" if seed % 3 else "web"
    graph.graph.update(amount=100 * days, days=days + 0.05 * rng.normal(), channel=channel)
    graph.graph.update(odd)
    return graph


KNOWN = [case(seed) for seed in range(60)]


def test_data_of_all_formats_are_the_same():
    igraph = pytest.importorskip("igraph")
    expected, some = read_graphs(KNOWN[:4], schema=SCHEMA), [graph.graph for graph in KNOWN[:4]]
    assert expected.graph_attributes.tolist() == [[x["amount"], x["days"]] for x in some]
    names = [expected.graph_label_names[code] for code in expected.graph_labels]
    assert names == [x["channel"] for x in some]
    lists = [{"edges": list(x.edges), "num_nodes": len(x), "graph": x.graph} for x in KNOWN[:4]]
    of_igraph = [igraph.Graph(len(x), list(x.edges), graph_attrs=x.graph) for x in KNOWN[:4]]
    for graphs in (lists, of_igraph, expected.to_networkx()):
        assert_same(read_graphs(graphs, schema=SCHEMA), expected)


def test_tensors_of_one_row():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    pair = torch.tensor([[0, 1], [1, 0]])
    graphs = [
        data.Data(edge_index=pair, num_nodes=2, amount=torch.tensor([a]), days=3.0, y=1)
        for a in (1.0, 2.0)
    ]
    batch = read_graphs(graphs, schema="all")
    assert batch.schema.graph_numbers == (("amount", 1), ("days", 1))  # and not the target
    assert batch.graph_attributes.tolist() == [[1, 3], [2, 3]]


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


def test_batches_keep_data():
    batch, other = (read_graphs(x, schema=SCHEMA) for x in (KNOWN[:5], KNOWN[5:9]))
    joined = GraphBatch.concatenate([batch, other])
    assert_same(joined[[7, 2]], read_graphs([KNOWN[7], KNOWN[2]], schema=SCHEMA))
    only = read_graphs(joined, schema=GraphSchema(graph_numbers="days", graph_categories=None))
    assert only.schema.graph_numbers == (("days", 1),)
    assert only.graph_labels is None
    assert only.graph_attributes[:, 0].tolist() == joined.graph_attributes[:, 1].tolist()
    with pytest.raises(ValueError, match="batches differ in what was read"):
        GraphBatch.concatenate([only, joined])


def test_graphs_that_differ_in_their_data_are_no_copies():
    batch = read_graphs(
        [case(0), case(0), case(0, amount=1e6), case(0, channel="fax")], schema=SCHEMA
    )
    assert isomorphism_classes(batch).tolist() == [0, 0, 2, 3]


def test_names_that_only_former_references_had_are_forgotten():
    shops = read_graphs([case(seed) for seed in (1, 2, 4)], schema=SCHEMA)
    both = read_graphs(KNOWN[:4], schema=SCHEMA)
    assert both[1:3].graph_label_names == ("shop", "web")
    references = joined_references(both[1:3], shops)
    assert references.graph_label_names == ("shop",)
    assert_same(references, GraphBatch.concatenate([both[1:3], shops]))


ODD = {
    "amount": ({"amount": 1000.0}, "amount 1,000 of the graph; usually .*"),
    "contradiction": (
        {"amount": 100.0, "days": -1.0},
        "amount 100, days -1 of the graph: known one by one, but not together",
    ),
    "channel": ({"channel": "fax"}, "never seen: channel=fax"),
}


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector(schema=SCHEMA).fit(KNOWN)


@pytest.mark.filterwarnings("ignore:categories of graphs that fit did not see")
@pytest.mark.parametrize("name", ODD)
def test_odd_data_are_found_and_named(detector, name, tmp_path):
    changes, text = ODD[name]
    odd = [case(100 + seed, **changes) for seed in range(20)]
    normal = [case(100 + seed) for seed in range(20)]
    assert (detector.score_samples(odd) < detector.score_samples(normal)).all()
    first = explain(detector, odd, n_reasons=1)["reason"]
    assert first.str.fullmatch(text).mean() > 0.8, first.tolist()
    detector.save(tmp_path / "model.skg")
    scores = detector.score_samples(odd)
    np.testing.assert_array_equal(load(tmp_path / "model.skg").score_samples(odd), scores)
    batch = detector.read(odd)
    np.testing.assert_allclose(detector.score_samples(permuted(batch, 0)), scores, rtol=1e-9)


@pytest.mark.parametrize(
    ("graph", "schema", "message"),
    [
        (case(1, amount=np.nan), SCHEMA, "graph 1: the graph attribute 'amount' is nan: impute"),
        (case(1, days=None), SCHEMA, "graph 1 has no graph attribute 'days', and graph 0 has"),
        (KNOWN[1], GraphSchema(graph_numbers="total"), "no graph has the graph attribute 'total'"),
        ({"edges": [(0, 1)], "graph": 3}, None, "'graph' must be a dict of name -> value"),
    ],
)
def test_what_is_missing_is_refused(graph, schema, message):
    check_refused([KNOWN[0], graph], message, schema)


def test_missing_values_are_evidence_where_the_schema_says_so():
    numbers = ("amount", "days")
    gaps = GraphSchema(graph_numbers=numbers, graph_categories=None, missing="indicate")
    detector = GraphKDEDetector(schema=gaps).fit([*KNOWN[:40], case(1, amount=None)])
    assert np.isfinite(detector.score_samples([case(2, amount=None), case(3, days=np.nan)])).all()
    everything = GraphSchema.everything(missing="indicate")
    batch = read_graphs([*KNOWN[:3], case(1, amount=None)], schema=everything)
    assert batch.schema.graph_categories == ("channel",)
    assert np.isnan(batch.graph_attributes).sum() == 1


def test_new_and_mistyped_categories_are_said():
    graphs = [case(seed, channel=seed % 3) for seed in range(30)]
    detector = GraphKDEDetector(schema=SCHEMA).fit(graphs)
    with pytest.warns(
        UserWarning, match="categories of graphs that fit did not see: 1 of 'channel'"
    ):
        reasons = explain(detector, [case(99, channel="1")], n_reasons=1)
    assert reasons["reason"][0] == "never seen: channel=1"
    with pytest.warns(UserWarning, match="graph category 'channel': .*count as different values"):
        GraphKDEDetector(schema=SCHEMA).fit([*graphs, case(98, channel="1")])


@pytest.mark.slow
@pytest.mark.parametrize("n_numbers", [10, 60])
@pytest.mark.parametrize("n_graphs", [20, 60])
def test_many_numbers_of_few_graphs_raise_no_false_alarms(n_numbers, n_graphs):
    def draw(rng, n):
        graphs = [nx.gnp_random_graph(rng.randint(8, 20), 0.25, seed=rng) for _ in range(n)]
        for graph in graphs:
            graph.graph["v"] = rng.standard_normal(n_numbers)
        return graphs

    schema, rates = GraphSchema(graph_numbers="v"), []
    for seed in range(6):
        rng = np.random.RandomState(seed)
        detector = GraphKDEDetector(schema=schema).fit(draw(rng, n_graphs))
        rates.append(np.mean(detector.predict(draw(rng, 60)) == -1))
    assert np.mean(rates) < 0.25


def test_an_identifier_and_what_no_schema_names_are_left_out():
    graphs = [case(seed, order=f"A{seed}") for seed in range(20)]
    with pytest.warns(UserWarning, match=r"not read: graph attribute 'order' \(an identifier\)"):
        detector = GraphKDEDetector(schema="all").fit(graphs)
    assert detector.schema_.graph_categories == ("channel",)
    with pytest.warns(UserWarning, match="not read: graph attribute 'amount', .*'channel'"):
        GraphKDEDetector().fit(graphs)


def test_names_of_graphs_are_no_data():
    graph = nx.path_graph(3)
    graph.graph.update(name="case 7", label="odd")  # what somebody may want to predict
    assert read_graphs([graph], schema="all").graph_labels is None
    named = read_graphs([graph], schema=GraphSchema(graph_categories="name"))
    assert named.graph_label_names == ("case 7",)
    assert graph.graph == {"name": "case 7", "label": "odd"}
