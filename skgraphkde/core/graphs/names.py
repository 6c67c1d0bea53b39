"""Names: ids of nodes that recur from graph to graph -> keys by which nodes are compared.

Regions of brains, services and departments are the same from graph to graph; atoms that are called
1, 2, 3 are not. A key is a hash of a name, so that files hold no names.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.problems import called

# A name recurs if so many graphs have it, and such a share of them.
FEWEST_GRAPHS = 5
RECURRING = 0.1
# Names are compared if such a share of the nodes has one that recurs.
MOST_NODES = 0.5
# Names are everywhere if graphs have such a share of them on average.
EVERYWHERE = 0.9
# Nor are names that end in a number, and are otherwise so seldom different: n1, n2, n3.
PREFIXES = 0.1
#: The key of an id that is no text.
NO_NAME = np.uint64(0)


def with_name_keys(graphs: GraphBatch, *, must_have_all: bool = True) -> GraphBatch:
    """A copy whose nodes have keys: hashes of their ids, 0 for ids that are no text.

    Parameters
    ----------
    graphs : GraphBatch
    must_have_all : bool, default=True
        Whether each graph must have such ids.

    Returns
    -------
    GraphBatch

    Raises
    ------
    ValueError
        If no node of a graph has an id that is text.
    """
    ids = graphs.node_ids
    is_name = np.zeros(graphs.n_nodes, dtype=bool)
    if ids is not None:
        is_name = np.fromiter((isinstance(x, str) for x in ids), bool, len(ids))
    n_named = np.bincount(graphs.graph_of_node, is_name, len(graphs))
    if must_have_all and not n_named.all():
        nameless = int(n_named.argmin())
        raise ValueError(
            f"fit compared nodes with those of the same name, and no node of "
            f"{called(graphs.name(nameless))} has one: give them the ids that they had there"
        )
    keys = np.full(graphs.n_nodes, NO_NAME)
    # Half characters, as from a file that is not UTF-8, cannot be hashed as text.
    names = [x.encode("utf-8", "surrogatepass") for x in ids[is_name]]
    keys[is_name] = pd.util.hash_array(np.array(names, dtype=object))
    return graphs.replace(name_keys=keys)


def recurring_names(graphs: GraphBatch) -> np.ndarray:
    """Keys of the names that recur, sorted.

    Parameters
    ----------
    graphs : GraphBatch
        With keys of its nodes.

    Returns
    -------
    ndarray of shape (n_names,), uint64
    """
    keys = graphs.name_keys
    distinct, counts = np.unique(keys[keys != NO_NAME], return_counts=True)
    return distinct[counts >= max(FEWEST_GRAPHS, RECURRING * len(graphs))]


def may_compare_names(graphs: GraphBatch) -> bool:
    """True if most nodes have a name that recurs, and that does not only count.

    Parameters
    ----------
    graphs : GraphBatch
        With ids and keys of its nodes.
    """
    names = recurring_names(graphs)
    recurs = np.isin(graphs.name_keys, names)
    if recurs.mean() < MOST_NODES:
        return False
    is_everywhere = recurs.sum() >= EVERYWHERE * len(names) * len(graphs)
    return bool(is_everywhere or not _only_count(set(graphs.node_ids[recurs])))


def _only_count(names: set[str]) -> bool:
    """True for names such as n1, n2, ..., which differ in their last number."""
    prefixes = {re.sub(r"\d+$", "", name) for name in names}
    return len(prefixes) <= max(1, PREFIXES * len(names))
