"""Tables of many graphs in the shell, against the same tables in Python."""

import json
import re
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skgraphkde import GraphKDEDetector, GraphSchema, load, read_tables
from skgraphkde.reading import split_cases
from tests.cli.conftest import column, run, table
from tests.reading.common import COLUMNS, exported, span, tables

GIVEN = (
    "--graph-column case --source-column from --target-column to --node-column step "
    "--nodes nodes.csv --graphs cases.csv"
)
READ = "--node-category who --edge-number hours --graph-number amount --missing indicate --directed"
SCHEMA = GraphSchema(
    node_categories="who",
    edge_numbers="hours",
    graph_numbers="amount",
    missing="indicate",
    directed=True,
)


@pytest.fixture
def given():
    frames = tables(30)[:3]
    for frame, name in zip(frames, ("edges", "nodes", "cases"), strict=True):
        frame.to_csv(f"{name}.csv", index=False)
    return frames


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_tables_in_files_are_those_in_python(given, suffix):
    for frame, name in zip(given, ("edges", "nodes", "cases"), strict=True):
        frame.to_parquet(f"{name}.parquet")
    files = f"edges.{suffix} {GIVEN.replace('csv', suffix)}"
    run(f"fit {files} -o shell.skg {READ}")
    cases = read_tables(*given, **COLUMNS, directed=True)
    detector = GraphKDEDetector(schema=SCHEMA, random_state=0).fit(cases)
    rows = table(run(f"score shell.skg {files}").stdout)
    assert [row["graph"] for row in rows] == [x.graph["name"] for x in cases]
    expected = detector.score_samples(cases)
    np.testing.assert_allclose(column(rows, "score"), expected, rtol=1e-6)
    np.testing.assert_allclose(load("shell.skg").score_samples(cases), expected, rtol=1e-6)
    run(f"report shell.skg {files} -o page.html")
    assert "case29" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("fit edges.csv -o x.skg --nodes nodes.csv", 2, "--graph-column, the column of its graphs"),
        ("fit folder a.gml -o x.skg --graph-column case", 2, "need one table of edges"),
        ("fit hours.csv -o x.skg", 1, "'hour', its first column, says to which of many graphs"),
        (
            "find edges.csv -o x.html --node-category who --graph-column case --source-column from "
            "--target-column to",
            1,
            "table of nodes is missing, which would have 'who': give it",
        ),
        ("fit edges.csv -o x.skg --graph-column kase", 1, "no column 'kase': it has 'case'"),
        ("fit bad.csv -o x.skg --graph-column case", 1, "bad.csv is not in UTF-8"),
        ("fit folder -o x.skg --separator ;", 2, "no table (.csv, .tsv, .xes) is there for --sep"),
        ("fit edges.csv -o x.skg --separator ;;", 2, "';;' is not one character, or tab"),
        ("fit edges.csv -o x.skg --spans", 1, "edges.csv is no file of spans"),
        ("score x.skg edges.csv --directed", 2, "'--directed', but `fit` has it: the model file"),
        ("fit bad.parquet -o x.skg --graph-column case", 1, "bad.parquet cannot be read as Parq"),
        ("fit none.csv -o x.skg --graph-column case", 1, "none.csv is empty: leave it out"),
        ("fit edges.csv -o x.skg --graph-column case --nodes nowhere.csv", 2, "does not exist"),
    ],
)
def test_what_is_wrong_is_said(given, command, code, message):
    Path("folder").mkdir()
    nx.write_gml(nx.path_graph(3), "a.gml")
    nx.write_gml(nx.path_graph(3), "folder/a.gml")
    Path("none.csv").touch()
    Path("hours.csv").write_text("hour,source,target\n0,a,b\n0,a,c\n1,a,b\n1,b,c\n")
    for name in ("cases.zip", "bad.csv", "bad.parquet"):
        Path(name).write_bytes(b"\xff")
    assert message in run(command, exit_code=code).output


def test_one_wrong_graph_is_skipped_and_the_others_are_read(given):
    run(f"fit edges.csv -o model.skg {GIVEN} {READ}")
    without = f"score model.skg edges.csv {GIVEN.partition('--nodes')[0]} --skip-errors"
    assert "nodes is missing, which would have 'who'" in run(without, exit_code=1).stderr
    given[2].iloc[1:].to_csv("cases.csv", index=False)  # without case0
    message = "graph 'case0' is in the table of nodes, and not among the graphs"
    assert message in run(f"score model.skg edges.csv {GIVEN}", exit_code=1).stderr
    result = run(f"score model.skg edges.csv {GIVEN} --skip-errors", exit_code=3)
    assert result.stderr.partition("Skipped: ")[2].startswith(message)
    names = [row["graph"] for row in table(result.stdout)]
    assert names == [f"case{i}" for i in range(1, 30)]


@pytest.fixture
def alike(given, tmp_path):
    """The tables with the names and columns that need no option, in a folder and in zips."""
    folder = tmp_path / "tables"
    folder.mkdir()
    names = {"case": "graph", "from": "source", "to": "target", "step": "node"}
    for frame, name in zip(given, ("edges", "nodes", "graphs"), strict=True):
        frame.rename(columns=names).to_csv(folder / f"{name}.csv", index=False)
    for name, place in (("plain.zip", ""), ("folder.zip", "folder/")):
        with zipfile.ZipFile(name, "w") as archive:
            archive.writestr("__MACOSX/._edges.csv", "junk")
            for path in folder.iterdir():
                archive.write(path, place + path.name)
    return folder


@pytest.mark.parametrize("place", ["plain.zip", "folder.zip", "tables"])
def test_tables_in_a_zip_or_a_folder_need_no_options(alike, place):
    given = "tables/edges.csv --graph-column graph --nodes tables/nodes.csv --graphs"
    run(f"fit {given} tables/graphs.csv -o one.skg {READ}")
    run(f"fit {place} -o other.skg {READ}")
    expected = run(f"score one.skg {given} tables/graphs.csv").stdout
    assert run(f"score other.skg {place}").stdout == expected
    run(f"report other.skg {place} -o page.html")
    assert "case29" in Path("page.html").read_text(encoding="utf-8")
    assert "of 30 graphs" in run(f"find {place} -o page.html --force {READ}").stdout


def test_graphs_of_several_zips_have_names_of_their_own(alike):
    run(f"fit plain.zip -o model.skg {READ}")
    rows = table(run("score model.skg plain.zip folder.zip").stdout)
    assert len({row["graph"] for row in rows}) == 60
    assert rows[0]["graph"] == "plain.zip#case0"


def test_tables_that_commands_wrote_are_no_graphs():
    Path("graphs").mkdir()
    for n in range(20):
        pd.DataFrame({"source": range(n + 5), "target": range(1, n + 6)}).to_csv(
            f"graphs/{n}.csv", index=False
        )
    run("fit graphs -o graphs/model.skg")
    run("score graphs/model.skg graphs -o graphs/scores.csv --reasons")
    run("score graphs/model.skg graphs -o graphs/scores.jsonl")
    assert "of 20 graphs" in run("find graphs -o graphs/page.html").stdout
    # Whoever names such a file means it.
    assert "cannot be read" in run("find graphs/scores.csv -o x.html", exit_code=1).stderr


@pytest.mark.parametrize(
    ("file", "part"), [("edges", "edge"), ("nodes", "node"), ("cases", "graph")]
)
def test_a_bad_cell_in_a_column_of_numbers_is_an_error_of_its_graph(given, file, part):
    """A column of numbers would be one of categories because of it."""
    frame = pd.read_csv(f"{file}.csv")
    costs = ["12 km" if i == 20 else i / 8 for i in range(len(frame))]
    frame.assign(cost=costs).to_csv(f"{file}.csv", index=False)
    case = frame.loc[20, "case"]
    columns = f"{GIVEN} --schema all --missing indicate"
    error = run(f"fit edges.csv -o model.skg {columns}", exit_code=1).stderr
    assert f"graph {case!r}, the table of {part}s, row 22: '12 km' under 'cost' is not" in error
    assert f"--{part}-category" in error
    assert error.endswith("; --skip-errors leaves out what cannot be used\n")
    result = run(f"fit edges.csv -o model.skg {columns} --skip-errors", exit_code=3)
    assert "29 graphs" in result.stdout
    assert re.search(f"{part} numbers [^;\n]*'cost'", result.stdout)
    named = f"fit edges.csv -o other.skg {columns} --{part}-category cost"
    assert "categories 'cost'" in run(named).stdout


def test_a_column_of_smiles(here):
    pytest.importorskip("rdkit")
    lines = [f"m{n},C{'C' * n}O,{'N' * n}" for n in range(1, 22)]
    (here / "a.csv").write_text("\n".join(["name,solvent,drug", *lines]))
    options = "--schema molecule --smiles-column drug"
    run(f"find a.csv {options} -o page.html")
    assert "<code>N" in (here / "page.html").read_text()
    assert "column 'dose', only" in run(f"find a.csv {options[:-4]}dose -o b.html", 1).stderr
    said = run("find normal --smiles-column drug -o b.html", 2).stderr
    assert "is there for --smiles-column: leave that out" in said


def test_tables_of_other_names_are_recognized_by_their_columns(given):
    Path("export").mkdir()
    for file, name in (("edges", "moves"), ("nodes", "steps"), ("cases", "orders")):
        Path(f"{file}.csv").rename(f"export/{name}.csv")
    columns = GIVEN.partition("--nodes")[0]
    result = run(f"fit export -o one.skg {columns} {READ}")
    assert "30 graphs" in result.stdout
    for name, part in (("moves", "edges"), ("steps", "nodes"), ("orders", "graphs")):
        assert f"{name}.csv is taken for the table of {part}: call it {part}.csv" in result.stderr
    Path("export/moves.csv").rename("export/edges.csv")
    assert "edges.csv is taken" not in run(f"fit export -o two.skg {columns} {READ}").stderr
    one, two = (load(f"{name}.skg").calibration_scores_ for name in ("one", "two"))
    np.testing.assert_array_equal(one, two)


@pytest.mark.slow
def test_all_commands_read_tables_of_any_kind(given):
    run(f"fit edges.csv -o plain.skg {GIVEN} {READ}")
    expected = run(f"score plain.skg edges.csv {GIVEN}").stdout
    for name in ("edges", "nodes", "cases"):
        frame = pd.read_csv(f"{name}.csv").astype({"case": object})
        frame.to_csv(f"{name}.csv", index=False, sep="_", decimal=",", encoding="utf-16-be")
    options = f"{GIVEN} --separator _ --decimal , --encoding utf-16-be"
    run(f"fit edges.csv -o model.skg {options} {READ}")
    assert run(f"score plain.skg edges.csv {options}").stdout == expected
    Path("verdicts.csv").write_text("graph,verdict\ncase3,anomaly\n")
    run(f"learn model.skg verdicts.csv edges.csv -o learned.skg {options}")
    run(f"update model.skg edges.csv -o more.skg {options}")
    assert "of 30 cases" in run(f"report model.skg edges.csv -o page.html {options}").stdout


def test_event_logs_and_spans_in_one_command():
    rng = np.random.default_rng(0)
    rows, spans = ["no;what;when;who"], []
    for case in range(30):
        for k, step in enumerate(["order", "check", "pay"] if case else ["pay", "order"]):
            minute, who = rng.integers(10, 60), rng.integers(3)
            rows.append(f"{case};{step};2026-01-05 {9 + k}:{minute};{who}")
            times = {"startTimeUnixNano": 0, "endTimeUnixNano": int(rng.integers(10**6))}
            spans.append(span(str(case), str(k - 1) * (k > 0), str(k), **times, name=step))
    Path("log.csv").write_text("\n".join(rows))
    options = "--case no --activity what --timestamp when --resource who --schema all"
    result = run(f"find log.csv -o log.html {options}")
    assert "node categories 'label', 'who'; edge numbers 'hours'" in result.stderr
    assert "log.csv#0: " in result.stdout
    for k in (0, 1):
        Path(f"{k}.json").write_text(json.dumps(exported("shop", *spans[k::2])))
    result = run("find 0.json 1.json --spans -o spans.html")
    assert "of 30 traces" in result.stdout
    assert "  0: " in result.stdout


@pytest.fixture
def with_truth():
    """Tables of 40 chains, two of which are rings, with a column that says so of an edge."""
    rows = []
    for k in range(40):
        nodes = list(range(4 + k % 3))
        is_odd = k in (5, 25)
        pairs = list(zip(nodes, [*nodes[1:], nodes[0]] if is_odd else nodes[1:], strict=False))
        rows += [(f"c{k}", u, v, "yes" if is_odd and u == 2 else "no") for u, v in pairs]
    frame = pd.DataFrame(rows, columns=["case", "source", "target", "Fraud?"])
    frame.to_csv("edges.csv", index=False)


def test_the_truth_is_compared_and_not_read(with_truth):
    options = "--graph-column case --truth Fraud? --schema all -q"
    found = run(f"find edges.csv {options} -o out.csv")
    assert "Truth: 2 of 40 are odd, by 'Fraud?' ('yes')" in found.stdout
    assert "AUROC 1.000, average precision 1.000; found: 2 in the first 2, 2 in" in found.stdout
    assert "Fraud" not in found.stderr
    rows = table(Path("out.csv").read_text())
    assert [x["graph"] for x in rows if x["truth"] == "anomaly"] == ["c5", "c25"]
    assert {x["truth"] for x in rows} == {"anomaly", "normal"}
    page = run(f"find edges.csv {options} -o out.html")
    assert page.stdout.splitlines()[-2:] == found.stdout.splitlines()[-2:]
    Path("seen.csv").write_text("graph,verdict\nc5,anomaly\nc6,normal\n")
    after = run(f"find edges.csv {options} -o out.csv --force --verdicts seen.csv")
    assert "Truth: 1 of 38 are odd, by 'Fraud?' ('yes'); 2 with a verdict do not" in after.stdout


def test_the_truth_of_new_graphs(with_truth):
    run("fit edges.csv --graph-column case -o model.skg -q")
    options = "--graph-column case --truth Fraud? -q"
    scored = run(f"score model.skg edges.csv {options}")
    assert scored.stdout.splitlines()[0] == "graph,score,decision,verdict,p_value,truth"
    assert "Truth: 2 of 40" in scored.stderr
    assert "Truth: 2 of 40" in run(f"report model.skg edges.csv {options} -o out.html").stdout
    run("fit edges.csv --graph-column case -o reads.skg -q --edge-category Fraud?")
    refusal = run(f"score reads.skg edges.csv {options}", exit_code=1)
    assert "'Fraud?' is the truth, and the schema reads it as data of edges" in refusal.stderr
    for command in ("find edges.csv -o out.html --force", "score model.skg edges.csv"):
        missing = run(f"{command} --graph-column case --truth fraude", exit_code=1)
        assert "nothing says 'fraude', the truth: graphs, nodes and edges have 'Fraud?'" in (
            missing.stderr
        )


def test_a_truth_of_one_kind_has_no_figures(with_truth):
    frame = pd.read_csv("edges.csv").replace("yes", "no")
    frame.to_csv("edges.csv", index=False)
    found = run("find edges.csv --graph-column case --truth Fraud? -q -o out.csv")
    assert "Truth: 0 of 40 are odd, by 'Fraud?'\n  no figures: they need odd" in found.stdout


@pytest.fixture
def payments():
    """Eight weeks of eight groups; in the last rows, money of ten others goes to one account."""
    rng = np.random.default_rng(0)
    rows = []
    for week in range(8):
        for group in range(8):
            for _ in range(9):
                payer, payee = rng.choice(8, 2, replace=False)
                time = pd.Timestamp("2026-01-05") + pd.Timedelta(days=7 * week + 7 * rng.random())
                rows.append((f"P{group}-{payer}", f"P{group}-{payee}", time))
    start = pd.Timestamp("2026-02-02")
    rows += [(f"N{k}", "mule", start + pd.Timedelta(hours=k)) for k in range(10)]
    frame = pd.DataFrame(rows, columns=["payer", "payee", "time"])
    frame.to_csv("payments.csv", index=False)
    return frame


BY_WEEK = (
    "payments.csv --cases components --window 7D --time-column time --source-column payer "
    "--target-column payee --directed -q"
)


def test_cases_of_one_table(payments):
    found = run(f"find {BY_WEEK} -o out.csv --call edges=payments,nodes=accounts")
    text = "2026-02-02 mule: 10 payments into one account, mule"
    assert text in found.stdout
    rows = table(Path("out.csv").read_text())
    graphs = split_cases(payments, source="payer", target="payee", time="time", window="7D").graphs
    assert [row["graph"] for row in rows] == [graph.graph["name"] for graph in graphs]
    oddest = min(rows, key=lambda row: float(row["score"]))
    n = len(payments)
    assert oddest["rows"] == f"{n - 8}-{n + 1}"  # below the row of names
    run(f"find {BY_WEEK} -o out.html --call edges=payments,nodes=accounts")
    page = Path("out.html").read_text()
    assert f"<td>{n - 8}-{n + 1}</td>" in page
    run(f"fit {BY_WEEK} -o model.skg")
    scored = table(run(f"score model.skg {BY_WEEK.replace('--directed ', '')}").stdout)
    assert [row["rows"] for row in scored] == [row["rows"] for row in rows]


def test_cases_of_other_files(payments):
    frame = payments.rename(columns={"payer": "from", "payee": "to"})
    frame.to_csv("flows.csv", index=False)
    found = run("find flows.csv --cases egos --least 2 --time-column time -o out.csv -q")
    assert "mule: 10 " in found.stdout
    graph = nx.from_pandas_edgelist(frame.astype(str), "from", "to", edge_attr=True)
    nx.write_graphml(graph, "flows.graphml")
    matrix = nx.to_numpy_array(nx.connected_watts_strogatz_graph(20, 4, 0.5, seed=0))
    np.savetxt("matrix.csv", matrix, delimiter=",")
    run("find matrix.csv --cases egos -o egos.csv -q")
    egos = table(Path("egos.csv").read_text())
    assert len(egos) > 15
    assert {row["graph"] for row in egos} <= {f"matrix.csv#{node}" for node in range(20)}
    run("find flows.graphml --cases components -o parts.csv -q")
    rows = table(Path("parts.csv").read_text())
    assert len(rows) == nx.number_connected_components(graph)
    assert all(row["graph"].startswith("flows.graphml#") for row in rows)


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        ("find payments.csv -o a.csv --source-column payer", 2, "or --cases, which makes graphs"),
        ("find flows.csv -o a.csv", 1, "flows.csv is one graph, and others .* --cases components"),
        (f"find {BY_WEEK} --graph-column time -o a.csv", 2, "--graph-column names them: give one"),
        ("find flows.csv --window 7D -o a.csv", 2, "say how --cases makes graphs"),
        ("find none.csv --cases egos -o a.csv", 2, "none.csv does not exist: give a table"),
        ("fit flows.csv --cases egos -o a.skg", 2, "all egos of another table are odd"),
        ("find flows.csv --cases egos -o a.csv --save a.skg", 2, "all egos of another table"),
        ("find flows.csv --cases windows -o a.csv", 2, "windows need their length"),
        ("find flows.csv --cases egos --spans -o a.csv", 2, "--spans has a graph for each trace"),
        ("find flows.csv --cases components --least 99 -o a.csv", 1, "no case has 99 edges"),
        ("find flows.csv --cases windows --window 900D --time-column time -o a.csv", 1, "one case"),
    ],
)
def test_what_is_said_of_one_table(payments, command, code, message):
    frame = payments.rename(columns={"payer": "from", "payee": "to"})
    frame.to_csv("flows.csv", index=False)
    assert re.search(message, run(command, exit_code=code).stderr)
