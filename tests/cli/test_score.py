"""`score` writes what the library computes, in each format, without graphs that are skipped."""

import json
import shlex
from functools import partial

import networkx as nx
import numpy as np
import pandas as pd
import pytest

import skgraphkde
from skgraphkde.explanation import results
from tests.cli.conftest import NEW, READ, column, run, table
from tests.conftest import with_data


@pytest.fixture
def odd(here):
    """Two graphs that are anomalies, one before and one after the others."""
    data = {"element": "C", "px": 0.5, "py": -1.0}
    for name, n_leaves in (("new0", 40), ("newer", 60)):
        star = with_data(nx.star_graph(n_leaves), data, {"order": 1.0})
        nx.write_graphml(star, here / f"{name}.graphml")
    return ["new0.graphml", *(f"new/{i:02d}.graphml" for i in range(7)), "newer.graphml"]


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_all_columns(odd, here, ending):
    expected = results(
        skgraphkde.load("model.skg"),
        [nx.read_graphml(path) for path in odd],
        names=odd,
        alpha=0.3,
    )
    words = f"score model.skg {' '.join(odd)} --alpha 0.3 --reasons -o rows.{ending}"
    assert run(words).stdout == ""
    reader = {"csv": pd.read_csv, "jsonl": partial(pd.read_json, lines=True)}
    found = reader.get(ending, pd.read_parquet)(here / f"rows.{ending}")
    assert found["graph"].tolist() == odd
    for name in ("score", "decision", "p_value"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
    assert found["selected"].tolist() == expected["selected"].tolist()
    is_anomaly = expected["verdict"] == -1
    assert (found["verdict"] == "anomaly").tolist() == is_anomaly.tolist()
    assert found["reason"].isna().tolist() == (~is_anomaly).tolist()
    assert found["reason"][is_anomaly].tolist() == expected["reason"][is_anomaly].tolist()
    assert found["selected"].sum() == 2
    assert ("findings" in found) == (ending != "csv")
    if ending != "csv":
        assert [len(of_graph) > 0 for of_graph in found["findings"]] == is_anomaly.tolist()
        first = next(of_graph[0] for of_graph in found["findings"] if len(of_graph))
        assert first["reason"] == found["reason"][is_anomaly].iloc[0]
        assert {"kind", "what", "part", "value", "low", "high", "n_known", "nodes"} <= {*first}


def test_without_p_values(here):
    run("fit normal -o train.skg --calibration train " + shlex.join(READ))
    assert {row["p_value"] for row in table(run("score train.skg new").stdout)} == {""}
    assert "has no p-values, which --alpha" in run("score train.skg new --alpha 0.1", 1).stderr
    assert "has no p-values, which --together" in run("score train.skg new --together", 1).stderr


def test_graphs_are_skipped_where_the_user_says_so(here):
    (here / "b.json").write_text("{")
    wide = {"element": "C", "px": 0, "py": (1, 2)}  # three numbers, not two
    plain = with_data(nx.path_graph(3), wide, {"order": 1})
    (here / "c.json").write_text(json.dumps(nx.node_link_data(plain, edges="edges")))
    arrow = nx.DiGraph(nx.read_graphml(here / "new" / "03.graphml"))
    arrow.remove_edge(*next(iter(arrow.edges)))
    nx.write_graphml(arrow, "d.graphml")
    result = run("score model.skg b.json new c.json d.graphml --skip-errors", exit_code=3)
    assert result.stdout == run("score model.skg new").stdout
    wide = "c.json, node 0: the node attribute 'py' has 2 numbers, and others have 1: give all"
    lines = [line for line in result.stderr.splitlines() if line.startswith("Skipped: ")]
    for line, why in zip(lines, ("b.json cannot be read", wide, "d.graphml is dir"), strict=True):
        assert line.startswith(f"Skipped: {why}")
    assert run("score model.skg c.json -q", exit_code=1).stderr.startswith(f"Error: {wide}")
    nothing = run("score model.skg b.json --skip-errors", exit_code=1).stderr
    assert nothing.endswith("no graph can be read from the files: a table without rows has none\n")


def test_warnings_are_one_line_and_said_once(here):
    for name, element in (("a", "Xe"), ("b", "Kr"), ("c", "Xe")):
        graph = NEW[0].copy()
        graph.nodes["n0"]["element"] = element
        nx.write_graphml(graph, f"{name}.graphml")
    said = run("score model.skg new a.graphml b.graphml c.graphml --reasons --quiet").stderr
    assert said == (
        "Warning: node categories that fit did not see: Kr, Xe of 'element', first in a.graphml\n"
    )


def test_names_that_are_no_text_do_not_end_a_run(here):
    for name in ("new\x1b[2J", "=1+1", "a,b\n"):
        (here / f"{name}.graphml").write_bytes((here / "new" / "00.graphml").read_bytes())
    with open(b"\xff.graphml", "wb") as file:
        file.write((here / "new" / "00.graphml").read_bytes())
    (here / "normal").unlink()
    run("score model.skg . -o rows.csv")
    names = [row["graph"] for row in table((here / "rows.csv").read_text())]
    assert {"=1+1.graphml", "a,b\\n.graphml", "\\udcff.graphml"} <= set(names)


def test_fit_skips(here):
    (here / "some").mkdir()
    (here / "some" / "cut.graphml").write_text("<")
    plain = nx.node_link_data(nx.path_graph(3), edges="edges")
    (here / "some" / "bare.json").write_text(json.dumps(plain))  # without what READ names
    words = f"fit some normal {shlex.join(READ)} -o own.skg"
    assert "; --skip-errors leaves out what cannot be used\n" in run(words, exit_code=1).stderr
    assert not (here / "own.skg").exists()
    skipped = sorted(run(f"{words} --skip-errors -q", exit_code=3).stderr.splitlines())
    assert [line.split()[1] for line in skipped] == ["some/bare.json", "some/cut.graphml"]
    own, other = (run(f"score {model}.skg new").stdout for model in ("own", "model"))
    assert own == other


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("ending", ["csv", "graphml"])
def test_the_value_that_makes_a_number_a_category(here, ending):
    (here / "some").mkdir()
    for i in range(12):
        flows = ["2.5", "oops", "3.5"] if i == 7 else [2.5, 1.5 + i, 3.5]
        graph = with_data(nx.cycle_graph(3), None, {"flow": flows})
        nx.write_graphml(graph, here / "some" / f"{i:02d}.graphml")
        if ending == "csv":
            (here / "some" / f"{i:02d}.graphml").unlink()
            table = nx.to_pandas_edgelist(graph)
            table.to_csv(here / "some" / f"{i:02d}.csv", index=False)
    words = "fit some -o own.skg --skip-errors"
    found = "some/07." + ending
    result = run(f"{words} --schema all")
    assert f"{found} has 'oops' as edge attribute 'flow'" in result.stderr
    assert "it is read as a category" in result.stderr
    assert found in run(f"{words} --force --edge-number flow", exit_code=3).stderr


def test_similar_graphs_are_those_of_the_detector(here):
    run("fit normal -o own.skg " + shlex.join(READ))
    detector = skgraphkde.load("own.skg")
    rows = table(run("similar own.skg new -n 2 --by statistics").stdout)
    distances, indices = detector.kneighbors(NEW, 2, view="statistics")
    np.testing.assert_allclose(column(rows, "distance"), distances.ravel())
    names = detector.training_graphs_.names
    assert [row["similar"] for row in rows] == [names[i] for i in indices.ravel()]
    assert [row["rank"] for row in rows] == ["1", "2"] * len(NEW)
    error = run("similar own.skg new -n 99", exit_code=1).stderr
    assert "n_neighbors is 99, of 20 graphs: lower it" in error


def test_a_list_is_judged_together(odd, here):
    detector = skgraphkde.load("model.skg")
    graphs = [nx.read_graphml(path) for path in odd]
    words = f"score model.skg {' '.join(odd)} --alpha 0.3 -o"
    run(f"{words} alone.csv")
    run(f"{words} together.csv --together")
    alone, together = pd.read_csv("alone.csv"), pd.read_csv("together.csv")
    assert together["p_value"].to_numpy() == pytest.approx(detector.p_values(graphs, adapt=True))
    assert together["selected"].tolist() == detector.select(graphs, 0.3, adapt=True).tolist()
    of_one = ["graph", "score", "decision", "verdict"]
    pd.testing.assert_frame_equal(alone[of_one], together[of_one])
