"""The page, read as text: what it says is what the detector says, and names stay names."""

import pickle
import re
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import skgraphkde
from skgraphkde import (
    BaseGraphDetector,
    Density,
    GraphKDEDetector,
    GraphSchema,
)
from skgraphkde.explanation import (
    nearest_references,
    node_contributions,
    results,
    view_surprises,
)
from skgraphkde.explanation.results import judge
from skgraphkde.reporting import nodes as page_nodes
from skgraphkde.reporting import page, rendering
from tests.conftest import random_graphs
from tests.reporting.conftest import NAMES, Parsed, draw_little
from tests.test_contributions import Sums

pytestmark = pytest.mark.filterwarnings("ignore:node labels that fit did not see")


class EdgeCount(BaseGraphDetector):
    """A detector of a user's own, without reasons."""

    def _fit_batch(self, graphs, rng):
        self.median_ = float(np.median(graphs.n_edges_per_graph))
        return self._score_batch(graphs)

    def _score_batch(self, graphs):
        return -abs(graphs.n_edges_per_graph - self.median_)


@pytest.fixture
def plots():
    """The test looks at the histogram and the map, too."""


@pytest.fixture(autouse=True)
def few_pictures(monkeypatch, request):
    if "plots" in request.fixturenames:
        monkeypatch.setattr(page, "PICTURED", 1)
    else:
        draw_little(monkeypatch)


def labeled(*graphs):
    for graph in graphs:
        nx.set_node_attributes(graph, "C", "label")
    return graphs


def test_rows_are_the_verdicts_of_the_detector_the_oddest_first(detector, new, html):
    parsed = Parsed(html)
    order = np.argsort(detector.score_samples(new), kind="stable")
    verdicts = detector.predict(new)[order]
    for row, i, verdict in zip(parsed.rows, order, verdicts, strict=True):
        assert row[1].split()[-1] == {1: "normal", -1: "anomaly"}[verdict]
        assert float(row[3]) == pytest.approx(detector.p_values(new[i : i + 1])[0], rel=1e-2)
        assert [int(row[5]), int(row[6])] == [len(new[i]), new[i].number_of_edges()]
    sorted_by = [float(x["data-order"]) for _, x in parsed.elements if "data-order" in x]
    of_graphs = np.column_stack([detector.score_samples(new), detector.p_values(new)])[order]
    np.testing.assert_allclose(np.reshape(sorted_by, (-1, 2)), of_graphs, rtol=1e-9)
    n = (verdicts == -1).sum()
    assert parsed.texts["h1"] == [f"{n} of 7 graphs are anomalies"]
    assert 2 <= n < 7


def test_names_are_text_everywhere(html):
    parsed = Parsed(html)
    scripts = [x for tag, x in parsed.elements if tag == "script"]
    assert scripts == [{"type": "text/plain", "id": "packed"}, {"type": "module"}]
    shown = [name.replace("\n", "\\n").replace("\u202e", "\\u202e") for name in NAMES]
    assert sorted(parsed.names) == sorted(shown)
    assert sorted(parsed.texts["h3"]) == sorted(shown)
    assert all("alert" not in text for text in parsed.texts["script"])
    assert all("alert" not in str(x) for _, x in parsed.elements)
    assert not {"b", "i"} & {tag for tag, _ in parsed.elements}  # categories and ids of nodes
    assert "<i>node</i> (<b>new</b>)" in parsed.texts["td"]


def test_notebooks_show_the_page(detector, new):
    page = skgraphkde.report(detector, new[:2], ["a", '"><script>'])
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, dict(attributes)["srcdoc"]))
    parser.feed(page._repr_html_())
    assert tags == [("iframe", page)]


def test_the_page_fetches_nothing(html):
    parsed = Parsed(html)
    names = ("src", "href", "data", "action", "srcset", "poster")
    addresses = [x[name] for _, x in parsed.elements for name in names if name in x]
    assert addresses == ["data:,"]  # the icon
    policy = next(x["content"] for _, x in parsed.elements if "http-equiv" in x)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    for svg in parsed.packed["pictures"].values():
        assert "href" not in re.sub(r'xlink:href="(#|data:image/png;base64,)', "", svg)
        assert "url(" not in svg.replace("url(#", "")
    assert all("url(" not in x.replace("url(data:", "") for x in parsed.texts["style"])
    (text,) = parsed.texts["pre"]
    assert text.startswith("MIT License")
    assert "permission notice shall be included" in text
    assert "SpryMedia" in parsed.packed["library"]


def test_the_details_name_nodes_and_nearest_graphs(detector, new):
    """Names are taken by position, whatever the index of a Series."""
    known = pd.Series([f"known <{i}>" for i in range(30)], index=range(29, -1, -1))
    names = pd.Series(["other", "star"], index=[1, 0])
    parsed = Parsed(skgraphkde.report(detector, new[4:6], names, known_names=known))
    assert parsed.names == ["star", "other"]
    assert len(parsed.pictures["The graph"]) == 1  # few_pictures
    view = view_surprises(detector, new[5:6]).to_numpy()[0, :2].argmax()
    (nearest,) = nearest_references(detector, new[5:6], 3, view=view)[1]
    listed = [text for text in parsed.texts["li"] if text.startswith("known <")]
    assert [text.split(" (")[0] for text in listed[:3]] == [f"known <{i}>" for i in nearest]
    (shares,) = node_contributions(detector, new[5:6], view=view)
    cells = parsed.texts["td"]
    place = cells.index(f"{shares.argmax()} (<b>new</b>)")
    assert cells[place + 1 : place + 3] == ["1", f"{shares.max():.3g}"]  # and the reason


def test_long_tables_are_cut_and_say_so_and_have_the_same_reasons(detector, new, html, monkeypatch):
    for module in (page, rendering):
        monkeypatch.setattr(module, "ROWS", 4)
    late = Parsed(skgraphkde.report(detector, new, NAMES))
    assert late.rows == Parsed(html).rows[:4]
    assert set(late.texts["li"]) <= set(Parsed(html).texts["li"])
    assert "Only the 4 graphs of the lowest scores are listed." in late.texts["p"]
    assert late.texts["h1"][0].split()[2] == "7"


def test_a_long_table_explains_the_graphs_that_come_up_in_the_place_of_a_group(monkeypatch):
    for module in (page, rendering):
        monkeypatch.setattr(module, "ROWS", 8)
    stars = [nx.star_graph(n) for n in range(30, 35)]
    worlds = [nx.connected_watts_strogatz_graph(14, 4, 0.1, seed=seed) for seed in range(40)]
    detector = GraphKDEDetector(random_state=0).fit([*worlds, *stars])
    html = skgraphkde.report(detector)
    assert "5 graphs alike" in html
    assert html.count("<article id") >= 8


def test_the_same_graphs_make_the_same_page(detector, new, tmp_path, monkeypatch):
    path = tmp_path / "page.HTM"
    assert skgraphkde.report(detector, new[5:], NAMES[5:], path) is None
    html = path.read_text(encoding="utf-8")
    assert skgraphkde.report(detector, new[5:], NAMES[5:]) == html


def test_a_page_that_exists_stays_if_a_graph_is_bad(detector, new, tmp_path):
    path = tmp_path / "page.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="graph 1"):
        skgraphkde.report(detector, [new[0], nx.empty_graph(0)], path=path)
    assert [x.name for x in tmp_path.iterdir()] == ["page.html"]
    assert path.read_text() == "old"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"path": "page.pdf"}, "page.pdf is a page: give it the suffix .html"),
        ({"names": ["one"]}, "names must have one name for each of 7 graphs, got 1"),
        ({"names": "abcdefg"}, "for each of 7 graphs, got one text"),
        ({"names": dict.fromkeys(range(7))}, "got a dict, which has no order"),
        ({"names": 7}, "got a int, which has no order"),
        ({"alpha": 0}, "alpha must be in"),
        (
            {"known_names": ["one"]},
            "known_names must have one name for each of 30 ref",
        ),
    ],
)
def test_wrong_arguments(detector, new, options, message):
    with pytest.raises(ValueError, match=message):
        skgraphkde.report(detector, new, **options)


def test_the_page_and_the_frame_give_the_same_reasons(detector, new, html):
    order = np.argsort(detector.score_samples(new), kind="stable")
    frame = results(detector, new).iloc[order]
    said = [x[7] for x in Parsed(html).rows]
    nothing = {1: "nothing unusual", -1: "nothing that is unusual by itself"}
    expected = frame["reason"].fillna(frame["verdict"].map(nothing).astype("string"))
    assert said == expected.tolist()
    assert "nothing unusual" in said


def plant(seed, temp=20.0, kind="b"):
    """A graph whose third node is as one says."""
    rng = np.random.RandomState(seed)
    graph = nx.gnm_random_graph(15, 22, seed=rng)
    for data in graph.nodes.values():
        data |= {"temp": float(rng.normal(20, 2)), "kind": "ab"[rng.randint(2)]}
    graph.nodes[2].update(temp=temp, kind=kind)
    return nx.relabel_nodes(graph, {i: f"n{i}" for i in graph})


def test_nodes_that_reasons_name_come_first_and_have_rings():
    schema = GraphSchema(node_numbers="temp", node_categories="kind")
    fitted = GraphKDEDetector(schema=schema).fit([plant(i) for i in range(40)])
    for odd in (plant(50, temp=80.0), plant(51, kind="new")):
        (found,) = judge(fitted, fitted.read([odd]), node_names=[list(odd)])
        assert found.nodes[0] == 2
        nodes = page_nodes.nodes_of(fitted, fitted.read([odd]), found)
        assert page_nodes.nodes_to_list(nodes, found)[0] == 2
        parsed = Parsed(skgraphkde.report(fitted, [odd]))
        cells = parsed.texts["td"]
        place = cells.index(f"n2 ({odd.nodes['n2']['kind']})")
        assert cells[place - 1] == cells[place + 1] == "1"  # the first reason
        assert any("Rings are around" in text for text in parsed.texts["figcaption"])


def test_colors_say_what_is_surprised(detector, new):
    (found,) = judge(detector, detector.read(new[5:6]))
    n = len(detector.model_.densities)
    for surprises, is_near in (([1.0] * n + [5.0], True), ([3.0] * n + [5.0], False)):
        changed = found._replace(surprises=np.array(surprises))
        nodes = page_nodes.nodes_of(detector, detector.read(new[5:6]), changed)
        assert nodes.is_near == is_near
        order = nodes.new_from if is_near else -nodes.shares
        assert order[page_nodes.nodes_to_list(nodes, changed)[-1]] >= order.min()


def test_colors_are_full_where_shares_are_larger_than_in_known_graphs(detector):
    references, largest = detector.model_.references, []
    for i in np.linspace(0, 29, page_nodes.SAMPLE).astype(int):  # each by the others, slowly
        graph, others = references[i], np.delete(np.arange(30), i)
        D = detector.model_.distances(graph)[0]
        nearest = others[np.argsort(D[others], kind="stable")[:5]]
        largest.append(abs(detector.model_.contributions(graph, nearest).mean(axis=1)).max())
    assert page_nodes.usual_share(detector, 0) == pytest.approx(np.quantile(largest, 0.9))


def test_training_graphs_have_verdicts_on_the_map(detector, new, plots):
    shown = Parsed(skgraphkde.report(detector))
    (svg,) = shown.pictures["Map of graphs"]
    assert ">normal<" in svg
    assert ">known<" not in svg
    assert (
        "All graphs: similar graphs are close together, and darker ones have higher scores."
        in shown.texts["figcaption"]
    )
    assert (
        ">known<"
        in Parsed(skgraphkde.report(detector, new)).pictures["Map of known and new graphs"][0]
    )


def test_it_says_what_was_not_read():
    with pytest.warns(UserWarning, match="not read"):
        fitted = GraphKDEDetector().fit([plant(i) for i in range(20)])
    page = skgraphkde.report(fitted, [plant(50, temp=200.0)])
    (text,) = (x for x in Parsed(page).texts["p"] if x.startswith("Not read"))
    assert "node attribute 'temp'" in text
    assert "--schema all" in text
    fitted.set_params(schema="all").fit([plant(i) for i in range(20)])
    assert "Not read" not in skgraphkde.report(fitted, [plant(50, temp=200.0)])


def test_a_detector_without_reasons_and_scores_with_a_long_tail(plots):
    detector = EdgeCount().fit(random_graphs(20, seed=1))
    stars = [nx.star_graph(n) for n in range(40, 100, 4)]  # most graphs
    parsed = Parsed(skgraphkde.report(detector, [*random_graphs(12, seed=2), *labeled(*stars)]))
    sizes = ("Score", "p-value", "Selected", "Nodes", "Edges")
    assert parsed.texts["th"] == ["Graph", "Verdict", *sizes]
    assert parsed.rows[0][0] == "graph 26"
    assert "h4" not in parsed.texts
    histogram = "Histogram of the scores of all graphs, with the threshold"
    assert set(parsed.pictures) == {histogram, "The graph"}
    (caption,) = (x for x in parsed.texts["figcaption"] if x.startswith("Scores"))
    assert "hatched bar" in caption
    assert "15 below" in parsed.pictures[histogram][0]


@pytest.mark.parametrize(
    "parameters",
    [
        {"calibration": "train"},
        {"views": (Density(Sums()),)},  # no sum over nodes
        {"views": ("novelty", Density())},
        pytest.param({"calibration": "split", "contamination": 0.3}, marks=pytest.mark.slow),
        pytest.param({"max_references": 20}, marks=pytest.mark.slow),
    ],
)
def test_other_detectors(parameters, plots):
    detector = GraphKDEDetector(random_state=0, **parameters).fit(random_graphs(30, seed=1))
    parsed = Parsed(skgraphkde.report(detector, labeled(nx.path_graph(3), nx.star_graph(20))))
    headings = parsed.texts["th"]
    assert "Score" in headings
    assert ("p-value" in headings) == ("Selected" in headings) == detector.is_calibrated_
    assert ("Share" in headings) == ("Node" in headings) == ("Sums" not in str(parameters))
    assert "Map of known and new graphs" in parsed.pictures


@pytest.mark.parametrize("n_nodes", [1, pytest.param(1_000, marks=pytest.mark.slow)])
def test_one_graph_of_one_node_or_many(detector, n_nodes, plots):
    parsed = Parsed(skgraphkde.report(detector, labeled(nx.path_graph(n_nodes))))
    assert len(parsed.rows) == len(parsed.pictures["The graph"]) == 1
    assert max(len(svg) for svgs in parsed.pictures.values() for svg in svgs) < 200_000


def test_the_fitted_detector_stays_as_it_was(detector, new):
    before = pickle.dumps(detector)
    skgraphkde.report(detector, new[:2])
    assert pickle.dumps(detector) == before


def test_the_page_has_the_smiles_of_molecules():
    Chem = pytest.importorskip("rdkit.Chem")
    chains = [Chem.MolFromSmiles("C" * n + "O") for n in range(1, 25)]
    detector = GraphKDEDetector(schema="molecule").fit(chains)
    odd = Chem.MolFromSmiles("[Na+].[O-]CC")
    odd.SetProp("_Name", "<b>ethanolate</b>")
    with pytest.warns(UserWarning, match="labels that fit did not see"):
        html = skgraphkde.report(detector, [odd])
    assert "<h3>&lt;b&gt;ethanolate&lt;/b&gt;</h3>\n<p><code>CC[O-].[Na+]</code></p>" in html
    graphs = random_graphs(12)
    assert "<p><code>" not in skgraphkde.report(GraphKDEDetector().fit(graphs), graphs[:1])
