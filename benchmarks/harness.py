"""Cells -> rows of a CSV: each cell is measured once, even if the run is killed in between.

A table is a module with four functions:

- ``cells(datasets, n_folds)`` lists the cells, each a dict of names and values;
- ``estimator(**cell)`` makes the unfitted estimator of a cell, or None;
- ``measure(estimator, **cell)`` fits and scores it and returns a dict of numbers;
- ``report(rows)`` renders the rows as Markdown.

A cell is finished if the CSV has a row for it with the same settings, which are the parameters of
the estimator and of its parts: after a change of a default, the cells that it affects are measured
again.
"""

from __future__ import annotations

import contextlib
import csv
import json
import os
import platform
import sys
import time
import traceback
from collections.abc import Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

import joblib
import numpy as np
import pandas as pd
import torch
from sklearn.base import BaseEstimator
from threadpoolctl import threadpool_info
from tqdm import tqdm

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("skgraphkde", "torch", "numpy", "scikit-learn", "grakel")
# Parameters that change no result.
IGNORED = ("checkpoint", "n_jobs", "verbose")
# Parameters that are newer than rows: with these values everything is as before, and the settings
# of a row do not name them.
ADDED: dict[str, dict[str, Any]] = {
    "GCN": {"out_dim": None, "last_relu": True},
    "Contrastive": {"loss": "ratio", "schedule": "cosine", "weight_decay": 0.0},
    "SpectralEdges": {"self_loops": False},
}

Cell = dict[str, Any]


def run(table: ModuleType, cells: list[Cell], n_jobs: int, path: Path) -> int:
    """Measure the cells that are not finished, and write each one as soon as it is measured.

    Parameters
    ----------
    table : module
    cells : list of dict
    n_jobs : int
        Processes; the cores are divided among them.
    path : Path
        The CSV, which is created or continued.

    Returns
    -------
    int
        Number of cells that failed. They are not written, and the next run tries them again.
    """
    todo = unfinished(table, cells, path)
    n_threads = max(1, joblib.cpu_count() // n_jobs)
    name = table.__name__.rpartition(".")[2]
    n_failed = 0
    with joblib.parallel_config("loky", inner_max_num_threads=n_threads):
        parallel = joblib.Parallel(n_jobs, return_as="generator_unordered")
        tasks = (joblib.delayed(_measured)(table.__name__, cell, n_threads) for cell in todo)
        for row in tqdm(parallel(tasks), desc=name, total=len(todo), unit="cell"):
            if "error" in row:
                n_failed += 1
                print(f"{row['cell']}\n{row['error']}", file=sys.stderr)
            else:
                append(path, row)
    return n_failed


def unfinished(table: ModuleType, cells: list[Cell], path: Path) -> list[Cell]:
    """The cells without a row that has their settings."""
    finished = set()
    if path.exists():
        _drop_torn_row(path)
        finished = {(row["cell"], row["settings"]) for row in _rows(path)}
    return [cell for cell in cells if (_key(cell), settings(table, cell)) not in finished]


def settings(table: ModuleType, cell: Cell) -> str:
    """The parameters of a cell's estimator as JSON, without those that change no result.

    A parameter that is an object becomes text with all its own parameters, defaults included, and a
    string that is short for an object becomes the same text.
    """
    estimator = table.estimator(**cell)
    if estimator is None:
        return "{}"
    texts = {
        name: value if value is None or isinstance(value, int | float | str) else text(value)
        for name, value in parameters(estimator).items()
    }
    return json.dumps({"class": type(estimator).__name__, **texts})


def parameters(estimator: BaseEstimator) -> Cell:
    """The parameters that can change a result, with objects in place of strings short for them."""
    expanded = getattr(estimator, "specification", partial(getattr, estimator))
    added = ADDED.get(type(estimator).__name__, {})
    values = {x: expanded(x) for x in estimator.get_params(deep=False) if x not in IGNORED}
    return {x: value for x, value in values.items() if x not in added or value != added[x]}


def text(value: Any) -> str:
    """A value as Python would write it; of an estimator, all parameters that can change a result.

    Tuples and arrays are written as lists, and numbers of NumPy as those of Python, so that equal
    values have the same text.
    """
    if isinstance(value, BaseEstimator):
        arguments = [f"{name}={text(x)}" for name, x in parameters(value).items()]
        return f"{type(value).__name__}({', '.join(arguments)})"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(text, value))}]"
    if isinstance(value, np.ndarray | np.generic):
        return text(value.tolist())
    return repr(value)


def append(path: Path, row: Cell) -> None:
    """Append one row, and return once it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = list(row)
    is_new = not path.exists()
    if not is_new:
        with path.open(newline="") as file:
            fields = next(csv.reader(file))
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)
        file.flush()
        os.fsync(file.fileno())


def read(table: ModuleType, path: Path) -> pd.DataFrame:
    """The rows of a table with today's settings; the names in the cells become columns."""
    if not path.exists():
        return pd.DataFrame()
    rows = pd.read_csv(path)
    names = pd.DataFrame([json.loads(cell) for cell in rows["cell"]])
    today = [settings(table, json.loads(cell)) for cell in rows["cell"]]
    rows = pd.concat([names, rows.drop(columns="cell")], axis=1)[rows["settings"] == today]
    return rows.drop_duplicates(list(names.columns), keep="last")


def _measured(table_name: str, cell: Cell, n_threads: int) -> Cell:
    """The row of one cell, measured in a worker process."""
    __import__(table_name)
    table = sys.modules[table_name]
    torch.set_num_threads(n_threads)
    start = time.perf_counter()
    try:
        values = table.measure(table.estimator(**cell), **cell)
    except Exception:  # a failed cell must not stop the others
        return {"cell": _key(cell), "error": traceback.format_exc()}
    provenance = {
        "settings": settings(table, cell),
        "seconds": round(time.perf_counter() - start, 3),
        "threads": n_threads,
        "versions": versions(),
        "machine": machine(),
    }
    return {"cell": _key(cell), **values, **provenance}


def versions() -> str:
    """The installed packages that figures depend on, with their versions."""
    installed = []
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            installed.append(f"{package} {version(package)}")
    return ", ".join(installed)


def machine() -> str:
    """Processor, number of cores, and two settings that decide how well they are used.

    These are the kernels that NumPy's BLAS has chosen, and how OpenMP's threads wait.
    """
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [x for x in info.read_text().splitlines() if x.startswith("model name")]
        name = models[0].partition(":")[2].strip() if models else name
    kernels = {x["architecture"] for x in threadpool_info() if x.get("architecture")}
    parts = [name, f"{os.cpu_count()} cores", *sorted(f"BLAS for {kernel}" for kernel in kernels)]
    if "OMP_WAIT_POLICY" in os.environ:
        parts.append(f"OMP_WAIT_POLICY={os.environ['OMP_WAIT_POLICY']}")
    return ", ".join(parts)


def _key(cell: Cell) -> str:
    return json.dumps(cell)


def _rows(path: Path) -> Iterator[dict[str, str]]:
    csv.field_size_limit(10**8)
    with path.open(newline="") as file:
        yield from csv.DictReader(file)


def _drop_torn_row(path: Path) -> None:
    """Drop the last row if it has no end of line: the process was killed while it wrote it."""
    text = path.read_bytes()
    whole = text[: text.rfind(b"\n") + 1]
    if whole != text:
        path.write_bytes(whole)
