"""Files of TU data sets that several tests write."""

import zipfile
from pathlib import Path

import numpy as np

from skgraphkde.core.graphs import GraphBatch


def tu_files(graphs: GraphBatch, classes=None) -> dict[str, str]:
    """The contents of a data set's files; edge data, if graphs have them."""
    edges = graphs.adjacency.tocoo()
    lines = {
        "A": np.column_stack([edges.row, edges.col]) + 1,
        "graph_indicator": graphs.graph_of_node + 1,
        "graph_labels": np.zeros(len(graphs), int) if classes is None else np.array(classes),
        "node_labels": graphs.labels,
        "node_attributes": graphs.attributes,
        "edge_labels": graphs.edge_labels,
        "edge_attributes": graphs.edge_attributes,
    }
    return {part: text(rows) for part, rows in lines.items() if rows is not None}


def text(rows) -> str:
    """A line for each row, with commas."""
    rows = rows.reshape(len(rows), -1).tolist()
    return "".join(", ".join(map(repr, row)) + "\n" for row in rows)


def write_zip(folder: Path, files: dict[str, str], name="TINY", prefix="TINY/TINY_") -> Path:
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for part, text in files.items():
            archive.writestr(f"{prefix}{part}.txt", text)
    return folder
