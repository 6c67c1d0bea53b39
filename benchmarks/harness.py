"""Cells -> rows of a CSV: each cell is measured once, even if the run is killed in between.

A table is a module, or an object, with a TITLE, a text ABOUT it, and four functions:

- ``cells(datasets, n_folds)`` lists the cells, each a dict of names and values;
- ``estimator(**cell)`` makes the unfitted estimator of a cell, or None;
- ``measure(estimator, **cell)`` fits and scores it and returns a dict of numbers;
- ``report(rows)`` renders the rows as Markdown.

A cell is finished if the CSV has a row for it. To measure again, delete rows, or the file.
"""

import csv
import functools
import importlib
import json
import os
import platform
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import joblib
import pandas as pd
import torch
from threadpoolctl import threadpool_info
from tqdm import tqdm

from skgraphkde import __version__

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("torch", "numpy", "scikit-learn", "grakel")

Cell = dict[str, Any]


def find_table(name: str) -> Any:
    """The table of a name: a small one of the paper, or a module."""
    paper = importlib.import_module("benchmarks.paper_tables")
    return paper.TABLES.get(name) or importlib.import_module(f"benchmarks.{name}")


def run(name: str, cells: list[Cell], n_jobs: int, path: Path) -> int:
    """Measure the cells that the CSV lacks, by some processes, and return how many failed.

    The processes share the cores. Failed cells are not written, and the next run tries them again.
    """
    finished = set()
    if path.exists():
        _drop_torn_row(path)
        finished = set(pd.read_csv(path, usecols=["cell"])["cell"])
    todo = [cell for cell in cells if json.dumps(cell) not in finished]
    n_threads = max(1, joblib.cpu_count() // n_jobs)
    n_failed = 0
    with joblib.parallel_config("loky", inner_max_num_threads=n_threads):
        parallel = joblib.Parallel(n_jobs, return_as="generator_unordered")
        tasks = (joblib.delayed(_measured)(name, cell, n_threads) for cell in todo)
        for row in tqdm(parallel(tasks), desc=name, total=len(todo), unit="cell"):
            if "error" in row:
                n_failed += 1
                print(f"{row['cell']}\n{row['error']}", file=sys.stderr)
            else:
                append(path, row)
    return n_failed


def append(path: Path, row: Cell) -> None:
    """Append one row, and return once it is on the disk."""
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    fields = list(row) if is_new else list(pd.read_csv(path, nrows=0))
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, fields, lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(row)
        file.flush()
        os.fsync(file.fileno())


def read(path: Path) -> pd.DataFrame:
    """The rows of a table; the names in the cells become columns."""
    if not path.exists():
        return pd.DataFrame()
    rows = (
        pd.read_csv(path, dtype={"commit": str})
        .drop_duplicates("cell", keep="last")
        .reset_index(drop=True)
    )
    names = pd.DataFrame([json.loads(cell) for cell in rows["cell"]])
    return pd.concat([names, rows.drop(columns="cell")], axis=1)


def _measured(name: str, cell: Cell, n_threads: int) -> Cell:
    """The row of one cell, measured in a worker process."""
    table = find_table(name)
    torch.set_num_threads(n_threads)
    start = time.perf_counter()
    try:
        estimator = table.estimator(**cell)
        settings = " ".join(repr(estimator).split())
        values = table.measure(estimator, **cell)
    except Exception:  # a failed cell must not stop the others
        return {"cell": json.dumps(cell), "error": traceback.format_exc()}
    provenance = {"settings": settings, "seconds": round(time.perf_counter() - start, 3)}
    provenance |= {"threads": n_threads, "versions": versions(), "machine": machine()}
    provenance |= {"date": date.today().isoformat(), "commit": commit()}
    return {"cell": json.dumps(cell), **values, **provenance}


def versions() -> str:
    """The installed packages that figures depend on, with their versions."""
    installed = [f"skgraphkde {__version__}"]
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            installed.append(f"{package} {version(package)}")
    return ", ".join(installed)


def machine() -> str:
    """Processor, number of cores, the kernels of NumPy's BLAS, and how OpenMP's threads wait."""
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


@functools.cache  # commits that come during a run are not what it measures
def commit() -> str:
    """The commit of the code that is measured, in seven digits; "" outside of a repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short=7", "HEAD"]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    return answer.stdout.strip()


def _drop_torn_row(path: Path) -> None:
    """Drop the last row if it has no end of line: the process was killed while it wrote it."""
    text = path.read_bytes()
    path.write_bytes(text[: text.rfind(b"\n") + 1])
