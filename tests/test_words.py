"""Names as people see them, and what people call nodes, edges and graphs."""

import re

import networkx as nx
import pytest

from skgraphkde import GraphBatch, GraphKDEDetector, GraphSchema, load, read_graphs
from skgraphkde._messages import listed, printable, shown
from skgraphkde._words import Words, category_text, legible, singular
from tests.conftest import with_data
from tests.core.graphs.common import check_refused

PLAIN = ("nodes", "edges", "graphs")
CASES = [nx.path_graph(n, nx.DiGraph) for n in range(3, 9)]


def several(batch):
    """The words for several nodes, edges and graphs."""
    words = batch.schema.words
    return words.nodes, words.edges, words.graphs


def of_data(**values):
    graph = with_data(nx.DiGraph([(0, 1)]), values, {"hours": 2.0})
    return read_graphs([graph], schema=GraphSchema.everything())


@pytest.mark.filterwarnings("ignore")
def test_words_follow_from_the_data_unless_they_are_given():
    for words, data in (
        (PLAIN, {}),
        (("atoms", "bonds", "molecules"), {"hydrogens": 1, "aromatic": "no"}),
        (("spans", "calls", "traces"), {"ms": 1.0, "status": "0", "kind": "1"}),
        (("steps", "transitions", "cases"), {"activity": "pay"}),
        (("steps", "transitions", "cases"), {"label": "pay"}),
        (PLAIN, {"kind": "pay"}),
    ):
        assert several(of_data(**data)) == words
    schema = GraphSchema(node_categories="activity", call={"nodes": "tasks"})
    graph = with_data(nx.DiGraph([(0, 1)]), {"activity": "pay"})
    assert several(read_graphs([graph], schema=schema)) == ("tasks", "transitions", "cases")


def test_one_thing_has_its_noun():
    nouns = "steps queries classes switches access sheep boxes branches cases purchases"
    one = "step query class switch access sheep box branch case purchase"
    assert " ".join(map(singular, nouns.split())) == one
    words = Words.of({"nodes": "steps", "graphs": "movies", "graph": "movie"})
    assert (words.graph, words.node) == ("movie", "step")
    assert (words.counted(1, "node"), words.counted(20_000, "node")) == ("1 step", "20000 steps")


@pytest.mark.parametrize(
    "call", [{"node": "steps"}, {"nodes": " "}, {"nodes": 3}, {"graph": "x"}, {"graphs": "x" * 41}]
)
def test_words_that_are_none_are_refused(call):
    check_refused(CASES, "call of GraphSchema must give names", GraphSchema(call=call))


def test_words_go_with_graphs_and_files_and_change_no_score(tmp_path):
    schema = GraphSchema(call={"graphs": "orders"})
    detector = GraphKDEDetector(schema=schema).fit(CASES)
    assert detector.schema_.words.graph == "order"
    assert several(detector.read(CASES)) == several(detector.training_graphs_)
    plain = GraphKDEDetector().fit(CASES)
    assert (detector.calibration_scores_ == plain.calibration_scores_).all()
    detector.save(tmp_path / "m.skg")
    assert load(tmp_path / "m.skg").schema_.words == detector.schema_.words
    batch = read_graphs(CASES, schema=schema)
    assert several(read_graphs(batch)) == ("nodes", "links", "orders")
    assert several(read_graphs(batch, schema=GraphSchema(call={"nodes": "steps"}))) == (
        "steps", "links", "orders"
    )  # fmt: skip
    assert several(GraphBatch.concatenate([batch, batch]))[2] == "orders"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Å 3 = 4", "Å 3 = 4"),
        ("a\nb\r\tc", r"a\nb\r\tc"),
        ("\x1b[2J\x9b\0", r"\x1b[2J\x9b\x00"),
        ("\ud800\udcff", r"\ud800\udcff"),
        ("\u202efdp.exe\u2028", r"\u202efdp.exe\u2028"),
    ],
)
def test_printable(text, expected):
    assert printable(text) == shown(text) == expected
    assert expected.isprintable()


@pytest.mark.parametrize(
    "value",
    [
        *("x, kind=B", "A -> B", "A - B", "A -x- B", "no kind", "not ring"),
        *("A (in 3 of 60 other graphs)", "a=b", " A", "A\n", " ", ""),
    ],
)
def test_a_value_that_reads_as_several_is_quoted(value):
    assert legible(value) == f"'{value}'"
    assert category_text("kind", value) == f"kind='{value}'"
    for plain in (
        "Create PO",
        "org:resource",
        "http://a.b/c?d",
        "N+",
        "a,b",
        "f(x)",
        "a->b",
        "a-b",
        "north",
        -0.5,
    ):
        assert legible(plain) == str(plain)


def test_long_names_are_cut():
    names = ["x" * 100, "x" * 10**6, ("C", 1)]
    assert [shown(name) for name in names] == ["x" * 100, "x" * 100 + "...", "('C', 1)"]
    assert len(shown("\n" * 10**6)) == 103
    assert listed(["a", 2]) == "a, 2"
    assert re.fullmatch(r"[xn\\., ]{,580}, and 995 more", listed(["x\n" * 10**5] * 1000))
