"""Graph files: paths of files and folders -> graphs, one at a time.

There is one module per file format: GraphML, GML, GEXF, node-link JSON, edge lists as CSV, and zips
of the TU collection.
"""

from skgraphkde.graphs.files.find import find_files
from skgraphkde.graphs.files.tables import Source, TableFiles
from skgraphkde.graphs.files.walk import (
    FileGraph,
    attempt,
    chunks,
    iter_graphs,
    node_link_graphs,
    read_batch,
    read_batch_and_ids,
    read_files,
)

__all__ = [
    "FileGraph",
    "Source",
    "TableFiles",
    "attempt",
    "chunks",
    "find_files",
    "iter_graphs",
    "node_link_graphs",
    "read_batch",
    "read_batch_and_ids",
    "read_files",
]
