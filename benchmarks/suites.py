"""Four suites of detection tasks, as lists of (training graphs, test graphs, target).

- T: the TU sets in the main orientation.
- O: eight of them with the other class for the anomaly.
- R: eight real tasks with natural oddities, read with the schema that a user would write.
- P: five pairs "fit on one collection, find another", structure alone.

A case is a name such as "T/MUTAG"; `folds(case)` generates its folds. Large sets are subsampled:
at most 800 training graphs (500 of NCI1, COLLAB, REDDIT-BINARY and DD), at most 200 normal and 200
odd test graphs. The TU sets are found as by `fetch_tu_dataset`; the zips of R, with the tables
graphs.csv, nodes.csv and edges.csv, in the folder that the environment variable PEOPLE_DATA names.
"""

from __future__ import annotations

import functools
import itertools
import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from benchmarks.protocol import BOTH, DATASETS, OTHER, load
from skgraphkde import GraphSchema, read_graphs
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.model_selection import OneClassKFold

MAIN = tuple(DATASETS)
PAIRS = ("BZR-COX2", "PTC_MR-MUTAG", "AIDS-DHFR", "ENZYMES-PROTEINS", "IMDB-MULTI-IMDB-BINARY")
_MOLECULE = GraphSchema(
    node_categories=("label", "charge", "hs", "aromatic"), edge_categories="label"
)
PEOPLE = {
    "bace_domain": _MOLECULE,
    "bbbp": _MOLECULE,
    "sepsis": GraphSchema(
        node_categories="label", edge_categories="label", edge_numbers="wait", directed=True
    ),
    "incidents": GraphSchema(
        node_categories=("label", "transition", "line", "org", "country"),
        edge_categories="label",
        edge_numbers="wait",
        directed=True,
    ),
    "zoo": GraphSchema(
        node_categories="label", edge_categories="label", edge_numbers="km", missing="indicate"
    ),
    "code_generated": GraphSchema(
        node_categories=("label", "const"),
        edge_categories="label",
        edge_numbers="pos",
        directed=True,
    ),
    "plays": GraphSchema(
        node_categories=("label", "group"),
        node_numbers=("words", "speeches"),
        edge_numbers="scenes",
    ),
    "ud_german": GraphSchema(
        node_categories="label", edge_categories="label", edge_numbers="dist", directed=True
    ),
}
CASES = (
    *(f"T/{x}" for x in MAIN),
    *(f"O/{x}" for x in BOTH),
    *(f"R/{x}" for x in PEOPLE),
    *(f"P/{x}" for x in PAIRS),
)
#: One half chooses, the other confirms: every second set of T (with both of its orientations), of R
#: and of P.
CHOOSING = (
    *(f"T/{x}" for x in MAIN[::2]),
    *(f"O/{x}" for x in BOTH if x in MAIN[::2]),
    *(f"R/{x}" for x in tuple(PEOPLE)[::2]),
    *(f"P/{x}" for x in PAIRS[::2]),
)
CONFIRMING = tuple(x for x in CASES if x not in CHOOSING)

MAX_TRAINING, MAX_TEST = 800, 200
FEW_TRAINING = {"NCI1": 500, "COLLAB": 500, "REDDIT-BINARY": 500, "DD": 500}
N_FOLDS = {"NCI1": 3, "COLLAB": 2, "REDDIT-BINARY": 3, "DD": 2}  # five of the others
N_SPLITS = 4
N_PAIR_SPLITS = 5


Fold = tuple[GraphBatch, GraphBatch, np.ndarray]


def fold(case: str, index: int) -> Fold:
    """Training graphs, test graphs and the target (1 normal, -1 odd) of one fold."""
    return next(itertools.islice(_folds(case), index, None))


def _folds(case: str) -> Iterator[Fold]:
    suite, name = case.split("/")
    if suite in "TO":
        yield from _of_classes(name, other=suite == "O")
    elif suite == "R":
        yield from _of_people(name)
    else:
        yield from _of_pair(name)


def n_folds(case: str) -> int:
    """Number of folds of a case."""
    suite, name = case.split("/")
    return N_PAIR_SPLITS if suite == "P" else N_FOLDS.get(name, 5) if suite in "TO" else N_SPLITS


def _of_classes(name: str, *, other: bool) -> Iterator[Fold]:
    data = load(name + OTHER * other)
    target = data.target
    splitter = OneClassKFold(5, shuffle=True, random_state=0, anomaly_class=data.anomaly_class)
    for i, (train, test) in enumerate(splitter.split(data.graphs, data.classes)):
        if i == N_FOLDS.get(name, 5):
            break
        rng = np.random.RandomState(i)
        train = _some(train, FEW_TRAINING.get(name, MAX_TRAINING), rng)
        test = np.concatenate([_some(test[target[test] == y], MAX_TEST, rng) for y in (1, -1)])
        yield data.graphs[train], data.graphs[test], target[test]


def _of_people(name: str) -> Iterator[Fold]:
    data = people(name)
    for i in range(N_SPLITS):
        train, test, target = split(data, i)
        yield data.graphs[train], data.graphs[test], target


def split(data: Bunch, index: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Indices of the training and test graphs of a split of a real task, and the target."""
    normal, odd = np.flatnonzero(data.target == 1), np.flatnonzero(data.target == -1)
    rng = np.random.RandomState(index)
    order = rng.permutation(normal)
    n = min(MAX_TEST, round(0.3 * len(normal)))
    train, test = np.sort(order[n:][:500]), order[:n]
    test = np.concatenate([test, _some(odd, MAX_TEST, rng)])
    return train, test, data.target[test]


def everything(case: str) -> tuple[GraphBatch, np.ndarray]:
    """All graphs of a case, and their target."""
    suite, name = case.split("/")
    if suite == "P":
        both = pair(name)
        return GraphBatch.concatenate(both), np.repeat([1, -1], [len(x) for x in both])
    data = people(name) if suite == "R" else load(name + OTHER * (suite == "O"))
    return data.graphs, data.target


def pair(name: str) -> tuple[GraphBatch, GraphBatch]:
    """The graphs of a pair of collections, structure alone."""
    first = next(x for x in ("IMDB-MULTI", name.split("-")[0]) if name.startswith(x))
    return _structure(load(first).graphs), _structure(load(name[len(first) + 1 :]).graphs)


def _of_pair(name: str) -> Iterator[Fold]:
    graphs, other = pair(name)
    for i in range(N_PAIR_SPLITS):
        order = np.random.RandomState(i).permutation(len(graphs))
        n = min(round(0.1 * len(graphs)), MAX_TEST, len(other))
        train = np.sort(order[n:][:MAX_TRAINING])
        test = GraphBatch.concatenate([graphs[order[:n]], other[:n]])
        yield graphs[train], test, np.repeat([1, -1], n)


def _structure(graphs: GraphBatch) -> GraphBatch:
    return GraphBatch(graphs.node_ptr, graphs.adjacency)


def _some(index: np.ndarray, n: int, rng: np.random.RandomState) -> np.ndarray:
    return index if len(index) <= n else np.sort(rng.permutation(index)[:n])


@functools.lru_cache(maxsize=1)
def people(name: str) -> Bunch:
    """The graphs of a real task, with its schema, their target, and the table of graphs."""
    schema = PEOPLE[name]
    tables = {}
    with zipfile.ZipFile(Path(os.environ["PEOPLE_DATA"]) / f"{name}.zip") as file:
        for member in file.namelist():
            if member.endswith(".csv"):
                with file.open(member) as opened:
                    tables[Path(member).stem] = pd.read_csv(
                        opened, dtype=str, keep_default_na=False
                    )
    nodes = tables["nodes"].groupby("graph", sort=False)
    edges = dict(iter(tables["edges"].groupby("graph", sort=False)))
    of_graph = dict(iter(nodes))
    graphs = []
    for graph in tables["graphs"]["graph"]:
        rows, arcs = of_graph[graph], edges.get(graph)
        item = {"nodes": rows["node"].tolist(), "directed": schema.directed is True}
        item |= {x: rows[x].tolist() for x in schema.named("node_categories")}
        item |= {x: _numbers(rows[x]) for x in schema.named("node_numbers")}
        item["edges"] = []
        if arcs is not None:
            item["edges"] = list(zip(arcs["source"], arcs["target"], strict=True))
            data = {x: arcs[x].tolist() for x in schema.named("edge_categories")}
            item["edge_data"] = data | {x: _numbers(arcs[x]) for x in schema.named("edge_numbers")}
        graphs.append(item)
    table = tables["graphs"]
    target = np.where(table["odd"].to_numpy() == "1", -1, 1)
    return Bunch(graphs=read_graphs(graphs, schema=schema), target=target, table=table)


def _numbers(column: pd.Series) -> list[float]:
    return [float(x) if x else float("nan") for x in column]
