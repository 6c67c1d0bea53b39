"""Pictures: what they draw is what the caller gives."""

import matplotlib

matplotlib.use("Agg")

import re
from importlib.resources import files
from itertools import combinations

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import same_color, to_rgba_array
from matplotlib.path import Path
from scipy.spatial.distance import cdist, pdist

from skgraphkde import GraphSchema, plots, read_graphs
from skgraphkde.datasets import load_mutag
from skgraphkde.plots import draw_molecule, node_kinds, plot_graph, plot_map, plot_scores, smiles_of
from tests.conftest import random_graphs, with_data


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def written(ax):
    return [text.get_text() for text in ax.texts]


# -- scores ----------------------------------------------------------------------------------------


def heights(ax):
    return [np.array([bar.get_height() for bar in bars]) for bars in ax.containers]


def test_every_graph_is_in_a_bar():
    scores = np.random.RandomState(0).uniform(-3, 0, 25)
    y = np.repeat([1, -1], [20, 5])
    ax = plot_scores(scores, -2.5, y, bins=7)
    assert [x.sum() for x in heights(ax)] == [20, 5]
    assert legend(ax) == ["normal (20)", "anomaly (5)", "threshold"]
    assert ax.lines[0].get_xdata()[0] == -2.5
    assert -2.5 in [bar.get_x() for bar in ax.containers[0]]  # no bar is on both sides
    box = ax.get_legend().get_window_extent()
    assert not box.overlaps(ax.get_window_extent())
    np.testing.assert_array_equal(
        heights(plot_scores(scores, bins=7))[0], np.histogram(scores, 7)[0]
    )


@pytest.mark.parametrize(
    ("scores", "options", "tail"),
    [
        ([-8, 0, 0, 2, 2], {}, []),  # median 0, highest 2: down to -8
        ([-9.5, 0, 0, 2, 2], {}, ["1 further left: -9.5"]),
        ([-9.5, 0, 0, 2, 2], {"offset": -1.5}, []),
        ([-9.5, 0, 0, 2, 2], {"y": [-1, 1, 1, -1, -1]}, ["1 further left: -9.5"]),
        ([-9.5, 0, 0, 2, 2], {"y": [1, 1, -1, -1, -1]}, []),  # a median of -4.75
        ([-50, 3, 3, 3], {}, []),  # nothing to scale by
        ([-50, 0, 0, 2, 2], {"offset": -1.5}, ["1 further left: -50"]),  # which the bars reach
        ([-50, -9.6, -9.4, 0, 0, 0, 2, 2], {"offset": -1.5}, ["2 further left: -50 to -9.6"]),
    ],
)
def test_the_axis_of_scores_ends_where_the_docstring_says(scores, options, tail):
    ax = plot_scores(scores, **options)
    assert [x for x in legend(ax) if "further left" in x] == tail
    assert not written(ax)  # no text over bars or the threshold
    assert not tail or sum(heights(ax))[:2].tolist() == [int(tail[0][0]), 0]  # a bar of its own


# -- the map ---------------------------------------------------------------------------------------


def groups(ax):
    """The positions on a map by the label of their group."""
    return {points.get_label(): points.get_offsets() for points in ax.collections}


@pytest.mark.parametrize("dimension", [1, 2])
def test_a_map_of_the_plane_keeps_its_distances(dimension):
    X = np.random.RandomState(0).rand(15, dimension) * [1, 3][:dimension]
    ax = plot_map(cdist(X, X), X[:, 0])
    (points,) = ax.collections
    np.testing.assert_allclose(pdist(points.get_offsets()), pdist(X), atol=1e-4)
    np.testing.assert_array_equal(points.get_array(), X[:, 0])


def test_groups_on_the_map_are_verdicts_or_classes():
    X = np.random.RandomState(0).rand(8, 2)
    D, scores = cdist(X, X), np.array([-1.0, 1, 1, 1, 1, 1, -1, -1])
    by_verdict = groups(plot_map(D, scores, 0.0))
    assert [len(by_verdict[x]) for x in ("normal", "anomaly")] == [5, 3]
    y = np.repeat([1, -1], 4)
    by_class = groups(plot_map(D, scores, 0.0, y))
    assert [len(by_class[x]) for x in ("normal", "anomaly", "below the threshold")] == [4, 4, 3]
    np.testing.assert_array_equal(by_class["below the threshold"], by_verdict["anomaly"])


# -- one graph -------------------------------------------------------------------------------------


def drawn(graph, values=None, schema=None, **options):
    """Axes with a picture of one graph, after matplotlib has drawn it."""
    ax = options.pop("ax", None) or plt.figure(figsize=(4, 4)).add_axes((0, 0, 1, 1))
    plot_graph(read_graphs([graph], schema=schema), values, ax=ax, **options)
    ax.figure.canvas.draw()
    return ax


def luminance(colors):
    rgb = to_rgba_array(colors)[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def nodes_of(ax):
    return next(x for x in ax.collections if type(x).__name__ == "PathCollection")


def lines_of(ax):
    """The lines of undirected edges, one after the other."""
    return [x for x in ax.collections if type(x).__name__ == "LineCollection"][-1]


def test_values_and_labels_are_on_their_nodes():
    """A path with string ids that are not in the order of the alphabet."""
    graph = with_data(nx.Graph([("z", "a"), ("a", "m"), ("m", "b")]), {"label": list("NCOC")})
    shares = [0.4, -0.1, 0.2, -0.4]
    figure, axes = plt.subplots(1, 2)
    colors = plot_graph(graph, shares, ax=axes[0])
    assert colors.get_clim() == (-0.4, 0.4)
    assert len(figure.axes) == 3  # and a color bar
    nodes = nodes_of(axes[0])
    np.testing.assert_allclose(nodes.get_facecolor(), colors.to_rgba(shares))
    positions = np.asarray(nodes.get_offsets())
    labels = {text.get_text(): text.xy for text in axes[0].texts}
    np.testing.assert_array_equal([labels["N"], labels["O"]], positions[[0, 2]])
    bonds = {frozenset(map(tuple, bond)) for bond in lines_of(axes[0]).get_segments()}
    assert bonds == {frozenset(map(tuple, positions[[i, i + 1]])) for i in range(3)}
    assert plot_graph(graph, ax=axes[1]) is None
    assert same_color(nodes_of(axes[1]).get_facecolor(), "white")
    assert plot_graph(graph, shares, vmax=3, colorbar=False, ax=axes[1]).get_clim() == (-3, 3)
    assert len(figure.axes) == 3


@pytest.mark.parametrize(("values", "radius"), [(np.linspace(-1, 1, 5), None), (range(5), 3)])
def test_labels_contrast_with_the_color_of_their_node(values, radius):
    ax = drawn(with_data(nx.path_graph(5), {"label": list("abcde")}), values, radius=radius)
    assert {text.get_color() for text in ax.texts} == {"black"}
    rgb = nodes_of(ax).get_facecolor()[:, :3]
    contrast = (luminance(rgb) + 0.05) / 0.05
    assert contrast.min() >= 4.5  # WCAG 2, level AA
    assert len({tuple(color) for color in rgb}) == 5


def test_nodes_do_not_overlap_and_rings_do_not_cross():
    """A caterpillar, a molecule with rings at the ends of a chain, and pieces."""
    caterpillar = nx.disjoint_union_all([nx.star_graph(4)] * 8)
    nx.add_path(caterpillar, range(0, 40, 5))
    pieces = [*3 * [nx.cycle_graph(9)], *2 * [nx.empty_graph(1)], nx.path_graph(6)]
    for graph in (caterpillar, load_mutag().graphs[62], nx.disjoint_union_all(pieces)):
        ax = drawn(graph)
        points = ax.transData.transform(nodes_of(ax).get_offsets())
        diameter = np.sqrt(nodes_of(ax).get_sizes()[0]) * ax.figure.dpi / 72
        assert pdist(points).min() > diameter
        bonds = [Path(segment) for segment in lines_of(ax).get_segments()]
        ends = [set(map(tuple, bond.vertices.round(6))) for bond in bonds]
        for i, j in combinations(range(len(bonds)), 2):
            assert ends[i] & ends[j] or not bonds[i].intersects_path(bonds[j])


def test_categories_of_edges_look_different_and_are_named():
    def picture(actions, **options):
        graph = with_data(nx.path_graph(len(actions) + 1), None, {"action": list(actions)})
        return drawn(graph, schema=GraphSchema(edge_categories="action"), **options)

    ax = picture("abcdefgh")
    lines = lines_of(ax)
    looks = zip(lines.get_color(), map(str, lines.get_linestyle()), strict=True)
    assert len({(tuple(color), line) for color, line in looks}) == 8
    eight = [f"action={x}" for x in "abcdefgh"]
    assert legend(ax) == eight
    assert legend(picture("abcdefghij")) == [*eight, "others"]
    marked = picture("abcdefghij", marked=[(10, 9)])  # an edge that a reason names has a name
    assert legend(marked) == [*eight, "others", "action=j"]
    css = files("skgraphkde.page").joinpath("page.css").read_text(encoding="utf-8")
    ground = re.search(r"figure img { background: (#\w+)", css)[1]  # of a dark page
    colors = [
        *(color for color, _ in plots.LOOKS + plots.MARKED_LOOKS),
        plots.OTHERS[1],
        plots.VERMILION,
    ]
    assert ((luminance(ground) + 0.05) / (luminance(colors) + 0.05)).min() >= 3
    first = lines_of(picture("ba", edge_categories=["b"])).get_color()[0]
    assert same_color(first, lines.get_color()[0])


def test_arrows_point_at_the_end_and_edges_of_one_pair_are_apart():
    ax = drawn(nx.DiGraph([("a", "b"), ("b", "a"), ("c", "b")]))
    points = np.asarray(nodes_of(ax).get_offsets())
    middles = []
    for arrow, (u, v) in zip(ax.patches, ((0, 1), (1, 0), (2, 1)), strict=True):
        tail, middle, tip = arrow.get_path().vertices[:3]
        np.testing.assert_allclose(tip - tail, (points[v] - points[u]) * 0.9, atol=0.2)
        assert arrow.get_arrowstyle().arrow == "-|>"
        assert not arrow.get_clip_on()
        middles.append(middle)
    assert pdist(middles).min() > 0.01
    schema = GraphSchema(edge_categories="action")
    both = nx.MultiGraph([(0, 1, {"action": "read"}), (0, 1, {"action": "write"})])
    ax = drawn(both, schema=schema)
    first, second = (arrow.get_path().vertices[1] for arrow in ax.patches)
    assert np.linalg.norm(first - second) > 0.01
    assert legend(ax) == ["action=read", "action=write"]


def test_weights_are_widths():
    weights = [1.0, 2.0, 4.0]
    graph = with_data(nx.path_graph(4), None, {"weight": weights})
    ax = drawn(graph, schema=GraphSchema(edge_weight="weight"))
    np.testing.assert_allclose(lines_of(ax).get_linewidth(), 0.1 + 3.9 * np.array(weights) / 4)


def test_marks_are_where_they_belong():
    graph = nx.relabel_nodes(nx.cycle_graph(5), "n{}".format)
    ax = drawn(graph, [9, 0, 1, 0, 0], marked=[(2, 1)], outlined={3: "3", 0: "123"})
    points = np.asarray(nodes_of(ax).get_offsets())
    broad, _, _ = [x for x in ax.collections if type(x).__name__ == "LineCollection"]
    assert {tuple(x) for x in broad.get_segments()[0]} == {tuple(x) for x in points[[1, 2]]}
    assert np.flatnonzero(np.array(nodes_of(ax).get_linewidth()) > 2).tolist() == [0, 3]
    numbers = {text.get_text(): (*text.xy, text.get_color()) for text in ax.texts}
    assert numbers == {"3": (*points[3], "black"), "123": (*points[0], "white")}
    width = ax.texts[1].get_window_extent().width * 72 / ax.figure.dpi
    assert np.sqrt(nodes_of(ax).get_sizes()[0]) > width + 2


def test_long_labels_are_below_the_nodes_and_dollars_are_dollars():
    kinds = ["ER Registration", r"cost in $\no$", "an activity with a name that has no end"]
    ax = drawn(with_data(nx.path_graph(3), {"label": kinds}))
    assert written(ax)[:2] == ["ER\nRegistration", r"cost in $\no$"]
    assert written(ax)[2].startswith("an activity\nwith")
    assert all(text.get_position()[1] < 0 for text in ax.texts)
    ball = with_data(nx.complete_graph(30), {"label": "kind {}".format})
    small = plt.figure(figsize=(2, 2)).add_axes((0, 0, 1, 1))
    ax = drawn(ball, ax=small, outlined={9: "1", 0: "2", 1: "3", 2: "4"})
    first, _, _, _, *names = ax.texts
    assert (names[0].get_text(), first.get_text(), first.xyann) == ("kind 9", "1", (0, 0))
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(names) < 30
    assert not any(x.overlaps(y) for x, y in combinations(boxes, 2))
    crowded = plt.figure(figsize=(1, 1)).add_subplot()
    many = with_data(nx.cycle_graph(12), {"label": "r{}".format})
    assert written(drawn(many, ax=crowded)) == []  # they could not be read


def test_of_a_large_graph_the_part_around_what_matters_is_drawn():
    graph = nx.gn_graph(200, seed=1)  # arcs lead to older nodes, so most are behind
    values = np.random.RandomState(0).standard_normal(200)
    values[150] = 9
    ax = drawn(graph, values)
    steps = nx.single_source_shortest_path_length(graph.to_undirected(), 150)
    ranked = sorted(graph, key=lambda node: (steps[node], -values[node]))
    shown = sorted(ranked[:24])
    colors = plot_graph(graph, values, colorbar=False).to_rgba(values[shown])
    np.testing.assert_allclose(nodes_of(ax).get_facecolor(), colors)
    assert len(ax.patches) == graph.subgraph(shown).number_of_edges()
    assert ax.get_legend().get_title().get_text() == "24 nodes, of 200"
    assert np.ptp(nodes_of(ax).get_linewidth()) == 0  # a ring would be one that reasons name
    pieces = nx.disjoint_union(nx.path_graph(5), nx.path_graph(100))
    title = drawn(graph, outlined={3: ""}).get_legend().get_title().get_text()
    assert title == "24 nodes around what is marked, of 200"
    assert len(nodes_of(drawn(pieces, outlined={2: ""})).get_offsets()) == 5
    assert (
        len(nodes_of(drawn(graph, outlined=dict.fromkeys(range(30), ""))).get_offsets()) == 30
    )  # all of them


def test_a_legend_is_inside_and_below_the_nodes_and_says_what_reasons_say():
    steps = {"paid": ["no", None, *6 * ["yes"]], "channel": [*"abcdefgh"]}
    schema = GraphSchema(edge_categories=["paid", "channel"], missing="indicate")
    ax = drawn(with_data(nx.cycle_graph(8), None, steps), schema=schema)
    assert {"paid=no, channel=a", "no paid, channel=b"} < {*legend(ax)}
    box, nodes = ax.get_legend().get_window_extent(), nodes_of(ax)
    assert ax.bbox.x0 <= box.x0 < box.x1 <= ax.bbox.x1
    lowest = ax.transData.transform(nodes.get_offsets())[:, 1].min()
    assert ax.bbox.y0 <= box.y0 < box.y1 < lowest - np.sqrt(nodes.get_sizes()[0]) / 2


def test_a_sequence_is_drawn_in_rows_and_dots_stand_for_what_is_left_out():
    graph = nx.path_graph(99, nx.DiGraph)
    graph.add_edge(2, 70)
    ax = drawn(graph, outlined={9: "", 80: ""})
    points = np.asarray(nodes_of(ax).get_offsets())
    assert points[:6, 0].tolist() == [0, 1, 2, 3, 4, 0]  # five in a row
    assert points[5, 1] < points[:5, 1].min()
    (dots,) = [text.xy for text in ax.texts if text.get_text() == "…"]
    assert list(dots) not in points.tolist()
    graph.add_edge(98, 0)
    ring = np.asarray(nodes_of(drawn(graph)).get_offsets())
    assert len(set(ring[:, 0])) > 5  # in no columns


# -- molecules -------------------------------------------------------------------------------------


def test_molecules_are_drawn_by_rdkit():
    pytest.importorskip("rdkit")
    molecule = load_mutag(edge_data=True).graphs[0]
    (image,) = drawn(molecule, np.linspace(-1, 1, molecule.n_nodes)).images
    pixels = image.get_array()
    assert pixels[..., 3].min() == 0  # transparent
    assert (pixels[..., 0] > pixels[..., 2] + 0.3).any()  # red
    assert (pixels[..., 2] > pixels[..., 0] + 0.3).any()  # blue
    edge = tuple(np.argwhere(molecule.adjacency.toarray())[0])
    for mark in ({"outlined": {1: ""}}, {"outlined": {1: "1"}}, {"marked": [edge]}):
        assert np.any(
            drawn(molecule, **mark).images[0].get_array() != drawn(molecule).images[0].get_array()
        )
    schema = GraphSchema(node_categories="label", edge_categories="bond")
    for first, bond, n_images in (
        ("C", "DOUBLE", 1),
        ("tank", "DOUBLE", 0),
        ("C", "of a friend", 0),
    ):
        graph = with_data(
            nx.path_graph(3), {"label": [first, "C", "O"]}, {"bond": ["single", bond]}
        )
        assert len(drawn(graph, schema=schema).images) == n_images


@pytest.mark.parametrize(
    "smiles",
    ["CC(=O)Oc1ccccc1C(=O)[O-].[Na+]", "CCCNCc1cc[nH]c1.Cl", "C[N+](C)(C)C.[Br-]", "[2H]O[2H]"],
)
def test_molecules_have_charges_and_hydrogens(smiles):
    Chem = pytest.importorskip("rdkit.Chem")
    draw = pytest.importorskip("rdkit.Chem.Draw.rdMolDraw2D")
    expected = Chem.CanonSmiles(smiles.replace("[2H]", "[H]"))  # isotopes are not read
    batch = read_graphs([Chem.MolFromSmiles(smiles)], schema="molecule")
    assert Chem.CanonSmiles(smiles_of(batch)) == expected
    svg = draw_molecule(draw.MolDraw2DSVG(400, 400), batch, None)
    n_drawn = len(set(re.findall(r"atom-(\d+)", svg)))
    assert n_drawn == batch.n_nodes  # the counter-ion, too


class Watched:
    """A drawer of RDKit that keeps the places of texts, instead of drawing these."""

    def __init__(self, drawer):
        self.drawer, self.texts = drawer, []

    def __getattr__(self, name):
        return self.keep if name == "DrawString" else getattr(self.drawer, name)

    def keep(self, text, place, *_):
        self.texts.append((place.x, place.y))


def test_numbers_of_atoms_are_inside_and_at_no_atom_and_legible(capfd):
    Chem = pytest.importorskip("rdkit.Chem")
    draw = pytest.importorskip("rdkit.Chem.Draw.rdMolDraw2D")
    for smiles in ("C1CC(I)CCC1I", 40 * "C1CC1" + "[Na]", "CC.[Na]"):
        batch = read_graphs([Chem.MolFromSmiles(smiles)], schema="molecule")
        drawer = Watched(draw.MolDraw2DSVG(400, 400))
        draw_molecule(drawer, batch, None, (), {0: "0", 1: "1"})
        places = [tuple(drawer.GetDrawCoords(v)) for v in range(batch.n_nodes)]
        assert cdist(drawer.texts, places).min() > drawer.FontSize() / 2
        assert pdist(drawer.texts)[0] > drawer.FontSize()
        assert np.max(np.abs(np.array(drawer.texts) - 200)) < 190
        assert drawer.FontSize() >= 10
    assert not capfd.readouterr().err


def test_other_graphs_have_no_smiles():
    graph = with_data(nx.path_graph(3), {"label": list("CCO")})
    without_hydrogens = load_mutag(edge_data=True).graphs[0]
    plain = read_graphs([graph])
    with_data(graph, {"charge": "none", "hydrogens": 1}, {"label": "single"})
    of_words = read_graphs([graph], schema="all")
    assert [smiles_of(x) for x in (plain, without_hydrogens, of_words)] == [""] * 3
    assert drawn(graph, schema="all").images


# -- all of them -----------------------------------------------------------------------------------

TRIANGLE = 1 - np.eye(3)
PICTURES = {
    "scores": lambda ax: plot_scores([1, 2, 3], ax=ax),
    "map": lambda ax: plot_map(TRIANGLE, [1, 2, 3], ax=ax),
}


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_axes_of_the_caller_are_drawn_on(draw):
    _, ax = plt.subplots()
    assert draw(ax) is ax
    assert len(plt.get_fignums()) == 1
    assert draw(None) is not ax


path, batch = nx.path_graph(3), read_graphs(random_graphs(2))
ERRORS = {
    "score": (lambda: plot_scores([1, np.nan]), "scores contains NaN"),
    "flat": (lambda: plot_scores([[1, 2]]), r"1d array, got an array of shape \(1, 2\)"),
    "length of y": (lambda: plot_scores([1, 2], y=[1]), "inconsistent"),
    "y": (lambda: plot_scores([1, 2], y=[0, 1]), "y must be 1 for normal"),
    "bins": (lambda: plot_scores([1, 2], bins=0), "`bins` must be positive"),
    "not square": (lambda: plot_map([[0, 1, 2]], [1]), "symmetric matrix"),
    "not symmetric": (lambda: plot_map([[0, 1], [2, 0]], [1, 1]), "symmetric matrix"),
    "negative": (lambda: plot_map(-TRIANGLE, [1, 1, 1]), "negative"),
    "two graphs": (lambda: plot_map([[0, 1], [1, 0]], [1, 1]), "at least 3 graphs"),
    "all alike": (lambda: plot_map(np.zeros((3, 3)), [1, 1, 1]), "not all alike"),
    "scores of a map": (lambda: plot_map(TRIANGLE, [1, 1]), "inconsistent"),
    "nodes": (lambda: plot_graph(path, [1, 2]), "got 2 values for a graph of 3 nodes"),
    "graphs": (lambda: plot_graph(batch), "a picture shows one graph, got a GraphBatch of 2"),
    "no edge": (lambda: plot_graph(path, marked=[(0, 2)]), r"marked edges.*\[\(0, 2\)\]"),
    "no end": (lambda: plot_graph(path, marked=[(2, 3)]), "node 3 is marked, but the graph has 3"),
    "no node": (lambda: plot_graph(path, outlined={-1: ""}), "node -1 is marked"),
}


@pytest.mark.parametrize(("draw", "message"), ERRORS.values(), ids=ERRORS)
def test_bad_input_is_named_and_opens_no_figure(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
    assert plt.get_fignums() == []


def test_the_category_that_is_written():
    graph = with_data(nx.path_graph(2), {"step": ["Pay", "Post"], "who": ["Ann", "Bob"]})
    batch = read_graphs([graph], schema=GraphSchema(node_categories=("step", "who")))
    assert node_kinds(batch, "who") == ["Ann", "Bob"]
    _, ax = plt.subplots()
    plot_graph(batch, category="who", ax=ax)
    assert {*written(ax)} >= {"Ann", "Bob"}
