"""Views of neighborhoods, against parts written out; which of several categories count together."""

import itertools
from collections import Counter

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context

from skgraphkde import GraphKDEDetector, GraphSchema, Neighbors, Novelty, Tanimoto, read_graphs
from skgraphkde.core.views.categories import Vocabulary
from skgraphkde.explanation import explain
from skgraphkde.explanation.naming import pair_words
from tests.conftest import fitted_to, random_graphs, with_data
from tests.core.graphs.common import typed_graphs
from tests.core.views.common import context_of, fit, scores_of

NOBODY = np.full(12, -1)


def neighborhood(graph, node, radius, label):
    """What can be reached from a node in so many steps, as nested tuples."""
    own = str(graph.nodes[node]["label"]) if label else str(graph.degree[node])
    if not radius:
        return (own,)
    inner = neighborhood(graph, node, radius - 1, label)
    around = sorted(neighborhood(graph, v, radius - 1, label) for v in graph[node])
    return (inner, tuple(around))


def scores_slow(graphs, references, own, radius, label):
    """Minus the share of nodes in new neighborhoods, and minus ten times that of new labels."""
    scores = []
    for graph, left_out in zip(graphs, own, strict=True):
        known, labels = set(), set()
        for i, reference in enumerate(references):
            if i != left_out:
                known |= {neighborhood(reference, node, radius, label) for node in reference}
                labels |= {name for _, name in reference.nodes(data="label")}
        new = [neighborhood(graph, node, radius, label) not in known for node in graph]
        scores.append(-np.mean(new))
        if label:
            scores[-1] -= 10 * np.mean([x not in labels for _, x in graph.nodes(data="label")])
    return scores


@pytest.mark.parametrize("working_memory", [1024, 0.001])
@pytest.mark.parametrize("categories", ["label", "degree"])
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_scores_equal_the_definition(working_memory, categories, seed, radius):
    graphs, new = random_graphs(12, seed=seed), random_graphs(6, seed=seed + 1)
    references, is_label = read_graphs(graphs), categories == "label"
    with config_context(working_memory=working_memory):
        novelty = fit(Novelty(radius, categories), references)
        assert scores_of(novelty, references).tolist() == [0] * 12
        of_new = scores_of(novelty, read_graphs(new))
        alone = scores_of(novelty, references, np.arange(12))
        own = np.where(np.arange(12) % 2, np.arange(12), -1)
        mixed = scores_of(novelty, references, own)
    expected = scores_slow(new, graphs, NOBODY[:6], radius, is_label)
    np.testing.assert_allclose(of_new, expected, atol=1e-12)
    expected = scores_slow(graphs, graphs, range(12), radius, is_label)
    np.testing.assert_allclose(alone, expected, atol=1e-12)
    np.testing.assert_array_equal(mixed, np.where(own < 0, 0, alone))


def test_a_label_that_fit_did_not_see_is_new_by_itself(graphs):
    odd = with_data(nx.path_graph(4), {"label": list("CXNC")})
    # The vocabulary of a batch may be larger than what its references use.
    everything = read_graphs([*graphs, odd])
    for batch in (everything[[-1]], read_graphs([odd])):
        novelty = fit(Novelty(2), everything[:-1])
        smallest = novelty.new_from(NOBODY[:1], context_of(batch)).tolist()
        assert smallest[1] == 0
        assert smallest[0] == smallest[2] == 1  # it is next to it
        assert scores_of(fit(Novelty(0), everything[:-1]), batch).tolist() == [-1 / 4 - 3e6]


# -- parts: nodes and edges by their categories ----------------------------------------------------


def parts_slow(graph):
    """Categories, arcs and surroundings of the nodes of a networkx graph, with those categories."""
    label, arcs = dict(graph.nodes(data="label")), []
    around = {node: [] for node in graph}
    for u, v, kind in graph.edges(data="label"):
        if graph.is_directed():
            arcs.append((label[u], label[v], kind))
            around[u].append(("to", label[v], kind))
            around[v].append(("from", label[u], kind))
        else:
            arcs += 2 * [(*sorted((label[u], label[v])), kind)]
            around[u].append((label[v], kind))
            around[v].append((label[u], kind))
    surroundings = [(label[node], *sorted(around[node])) for node in graph]
    alone = [kind for _, _, kind in arcs]
    parts = {"categories": list(label.values()), "edge label": alone, "edges": arcs}
    return parts | {"surroundings": surroundings}


def alone_slow(references):
    """Which parts of each reference no other has."""
    owners = {}
    for j, reference in enumerate(references):
        for part in reference:
            owners.setdefault(part, set()).add(j)
    return [[len(owners[part]) == 1 for part in reference] for reference in references]


def factor_slow(kind, of_references, is_known):
    """A million to the power of 1 - q / 0.05, for values; q is of all tables up to this one."""
    values = {
        x: np.array([any(row) for row in alone_slow([parts[x] for parts in of_references])])
        for x in ("categories", "edge label")
    }
    if kind not in values:
        return 1
    some = [x for x in values.values() if x.mean() <= values[kind].mean()]
    n_own = np.any(some, axis=0).sum() - is_known
    return 1e6 ** max(1 - n_own / (len(of_references) - is_known) / 0.05, 0)


def term_slow(kind, parts, known, of_references, is_known):
    """3 (1 - p / 0.1) for any new part; ten times the share or less where a tenth have some."""
    is_new, references = [part not in known for part in parts], [x[kind] for x in of_references]
    alone = alone_slow(references)
    share = np.mean([any(x) for x in alone])
    if share < 0.1 * (1 - 1e-9):
        return 3 * (1 - share / 0.1) * factor_slow(kind, of_references, is_known) * any(is_new)
    if kind == "surroundings" or not parts:
        return 0.0
    chance = np.mean([x for reference in alone for x in reference])
    return 10 * 0.01 / max(chance, 0.01) * np.mean(is_new)


def scores_of_parts_slow(graphs, references, own):
    """Minus the shares of new nodes (with radius 0 a neighborhood), and the terms of all kinds."""
    scores, of_references = [], [parts_slow(reference) for reference in references]
    for graph, left_out in zip(graphs, own, strict=True):
        parts = parts_slow(graph)
        others = [x for i, x in enumerate(of_references) if i != left_out]
        score = 0.0
        for kind in parts:
            known = {part for other in others for part in other[kind]}
            score -= term_slow(kind, parts[kind], known, of_references, left_out >= 0)
            if kind == "categories":
                score -= np.mean([part not in known for part in parts[kind]])
        scores.append(score)
    return scores


def rings(n, seed, directed, rare=0.02):
    """Rings of six nodes and a few chords, in which little is new, and now and then much."""
    rng, graphs = np.random.RandomState(seed), []
    for _ in range(n):
        graph = nx.cycle_graph(6, create_using=nx.DiGraph if directed else nx.Graph)
        if rng.rand() < 5 * rare:
            graph.add_edge(0, 3)
        nodes = {"label": lambda v: "ab"[v % 2] if rng.rand() > rare else "abcd"[v % 4]}
        edges = {"label": lambda _: "x" if rng.rand() > rare else "yz"[rng.randint(2)]}
        graphs.append(with_data(graph, nodes, edges))
    return graphs


@pytest.mark.parametrize("directed", [True, False])
@given(st.integers(0, 10**6))
def test_scores_of_parts_equal_the_definition(directed, seed):
    """Of parts that are often new, and of those that are seldom."""
    options = {"directed": directed, "categories": "abcde"}
    often = typed_graphs(6, seed, **options), typed_graphs(4, seed + 1, **options)
    seldom = rings(40, seed, directed), rings(12, seed + 1, directed, rare=0.1)
    for references, new in (often, seldom):
        novelty = fit(Novelty(0), read_graphs(references))
        for graphs, own in ((new, [-1] * len(new)), (references, range(len(references)))):
            expected = scores_of_parts_slow(graphs, references, own)
            np.testing.assert_allclose(scores_of(novelty, read_graphs(graphs), own), expected)


TYPED = typed_graphs(6)
REGIONS = [with_data(nx.cycle_graph(5), {"label": list("abcde")}) for _ in range(3)]


@pytest.mark.parametrize(
    ("graphs", "schema", "edges", "kinds"),
    [
        (TYPED, None, "auto", ("categories", "edges")),
        (TYPED, GraphSchema(edge_categories=None), "auto", ("categories", "edges")),  # directed
        (TYPED, GraphSchema(edge_categories=None, directed=False), "auto", ("categories",)),
        (TYPED, GraphSchema(edge_categories=None, directed=False), True, ("categories", "edges")),
        (TYPED, GraphSchema(node_categories=None), "auto", ("edges",)),
        (TYPED, GraphSchema(node_categories=None, edge_categories=None), "auto", ()),
        # No label occurs twice in a graph, as with regions of a brain.
        (REGIONS, None, "auto", ("categories", "edges")),
    ],
)
def test_which_parts_count(graphs, schema, edges, kinds):
    parts = fit(Novelty(edges=edges), read_graphs(graphs, schema=schema)).parts_
    assert tuple(x.name for x in parts.tables.values() if x.is_main) == kinds


def shop(seed, new="", often=()):
    """A random graph with categories; a new value somewhere, and of some categories often."""
    rng, graph = np.random.default_rng(seed), nx.gnm_random_graph(10, 14, seed=seed)
    parts = {"node": graph.nodes[0], "edge": next(iter(graph.edges.values())), "graph": graph.graph}
    for where in (*graph.nodes.values(), *graph.edges.values(), graph.graph):
        where |= {"a": "xyz"[rng.integers(3)], "b": "uv"[rng.integers(2)]}
    for part in often:
        parts[part]["b"] = f"{part} {seed}"
    if new:
        parts[new]["a"] = "NEVER"
    return graph


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("often", [(), ("node", "edge", "graph")])
@pytest.mark.parametrize("part", ["node", "edge", "graph"])
def test_a_new_value_is_flagged_among_few_and_told_first(part, often):
    """Even if values of another category are always new, and then these alone are usual."""
    both = ("a", "b")
    schema = GraphSchema(node_categories=both, edge_categories=both, graph_categories=both)
    detector = GraphKDEDetector(schema=schema, contamination=0.05)
    detector.fit([shop(seed, often=often) for seed in range(40)])
    new = [shop(seed, part, often) for seed in range(100, 130)]
    assert (detector.predict(new) == -1).all()
    assert explain(detector, new, n_reasons=1)["reason"].str.contains("NEVER").all()
    fresh = [shop(seed, often=often) for seed in range(200, 260)]
    assert (detector.predict(fresh) == -1).mean() <= 0.15


# -- Tanimoto and Neighbors ------------------------------------------------------------------------


def counts_slow(graph, radius, label):
    """How many nodes have each neighborhood, of each radius."""
    return Counter(
        (r, neighborhood(graph, node, r, label)) for r in range(radius + 1) for node in graph
    )


def differing_slow(a, b):
    return np.sqrt(len(set(a) ^ set(b)))


@pytest.mark.parametrize("working_memory", [1024, 0.001])
@pytest.mark.parametrize("labels", ["CNO", ""])
@given(st.integers(0, 10**6), st.integers(0, 3))
def test_similarities_equal_the_definition(working_memory, labels, seed, radius):
    graphs, new = (random_graphs(n, seed + n, labels=labels) for n in (12, 5))
    known = [counts_slow(x, radius, bool(labels)) for x in graphs]
    views = (
        (Tanimoto(radius), lambda a, b: (a & b).total() / (a | b).total(), max),
        (Neighbors(3, radius), differing_slow, lambda values: -np.mean(sorted(values)[:3])),
        (Neighbors(50, radius), differing_slow, lambda values: -np.mean(sorted(values)[:11])),
    )
    for view, slow, pooled in views:
        for some, own in ((new, [-1] * 5), (graphs, range(12))):
            expected = []
            for graph, left_out in zip(some, own, strict=True):
                counts = counts_slow(graph, radius, bool(labels))
                others = [slow(counts, x) for i, x in enumerate(known) if i != left_out]
                expected.append(pooled(others))
            with config_context(working_memory=working_memory):
                found = scores_of(fit(view, read_graphs(graphs)), read_graphs(some), own)
            np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("view", [Tanimoto(2), Neighbors(2, 2)])
def test_labels_of_its_own_are_those_of_a_new_graph(view):
    """A reference is scored as if it were none: its labels differ from each other, known or not."""
    graphs = [
        with_data(graph, {"label": lambda v, i=i: f"{i}.{v}" if v % 3 else None})
        for i, graph in enumerate(random_graphs(8, seed=0))
    ]
    batch = read_graphs(graphs)
    known = scores_of(fit(view, batch), batch, range(8))
    for i in range(8):
        others = read_graphs(graphs[:i] + graphs[i + 1 :])
        [expected] = scores_of(fit(view, others), read_graphs(graphs[i : i + 1]))
        assert known[i] == pytest.approx(expected, abs=1e-12)


def test_edge_weights_are_ignored(graphs):
    heavy = [with_data(graph.copy(), None, {"weight": 7.5}) for graph in graphs]
    batch = read_graphs(heavy, schema=GraphSchema(edge_weight="weight"))
    assert scores_of(fit(Novelty(3), read_graphs(graphs)), batch).tolist() == [0] * 12


# -- several categories of nodes -------------------------------------------------------------------

STEPS = ["create", "check", "approve", "post", "pay"]


def case(seed, steps=STEPS, clerk=()):
    """A case of a process, in which a machine does one step, and persons the others."""
    people = iter(np.random.RandomState(seed).permutation(40))
    who = ["machine" if step == "check" else f"P{next(people)}" for step in steps]
    for node in clerk:
        who[node] = "P3"
    return with_data(nx.path_graph(len(steps), nx.DiGraph), {"step": steps, "who": who})


def varied(seed):
    """Steps of a usual case, of which one may be left out."""
    left_out = np.random.RandomState(seed).choice(["check", "post", "none"])
    return case(seed, [step for step in STEPS if step != left_out])


SCHEMA = GraphSchema(node_categories=("step", "who"), directed=True)
KNOWN = [varied(seed) for seed in range(80)]


def test_persons_count_by_themselves_and_steps_together():
    vocabulary = Vocabulary.of(read_graphs(KNOWN, schema=SCHEMA), by_label=True)
    assert vocabulary.names == ("step", "who")
    assert (vocabulary.step, vocabulary.together, vocabulary.who) == (0, (0,), (1,))


def test_categories_by_which_edges_are_seldom_new_count_together():
    def graph(seed):
        rng = np.random.RandomState(seed)
        data = {"kind": lambda _: "AB"[rng.randint(2)], "color": lambda _: "xyz"[rng.randint(3)]}
        return with_data(nx.gnp_random_graph(12, 0.3, seed=seed), data)

    schema = GraphSchema(node_categories=("kind", "color"))
    vocabulary = Vocabulary.of(
        read_graphs([graph(s) for s in range(20)], schema=schema), by_label=True
    )
    assert (vocabulary.together, vocabulary.who) == ((0, 1), ())


def test_pairs_with_the_same_value_are_those_of_a_plain_loop():
    graphs = [*KNOWN[:20], case(90, clerk=(0, 2)), case(91, clerk=(1, 2, 4)), case(92, clerk=())]
    graphs[-1].nodes[3]["who"] = graphs[-1].nodes[4]["who"] = None  # nobody is no person
    schema = GraphSchema(node_categories=("step", "who"), directed=True, missing="indicate")
    batch = read_graphs(graphs, schema=schema)
    vocabulary = Vocabulary.of(read_graphs(KNOWN, schema=SCHEMA), by_label=True)
    first, second = vocabulary.same_value(batch, 1)
    found = {
        (int(batch.graph_of_node[u]), frozenset((int(u), int(v))))
        for u, v in zip(first, second, strict=True)
    }
    expected = set()
    for i, graph in enumerate(graphs):
        for u, v in itertools.combinations(graph, 2):
            a, b = graph.nodes[u], graph.nodes[v]
            if a["who"] == b["who"] is not None and a["step"] != b["step"]:
                start = int(batch.node_ptr[i])
                expected.add((i, frozenset((start + u, start + v))))
    assert found == expected
    assert len(found) == 4  # create and approve; check, approve and pay


def test_pairs_of_steps_are_told_apart_by_the_steps_and_not_by_their_words():
    """ "a and b" with "c" reads as "a" with "b and c" does."""
    ends = [("a and b", "c"), ("a", "b and c"), ("c", "a and b")]
    graphs = []
    for i, steps in enumerate(ends):
        names = {"step": [*steps, "post"], "who": [f"p{i}", f"p{i}", f"q{i}"]}
        graphs.append(with_data(nx.path_graph(3, nx.DiGraph), names))
    batch = read_graphs(graphs, schema=GraphSchema(node_categories=("step", "who")))
    vocabulary = Vocabulary.of(batch, by_label=True)
    vocabulary.step = 0
    first, second = vocabulary.same_value(batch, 1)
    found = vocabulary.steps_of_pairs(batch, first, second)
    assert found == [("a and b", "c"), ("a", "b and c"), ("a and b", "c")]
    words = {pair_words(vocabulary, steps, 1) for steps in found}
    assert words == {"step a and b and c with the same who"}


@pytest.mark.parametrize("names", [("step", "who"), ("who", "step")])
@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (case(500, ["create", "check", "approve", "pay", "post"]), "pay -> post"),
        (case(501, clerk=(0, 2)), "with the same who"),
    ],
    ids=["order", "clerk"],
)
def test_a_new_pair_of_steps_is_found_though_persons_are_new_everywhere(odd, words, names):
    detector = fitted_to(KNOWN, node_categories=names, directed=True)
    assert detector.predict([odd]).tolist() == [-1]
    reasons = explain(detector, [odd])["reason"]
    assert any(words in reason for reason in reasons)
    assert not any("(who)" in reason for reason in reasons)  # new pairs of persons are usual
