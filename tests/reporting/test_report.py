"""The page, read as text: what it says is what the detector says, and names stay names."""

import base64

import networkx as nx
import numpy as np
import pytest

import skgraphkde
from skgraphkde import BaseGraphDetector, GraphKDEDetector
from skgraphkde.inspection import explain, nearest_references, node_contributions, view_surprises
from skgraphkde.reporting import page, rendering
from tests.conftest import random_graphs
from tests.reporting.conftest import NAMES, Parsed, skip_without_packages

skip_without_packages()
pytestmark = pytest.mark.filterwarnings("ignore:node labels that fit did not see")


class EdgeCount(BaseGraphDetector):
    """A detector of a user's own, without reasons."""

    def _fit_batch(self, graphs, rng):
        self.median_ = float(np.median(graphs.n_edges_per_graph))
        return self._score_batch(graphs)

    def _score_batch(self, graphs):
        return -abs(graphs.n_edges_per_graph - self.median_)


@pytest.fixture(autouse=True)
def few_pictures(monkeypatch):
    """Where they do not matter: they take most of the time."""
    monkeypatch.setattr(page, "PICTURED", 1)


def labeled(*graphs):
    for graph in graphs:
        nx.set_node_attributes(graph, "C", "label")
    return graphs


def pictures(parsed):
    """The SVGs inside of the page, by their alternative texts."""
    found = {}
    for tag, x in parsed.elements:
        if tag == "img" and "src" in x:
            kind, data = x["src"].split(",")
            assert kind == "data:image/svg+xml;base64"
            found.setdefault(x["alt"], []).append(base64.b64decode(data).decode())
    return found


def test_rows_are_the_verdicts_of_the_detector_the_oddest_first(detector, new, html):
    parsed = Parsed(html)
    order = np.argsort(detector.score_samples(new), kind="stable")
    verdicts = detector.predict(new)[order]
    main = explain(detector, new).query("rank == 1").set_index("graph")
    for row, i, verdict in zip(parsed.rows, order, verdicts, strict=True):
        assert row[1].split()[-1] == {1: "normal", -1: "anomaly"}[verdict]
        assert float(row[2]) == pytest.approx(detector.p_values(new[i : i + 1])[0], rel=1e-2)
        assert [int(row[4]), int(row[5])] == [len(new[i]), new[i].number_of_edges()]
        is_strong = main.loc[i, "strength"] >= 1
        assert row[6] == (main.loc[i, "reason"] if is_strong else "nothing unusual")
    sorted_by = [float(x["data-order"]) for _, x in parsed.elements if "data-order" in x]
    np.testing.assert_array_equal(sorted_by, detector.p_values(new)[order])
    n = (verdicts == -1).sum()
    assert parsed.texts["h1"] == [f"{n} of 7 graphs are anomalies"]
    assert 2 <= n < 7


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_what_is_selected_depends_on_the_false_discovery_rate(detector, new, alpha):
    selected = detector.select(new, alpha)
    parsed = Parsed(skgraphkde.report(detector, new, NAMES, alpha=alpha))
    order = np.argsort(detector.score_samples(new), kind="stable")
    assert [row[3] == "yes" for row in parsed.rows] == selected[order].tolist()
    n = selected.sum()
    assert parsed.texts["strong"][0].split()[0] == str(n)
    assert parsed.texts["strong"][0].endswith(f"false-discovery rate of {alpha:.0%}")
    # The smallest selection that Benjamini and Hochberg can make of 7 graphs.
    least = next(k for k in range(1, 100) if alpha * k / 7 >= 1 / 31)
    assert f"at least {least} graphs" in "".join(parsed.texts["p"])


def test_names_are_text_everywhere(html):
    parsed = Parsed(html)
    scripts = [x for tag, x in parsed.elements if tag == "script"]
    assert scripts == [{"type": "text/plain", "id": "library"}, {"type": "module"}]
    shown = [name.replace("\n", "\\n").replace("\u202e", "\\u202e") for name in NAMES]
    assert sorted(parsed.texts["button"]) == sorted(shown)
    assert sorted(parsed.texts["h3"]) == sorted(shown)
    assert all("alert" not in text for text in parsed.texts["script"])
    assert all("alert" not in str(x) for _, x in parsed.elements)
    assert not {"b", "i"} & {tag for tag, _ in parsed.elements}  # categories and ids of nodes
    assert "<i>node</i>" in parsed.texts["td"]


def test_the_page_fetches_nothing(html):
    parsed = Parsed(html)
    assert len(parsed.addresses()) > 10
    assert all(address.startswith("data:") for address in parsed.addresses())
    policy = next(x["content"] for _, x in parsed.elements if "http-equiv" in x)
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy
    for svgs in pictures(parsed).values():
        assert all("href" not in svg.replace('xlink:href="#', "") for svg in svgs)


def test_the_licenses_come_along(html):
    parsed = Parsed(html)
    (text,) = parsed.texts["pre"]
    assert text.startswith("MIT License")
    assert "permission notice shall be included" in text
    library = base64.b64decode(next(x for x in parsed.texts["script"] if len(x) > 100_000))
    assert "SpryMedia" in library.decode()


def test_the_details_name_nodes_and_nearest_graphs(detector, new):
    names = [f"known <{i}>" for i in range(30)]
    parsed = Parsed(skgraphkde.report(detector, new[5:6], ["star"], known_names=names))
    view = view_surprises(detector, new[5:6])[0, :2].argmax()
    (nearest,) = nearest_references(detector, new[5:6], 3, view=view)[1]
    listed = [text for text in parsed.texts["li"] if text.startswith("known <")]
    assert [text.split(" (")[0] for text in listed] == [names[i] for i in nearest]
    (shares,) = node_contributions(detector, new[5:6], view=view)
    cells = parsed.texts["td"]
    assert f"{shares.max():.3g}" in cells
    places = [i for i, x in enumerate(cells) if x == "1" and cells[i + 2] == f"{shares.max():.3g}"]
    assert cells[places[0] + 1] == str(shares.argmax())


def test_there_are_pictures_of_the_oddest(detector, new, html, monkeypatch):
    assert len(pictures(Parsed(html))["The graph"]) == 7
    monkeypatch.setattr(page, "PICTURED", 2)
    few = Parsed(skgraphkde.report(detector, new, NAMES))
    assert len(pictures(few)["The graph"]) == 2
    assert few.texts["h4"].count("Nodes") == 2
    kinds = [x["alt"] if tag == "img" else tag for tag, x in few.elements]
    articles = [kinds[i + 1 :] for i, kind in enumerate(kinds) if kind == "article"]
    with_picture = ["The graph" in x[: [*x, "article"].index("article")] for x in articles]
    assert with_picture == [True] * 2 + [False] * 5  # the rows are sorted
    assert len(few.rows) == len(few.texts["h3"]) == 7
    monkeypatch.setattr(rendering, "ROOM", 1)
    assert len(pictures(Parsed(skgraphkde.report(detector, new)))["The graph"]) == 1


def test_long_tables_are_cut_and_say_so(detector, new, monkeypatch):
    monkeypatch.setattr(rendering, "ROWS", 3)
    parsed = Parsed(skgraphkde.report(detector, new, NAMES))
    assert len(parsed.rows) == 3
    assert "Only the 3 graphs of the lowest scores are listed." in parsed.texts["p"]
    assert parsed.texts["h1"][0].split()[2] == "7"


def test_the_same_graphs_make_the_same_page(detector, new, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    assert skgraphkde.report(detector, new[4:], NAMES[4:], path) is None
    monkeypatch.setattr(page, "CHUNK", 2)
    assert skgraphkde.report(detector, new[4:], NAMES[4:]) == path.read_text(encoding="utf-8")


def test_of_a_batch_nodes_have_positions(detector, new, html):
    parsed = Parsed(skgraphkde.report(detector, detector.read(new[6:])))
    assert "<i>node</i>" not in parsed.texts["td"]
    assert {"0", "1", "2"} <= set(parsed.texts["td"])


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
        ({"names": ["one"]}, "got 1 names for 7 graphs"),
        ({"alpha": 0}, "alpha must be in"),
        ({"known_names": ["one"]}, "got 1 known_names: give one for each of 30 references"),
    ],
)
def test_wrong_arguments(detector, new, options, message):
    with pytest.raises(ValueError, match=message):
        skgraphkde.report(detector, new, **options)


def test_missing_packages_are_named(detector, new, monkeypatch):
    def missing(name):
        raise rendering.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(rendering.metadata, "distribution", missing)
    with pytest.raises(ImportError, match=r'pip install "skgraphkde\[report\]"'):
        skgraphkde.report(detector, new)


def test_a_detector_without_reasons():
    detector = EdgeCount().fit(random_graphs(20, seed=1))
    graphs = labeled(nx.path_graph(3), nx.star_graph(100))
    parsed = Parsed(skgraphkde.report(detector, graphs))
    assert parsed.texts["th"] == ["Graph", "Verdict", "p-value", "Selected", "Nodes", "Edges"]
    assert parsed.rows[0][0] == "graph 1"
    assert "h4" not in parsed.texts
    assert set(pictures(parsed)) == {
        "Histogram of the scores of all graphs, with the threshold",
        "The graph",
    }


@pytest.mark.parametrize(
    "parameters",
    [
        {"calibration": "train"},
        {"distance": "sum"},  # which is not a sum over nodes
        {"distance": "sum", "novelty": None},
        {"calibration": "split", "contamination": 0.3},
        {"references": "uniform"},
    ],
)
def test_other_detectors(parameters):
    detector = GraphKDEDetector(random_state=0, **parameters).fit(random_graphs(30, seed=1))
    parsed = Parsed(skgraphkde.report(detector, labeled(nx.path_graph(3), nx.star_graph(20))))
    headings = parsed.texts["th"]
    assert ("p-value" in headings) == ("Score" not in headings) == detector.is_calibrated_
    assert ("Share" in headings) == ("distance" not in parameters)
    assert ("Node" in headings) == (detector.density_.novelty is not None)
    assert "Map of known and new graphs" in pictures(parsed)


def test_one_graph_of_one_node_and_a_large_one(detector):
    for graph in labeled(nx.empty_graph(1), nx.cycle_graph(1_000)):
        parsed = Parsed(skgraphkde.report(detector, [graph]))
        assert len(parsed.rows) == len(pictures(parsed)["The graph"]) == 1
        assert max(len(svg) for svgs in pictures(parsed).values() for svg in svgs) < 200_000


def test_the_fitted_detector_stays_as_it_was(detector, new, tmp_path):
    detector.save(tmp_path / "before")
    skgraphkde.report(detector, new[:2])
    detector.save(tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
