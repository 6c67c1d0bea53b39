"""The harness of the benchmarks, on a table that costs nothing."""

import importlib.util
import sys
import types

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

if any(importlib.util.find_spec(package) is None for package in ("pandas", "tabulate")):
    pytest.skip("the benchmarks are not installed", allow_module_level=True)

from benchmarks import __main__ as command_line
from benchmarks import harness, render


class Guess(BaseEstimator):
    def __init__(self, offset=0.0):
        self.offset = offset


@pytest.fixture
def table(monkeypatch):
    """Two data sets, three folds; calls are written down, and fold 2 of "b" fails once."""
    table = types.ModuleType("a_table")
    table.offset, table.calls, table.failures = 0.0, [], 1
    table.cells = lambda datasets, n_folds: [
        {"dataset": dataset, "fold": fold} for dataset in datasets for fold in range(n_folds)
    ]
    table.estimator = lambda dataset, fold: Guess(table.offset)

    def measure(estimator, dataset, fold):
        table.calls.append((dataset, fold))
        if (dataset, fold) == ("b", 2) and table.failures:
            table.failures -= 1
            raise RuntimeError("out of luck")
        return {"auroc": 50.0 + fold + estimator.offset}

    table.measure = measure
    monkeypatch.setitem(sys.modules, "a_table", table)
    return table


def run(table, path, n_folds=3):
    return harness.run(table, table.cells(["a", "b"], n_folds), 1, path)


def test_a_failed_cell_is_empty_and_tried_again(table, tmp_path, capsys):
    path = tmp_path / "results" / "a_table.csv"
    assert run(table, path) == 1
    assert "out of luck" in capsys.readouterr().err
    assert len(harness.read(table, path)) == 5
    assert run(table, path) == 0
    assert table.calls[6:] == [("b", 2)]
    rows = harness.read(table, path)
    assert len(rows) == 6
    assert rows[["dataset", "fold", "auroc"]].to_numpy().tolist()[-1] == ["b", 2, 52.0]
    assert {"settings", "versions", "machine", "threads", "seconds"} <= set(rows)


@pytest.mark.parametrize("n_bytes", [1, 30, 200])
def test_a_killed_run_resumes(table, tmp_path, n_bytes):
    path = tmp_path / "a_table.csv"
    table.failures = 0
    run(table, path)
    whole = harness.read(table, path)
    path.write_bytes(path.read_bytes()[:-n_bytes])  # killed while it wrote
    table.calls.clear()
    run(table, path)
    assert 0 < len(table.calls) < 6
    again = harness.read(table, path)
    pd.testing.assert_frame_equal(
        whole[["dataset", "fold", "auroc"]],
        again[["dataset", "fold", "auroc"]].reset_index(drop=True),
    )


def test_more_folds_add_to_what_is_there(table, tmp_path):
    path = tmp_path / "a_table.csv"
    run(table, path, n_folds=1)
    run(table, path, n_folds=2)
    assert table.calls == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]


def test_other_settings_are_measured_anew(table, tmp_path):
    path = tmp_path / "a_table.csv"
    run(table, path, n_folds=1)
    table.offset = 7.0
    assert harness.read(table, path).empty
    run(table, path, n_folds=1)
    assert harness.read(table, path)["auroc"].tolist() == [57.0, 57.0]
    table.offset = 0.0
    assert harness.read(table, path)["auroc"].tolist() == [50.0, 50.0]


def test_the_tables_are_there():
    if importlib.util.find_spec("grakel") is None:
        pytest.skip("the peers are not installed")
    for name in command_line.TABLES:
        table = command_line._table(name)
        cells = table.cells(None, 1)
        assert cells
        for cell in cells:
            harness.settings(table, cell)
        assert len({harness._key(cell) for cell in cells}) == len(cells)


@pytest.mark.parametrize("path", sorted(render.PAPER.glob("*.csv")), ids=lambda path: path.stem)
def test_figures_of_the_paper_say_where_they_stand(path):
    assert path.read_text().startswith(("# Table", "# Text"))
    figures = render.read_paper(path.stem)
    assert figures.iloc[:, 2:].select_dtypes("number").notna().any().all()


def test_mean_and_spread():
    assert render.mean_std([1.0, 3.0]) == "2.0 ± 1.0"
    assert render.mean_std([1.0, np.nan]) == "1.0"
    assert render.mean_std([]) == render.mean_std([np.nan]) == ""


def test_what_did_not_run_stays_empty():
    rows = pd.DataFrame(
        {
            "dataset": ["A", "A", "B", "A"],
            "method": ["x", "y", "x", "y"],
            "fold": [0, 0, 0, 1],
            "auroc": [60, 69, 80, 71],
        }
    )
    paper = pd.DataFrame({"method": ["X"], "dataset": ["A"], "mean": [61.5], "std": [0.1]})
    text = render.against_paper(rows, "auroc", ["A", "B"], ["x", "y"], paper, {"x": "X"})
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    assert lines[0] == ["method", "A (2)", "B (1)", "mean", "rank"]
    assert lines[2] == ["x", "60.0 (1)", "80.0", "60.0", "2.0"]
    assert lines[3] == ["*in the paper*", "*61.5*", "", "*61.5*", ""]
    assert lines[4] == ["y", "70.0 ± 1.0", "", "70.0", "1.0"]
    assert "Mean and rank over A." in text


def test_ours_and_the_papers_side_by_side():
    ours = pd.DataFrame({"auroc": ["1.0", "2.0"]}, index=["a", "b"])
    paper = pd.DataFrame({"auroc": ["9.0"], "fpr95": ["8.0"]}, index=["b"])
    text = render.side_by_side(ours, paper, {"auroc": "AUROC", "fpr95": "FPR95"})
    assert [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()][2:] == [
        ["a", "1.0", "", ""],
        ["b", "2.0", "*9.0*", "*8.0*"],
    ]
