"""Parallel scoring: one function of many graphs, in joblib's processes or on a cluster.

joblib chooses the processes: ``n_jobs`` on this machine, or the backend that
``joblib.parallel_config`` names. Each process receives a part of the graphs as flat arrays;
scikit-learn passes on its configuration.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from skgraphkde.core.graphs.batch import GraphBatch

GraphFunction = Callable[[GraphBatch], np.ndarray]

# Smaller parts take less time to score than to send to another process.
GRAPHS_PER_PART = 500


def in_parallel(function: GraphFunction, graphs: GraphBatch, n_jobs: int | None) -> np.ndarray:
    """Compute ``function(graphs)``, in parts if several processes are available.

    Parameters
    ----------
    function : callable
        Maps a GraphBatch to an array with one value per graph, which depends on that graph only. It
        is pickled, with the object that it belongs to.
    graphs : GraphBatch
    n_jobs : int or None
        As for joblib; None is 1 unless ``joblib.parallel_config`` says otherwise.

    Returns
    -------
    ndarray of shape (n_graphs,)
    """
    n_processes = effective_n_jobs(n_jobs)
    # One part each: a process embeds the references once for each part that it gets.
    n_parts = min(n_processes, len(graphs) // GRAPHS_PER_PART)
    if n_processes == 1 or n_parts < 2:
        return function(graphs)
    # Parts with about the same number of nodes.
    shares = graphs.node_ptr[1:-1] / graphs.n_nodes
    cuts = np.searchsorted(shares, np.arange(1, n_parts) / n_parts) + 1
    edges = np.unique([0, *cuts, len(graphs)])
    parts = [graphs[a:b] for a, b in pairwise(edges.tolist())]
    return np.concatenate(Parallel(n_jobs)(delayed(function)(part) for part in parts))
