"""Command line: ``python -m benchmarks TABLE``, or ``python -m benchmarks render``."""

import argparse
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import harness
from benchmarks.protocol import N_FOLDS

ACCURACY = (
    "referee",
    "detection",
    "paper_protocol",
    "unchosen",
    "elsewhere",
    "typed",
    "verdicts",
    "find",
)
PARTS = (
    "lgkde",
    "masking",
    "defaults",
    "components",
    "two_stages",
    "perturbation",
    "thresholds",
    "capacity",
    "sampling",
)
DENSITIES = (
    "compare",
    "together",
    "contamination",
    "erdos_renyi",
    "families",
    "shift",
    "false_alarms",
    "drift",
)
SPEED = (
    "runtime",
    "pair_times",
    "speed",
    "end_to_end",
    "calls",
    "neighbors",
    "scale",
    "library",
    "bounds",
)
TABLES = (*ACCURACY, *PARTS, *DENSITIES, *SPEED)
DOCS = Path(__file__).parents[1] / "docs" / "benchmarks"


def main() -> int:
    """Measure the missing cells of a table, then render it."""
    options = _options()
    if options.table == "render":
        for name in TABLES:
            render(name, options.results)
        return 0
    cells = harness.find_table(options.table).cells(options.datasets, options.folds)
    if options.methods:
        unknown = set(options.methods) - {cell.get("method") for cell in cells}
        if unknown:
            print(f"{options.table} has no {', '.join(sorted(unknown))}", file=sys.stderr)
            return 2
        cells = [cell for cell in cells if cell.get("method") in options.methods]
    if not cells:
        print(f"{options.table} has no cells with these data sets and methods", file=sys.stderr)
        return 2
    path = options.results / f"{options.table}.csv"
    n_failed = harness.run(options.table, cells, options.jobs, path)
    print(render(options.table, options.results))
    return 1 if n_failed else 0


def render(name: str, results: Path) -> str:
    """Write the page of a table for the docs, and return it."""
    table, rows = harness.find_table(name), harness.read(results / f"{name}.csv")
    if rows.empty:
        return ""
    parts = [f"# {table.TITLE}", f"`python -m benchmarks {name}`", table.ABOUT]
    parts.append(table.report(_in_order(table, rows)))
    text = re.sub(r"\n{3,}", "\n\n", "\n\n".join(parts)).strip() + "\n"
    for repetition in ("fold", "seed"):
        if repetition in rows:
            names = [name for name in table.cells(None, N_FOLDS)[0] if name != repetition]
            repeated = rows[rows[repetition] >= 0]
            counts = repeated.groupby(names)[repetition].nunique()
            of_all = " to ".join(map(str, dict.fromkeys([counts.min(), counts.max()])))
            text += f"\nRepetitions: {of_all} ({repetition}).\n"
    versions = sorted(set(rows["versions"].str.partition(",")[0]))
    machines = sorted(set(rows["machine"]))
    text += f"\nMeasured with {'; '.join(versions)} on {'; '.join(machines)}, {_when(rows)}.\n"
    (DOCS / f"{name}.md").write_text(text, encoding="utf-8")
    return text


def _when(rows: pd.DataFrame) -> str:
    """The first and the last day of the rows, each with its commit."""
    commit_of_day = dict(zip(rows["date"], rows["commit"], strict=True))
    ends = dict.fromkeys([min(commit_of_day), max(commit_of_day)])
    return " to ".join(f"{day} (commit {commit_of_day[day]})" for day in ends)


def _in_order(table: Any, rows: pd.DataFrame) -> pd.DataFrame:
    """Rows in the order of the table's cells, not in which they were measured."""
    cells = table.cells(None, N_FOLDS)
    position = {tuple(cell.values()): i for i, cell in enumerate(cells)}
    keys = zip(*(rows[name] for name in cells[0]), strict=True)
    order = [position.get(key, len(position)) for key in keys]
    return rows.iloc[np.argsort(order, kind="stable")]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("table", choices=[*TABLES, "render"], metavar="TABLE")
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="or cases, such as R/zoo")
    parser.add_argument("--methods", nargs="+", metavar="NAME", help="rows of the table")
    parser.add_argument("--folds", type=int, default=N_FOLDS, help="the first N of five folds")
    parser.add_argument("--jobs", type=int, default=1, help="processes; they share the cores")
    parser.add_argument("--results", type=Path, default=harness.RESULTS, help="folder of the CSVs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
