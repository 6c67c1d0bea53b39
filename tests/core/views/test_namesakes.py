"""Nodes that are linked unlike their namesakes, against loops over pairs of names."""

import itertools
import re

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema, Namesakes, load, read_graphs
from skgraphkde.core.graphs.copies import kinds_of
from skgraphkde.core.views.base import Property
from skgraphkde.core.views.namesakes import compare_names
from skgraphkde.explanation import explain
from skgraphkde.explanation.of_namesakes import say_namesakes

REGIONS = (
    "Amygdala",
    "Caudate",
    "Cuneus",
    "Fusiform",
    "Insula",
    "Lingual",
    "Pallidum",
    "Putamen",
    "Rectus",
)
WEIGHTED = GraphSchema(edge_weight="weight")
UNWEIGHTED = GraphSchema(edge_numbers=None, edge_categories=None)


def scans(n: int, seed: int = 0, directed: bool = False, share: float = 1.0) -> list[nx.Graph]:
    """Graphs with the same regions, each there with a share, and links that pairs determine."""
    rng = np.random.default_rng(seed)
    k = len(REGIONS)
    base = np.random.default_rng(7).gamma(2.0, 0.5, (k, k))
    base[base < 0.7] = 0
    found = []
    for _ in range(n):
        W = base * (1 + 0.1 * rng.normal(size=(k, k)).clip(-2, 2))
        if not directed:
            W = np.triu(W, 1)
            W = W + W.T
        np.fill_diagonal(W, 0)
        graph = nx.from_numpy_array(W, create_using=nx.DiGraph if directed else nx.Graph)
        graph = nx.relabel_nodes(graph, dict(enumerate(REGIONS)))
        graph.remove_nodes_from([x for x in REGIONS if rng.random() > share])
        if graph.number_of_edges():
            found.append(graph)
    return found


def swapped(graph: nx.Graph, a: str, b: str) -> nx.Graph:
    return nx.relabel_nodes(graph, {a: b, b: a})


def slow_ratios(graphs, known, own, number):
    """Ratios by loops over graphs and pairs of names, from the definition."""
    matrices = []
    for batch in (known, graphs):
        of_batch = []
        for i in range(len(batch)):
            one = batch[i]
            names = one.node_ids.tolist()
            numbers = one.adjacency.data
            if number:
                numbers = np.asarray(one.edge_attributes)[:, number - 1]
            arcs = zip(one.source_of_arc, one.adjacency.indices, numbers, strict=True)
            links = {(names[u], names[v]): x for u, v, x in arcs}
            of_batch.append((names, links))
        matrices.append(of_batch)
    known_ones, ones = matrices
    all_numbers = [x for _, links in known_ones for x in links.values()]
    typical = np.mean(np.square(all_numbers))
    table = np.zeros((len(ones), len(REGIONS)))
    for i, (names, links) in enumerate(ones):
        others = [x for j, x in enumerate(known_ones) if j != own[i]]
        for k, u in enumerate(REGIONS):
            share = np.mean([u in of_names for of_names, _ in others])
            if u not in names:
                if share > 0.5:
                    table[i, k] = share**2 / (share * (1 - share) + 1 / len(others))
                continue
            deviations = []
            for v in names:
                both = [of for of_names, of in others if u in of_names and v in of_names]
                if u == v or len(both) < 2:
                    continue
                for pair in ((u, v), (v, u))[: 1 + graphs.directed]:
                    values = [of.get(pair, 0.0) for of in both]
                    away = (links.get(pair, 0.0) - np.mean(values)) ** 2
                    deviations.append(away / (np.var(values) + typical / len(both)))
            table[i, k] = np.mean(deviations) if deviations else 0.0
    return table


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("share", [1.0, 0.75])
@pytest.mark.parametrize("schema", [WEIGHTED, GraphSchema(edge_numbers="weight"), UNWEIGHTED])
def test_ratios_are_those_of_loops(directed, share, schema):
    batch = compare_names(read_graphs(scans(40, 1, directed, share), schema=schema))
    known, new = batch[:30], batch[30:]
    view = Namesakes().fit(known, None)
    assert len(view.names_) == len(REGIONS)
    names = {key: x for x, key in zip(batch.node_ids, batch.name_keys, strict=True)}
    order = [REGIONS.index(names[key]) for key in view.names_]
    for graphs, own in ((known, np.arange(30)), (new, np.full(len(new), -1))):
        of_numbers = [slow_ratios(graphs, known, own, j) for j in view._compared]
        expected = np.max(of_numbers, axis=0)[:, order]
        found, _ = view._ratios(graphs, own >= 0)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        scores = Namesakes(of="graph").fit(known, None).scores(graphs, own, None)
        np.testing.assert_allclose(scores, -expected.mean(axis=1), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("directed", [False, True])
def test_swapped_regions_come_first_and_are_named(directed):
    graphs = scans(40, 2, directed)
    graphs[11] = swapped(graphs[11], "Insula", "Rectus")
    detector = GraphKDEDetector(schema=WEIGHTED).fit(graphs)
    assert detector.training_scores_.argmin() == 11
    reasons = explain(detector).query("graph == 11 and kind == 'namesakes'")["reason"]
    assert "Insula" in reasons.iloc[0] or "Rectus" in reasons.iloc[0]


def test_graphs_that_differ_in_names_alone_are_no_copies():
    graphs = scans(20, 3)
    for graph in graphs:
        nx.set_edge_attributes(graph, 1.0, "weight")
    odd = swapped(graphs[0], "Insula", "Rectus")
    detector = GraphKDEDetector(schema=WEIGHTED).fit([*graphs, odd])
    batch = detector.training_graphs_
    (kinds,) = kinds_of(batch)
    assert kinds.tolist() == [0] * 20 + [20]
    (kinds,) = kinds_of(batch.replace(name_keys=None))
    assert kinds[20] == 0


@pytest.mark.parametrize(
    "graphs",
    [
        [nx.relabel_nodes(nx.path_graph(5 + i % 4), "n{}".format) for i in range(30)],  # they count
        [
            nx.relabel_nodes(
                nx.gnp_random_graph(9, 0.4, seed=i),
                dict(enumerate(np.random.default_rng(i).permutation(REGIONS).tolist())),
            )
            for i in range(30)
        ],  # any node has any name
        [nx.relabel_nodes(nx.path_graph(5), (lambda v, i=i: f"{i}/{v}")) for i in range(30)],
        [nx.path_graph(5 + i % 4) for i in range(30)],
        scans(4),  # too few to recur
    ],
)
def test_names_that_say_nothing_are_not_compared(graphs):
    batch = read_graphs(graphs)
    assert compare_names(batch) is batch
    with pytest.raises(ValueError, match="Namesakes needs nodes with names"):
        Namesakes().fit(batch, None)


def test_a_file_keeps_scores_and_no_names(tmp_path):
    graphs = scans(30, 4)
    new = scans(5, 5)
    new[0].remove_node("Insula")
    detector = GraphKDEDetector(schema=WEIGHTED).fit(graphs)
    path = tmp_path / "model.skg"
    detector.save(path)
    assert b"Insula" not in path.read_bytes()
    loaded = load(path)
    np.testing.assert_array_equal(loaded.score_samples(new), detector.score_samples(new))
    more = detector.partial_fit(new)
    np.testing.assert_allclose(
        loaded.partial_fit(new).training_scores_, more.training_scores_, rtol=1e-12
    )


def test_graphs_without_names_are_refused():
    detector = GraphKDEDetector(schema=WEIGHTED).fit(scans(30, 4))
    with pytest.raises(ValueError, match="no node of graph 0 has one: give them the ids"):
        detector.predict([nx.convert_node_labels_to_integers(x) for x in scans(3, 5)])


def said(detector, graph, own=-1):
    view = detector.model_.views[-3]
    batch = detector.read([graph])
    unusual = Property("namesakes", "", np.ones(1), np.zeros(1), own=own)
    return say_namesakes(view, batch, unusual, np.ones(2), batch.node_ids.tolist())


def test_reasons_name_the_region_and_what_is_odd():
    detector = GraphKDEDetector(schema=WEIGHTED).fit(scans(30, 4))
    [graph] = scans(1, 6)
    lesion = graph.copy()
    for u, v in lesion.edges("Insula"):
        lesion[u][v]["weight"] *= 0.3
    reason = said(detector, lesion)
    assert reason.text.startswith("Insula: weight ")
    assert reason.facts.value < reason.facts.low
    assert reason.facts.value == pytest.approx(lesion.degree("Insula", weight="weight"))
    assert reason.facts.n_known == 30
    missed = graph.copy()
    missed.remove_node("Insula")
    assert said(detector, missed).text == "no node Insula; 30 of 30 other graphs have it"
    moved = graph.copy()
    u, v = next(iter(moved.edges("Insula")))
    weight = moved[u][v]["weight"]
    free = next(x for x in REGIONS if x != "Insula" and not moved.has_edge("Insula", x))
    moved.remove_edge(u, v)
    moved.add_edge("Insula", free, weight=weight)
    reason = said(detector, moved)
    assert re.fullmatch(r"no edge Insula - \w+|weight of edge Insula - \w+: .*", reason.statement)
    detector = GraphKDEDetector(schema=UNWEIGHTED).fit([*scans(29, 4, share=0.9), graph])
    reason = said(detector, moved)
    assert reason.facts.value in (0, 1)
    assert re.fullmatch(r"(an|no) edge Insula - \w+", reason.statement)
    assert re.fullmatch(r"(none|\d+) of \d+ other graphs with both have one", reason.usual)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("schema", [WEIGHTED, UNWEIGHTED])
def test_the_oddest_link_is_that_of_loops(directed, schema):
    batch = compare_names(read_graphs(scans(30, 9, directed, 0.8), schema=schema))
    view = Namesakes(of="link").fit(batch, None)
    own = np.arange(len(batch))
    scores = view.scores(batch, own, None)
    typical = np.mean(batch.adjacency.data**2)
    tables = []
    for i in range(len(batch)):
        one = batch[i]
        names = one.node_ids.tolist()
        arcs = zip(one.source_of_arc, one.adjacency.indices, one.adjacency.data, strict=True)
        tables.append((names, {(names[u], names[v]): x for u, v, x in arcs}))
    for i in (0, 7, 19):
        names, links = tables[i]
        largest = 0.0
        for pair in itertools.permutations(names, 2):
            both = [of for j, (x, of) in enumerate(tables) if j != i and {*pair} <= {*x}]
            values = [of.get(pair, 0.0) for of in both]
            if len(values) > 1:
                away = (links.get(pair, 0.0) - np.mean(values)) ** 2
                largest = max(largest, away / (np.var(values) + typical / len(values)))
        assert -scores[i] == pytest.approx(largest, rel=1e-9)
        odd = view.oddest_link(batch[i], i)
        pair = names[odd.node], names[odd.neighbor]
        assert odd.value == links.get(pair, 0.0)
        assert odd.has_link == (pair in links)


def test_one_absurd_number_does_not_hide_the_others():
    graphs = scans(40, 2)
    graphs[11] = swapped(graphs[11], "Insula", "Rectus")
    for _, _, data in graphs[4].edges(data=True):
        data["weight"] *= 1000
    detector = GraphKDEDetector(schema=WEIGHTED).fit(graphs)
    assert "namesakes of links" in detector.model_.view_names
    assert (detector.training_scores_ <= detector.training_scores_[11]).sum() <= 2


@pytest.mark.parametrize("directed", [False, True])
def test_a_shift_counts_the_nodes_that_have_more_than_their_namesakes(directed):
    known = scans(40, 7, directed)
    detector = GraphKDEDetector(schema=WEIGHTED).fit(known)
    graph = scans(1, 8, directed)[0]
    for _, _, data in graph.edges(data=True):
        data["weight"] *= 1.6
    view = detector.model_.views[-1]
    batch = detector.read([graph])
    shifted = view.shifted(batch, -1)
    expected = set()
    for k, name in enumerate(batch.node_ids):
        totals = [x.degree(name, weight="weight") for x in known]
        if graph.degree(name, weight="weight") > np.quantile(totals, 0.95):
            expected.add(k)
    assert set(shifted.above.tolist()) == expected
    assert not len(shifted.below)
    first = batch.node_ids[shifted.above[0]]
    assert shifted.total == pytest.approx(graph.degree(first, weight="weight"))
    unusual = Property("namesakes", "", np.full(1, 3.0), np.zeros(1), own=-1)
    reason = say_namesakes(view, batch, unusual, np.ones(2), batch.node_ids.tolist())
    assert reason.text.startswith(f"{len(expected)} of 9 nodes have more weight in all than")
    for i in (3, 11):  # the training graphs, without themselves
        one = detector.training_graphs_[i]
        alone = GraphKDEDetector(schema=WEIGHTED).fit(known[:i] + known[i + 1 :])
        found = view.shifted(one, i)
        others = alone.model_.views[-1].shifted(alone.read([known[i]]), -1)
        assert set(found.above.tolist()) == set(others.above.tolist())


@pytest.mark.filterwarnings("ignore:24 of 28 training graphs are copies")
def test_names_do_not_recur_where_nearly_all_graphs_are_copies():
    detector = GraphKDEDetector(schema=WEIGHTED).fit(scans(4, 4) * 7)
    assert detector.training_graphs_.name_keys is not None
    assert len(detector.model_.references) == 4
    assert "namesakes of nodes" not in detector.model_.view_names
    assert np.isfinite(detector.score_samples(scans(2, 8))).all()


def test_a_graph_without_a_known_name_is_explained():
    rng = np.random.default_rng(0)

    def ring(mark):
        graph = nx.Graph()
        for i in range(5):
            graph.add_edge(f"{mark}{i}", f"{mark}{(i + 1) % 5}", w=rng.uniform(1, 20))
        return graph

    detector = GraphKDEDetector(schema=GraphSchema(edge_numbers="w"))
    detector.fit([ring("a") for _ in range(12)])
    assert detector.model_.first(Namesakes) is not None
    assert len(explain(detector, [ring("b")])) > 0
