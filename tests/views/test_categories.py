"""Several categories of nodes: which count together, who did two steps, and reasons of both."""

import itertools

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphSchema, read_graphs
from skgraphkde.explanation import explain
from skgraphkde.views.categories import Vocabulary
from tests.conftest import fitted_to, with_data

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
