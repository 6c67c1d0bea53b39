"""Graph files: paths of files and folders -> graphs, one at a time.

A module has the readers of a format, or of two: GraphML and GEXF, GML, node-link JSON, CSV, tables
of many graphs, molecules, and zips of the TU collection. ``walk`` finds files and reads them.
"""

from skgraphkde.reading.files.tables import TableFiles
from skgraphkde.reading.files.walk import (
    Source,
    find_files,
    iter_graphs,
    node_link_graphs,
    read_batch,
)

__all__ = [
    "Source",
    "TableFiles",
    "find_files",
    "iter_graphs",
    "node_link_graphs",
    "read_batch",
]
