"""Graph files: paths of files and folders -> graphs, one at a time.

There is one module per file format: GraphML, GML, node-link JSON, and zips of the TU collection.
"""

from skgraphkde.graphs.files.reading import Reading
from skgraphkde.graphs.files.walk import (
    FileGraph,
    attempt,
    chunks,
    find_files,
    iter_graphs,
    read_batch,
    read_files,
)

__all__ = [
    "FileGraph",
    "Reading",
    "attempt",
    "chunks",
    "find_files",
    "iter_graphs",
    "read_batch",
    "read_files",
]
