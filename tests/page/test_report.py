"""The page, read as text: what it says is what the detector says, and names stay names."""

import json
import pickle
import re
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import skgraphkde
from skgraphkde import (
    Density,
    GraphKDEDetector,
    GraphSchema,
)
from skgraphkde.explanation import (
    explain,
    nearest_references,
    results,
    view_surprises,
)
from skgraphkde.explanation.of_groups import GroupInWords
from skgraphkde.explanation.reasons import RankedReason
from skgraphkde.explanation.results import Judgement, judge
from skgraphkde.page import model, page, rendering
from skgraphkde.page import nodes as page_nodes
from skgraphkde.page.model import _score_format
from skgraphkde.page.rows import GroupRow, Row
from tests.conftest import random_graphs, refused, warned, with_data
from tests.detectors.common import EdgeCount
from tests.explanation.common import Sums
from tests.page.conftest import NAMES, Parsed, draw_little

pytestmark = pytest.mark.filterwarnings("ignore:node categories that fit did not see")


@pytest.fixture
def plots():
    """The test looks at the histogram, too."""


@pytest.fixture(autouse=True)
def few_pictures(monkeypatch, request):
    if "plots" in request.fixturenames:
        monkeypatch.setattr(page, "PICTURED", 1)
    else:
        draw_little(monkeypatch)


def labeled(*graphs):
    return [with_data(graph, {"label": "C"}) for graph in graphs]


def test_rows_are_the_verdicts_of_the_detector_the_oddest_first(detector, new, html):
    parsed = Parsed(html)
    order = np.argsort(detector.score_samples(new), kind="stable")
    verdicts = detector.predict(new)[order]
    for row, i, verdict in zip(parsed.rows, order, verdicts, strict=True):
        assert row[1].split()[-1] == {1: "normal", -1: "anomaly"}[verdict]
        assert [int(row[3]), int(row[4])] == [len(new[i]), new[i].number_of_edges()]
    sorted_by = [float(x["data-order"]) for _, x in parsed.elements if "data-order" in x][2::3]
    np.testing.assert_allclose(sorted_by, detector.score_samples(new)[order], rtol=1e-9)
    n = (verdicts == -1).sum()
    assert parsed.texts["h1"] == [f"{n} of 7 graphs stand out"]
    assert 2 <= n < 7
    said = re.findall(r">Score \S+: it (stands|would stand) out", html)
    assert said == [{1: "would stand", -1: "stands"}[x] for x in verdicts]
    assert html.index("One row of this page is one graph, such as a case;") < html.index("<tbody>")
    reasons = results(detector, new)["reason"][order].fillna("nothing stands out clearly").tolist()
    assert [x[2] for x in parsed.rows] == reasons
    weak = re.compile("no strong sign|one weak sign|no single thing", re.IGNORECASE)
    n_weak, n_told = (sum(map(bool, map(weak.match, x))) for x in (reasons, parsed.texts["p"]))
    assert n_weak == n_told > 0


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


class Text(HTMLParser):
    """What a reader of HTML sees."""

    def __init__(self, html):
        super().__init__()
        self.said = ""
        self.feed(html)
        self.close()

    def handle_data(self, data):
        self.said += data


@given(st.text("""ab"'&<>#34;=_- """))
@example("a<b>'cd'&efghijklmnopqrs -> abcdefghijklmnopq\"_=b & c->d&gt;")
def test_marks_around_words_leave_each_character(text):
    for as_html in (rendering._unbroken, rendering._breakable):
        assert Text(str(as_html(text))).said == text
    marked = rendering._breakable("a_b -> c<d")
    expected = 'a_<wbr>b <span class="arrow">-&gt;</span> c&lt;d'
    assert marked == f'<span class="way">{expected}</span>'


def test_reasons_have_names_as_they_are():
    """Entities, such as that of a quotation mark, are not cut by marks around arrows."""
    names = ['a"bcdefghijklmnopqr', "<i>&defghijklmnop'st", '&quot; & "x->y"']

    def trace(order):
        graph = nx.path_graph(len(order), create_using=nx.DiGraph)
        nx.set_node_attributes(graph, dict(enumerate(names[i] for i in order)), "step")
        return graph

    known = [trace([0, 1] * (k % 3 + 1) + [2]) for k in range(20)]
    fitted = GraphKDEDetector(schema=GraphSchema(node_categories="step")).fit(known)
    odd = [trace([2, 1, 0]), trace([1, 0, 2])]
    reasons = results(fitted, odd)["reason"].tolist()
    assert all(name in "".join(reasons) for name in names)
    assert sorted(row[2] for row in Parsed(skgraphkde.report(fitted, odd)).rows) == sorted(reasons)


def cases(n=40, n_points=30):
    """Cases of two vendors, and one that is odd."""
    rng = np.random.RandomState(0)
    graphs = [nx.gnm_random_graph(12, 18, seed=rng) for _ in range(n)] + [nx.star_graph(n_points)]
    for i, graph in enumerate(labeled(*graphs)):
        graph.graph |= {"name": f"case {i}", "vendor": f"<b>v{i % 2}</b>", "<i>total": 1000.0 + i}
    return graphs


CASES = GraphSchema(
    node_categories="label",
    graph_categories="vendor",
    graph_numbers="<i>total",
    call={"nodes": "steps", "graphs": "cases"},
)


@pytest.fixture(scope="module")
def listed():
    return GraphKDEDetector(schema=CASES, contamination="auto").fit(cases())


def test_the_data_of_graphs_are_columns_and_stand_in_the_row_that_opens(listed):
    parsed = Parsed(skgraphkde.report(listed))
    assert parsed.texts["th"][:5] == ["Case", "Verdict", "Main reason", "vendor", "<i>total"]
    [star] = (x for x in parsed.rows if x[0].startswith("case 40"))
    assert star[3:7] == ["<b>v0</b>", "1040", "31", "30"]
    assert parsed.texts["option"][-2:] == ["vendor", "<i>total"]
    assert parsed.texts["td"].count("1040") >= 2  # in the column, and in the row that opens
    assert "Data of the case" in parsed.texts["h4"]
    assert not {"b", "i"} & {tag for tag, _ in parsed.elements}


def test_the_page_says_what_the_user_calls_things(listed):
    parsed = Parsed(skgraphkde.report(listed))
    n = (listed.training_scores_ < listed.offset_).sum()
    assert parsed.texts["h1"] == [f"{n} of 41 cases stand{'s' if n == 1 else ''} out"]
    own = [
        x for tag in ("h1", "h2", "h4", "p", "th", "li", "figcaption") for x in parsed.texts[tag]
    ]
    alien = (
        r"\b(?:graphs?|nodes?|edges?|hops|standard|MMD|gamma|strength|Tanimoto|geometric|fence)\b"
    )
    assert not re.findall(alien, " ".join(own))


@pytest.mark.parametrize(
    ("contamination", "new", "sure"),
    [
        (
            "auto",
            [],
            "By chance alone, about 0 to 3 of 41 usual cases would stand out, too; here, 2 do, 1 "
            "of them far below most others.",
        ),
        (0.1, [], "You asked for the oddest 10%: as many stand out in any list"),
        (0.1, [cases()], "By chance alone, about 4 to 5 of 41 usual cases would stand out"),
        ("auto", [3 * cases(0, 90)], "about 0 to 1 of 3 usual cases would stand out; here"),
        (
            "auto",
            [cases() + 9 * cases(0, 90) + 4 * cases(0, 15)],
            "9 of them far below most others. Each is still a hint to check, and no proof. "
            "Look at these 9 first, marked “far below”.",
        ),
    ],
)
def test_it_says_how_sure_one_can_be(contamination, new, sure):
    fitted = GraphKDEDetector(schema=CASES, contamination=contamination).fit(cases())
    assert sure in " ".join(skgraphkde.report(fitted, *new).split())


def test_few_graphs_are_none_to_mark():
    page = skgraphkde.report(GraphKDEDetector().fit(random_graphs(12)))
    assert "Ask whoever made this page for one with more graphs, and do not mark any yet." in page
    assert "Mark what you know" not in page


def test_new_graphs_that_are_selected_are_counted(detector, new):
    parsed = Parsed(skgraphkde.report(detector, new, NAMES, alpha=0.5))
    n = detector.select(new, 0.5).sum()
    said = f"{n} are so odd that, on average, at most 50% of such graphs turn out usual."
    assert any(said in text for text in parsed.texts["p"])
    assert parsed.table["selected"].sum() == n > 1
    of_training = Parsed(skgraphkde.report(detector)).table["selected"]
    assert (of_training == "").all()  # ranks among themselves select nothing


def test_the_saved_table_has_all_graphs_and_the_codes_of_reasons(listed, monkeypatch):
    monkeypatch.setattr(rendering, "ROWS", 5)
    table = Parsed(skgraphkde.report(listed)).table.set_index("graph")
    assert sorted(table.index) == sorted(listed.training_graphs_.names)
    np.testing.assert_allclose(table["score"], np.sort(listed.training_scores_))
    star = table.loc["case 40"]
    assert (star["data.vendor"], star["nodes"]) == ("<b>v0</b>", 31)
    told = explain(listed).query("strength >= 1")
    most = told["name"].mode()[0]
    of_most = told.query("name == @most")
    assert len(of_most) > 1
    assert json.loads(table.loc[most, "codes"]) == of_most[["kind", "what"]].to_numpy().tolist()


STARS = [nx.star_graph(n) for n in range(30, 35)]
WORLDS = [nx.connected_watts_strogatz_graph(14, 4, 0.1, seed=seed) for seed in range(40)]


def test_a_group_says_how_many_of_it_are_flagged(monkeypatch):
    detector = GraphKDEDetector(random_state=0).fit([*WORLDS, *STARS])
    scores = detector.training_scores_[40:]
    monkeypatch.setattr(model, "OUTER", -1)  # far below the third quartile
    for n, told in ((5, ": 30 edges, "), (2, ", also: more")):
        offset = np.sort(scores)[n - 1] + 1e-9
        monkeypatch.setattr(GraphKDEDetector, "offset_", property(lambda _: offset))  # noqa: B023
        parsed = Parsed(skgraphkde.report(detector))
        [row] = (x for x in parsed.rows if "5 graphs alike" in x[0])
        assert row[1].split(maxsplit=1)[1] == f"anomaly {n} of 5 stand out {n} far below"
        assert sum(x.startswith("far below; ") for x in parsed.texts["small"]) == n
        assert any(x.startswith("What all of them have, and no other") for x in parsed.texts["p"])
        assert row[2].startswith(f"graph 40, the oddest{told}")
        monkeypatch.setattr(GroupRow, "own", "more")
    monkeypatch.setattr(GraphKDEDetector, "offset_", property(lambda _: scores.min()))
    parsed = Parsed(skgraphkde.report(detector))
    assert "5 graphs alike" in parsed.rows[-1][0]  # after the graphs, whose first is the oddest
    assert "1 small group of its own" in parsed.texts["summary"]
    assert any("The reason is about the whole graph." in x for x in parsed.texts["figcaption"])


@pytest.mark.parametrize(
    ("why", "shared", "is_shared"),
    [
        (
            "rare: Post -> Pay (in 5 of 9 others), Pay -> Bill (in 5)",
            ("Pay -> Bill", "Post -> Pay"),
            True,
        ),
        ("61 steps; usually 8 to 28", ("41 to 61 steps; usually 8 to 25",), True),
        ("never seen: new steps", ("41 to 61 steps; usually 8 to 25",), False),
        ("average ms of spans: 3", ("average ms of spans: 2 to 3; usually 5",), True),
        ("61 steps; usually 8 to 28", ("Post -> Pay",), False),
        ("never seen: X link", ("X", "Y"), False),
        ("never seen: ups and downs", ("ups and downs",), True),
    ],
)
def test_a_group_says_once_why_it_stands_out(why, shared, is_shared):
    reasons = [RankedReason("new", "label", text, 5.0) for text in (why, "never seen: Z")]
    judged = Judgement(0.0, -1.0, None, reasons)
    members = [Row(i, "a", judged, 1, 0, {}) for i in (0, 1)]
    group = GroupInWords(np.array([0, 1]), 0.1, shared, is_only=True)
    assert GroupRow(1, members, group).own == ("never seen: Z" if is_shared else why)


def test_members_without_a_reason_have_what_the_group_shares(monkeypatch):
    monkeypatch.setattr(Judgement, "why", None)
    monkeypatch.setattr(Judgement, "unusual", [])
    parsed = Parsed(skgraphkde.report(GraphKDEDetector(random_state=0).fit([*WORLDS, *STARS])))
    [row] = (x for x in parsed.rows if "5 graphs alike" in x[0])
    shared = row[2].removeprefix("all 5 have ")
    assert parsed.texts["p"].count(f"It shares with its group: {shared}.") == 5
    assert "Nothing stands out clearly." in parsed.texts["p"]


@pytest.mark.parametrize(
    ("scores", "offset", "found"),
    [
        ([2], 1, "1.00"),
        ([1.0004], 1, "1.0000"),
        ([1.00000001], 1, "1.00"),
        ([0.9999999], 1, "1.0000000"),
        ([-22.515, -17.31, 0], -13.01, "-13.0"),
        ([-40, -1], -1e9, "-1.00e+09"),
    ],
)
def test_scores_have_one_number_of_decimals_and_look_unlike_the_threshold(scores, offset, found):
    assert format(offset, _score_format(np.array(scores), offset)) == found


def test_notebooks_show_the_page(detector, new):
    page = skgraphkde.report(detector, new[:2], ["a", '"><script>'])
    [(tag, attributes)] = Parsed(page._repr_html_()).elements
    assert (tag, attributes["srcdoc"]) == ("iframe", page)


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


def test_the_details_name_nodes_and_the_nearest_usual_graph(detector, new):
    """Names are taken by position, whatever the index of a Series."""
    known = pd.Series([f"known <{i}>" for i in range(30)], index=range(29, -1, -1))
    names = pd.Series(["other", "star"], index=[1, 0])
    parsed = Parsed(skgraphkde.report(detector, new[4:6], names, known_names=known))
    assert parsed.names == ["star", "other"]
    assert len(parsed.pictures["The graph"]) == 1  # few_pictures
    view = view_surprises(detector, new[5:6]).to_numpy()[0, :2].argmax()
    scores = detector.training_scores_
    is_usual = (scores >= detector.offset_) & (scores > np.quantile(scores, 0.1))
    distances, order = (x[0] for x in nearest_references(detector, new[5:6], 30, view=view))
    distances = distances * 41 / detector.model_.references.n_nodes_per_graph[order]
    nearest = order[np.where(is_usual[order], distances, np.inf).argmin()]
    assert f"known <{nearest}> (none is of about the same size)" in parsed.texts["p"]
    assert len(parsed.pictures["The most similar one"]) == 1
    cells = parsed.texts["td"]
    assert cells[cells.index("<b>new</b>") + 1] == "1, 2"  # reasons; "0" would say nothing


def test_the_most_similar_may_be_called_by_a_number(monkeypatch):
    star = with_data(nx.star_graph(30), {"label": "C"})
    detector = GraphKDEDetector(random_state=0).fit([*random_graphs(30, seed=1), star])
    oddest = int(detector.training_scores_.argmin())
    monkeypatch.setattr(rendering.UsualGraphs, "nearest", lambda *_: (oddest, ""))
    numbers = list(map(str, range(31)))
    parsed = Parsed(skgraphkde.report(detector, names=numbers, known_names=numbers))
    heading = "The most similar graph that does not stand out, of about the same size"
    assert heading in parsed.texts["h4"]
    assert {f"graph {oddest}", "No difference in what is counted here."} <= {*parsed.texts["p"]}


def test_long_tables_are_cut_and_say_so_and_have_the_same_reasons(detector, new, html, monkeypatch):
    monkeypatch.setattr(rendering, "ROWS", 4)
    late = Parsed(skgraphkde.report(detector, new, NAMES))
    assert late.rows == Parsed(html).rows[:4]
    assert set(late.texts["li"]) <= set(Parsed(html).texts["li"])
    cut = "Only the 4 graphs of the lowest scores are listed. Save table writes all."
    assert cut in late.texts["p"]
    assert late.texts["h1"][0].split()[2] == "7"
    assert len(late.table) == 7


def test_a_long_table_explains_the_graphs_that_come_up_in_the_place_of_a_group(monkeypatch):
    monkeypatch.setattr(rendering, "ROWS", 8)
    detector = GraphKDEDetector(random_state=0).fit([*WORLDS, *STARS])
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
    refused("graph 1", skgraphkde.report, detector, [new[0], nx.empty_graph(0)], path=path)
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
    refused(message, skgraphkde.report, detector, new, **options)


def plant(seed, temp=20.0, kind="b"):
    """A graph whose third node is as one says."""
    rng = np.random.RandomState(seed)
    usual = {"temp": lambda _: rng.normal(20, 2), "kind": lambda _: "ab"[rng.randint(2)]}
    graph = with_data(nx.gnm_random_graph(15, 22, seed=rng), usual)
    graph.nodes[2].update(temp=temp, kind=kind)
    return nx.relabel_nodes(graph, "n{}".format)


@pytest.mark.parametrize(
    ("called", "cells"), [("{}", ["2", "{}", "1"]), ("n{:03}", ["1", "n002 ({})", "1"])]
)
def test_nodes_that_reasons_are_about_have_rings_with_their_ids_if_these_are_short(called, cells):
    schema = GraphSchema(node_numbers="temp", node_categories="kind")
    fitted = GraphKDEDetector(schema=schema).fit([plant(i) for i in range(40)])
    for odd in (plant(50, temp=80.0), plant(51, kind="new")):
        kind = odd.nodes["n2"]["kind"]
        odd = nx.relabel_nodes(odd, {f"n{v}": called.format(v) for v in range(15)})
        page = Parsed(skgraphkde.report(fitted, [odd]))
        found, first = page.texts["td"], cells[1].format(kind)
        place = found.index(first)
        assert cells[0] in found[place - 1].split(", ")
        assert found[place + 1].startswith(cells[2])  # the first reason
        assert any("Circled: " in text for text in page.texts["figcaption"])


def test_nodes_are_those_of_reasons_and_of_both_ends_of_their_edges():
    size = RankedReason("size", "nodes", "15 nodes", 5.0)
    rare = RankedReason("rare", "edge", "rare: a - b", 5.0, (3, 1), ((1, 7), (3, 1)))
    new = RankedReason("new", "label", "never seen: a", 5.0, (0, 1))
    assert page_nodes.nodes_of([size, rare, new]) == {1: [2, 3], 3: [2], 7: [2], 0: [3]}


def test_colors_say_what_is_surprised(detector, new):
    (found,) = judge(detector, detector.read(new[5:6]))
    n = len(detector.model_.densities)
    for surprises, is_near in (([1.0] * n + [5.0], True), ([3.0] * n + [5.0], False)):
        changed = found._replace(surprises=np.array(surprises))
        graph = detector.read(new[5:6])
        colors = page_nodes.colors_of(detector, graph, changed, lambda _: 1e-3)
        assert (colors.radius is not None) == is_near
    usual = (
        colors.values.max()
    )  # of the last one: shares, of which larger ones than this have colors
    assert page_nodes.colors_of(detector, graph, changed, lambda _: usual).values is None


def test_colors_are_full_where_shares_are_larger_than_in_known_graphs(detector):
    references, largest = detector.model_.references, []
    for i in np.linspace(0, 29, page_nodes.SAMPLE).astype(int):  # each by the others, slowly
        graph, others = references[i], np.delete(np.arange(30), i)
        D = detector.model_.distances(graph)[0]
        nearest = others[np.argsort(D[others], kind="stable")[:5]]
        largest.append(abs(detector.model_.contributions(graph, nearest).mean(axis=1)).max())
    assert page_nodes.usual_share(detector, 0) == pytest.approx(np.quantile(largest, 0.9))


def test_it_says_what_was_not_read():
    graphs = [with_data(plant(i), no=i, since=pd.Timestamp(0), smiles="C") for i in range(20)]
    fitted = warned("not read", GraphKDEDetector().fit, graphs)
    page = skgraphkde.report(fitted, [plant(50, temp=200.0)])
    (text,) = (x for x in Parsed(page).texts["p"] if x.startswith("Not read"))
    assert re.search("node attribute 'temp', .*--schema all", text)
    said = "Not all data were read. What is odd in “temp”, “kind”, “no”, “since” is not found."
    assert page.index(said) < page.index("For whoever made this page") < page.index(text[:8])
    fitted = warned("not read", fitted.set_params(schema="all").fit, graphs)
    assert "What is odd in “since” is not found." in skgraphkde.report(fitted)


def test_a_detector_without_reasons_and_scores_with_a_long_tail(plots):
    detector = EdgeCount().fit(random_graphs(20, seed=1))
    stars = [nx.star_graph(n) for n in range(40, 100, 4)]  # most graphs
    parsed = Parsed(skgraphkde.report(detector, [*random_graphs(12, seed=2), *labeled(*stars)]))
    assert parsed.texts["th"] == ["Graph", "Verdict", "Nodes", "Edges", "Score"]
    assert parsed.rows[0][0] == "graph 26"
    assert parsed.texts["h4"] == ["This graph"]
    histogram = "Histogram of the scores of all graphs, with the threshold"
    assert set(parsed.pictures) == {histogram, "The graph"}
    (caption,) = (x for x in parsed.texts["figcaption"] if x.startswith("Scores"))
    assert "The first bar, apart from the others, counts all that are further left" in caption
    assert "15 further left" in parsed.pictures[histogram][0]


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
    assert "Score" in parsed.texts["th"]
    terms = parsed.texts["dt"]
    assert ("p-value" in terms) == ("Selected" in terms) == detector.is_calibrated_
    assert parsed.table["p_value"].ne("").all() == detector.is_calibrated_


@pytest.mark.parametrize("n_nodes", [1, pytest.param(1_000, marks=pytest.mark.slow)])
def test_one_graph_of_one_node_or_many(detector, n_nodes, plots):
    parsed = Parsed(skgraphkde.report(detector, labeled(nx.path_graph(n_nodes))))
    assert len(parsed.rows) == len(parsed.pictures["The graph"]) == 1
    assert max(len(svg) for svgs in parsed.pictures.values() for svg in svgs) < 200_000


def test_the_fitted_detector_stays_as_it_was(detector, new):
    detector.predict(new[:2])  # which keeps the threshold that it computes
    before = pickle.dumps(detector)
    skgraphkde.report(detector, new[:2])
    assert pickle.dumps(detector) == before


def test_the_page_has_the_smiles_of_molecules():
    Chem = pytest.importorskip("rdkit.Chem")
    chains = [Chem.MolFromSmiles("C" * n + "O") for n in range(1, 25)]
    detector = GraphKDEDetector(schema="molecule").fit(chains)
    odd = Chem.MolFromSmiles("[Na+].[O-]CC")
    odd.SetProp("_Name", "<b>ethanolate</b>")
    html = warned("categories that fit did not see", skgraphkde.report, detector, [odd])
    assert "<h3>&lt;b&gt;ethanolate&lt;/b&gt;</h3>\n<p><code>CC[O-].[Na+]</code></p>" in html
    graphs = random_graphs(12)
    assert "<p><code>" not in skgraphkde.report(GraphKDEDetector().fit(graphs), graphs[:1])


def test_the_picture_counts_as_the_headline_does(detector, monkeypatch):
    graphs = random_graphs(30, seed=1)
    verdicts = np.zeros(30, dtype=int)
    verdicts[detector.training_scores_.argmin()] = 1
    words = ["normal" if verdict else "" for verdict in verdicts]
    fitted = GraphKDEDetector(random_state=0).fit(graphs, verdicts=words)
    counted = []
    draw_little(monkeypatch)
    monkeypatch.setattr(
        rendering.pictures, "distribution", lambda *given: counted.append(given[2]) or "<svg/>"
    )
    parsed = Parsed(skgraphkde.report(fitted))
    assert any(x.endswith(", but judged normal.") for x in parsed.texts["small"])
    assert parsed.texts["title"][0].split()[0] == str((counted[0] == -1).sum())
    assert "1 graph confirmed before" in parsed.texts["summary"]
    verdicts = -verdicts  # and now confirmed: it is not counted as found
    confirmed = Parsed(
        skgraphkde.report(GraphKDEDetector(random_state=0).fit(graphs, verdicts=verdicts))
    )
    n = (counted[1] == -1).sum() - 1
    assert confirmed.texts["h1"] == [f"{n} of 29 graphs stand out; 1 more was confirmed before"]
    assert any("to whoever made this page" in x for x in parsed.texts["span"])


@pytest.mark.parametrize("given", [False, True])
def test_words_of_experts_are_in_the_last_section(new, given, monkeypatch):
    draw_little(monkeypatch)
    fence = GraphKDEDetector(contamination="auto", random_state=0).fit(random_graphs(30, seed=1))
    html = skgraphkde.report(fence, *([new] if given else []))
    main = html[html.index("<body>") : html.index("</main>")]
    before, section = main.split("<details><summary>For experts</summary>")
    assert section.rstrip().endswith("</dl>\n</details>\n</section>")
    for word in ("box plot", "fence", "animoto", "MMD", "kernel", "p-values"):
        assert word not in before
    assert all(word in section for word in ("box plot", "MMD"))


def test_no_spreadsheet_runs_what_the_page_saves(detector, new):
    page = Parsed(skgraphkde.report(detector, new[:4], ["=cmd|x", "-5", "@a", "b"]))
    assert set(page.table["graph"].astype(str)) == {"'=cmd|x", "-5", "'@a", "b"}


def test_a_split_with_a_confirmed_anomaly_has_a_page():
    graphs = [nx.connected_watts_strogatz_graph(12, 4, 0.2, seed=i) for i in range(41)]
    verdicts = [0] * 40 + [-1]
    detector = GraphKDEDetector(calibration=skgraphkde.Split(0.3), random_state=0)
    detector.fit([*graphs[:40], nx.star_graph(11)], verdicts=verdicts)
    assert "<html" in skgraphkde.report(detector, graphs[40:])
