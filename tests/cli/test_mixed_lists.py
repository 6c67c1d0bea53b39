"""Lists as people have them: ids with marks, empty rows, tables in two folders, a broken file."""

import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import run
from tests.reading.common import exported, span


def cases(names, n_edges=5):
    """Rows of one cycle for each case, each longer than the one before."""
    rng = np.random.RandomState(0)
    lines = ["case,source,target,w"]
    for i, name in enumerate(names):
        n = n_edges + i
        lines += [f"{name},a{k},a{(k + 1) % n},{rng.randint(1, 99)}" for k in range(n)]
    return "\n".join(lines)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def test_ids_may_begin_with_a_hash(tmp_path):
    write(tmp_path / "list.csv", cases([f"#{i}" if i % 2 else i for i in range(12)]))
    run("find list.csv --graph-column case -o found.csv")
    assert len(pd.read_csv("found.csv")) == 12
    write(tmp_path / "verdicts.csv", "graph,verdict\n#3,anomaly\n4,normal\n# a comment\n#short")
    run("find list.csv --graph-column case -o marked.csv --verdicts verdicts.csv")
    verdicts = pd.read_csv("marked.csv").set_index("graph")["verdict"]
    assert verdicts["#3"] == "anomaly"


def test_verdicts_may_all_be_normal(tmp_path):
    write(tmp_path / "list.csv", cases(range(12)))
    write(tmp_path / "verdicts.csv", "graph,verdict\n4,normal\n6,normal")
    run("find list.csv --graph-column case -o found.csv --verdicts verdicts.csv")
    run("fit list.csv --graph-column case -o model.skg --verdicts verdicts.csv")


def test_rows_are_those_of_the_file(tmp_path):
    lines = ["source,target,day"]
    lines += [f"a{k % 7},b{k % 5},2026-01-{1 + k // 6:02d}" for k in range(24)]
    lines.insert(9, "")
    lines.insert(16, "# a comment")
    write(tmp_path / "list.csv", "\n".join(lines))
    run("find list.csv --cases windows --window 1D --time-column day -o found.csv")
    rows = pd.read_csv("found.csv").set_index("graph")["rows"].to_dict()
    for name, text in rows.items():
        numbers = []
        for part in text.split(", "):
            first, _, last = part.partition("-")
            numbers += range(int(first), int(last or first) + 1)
        day = name.split("#")[-1]
        assert numbers == [i for i, line in enumerate(lines, 1) if line.endswith(day)]


def test_the_cases_of_a_matrix_have_no_rows(tmp_path):
    blocks = np.kron(np.eye(6, dtype=int), 1 - np.eye(4, dtype=int))
    np.savetxt("matrix.csv", blocks, fmt="%d", delimiter=",")
    run("find matrix.csv --cases components -o found.csv")
    assert "rows" not in pd.read_csv("found.csv")


@pytest.mark.parametrize("kind", ["tables", "spans"])
def test_two_folders_of_tables_or_spans_are_two_piles(tmp_path, kind):
    for pile, n_edges in (("before", 5), ("after", 25)):
        if kind == "tables":
            text = cases(range(12), n_edges).replace("case,", "graph,", 1)
            rows = [f"{i},a{k}" for i in range(12) for k in range(n_edges + i)]
            nodes = "\n".join(["graph,node", *rows])
            write(tmp_path / pile / "edges.csv", text)
            write(tmp_path / pile / "nodes.csv", nodes)
            continue
        for trace in range(12):
            spans = [span(f"t{trace}", None, "s0")]
            spans += [span(f"t{trace}", "s0", f"s{k}") for k in range(1, n_edges + trace % 3)]
            write(tmp_path / pile / f"{trace}.json", json.dumps(exported("shop", *spans)))
    option = "--spans" if kind == "spans" else ""
    result = run(f"compare before after {option} -o found.csv")
    assert result.stdout.startswith("before (12) and after (12 ")
    assert pd.read_csv("found.csv")["p_value"][0] < 0.05


def test_a_broken_file_of_spans_is_left_out_alone(tmp_path):
    for trace in range(6):
        spans = [span(f"t{trace}", None, "s0"), span(f"t{trace}", "s0", "s1")]
        text = json.dumps(exported("shop", *spans))
        write(tmp_path / "spans" / f"{trace}.json", text[:-20] if trace == 3 else text)
    result = run("find spans --spans --skip-errors -o found.csv", exit_code=3)
    assert "Skipped: spans/3.json cannot be read as spans" in result.stderr
    assert len(pd.read_csv("found.csv")) == 5


def test_addresses_decide_no_decimal_mark(tmp_path):
    lines = ["graph,source,target,ms"]
    for i in range(12):
        for k in range(4):
            lines.append(f"g{i},192.168.100.10{k},192.168.100.10{k + 1},{1 + i + k / 1000:.3f}")
    write(tmp_path / "list.csv", "\n".join(lines))
    result = run("fit list.csv --graph-column graph --edge-number ms -o model.skg")
    assert "those with a point as decimal numbers" in result.stderr  # "1.234" alone


def test_lines_of_json_with_names_of_graphs_are_graphs(tmp_path):
    lines = [
        {"graph": f"g{i}", **nx.node_link_data(nx.cycle_graph(4 + i), edges="edges")}
        for i in range(6)
    ]
    write(tmp_path / "graphs" / "x.jsonl", "\n".join(map(json.dumps, lines)).replace('": "', '":"'))
    run("find graphs -o graphs/found.jsonl")
    run("find graphs -o found.csv")  # not the table that was written among them
    assert len(pd.read_csv("found.csv")) == 6


def test_a_word_among_the_numbers_of_a_table_of_graphs_is_said(tmp_path):
    for i in range(12):
        nx.write_gml(nx.cycle_graph(4 + i % 5), tmp_path / f"s{i:02d}.gml")
    lines = [f"s{i:02d},{30 + i if i != 4 else 'abc'}" for i in range(12)]
    write(tmp_path / "meta.csv", "\n".join(["graph,age", *lines]))
    result = run("find . --graphs meta.csv --graph-number age -o found.csv", exit_code=1)
    assert "row 6: 'abc' under 'age' is not a number" in result.stderr
    assert "ValueError" not in result.stderr


def test_the_table_of_graphs_may_be_given_by_another_path(tmp_path):
    for i in range(6):
        nx.write_gml(nx.cycle_graph(4 + i), tmp_path / f"s{i}.gml")
    write(tmp_path / "meta.csv", "graph,age\n" + "\n".join(f"s{i},{30 + i}" for i in range(6)))
    run(f"find . --graphs {tmp_path}/meta.csv -o found.csv")
    assert len(pd.read_csv("found.csv")) == 6


def test_times_written_as_compact_dates():
    frame = {"source": list("abcd"), "target": list("bcde")}
    frame["day"] = [20260101, 20260102, 20260110, 20260120]
    pd.DataFrame(frame).to_csv("list.csv", index=False)
    result = run("find list.csv --cases windows --window 7D --time-column day -o found.csv")
    assert "20260101 under 'day' is read as a date" in result.stderr
    names = pd.read_csv("found.csv")["graph"].str.split("#").str[-1]
    assert sorted(names) == ["2026-01-01", "2026-01-08", "2026-01-15"]
