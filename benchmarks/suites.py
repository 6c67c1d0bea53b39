"""Four suites of detection tasks, as lists of (training graphs, test graphs, target).

- T: the TU sets in the main orientation.
- O: eight of them with the other class for the anomaly.
- R: eight real tasks with natural oddities, read with the schema that a user would write.
- P: five pairs "fit on one collection, find another", structure alone.

A case is a name such as "T/MUTAG". Large sets are subsampled: at most 800 training graphs (500 of
NCI1, COLLAB, REDDIT-BINARY and DD), at most 200 normal and 200 odd test graphs. The TU sets are
found as by `fetch_tu_dataset`; the zips of R, with the tables graphs.csv, nodes.csv and edges.csv,
in the folder that the environment variable PEOPLE_DATA names.
"""

import functools
import os
import zipfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.utils import Bunch

from benchmarks import protocol
from benchmarks.protocol import BOTH, DATASETS, OTHER, load
from skgraphkde import GraphSchema, read_graphs
from skgraphkde.core.graphs.batch import GraphBatch

MAIN = tuple(DATASETS)
PAIRS = ("BZR-COX2", "PTC_MR-MUTAG", "AIDS-DHFR", "ENZYMES-PROTEINS", "IMDB-MULTI-IMDB-BINARY")
_schema = partial(GraphSchema, node_categories="label", edge_categories="label")
_MOLECULE = _schema(node_categories=("label", "charge", "hs", "aromatic"))
_INCIDENT = ("label", "transition", "line", "org", "country")
_SCENES = {"node_numbers": ("words", "speeches"), "edge_numbers": "scenes"}
PEOPLE = {
    "bace_domain": _MOLECULE,
    "bbbp": _MOLECULE,
    "sepsis": _schema(edge_numbers="wait", directed=True),
    "incidents": _schema(node_categories=_INCIDENT, edge_numbers="wait", directed=True),
    "zoo": _schema(edge_numbers="km", missing="indicate"),
    "code_generated": _schema(
        node_categories=("label", "const"), edge_numbers="pos", directed=True
    ),
    "plays": GraphSchema(node_categories=("label", "group"), **_SCENES),
    "ud_german": _schema(edge_numbers="dist", directed=True),
}


def _named(every: int) -> list[str]:
    """Every such set of T, with both of its orientations, of R and of P."""
    main = MAIN[::every]
    suites = {"T": main, "O": [x for x in BOTH if x in main]}
    suites |= {"R": [*PEOPLE][::every], "P": PAIRS[::every]}
    return [f"{suite}/{name}" for suite, names in suites.items() for name in names]


CASES = _named(1)
#: One half chooses, the other confirms.
CHOOSING = _named(2)
MAX_TRAINING, MAX_TEST = 800, 200
FEW_TRAINING = {"NCI1": 500, "COLLAB": 500, "REDDIT-BINARY": 500, "DD": 500}
N_FOLDS = {"NCI1": 3, "COLLAB": 2, "REDDIT-BINARY": 3, "DD": 2}  # five of the others
N_SPLITS = 4
N_PAIR_SPLITS = 5


def n_folds(case: str) -> int:
    """Number of folds of a case."""
    suite, name = case.split("/")
    return {"R": N_SPLITS, "P": N_PAIR_SPLITS}.get(suite, N_FOLDS.get(name, 5))


def fold(case: str, index: int) -> tuple[GraphBatch, GraphBatch, np.ndarray]:
    """Training graphs, test graphs and the target (1 normal, -1 odd) of one fold."""
    suite, name = case.split("/")
    if suite == "P":
        return _of_pair(name, index)
    data = people(name) if suite == "R" else load(name + OTHER * (suite == "O"))
    if suite == "R":
        train, test, target = split(data, index)
    else:
        train, test = protocol.split(data, index)
        target, rng = data.target, np.random.RandomState(index)
        train = _some(train, FEW_TRAINING.get(name, MAX_TRAINING), rng)
        test = np.concatenate([_some(test[target[test] == y], MAX_TEST, rng) for y in (1, -1)])
        target = target[test]
    return data.graphs[train], data.graphs[test], target


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


def _of_pair(name: str, index: int) -> tuple[GraphBatch, GraphBatch, np.ndarray]:
    graphs, other = pair(name)
    order = np.random.RandomState(index).permutation(len(graphs))
    n = min(round(0.1 * len(graphs)), MAX_TEST, len(other))
    train = np.sort(order[n:][:MAX_TRAINING])
    test = GraphBatch.concatenate([graphs[order[:n]], other[:n]])
    return graphs[train], test, np.repeat([1, -1], n)


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
        for table in ("graphs", "nodes", "edges"):
            with file.open(f"{table}.csv") as opened:
                tables[table] = pd.read_csv(opened, dtype=str, keep_default_na=False)
    nodes, edges = (dict(iter(tables[x].groupby("graph", sort=False))) for x in ("nodes", "edges"))
    graphs = []
    for graph in tables["graphs"]["graph"]:
        rows, arcs = nodes[graph], edges.get(graph)
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
