"""The parts of a GraphBatch in a file, checked: State -> arguments of the constructor."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.graphs.arrays import LARGEST
from skgraphkde.graphs.schema import FittedSchema
from skgraphkde.persistence import State, check_distinct


def checked_parts(state: State) -> dict[str, Any]:
    """The parts of a batch in a file."""
    schema = state.take_instance("schema", FittedSchema)
    node_ptr = state.take_array("node_ptr", np.int64, (None,))
    adjacency = state.take("adjacency", sp.csr_array)
    n_nodes, n_arcs = adjacency.shape[0], adjacency.nnz
    state.check(adjacency.shape == (n_nodes, n_nodes), "adjacency is not square")
    is_ptr = len(node_ptr) > 1 and node_ptr[0] == 0 and node_ptr[-1] == n_nodes
    state.check(is_ptr and (np.diff(node_ptr) > 0).all(), "node_ptr does not ascend")
    graph_of_node = np.repeat(np.arange(len(node_ptr) - 1), np.diff(node_ptr))
    row = np.repeat(np.arange(n_nodes), np.diff(adjacency.indptr))
    within = graph_of_node[row] == graph_of_node[adjacency.indices]
    state.check(within.all(), "adjacency has an edge between graphs")
    weights = adjacency.data
    are_weights = weights.dtype == np.float64 and ((weights > 0) & (weights <= LARGEST)).all()
    state.check(are_weights, "adjacency has weights that are not positive numbers")
    steps = np.diff(row * n_nodes + adjacency.indices)
    has_data = bool(schema.edge_categories or schema.edge_numbers)
    is_sorted = (steps >= 0).all() if has_data else (steps > 0).all()
    state.check(is_sorted, "the arcs of adjacency are not sorted")
    state.check((row != adjacency.indices).all(), "adjacency has a self-loop")
    is_symmetric = schema.directed or not (adjacency != adjacency.T).nnz
    state.check(is_symmetric, "adjacency is not that of undirected graphs")
    parts = {"schema": schema, "node_ptr": node_ptr, "adjacency": adjacency}
    for prefix, n_rows, categories, numbers in (
        ("", n_nodes, schema.node_categories, schema.node_numbers),
        ("edge_", n_arcs, schema.edge_categories, schema.edge_numbers),
    ):
        labels = state.take_optional(f"{prefix}labels", np.ndarray)
        names = state.take(f"{prefix}label_names", tuple)
        state.check((labels is None) == (not categories), f"{prefix}labels are not as in schema")
        check_distinct(names, f"GraphBatch: {prefix}label_names has a label twice")
        if labels is not None:
            is_code = labels.dtype == np.int64 and labels.shape == (n_rows,)
            is_code = is_code and ((labels >= 0) & (labels < len(names))).all()
            state.check(is_code, f"{prefix}labels do not fit {prefix}label_names")
            is_joint = len(categories) < 2 or all(
                type(x) is tuple and len(x) == len(categories) for x in names
            )
            state.check(is_joint, f"{prefix}label_names are not tuples")
        attributes = state.take_optional(f"{prefix}attributes", np.ndarray)
        width = sum(width for _, width in numbers)
        state.check((attributes is None) == (width == 0), f"{prefix}attributes: not as in schema")
        if attributes is not None:
            fits = attributes.dtype == np.float64 and attributes.shape == (n_rows, width)
            values = np.abs(attributes) if fits else np.array(np.inf)
            usable = (values <= LARGEST) | ((schema.missing == "indicate") & np.isnan(values))
            state.check(usable.all(), f"{prefix}attributes do not fit, or are not finite")
        parts |= {f"{prefix}labels": labels, f"{prefix}label_names": names}
        parts[f"{prefix}attributes"] = attributes
    return parts
