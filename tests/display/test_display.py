"""Displays: what they draw is what the detector, or the caller, says."""

from itertools import combinations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pytest
from matplotlib.colors import same_color
from matplotlib.path import Path
from scipy.spatial.distance import cdist, pdist
from sklearn.exceptions import NotFittedError

from skgraphkde import GraphKDEDetector, GraphSchema, read_graphs
from skgraphkde.datasets import load_mutag
from skgraphkde.display import (
    DensityDisplay,
    GraphMapDisplay,
    NodeContributionsDisplay,
    NovelNodesDisplay,
    PValueDisplay,
)
from skgraphkde.display.graph_drawing import common_categories
from skgraphkde.inspection import node_contributions
from tests.conftest import random_graphs


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector().fit(random_graphs(30, seed=1))


@pytest.fixture(scope="module")
def graphs():
    return [*random_graphs(20, seed=2), *(nx.star_graph(n) for n in range(20, 25))]


@pytest.fixture(scope="module", autouse=True)
def labeled(graphs):
    for graph in graphs[20:]:
        nx.set_node_attributes(graph, "C", "label")


@pytest.fixture
def y():
    return np.repeat([1, -1], [20, 5])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def heights(bars):
    return np.array([bar.get_height() for bar in bars])


# -- densities -------------------------------------------------------------------------------------


def test_every_graph_is_in_a_bar(detector, graphs, y):
    display = DensityDisplay.from_estimator(detector, graphs, y, bins=7)
    assert [heights(bars).sum() for bars in display.bars_] == [20, 5]
    assert legend(display.ax_) == ["normal (20)", "anomaly (5)", "threshold"]
    assert display.threshold_.get_xdata()[0] == detector.offset_
    scores = np.random.RandomState(0).uniform(-3, 0, 20)
    (bars,) = DensityDisplay.from_predictions(scores, bins=7).bars_
    np.testing.assert_array_equal(heights(bars), np.histogram(scores, 7)[0])


@pytest.mark.parametrize("offset", [None, -30.0])
def test_a_long_tail_leaves_the_others_visible(offset):
    bulk = np.linspace(0, 5, 60)
    scores = np.concatenate([bulk, [-20.0, -1000.0, -1e6]])
    y = np.where(scores < -10, -1, 1)
    display = DensityDisplay.from_predictions(scores, offset=offset, y=y, bins=20)
    low, high = display.ax_.get_xlim()
    assert -50 < low < high < 10
    n_below = 3 if offset is None else 2  # with the threshold the axis reaches further down
    tail = [bars[0] for bars in display.bars_]
    assert [bar.get_height() for bar in tail] == [0, n_below]
    assert all(bar.get_hatch() for bar in tail)
    shown = scores[scores > (-10 if offset is None else -25)]
    assert tail[0].get_x() + tail[0].get_width() < shown.min()
    edge = "0" if offset is None else "-30"
    assert [text.get_text() for text in display.ax_.texts] == [f"{n_below} below {edge}"]
    assert [heights(bars).sum() for bars in display.bars_] == [60, 3]


@pytest.mark.parametrize(
    ("scores", "options", "tail"),
    [
        ([-8, 0, 0, 2, 2], {}, []),  # median 0, highest 2: down to -8
        ([-9.5, 0, 0, 2, 2], {}, ["1 below 0"]),
        ([-9.5, 0, 0, 2, 2], {"offset": -1.5}, []),
        ([-9.5, 0, 0, 2, 2], {"y": [-1, 1, 1, -1, -1]}, ["1 below 0"]),
        ([-9.5, 0, 0, 2, 2], {"y": [1, 1, -1, -1, -1]}, []),  # a median of -4.75
        ([-50, 3, 3, 3], {}, []),  # nothing to scale by
    ],
)
def test_the_axis_of_densities_ends_where_the_docstring_says(scores, options, tail):
    display = DensityDisplay.from_predictions(scores, **options)
    assert [text.get_text() for text in display.ax_.texts] == tail


def test_what_is_far_below_the_threshold_is_drawn_below_it():
    scores = [-24.0, -22, -21, -15, -12, -2.8, -1.7]
    display = DensityDisplay.from_predictions(scores, offset=-7.6, y=[-1] * 5 + [1] * 2)
    (tail,) = display.ax_.texts
    assert tail.get_text() == "5 below -7.6"
    assert tail.get_position()[0] + display.bars_[1][0].get_width() < -7.6
    legend = display.ax_.get_legend().get_window_extent()
    assert not legend.overlaps(display.ax_.get_window_extent())


# -- the map ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dimension", [1, 2])
def test_a_map_of_the_plane_keeps_its_distances(dimension):
    X = np.random.RandomState(0).rand(15, dimension) * [1, 3][:dimension]
    display = GraphMapDisplay.from_predictions(cdist(X, X), X[:, 0], offset=0.5)
    np.testing.assert_allclose(pdist(display.positions), pdist(X), atol=1e-4)
    width, height = np.ptp(display.positions, axis=0)
    assert width >= height


def test_known_graphs_are_crosses_behind_the_others():
    X = np.random.RandomState(0).rand(8, 2)
    known, scores = np.arange(8) < 5, np.array([-1.0, 1, 1, 1, 1, 1, -1, -1])
    display = GraphMapDisplay.from_predictions(cdist(X, X), scores, offset=0.0, known=known)
    drawn = {points.get_label(): points.get_offsets() for points in display.ax_.collections}
    np.testing.assert_array_equal(drawn["known"], display.positions[:5])
    np.testing.assert_array_equal(drawn["anomaly"], display.positions[6:])
    np.testing.assert_array_equal(drawn["normal"], display.positions[5:6])
    without = GraphMapDisplay.from_predictions(cdist(X, X), scores, known=known)
    np.testing.assert_array_equal(without.points_[0].get_offsets(), display.positions[5:])


def test_the_ground_is_the_density_of_the_graphs_around():
    """Two groups far apart, one of them below the threshold."""
    X = np.repeat([0.0, 10.0], [6, 4])[:, None] + np.linspace(0, 1, 10)[:, None]
    scores = np.repeat([2.0, -3.0], [6, 4])
    display = GraphMapDisplay.from_predictions(cdist(X, X), scores, offset=0.0)
    # The line would be where there are no graphs.
    assert not any(len(path.vertices) for path in display.threshold_.get_paths())
    assert GraphMapDisplay(display.positions, scores, 5.0).plot().threshold_ is None
    for group, score in ((display.positions[:6], 2), (display.positions[6:], -3)):
        levels = display.ground_.levels
        areas = [path.contains_points(group).any() for path in display.ground_.get_paths()]
        (index,) = np.flatnonzero(areas)
        assert levels[index] <= score <= levels[index + 1]
    row = np.linspace(0, 10, 10)[:, None]
    display = GraphMapDisplay.from_predictions(cdist(row, row), scores, offset=1.0)
    (line,) = (path.vertices for path in display.threshold_.get_paths())
    weights = np.exp(-0.5 * cdist(line, display.positions, "sqeuclidean") / 0.5**2)
    np.testing.assert_allclose(weights @ scores / weights.sum(axis=1), 1, atol=0.1)


def test_points_are_colored_by_y_or_verdict(detector, graphs, y):
    scores = detector.score_samples(graphs)
    flagged = scores < detector.offset_
    assert 0 < flagged.sum() < 25
    display = GraphMapDisplay.from_estimator(detector, graphs)
    for points, of_group in zip(display.points_, (~flagged, flagged), strict=True):
        np.testing.assert_array_equal(points.get_offsets(), display.positions[of_group])
    assert legend(display.ax_) == ["normal", "anomaly"]
    assert display.rings_ is None
    display = GraphMapDisplay.from_estimator(detector, graphs, y)
    assert [len(points.get_offsets()) for points in display.points_] == [20, 5]
    np.testing.assert_array_equal(display.rings_.get_offsets(), display.positions[flagged])
    assert legend(display.ax_) == ["normal", "anomaly", "below the threshold"]
    display = GraphMapDisplay.from_predictions(detector.pairwise_distances(graphs), scores)
    assert [len(points.get_offsets()) for points in display.points_] == [25]


# -- nodes -----------------------------------------------------------------------------------------


def test_contributions_are_on_their_nodes(detector):
    """A path with string ids that are not in the order of the alphabet."""
    graph = nx.Graph([("z", "a"), ("a", "m"), ("m", "b")])
    nx.set_node_attributes(graph, {"z": "N", "a": "C", "m": "O", "b": "C"}, "label")
    shares = [0.4, -0.1, 0.2, -0.4]
    display = NodeContributionsDisplay.from_predictions(graph, shares)
    np.testing.assert_array_equal(display.nodes_.get_array(), shares)
    assert display.nodes_.get_clim() == (-0.4, 0.4)
    positions = np.asarray(display.nodes_.get_offsets())
    labels = {text.get_text(): text.xy for text in display.ax_.texts}
    np.testing.assert_array_equal([labels["N"], labels["O"]], positions[[0, 2]])
    bonds = {frozenset(map(tuple, bond)) for bond in display.edges_.get_segments()}
    assert bonds == {frozenset(map(tuple, positions[[i, i + 1]])) for i in range(3)}
    bare = NodeContributionsDisplay.from_predictions(graph)
    assert same_color(bare.nodes_.get_facecolor(), "white")
    assert len(bare.figure_.axes) == 1  # no color bar
    np.testing.assert_array_equal(bare.nodes_.get_offsets(), positions)
    of_detector = NodeContributionsDisplay.from_estimator(detector, graph, k=2)
    expected = node_contributions(detector, [graph], k=2)[0]
    np.testing.assert_array_equal(of_detector.nodes_.get_array(), expected)


def test_graphs_side_by_side_share_colors():
    figure, axes = plt.subplots(1, 2)
    pictures = [
        NodeContributionsDisplay.from_predictions(
            {"edges": [(0, 1), (1, 2)]}, shares, vmax=3, colorbar=False, ax=ax
        )
        for ax, shares in zip(axes, ([0, 1, 2], [0, -1, -3]), strict=True)
    ]
    assert {picture.nodes_.get_clim() for picture in pictures} == {(-3, 3)}
    first, second = (picture.nodes_.to_rgba(picture.contributions) for picture in pictures)
    np.testing.assert_array_equal(first[0], second[0])
    assert len(figure.axes) == 2
    NodeContributionsDisplay.from_predictions(nx.path_graph(2), [0, 1], ax=axes[0])
    assert len(figure.axes) == 3


def test_chains_run_to_and_fro():
    """So that their arrows have a length, and names below the nodes have room."""
    graph = nx.path_graph(11, create_using=nx.DiGraph)
    places = drawn(graph).nodes_.get_offsets()
    steps = places[1:] - places[:-1]
    np.testing.assert_allclose(np.linalg.norm(steps, axis=1), np.linalg.norm(steps[0]))
    assert np.sum(np.abs(steps[:, 1]) > 0.1) == 3  # four lines of three nodes
    assert pdist(places).min() == pytest.approx(np.linalg.norm(steps[0]))


def test_nodes_do_not_overlap_and_rings_do_not_cross():
    """A caterpillar, and a molecule with rings at the ends of a chain."""
    caterpillar = nx.disjoint_union_all([nx.star_graph(4)] * 8)
    nx.add_path(caterpillar, range(0, 40, 5))
    molecule = load_mutag().graphs[62]
    for graph in (caterpillar, molecule):
        display = drawn(graph, ax=plt.figure(figsize=(4, 4)).add_axes((0, 0, 1, 1)))
        points = display.ax_.transData.transform(display.nodes_.get_offsets())
        diameter = np.sqrt(display.nodes_.get_sizes()[0]) * display.figure_.dpi / 72
        assert pdist(points).min() > diameter
        bonds = [Path(segment) for segment in display.edges_.get_segments()]
        ends = [set(map(tuple, bond.vertices.round(6))) for bond in bonds]
        for i, j in combinations(range(len(bonds)), 2):
            assert ends[i] & ends[j] or not bonds[i].intersects_path(bonds[j])


def test_pieces_of_a_graph_are_drawn_side_by_side():
    pieces = [*3 * [nx.cycle_graph(9)], nx.complete_graph(5), *2 * [nx.empty_graph(1)]]
    graph = nx.disjoint_union_all(pieces)
    places = NodeContributionsDisplay.from_predictions(graph).nodes_.get_offsets()
    own = [places[sorted(piece)] for piece in nx.connected_components(graph)]
    boxes = [(x.min(axis=0), x.max(axis=0)) for x in own]
    for (low, high), (other_low, other_high) in combinations(boxes, 2):
        assert (high < other_low).any() or (other_high < low).any()


# -- edges -----------------------------------------------------------------------------------------


def drawn(graph, values=None, schema=None, **options):
    """The picture of one graph, after matplotlib has drawn it."""
    batch = read_graphs([graph], schema=schema)
    display = NodeContributionsDisplay.from_predictions(batch, values, **options)
    display.figure_.canvas.draw()
    return display


def with_data(graph, names=(), **data):
    """The graph with a value of each attribute for each node, or edge, in order."""
    for name, values in data.items():
        of_edges = name in names
        parts = graph.edges if of_edges else graph
        put = nx.set_edge_attributes if of_edges else nx.set_node_attributes
        put(graph, dict(zip(parts, values, strict=True)), name)
    return graph


def off_center(display):
    """How far each line of a path is from the one between the centers of its nodes."""
    points = np.asarray(display.nodes_.get_offsets())
    lines = [segment.mean(axis=0) for segment in display.edges_.get_segments()]
    return cdist(lines, (points[1:] + points[:-1]) / 2).min(axis=1)


def test_bonds_are_as_many_lines():
    graph = with_data(nx.path_graph(5), ["label"], label=["single", "Double", "triple", "AROMATIC"])
    display = drawn(graph)
    segments = display.edges_.get_segments()
    assert len(segments) == 1 + 2 + 3 + 2
    assert len(set(map(str, display.edges_.get_linestyle()))) == 2  # one of the last two is dashed
    assert display.ax_.get_legend() is None
    assert np.sum(off_center(display) < 1e-9) == 2  # the single one, and the middle of the triple
    wedge = with_data(nx.path_graph(3), ["label"], label=["single", "wedge"])
    assert legend(drawn(wedge).ax_) == ["single", "wedge"]  # not only bonds: colors


def test_categories_of_edges_look_different_and_are_named():
    schema = GraphSchema(edge_categories="action")

    def picture(actions, **options):
        graph = with_data(nx.path_graph(len(actions) + 1), ["action"], action=list(actions))
        return drawn(graph, schema=schema, **options)

    display = picture("abcdefgh")
    looks = zip(display.edges_.get_color(), map(str, display.edges_.get_linestyle()), strict=True)
    assert len({(tuple(color), line) for color, line in looks}) == 8
    assert legend(display.ax_) == [*"abcdefgh"]
    assert picture("abcd", legend=False).ax_.get_legend() is None
    assert legend(picture("abbccddeeffgghhii").ax_) == [*"bcdefghi", "a"]  # rare: pale
    assert legend(picture("abccddeeffgghhiijj").ax_) == [*"cdefghij", "2 others"]


def test_arrows_point_at_the_end():
    display = drawn(nx.DiGraph([("a", "b"), ("c", "b")]))
    points = np.asarray(display.nodes_.get_offsets())
    for arrow, i in zip(display.edges_, (0, 2), strict=True):
        tail, _, tip = arrow.get_path().vertices[:3]
        np.testing.assert_allclose(tip - tail, (points[1] - points[i]) * 0.9, rtol=0.1)
        assert arrow.get_arrowstyle().arrow == "-|>"
    assert drawn(nx.path_graph(3)).edges_.get_segments()


def test_opposite_and_parallel_edges_are_apart():
    display = drawn(nx.DiGraph([(0, 1), (1, 0)]))
    first, second = (np.round(arrow.get_path().vertices[:3], 3) for arrow in display.edges_)
    assert not set(map(tuple, first)) & set(map(tuple, second))
    graph = nx.MultiDiGraph()
    for action in ("read", "write", "read"):
        graph.add_edge(0, 1, action=action, bytes=float(len(graph.edges)))
    display = drawn(graph, schema=GraphSchema(edge_categories="action", edge_numbers="bytes"))
    assert len(display.edges_) == 2  # one for each category
    assert legend(display.ax_) == ["read", "write"]


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_every_kind_of_graph_is_drawn(kind):
    graph = kind([(0, 1), (1, 2), (0, 1), (2, 2)])
    graph.add_node(3)
    assert len(drawn(graph, [0.0, 1, 2, 3]).nodes_.get_offsets()) == 4
    assert drawn(kind([(0, 0)])).edges_ == []


def test_marked_edges_have_a_broad_line_behind_them():
    graph = nx.path_graph(4)
    display = drawn(graph, marked=[(2, 1), (2, 3)])
    points = np.asarray(display.nodes_.get_offsets())
    (broad,) = (x for x in display.ax_.collections if x.get_zorder() < display.edges_.get_zorder())
    np.testing.assert_array_equal(broad.get_segments(), points[[[2, 1], [2, 3]]])
    assert broad.get_linewidth()[0] > 3 * display.edges_.get_linewidth()[0]
    novel = NovelNodesDisplay.from_predictions(graph, [0] * 4, radius=1, marked=[(0, 1)])
    assert len(novel.ax_.collections) == len(display.ax_.collections)
    values = np.arange(100) == 0
    far = drawn(nx.path_graph(100), values, marked=[(98, 99), (0, 1)])  # with nodes around both
    assert len(far.ax_.collections[0].get_segments()) == 2
    assert far.shown_.tolist() == [*range(30), *range(70, 100)]


def test_outlined_nodes_have_a_ring_and_are_drawn():
    names = [f"n{i}" for i in range(100)]
    display = drawn(nx.path_graph(100), np.arange(100), outlined=[7], names=names)
    assert display.shown_.tolist() == list(range(60))
    widths = np.array(display.nodes_.get_linewidth())
    assert np.flatnonzero(widths == widths.max()).tolist() == [7]
    assert part_of(display) == "60 of 100 nodes, around node n7"


def test_numbers_are_beside_nodes_and_not_on_their_edges():
    graph = with_data(nx.star_graph(3), label=["a long name", "b", "c", "d"])
    numbered = [2, 0, 3]
    display = drawn(graph, numbered=numbered)
    points = np.asarray(display.nodes_.get_offsets())
    numbers = [text for text in display.ax_.texts if text.get_text() in "123"]
    assert [text.get_text() for text in numbers] == ["1", "2", "3"]
    for text, node in zip(numbers, numbered, strict=True):
        np.testing.assert_array_equal(text.xy, points[node])
        aside = np.array(text.get_position())
        assert np.linalg.norm(aside) > np.sqrt(display.nodes_.get_sizes()[0]) / 2
        for other in graph[node]:
            along = points[other] - points[node]
            cosine = aside @ along / np.linalg.norm(aside) / np.linalg.norm(along)
            assert cosine < np.cos(np.radians(40))


def test_styles_of_edges_agree_between_pictures():
    schema = GraphSchema(edge_categories="action")
    graphs = [nx.Graph([(0, 1, {"action": x})]) for x in ("read", "write", "new", "read")]
    read = [read_graphs([graph], schema=schema) for graph in graphs]
    categories = common_categories(read_graphs(graphs[:2], schema=schema), read)
    assert categories == ["read", "write", "new"]
    colors = []
    for batch in read:
        display = drawn(batch, edge_categories=categories)
        colors.append(tuple(display.edges_.get_color()[0]))
    assert colors[0] == colors[3]
    assert len(set(colors)) == 3
    many = [nx.Graph([(0, 1, {"action": f"a{i}"})]) for i in range(20)]
    categories = common_categories(read_graphs(many, schema=schema), read)
    assert categories[6:9] == ["read", "write", "new"]  # two of which have a style of their own
    assert len(categories) == 23


def test_weights_are_widths():
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 1.0), (1, 2, 2.0), (2, 3, 4.0)])
    widths = drawn(graph, schema=GraphSchema(edge_weight="weight")).edges_.get_linewidth()
    assert widths[0] < widths[1] < widths[2]
    assert widths[2] - widths[1] == pytest.approx(2 * (widths[1] - widths[0]))
    assert len(set(drawn(graph).edges_.get_linewidth())) == 1  # not read


# -- labels ----------------------------------------------------------------------------------------


def written(display):
    return [text.get_text() for text in display.ax_.texts]


def part_of(display):
    """What the legend says, in words."""
    return display.ax_.get_legend().get_title().get_text().replace("\xa0", " ")


def test_labels_have_the_name_that_the_schema_gives():
    graph = with_data(nx.path_graph(3), kind=["pay", "ask", "pay"], owner=["a", None, "b"])
    assert written(drawn(graph)) == []
    assert written(drawn(graph, schema=GraphSchema(node_categories="kind"))) == [
        "pay",
        "ask",
        "pay",
    ]
    schema = GraphSchema(node_categories=("kind", "owner"), missing="indicate")
    assert written(drawn(graph, schema=schema)) == ["pay", "ask", "pay"]  # the first category
    nx.set_node_attributes(graph, dict(graph.nodes(data="owner")), "label")
    both = GraphSchema(node_categories=("kind", "label"), missing="indicate")
    assert written(drawn(graph, schema=both)) == ["a", "?", "b"]  # "label" is first


def test_long_labels_are_whole_below_few_nodes():
    kinds = ["ER Registration", r"cost in $\no$", "an activity with a name that has no end"]
    display = drawn(with_data(nx.path_graph(3), label=kinds))
    assert written(display)[:2] == ["ER\nRegistration", r"cost in $\no$"]
    assert written(display)[2].startswith("an activity\nwith")
    assert all(text.get_position()[1] < 0 for text in display.ax_.texts)
    assert written(drawn(with_data(nx.cycle_graph(45), label=kinds * 15))) == []
    around = drawn(with_data(nx.cycle_graph(45), label=kinds * 15), np.arange(45))
    assert set(written(around)) == set(written(display))
    assert part_of(around) == "40 of 45 nodes, around node 44 (an activity with\na n...)"


def test_bonds_are_laid_out_as_chemists_draw_them():
    """Bonds have one length, and make angles of 120 degrees."""
    pytest.importorskip("rdkit")
    ring = nx.cycle_graph(6)
    ring.add_edge(0, 6)
    nx.set_edge_attributes(ring, "aromatic", "label")
    ring.edges[0, 6]["label"] = "single"
    positions = drawn(ring).nodes_.get_offsets()
    lengths = [np.linalg.norm(positions[u] - positions[v]) for u, v in ring.edges]
    np.testing.assert_allclose(lengths, lengths[0], rtol=1e-3)
    np.testing.assert_allclose(
        np.linalg.norm(positions[1] - positions[5]), np.sqrt(3) * lengths[0], rtol=1e-3
    )


@pytest.mark.parametrize(
    "colored",
    [
        lambda graph: drawn(graph, np.linspace(-1, 1, 5)),
        lambda graph: NovelNodesDisplay.from_predictions(graph, [0, 1, 2, 3, 4], radius=3),
    ],
)
def test_labels_contrast_with_the_color_of_their_node(colored):
    display = colored(with_data(nx.path_graph(5), label="abcde"))
    assert {text.get_color() for text in display.ax_.texts} == {"black"}
    rgb = display.nodes_.get_facecolor()[:, :3]
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    contrast = (linear @ [0.2126, 0.7152, 0.0722] + 0.05) / 0.05
    assert contrast.min() >= 4.5  # WCAG 2, level AA
    assert len({tuple(color) for color in rgb}) == 5


def test_nodes_at_the_edge_of_the_axes_are_whole():
    display = drawn(nx.DiGraph([(0, 1)]), ax=plt.figure(figsize=(4, 1)).add_subplot())
    assert [part.get_clip_on() for part in (display.nodes_, *display.edges_)] == [False] * 2


def test_labels_are_inside_of_their_nodes():
    graph = with_data(nx.cycle_graph(12), label=[f"r{i}" for i in range(12)])
    for side in (2, 4):
        display = drawn(graph, ax=plt.figure(figsize=(side, side)).add_subplot())
        diameter = np.sqrt(display.nodes_.get_sizes()[0]) * display.figure_.dpi / 72
        for text in display.ax_.texts:
            assert text.get_window_extent().width < diameter
    left, _ = plt.figure(figsize=(4, 2)).subfigures(1, 2)
    assert drawn(graph, ax=left.add_subplot()).nodes_.get_sizes()[0] < display.nodes_.get_sizes()[0]
    crowded = plt.figure(figsize=(1, 1)).add_subplot()
    assert written(drawn(graph, ax=crowded)) == []  # they could not be read


# -- large graphs ----------------------------------------------------------------------------------


def test_a_large_graph_is_drawn_around_the_node_that_matters_most():
    graph = nx.gn_graph(200, seed=1)  # arcs lead to older nodes, so most are behind
    values = np.random.RandomState(0).standard_normal(200)
    values[150] = 9
    display = drawn(graph, values)
    steps = nx.single_source_shortest_path_length(graph.to_undirected(), 150)
    ranked = sorted(graph, key=lambda node: (steps[node], -values[node]))
    assert display.shown_.tolist() == sorted(ranked[:60])
    np.testing.assert_array_equal(display.nodes_.get_array(), values[display.shown_])
    assert part_of(display) == "60 of 200 nodes, around node 150"
    assert display.shown_[np.argmax(display.nodes_.get_linewidth())] == 150
    within = graph.subgraph(display.shown_.tolist())
    assert len(display.edges_) == within.number_of_edges()
    assert drawn(graph).shown_.tolist() == list(range(200))


def test_of_a_large_graph_that_falls_apart_one_part_is_drawn():
    graph = nx.disjoint_union(nx.path_graph(5), nx.path_graph(100))
    display = drawn(graph, np.arange(105) == 2)
    assert display.shown_.tolist() == [0, 1, 2, 3, 4]
    assert part_of(display) == "5 of 105 nodes, around node 2"


def test_novel_nodes_are_drawn_around_the_newest():
    new_from = np.full(100, 3)
    new_from[40] = 1
    display = NovelNodesDisplay.from_predictions(nx.path_graph(100), new_from, radius=3)
    assert display.shown_.tolist() == list(range(10, 70))
    assert part_of(display) == "60 of 100 nodes, around node 40"


def test_pictures_of_a_detector_read_as_it_does():
    schema = GraphSchema(node_categories="kind", edge_categories="via", directed=False)

    def chain(n):
        kinds = ["tank", *["pump"] * (n - 1)]
        graph = with_data(nx.path_graph(n, create_using=nx.DiGraph), kind=kinds)
        return with_data(graph, ["via"], via=["pipe"] * (n - 1))

    detector = GraphKDEDetector(schema=schema).fit([chain(n) for n in range(4, 20)])
    for picture in (NodeContributionsDisplay, NovelNodesDisplay):
        display = picture.from_estimator(detector, chain(7))
        assert written(display) == ["tank", *["pump"] * 6]
        assert legend(display.ax_) == ["pipe"]
        assert len(display.edges_.get_segments()) == 6  # lines, not arrows


# -- p-values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.02, 0.5])
def test_selection_is_that_of_the_detector(detector, graphs, alpha):
    display = PValueDisplay.from_estimator(detector, graphs, alpha)
    np.testing.assert_array_equal(display.selected_, detector.select(graphs, alpha))
    np.testing.assert_array_equal(display.p_values, detector.p_values(graphs))
    assert [len(points.get_offsets()) for points in display.points_] == [
        np.sum(~display.selected_), np.sum(display.selected_)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_selected_are_all_up_to_the_last_below_the_line(seed):
    p_values = np.random.RandomState(seed).uniform(size=40) ** 4
    display = PValueDisplay.from_predictions(p_values, alpha=0.2)
    rank, p = np.concatenate([points.get_offsets() for points in display.points_]).T
    order = np.argsort(rank)
    np.testing.assert_array_equal(rank[order], range(1, 41))
    np.testing.assert_array_equal(p[order], np.sort(p_values))
    line = np.interp(rank[order], *display.line_.get_data())
    np.testing.assert_allclose(line, 0.2 * rank[order] / 40)
    last = np.flatnonzero(p[order] <= line).max()
    np.testing.assert_array_equal(display.points_[1].get_offsets()[:, 0], range(1, last + 2))
    np.testing.assert_allclose(display.diagonal_.get_ydata(), [1 / 40, 1])


# -- all of them -----------------------------------------------------------------------------------

TRIANGLE = 1 - np.eye(3)
PICTURES = {
    "density": lambda ax: DensityDisplay.from_predictions([1, 2, 3], ax=ax),
    "map": lambda ax: GraphMapDisplay.from_predictions(TRIANGLE, [1, 2, 3], ax=ax),
    "nodes": lambda ax: NodeContributionsDisplay.from_predictions(nx.path_graph(2), [0, 1], ax=ax),
    "p-values": lambda ax: PValueDisplay.from_predictions([0.1, 0.2], ax=ax),
}


@pytest.mark.parametrize("draw", PICTURES.values(), ids=PICTURES)
def test_axes_of_the_caller_are_drawn_on(draw):
    figure, ax = plt.subplots()
    display = draw(ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1
    assert draw(None).figure_ is not figure
    first = display.ax_
    assert display.plot() is display
    assert display.ax_ is not first
    display.figure_.canvas.draw()


batch = read_graphs(random_graphs(2))
ERRORS = {
    "score": (lambda: DensityDisplay.from_predictions([1, np.nan]), "scores contains NaN"),
    "flat": (lambda: DensityDisplay.from_predictions([[1, 2]]), r"scores must be a flat.*\(1, 2\)"),
    "length of y": (lambda: DensityDisplay.from_predictions([1, 2], y=[1]), "inconsistent"),
    "y": (lambda: DensityDisplay.from_predictions([1, 2], y=[0, 1]), "y must be 1 for normal"),
    "bins": (lambda: DensityDisplay.from_predictions([1, 2], bins=0), "`bins` must be positive"),
    "not square": (lambda: GraphMapDisplay.from_predictions([[0, 1, 2]], [1]), "symmetric matrix"),
    "not symmetric": (
        lambda: GraphMapDisplay.from_predictions([[0, 1], [2, 0]], [1, 1]), "symmetric matrix"
    ),
    "negative": (lambda: GraphMapDisplay.from_predictions(-TRIANGLE, [1, 1, 1]), "negative"),
    "two graphs": (
        lambda: GraphMapDisplay.from_predictions([[0, 1], [1, 0]], [1, 1]), "at least 3 graphs"
    ),
    "all alike": (
        lambda: GraphMapDisplay.from_predictions(np.zeros((3, 3)), [1, 1, 1]), "not all alike"
    ),
    "scores of a map": (
        lambda: GraphMapDisplay.from_predictions(TRIANGLE, [1, 1]), "inconsistent"
    ),
    "nodes": (
        lambda: NodeContributionsDisplay.from_predictions(nx.path_graph(2), [1, 2, 3]),
        "got 3 contributions for a graph of 2 nodes",
    ),
    "graphs": (
        lambda: NodeContributionsDisplay.from_predictions(batch, [1]),
        "a picture shows one graph, got a GraphBatch of 2",
    ),
    "marked": (
        lambda: NodeContributionsDisplay.from_predictions(nx.path_graph(3), marked=[(0, 2)]),
        r"marked names the edge \(0, 2\), which the graph does not have",
    ),
    "names": (
        lambda: NodeContributionsDisplay.from_predictions(nx.path_graph(3), names=["a"]),
        "names must have one name for each of 3 nodes",
    ),
    "outlined": (
        lambda: NodeContributionsDisplay.from_predictions(nx.path_graph(3), outlined=[3]),
        "outlined names the node 3",
    ),
    "numbered": (
        lambda: NodeContributionsDisplay.from_predictions(nx.path_graph(3), numbered=[-1]),
        "numbered names the node -1",
    ),
    "marked node": (
        lambda: NovelNodesDisplay.from_predictions(nx.path_graph(2), [0, 0], 1, marked=[(1, 2)]),
        r"marked names the edge \(1, 2\)",
    ),
    "p of 0": (lambda: PValueDisplay.from_predictions([0, 0.5]), r"p_values must be in \(0, 1\]"),
    "p above 1": (lambda: PValueDisplay.from_predictions([1.1]), r"p_values must be in \(0, 1\]"),
    "alpha": (
        lambda: PValueDisplay.from_predictions([0.5], 0), r"alpha must be in \(0, 1\], got 0"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("draw", "message"), ERRORS.values(), ids=ERRORS)
def test_bad_input_is_named_and_opens_no_figure(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
    assert plt.get_fignums() == []


@pytest.mark.parametrize("display", [DensityDisplay, GraphMapDisplay, PValueDisplay])
def test_detectors_that_cannot_be_drawn(display, graphs):
    with pytest.raises(NotFittedError):
        display.from_estimator(GraphKDEDetector(), graphs)
    with pytest.raises(NotFittedError):
        NodeContributionsDisplay.from_estimator(GraphKDEDetector(), graphs[0])
    assert plt.get_fignums() == []
