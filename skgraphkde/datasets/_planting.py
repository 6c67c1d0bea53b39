"""Planting: which graphs of a data set are odd, and the Bunch that makers of such sets return."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import networkx as nx
import numpy as np
from sklearn.utils import Bunch

from skgraphkde.graphs.readers import read_graphs
from skgraphkde.graphs.schema import GraphSchema


def planned(n_normal: int, n_anomalies: int, kind: str, kinds: Iterable[str]) -> list[str]:
    """What each graph is: "normal" first, then `kind`, or, if that is "mixed", `kinds` in turn."""
    if n_normal + n_anomalies == 0:
        raise ValueError("n_normal and n_anomalies are both 0: ask for at least one graph")
    turns = list(kinds) if kind == "mixed" else [kind]
    return ["normal"] * n_normal + [turns[i % len(turns)] for i in range(n_anomalies)]


def planted(
    drawn: Sequence[nx.Graph],
    schema: GraphSchema,
    plan: list[str],
    culprits: Iterable[Sequence[int]],
    return_X_y: bool,
    **more: Any,
) -> Any:
    """The graphs, read, with their targets; as a Bunch also what was planted, where, and `more`."""
    graphs = read_graphs(drawn, schema=schema)
    kind = np.array(plan)
    target = np.where(kind == "normal", 1, -1)
    if return_X_y:
        return graphs, target
    nodes = [np.unique(np.array(involved, dtype=np.int64)) for involved in culprits]
    return Bunch(graphs=graphs, target=target, kind=kind, **more, culprits=nodes)
