"""Parts of a batch in the processes of joblib, on this machine or on a cluster.

In come a function of graphs and a GraphBatch. Out go the function's values, as if it had been
called once. joblib chooses the processes: ``n_jobs`` on this machine, or those of the backend that
``joblib.parallel_config`` names. A part travels as flat arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from skgraphkde._threads import one_torch_thread
from skgraphkde.graphs import GraphBatch

GraphFunction = Callable[[GraphBatch], np.ndarray]

# More parts than processes: none waits long for the last one, and little is lost with a process.
PARTS_PER_JOB = 4
# Fewer graphs cost less than the way to another process and back.
GRAPHS_PER_PART = 500


def in_parallel(function: GraphFunction, graphs: GraphBatch, n_jobs: int | None) -> np.ndarray:
    """``function(graphs)``, in parts if there is more than one process for them.

    Parameters
    ----------
    function : callable
        Maps a GraphBatch to an array with a value a graph, which depends on that graph only. Is
        pickled, with what it belongs to.
    graphs : GraphBatch
    n_jobs : int or None
        As joblib takes it; None is 1, unless ``joblib.parallel_config`` says otherwise.

    Returns
    -------
    ndarray of shape (n_graphs,)
    """
    n_processes = effective_n_jobs(n_jobs)
    n_parts = min(PARTS_PER_JOB * n_processes, len(graphs) // GRAPHS_PER_PART)
    if n_processes == 1 or n_parts < 2:
        return function(graphs)
    # As many nodes in each part as in the others.
    shares = graphs.node_ptr[1:-1] / graphs.n_nodes
    cuts = np.searchsorted(shares, np.arange(1, n_parts) / n_parts) + 1
    edges = np.unique([0, *cuts, len(graphs)])
    parts = [graphs[a:b] for a, b in pairwise(edges.tolist())]
    return np.concatenate(Parallel(n_jobs)(delayed(_in_one_thread)(function, p) for p in parts))


def _in_one_thread(function: GraphFunction, graphs: GraphBatch) -> np.ndarray:
    """Beside other processes that want the same cores."""
    with one_torch_thread(distances=1):
        return function(graphs)
