"""Pictures of the page are SVGs that any reader of XML reads, and show what is planned."""

from xml.etree import ElementTree

import networkx as nx
import numpy as np
import pytest

from skgraphkde import read_graphs
from skgraphkde.page.pictures import graph_picture
from skgraphkde.plots import plan_graph

LOOKS = {"edge_categories": [], "category": None}
SVG = "{http://www.w3.org/2000/svg}"


def parsed(graph, **marks):
    batch = read_graphs([graph])
    return batch, ElementTree.fromstring(graph_picture(batch, LOOKS, **marks))


def labeled(graph, label):
    nx.set_node_attributes(graph, label, "label")
    return graph


@pytest.mark.parametrize(
    "graph",
    [
        nx.path_graph(1),
        nx.empty_graph(3),
        nx.star_graph(8),
        nx.complete_graph(7),
        nx.gnm_random_graph(300, 500, seed=0),
        nx.DiGraph([(0, 1), (1, 0), (1, 2)]),
        nx.DiGraph([(i, i + 1) for i in range(9)]),
    ],
    ids=str,
)
def test_each_node_that_is_planned_is_a_circle_in_the_picture(graph):
    batch, svg = parsed(graph)
    circles = svg.findall(f"{SVG}circle")
    plan = plan_graph(batch, batch.degrees.astype(float), [])
    assert len(circles) == len(plan.positions)
    places = np.array([[float(x.get(name)) for name in ("cx", "cy", "r")] for x in circles])
    assert (places[:, :2] >= places[:, 2:]).all()
    assert (places[:, :2] <= 288 - places[:, 2:]).all()
    n_lines = len([x for x in svg.findall(f"{SVG}path") if x.get("stroke-width") != "9"])
    assert n_lines == len(plan.edges)
    assert len(svg.findall(f"{SVG}polygon")) == (len(plan.edges) if graph.is_directed() else 0)


def test_texts_are_texts_whatever_they_say():
    label = '<script>alert("x")</script> & \x00\x0b\u202e \ud800'
    graph = labeled(nx.DiGraph([(0, 1), (1, 2)]), label)
    nx.set_edge_attributes(graph, label, "label")
    _, svg = parsed(graph, marked=[(0, 1)], outlined={0: "<&>", 2: "2"})
    assert not svg.findall(f".//{SVG}script")
    texts = [x.text for x in svg.findall(f"{SVG}text")]
    assert "<&>" in texts
    assert any(text.startswith("<script>") for text in texts)


def test_marks_are_under_edges_and_rings_at_nodes():
    _, svg = parsed(nx.cycle_graph(5), marked=[(0, 1)], outlined={3: "3"})
    widths = [x.get("stroke-width") for x in svg.findall(f"{SVG}path")]
    assert widths[:2] == ["9", "6.5"]
    rings = [x for x in svg.findall(f"{SVG}circle") if x.get("stroke") == "black"]
    assert len(rings) == 1
