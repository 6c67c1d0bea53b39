"""Graph files: paths of files and folders -> graphs, one at a time.

A module has the readers of a format, or of two: GraphML and GEXF, GML, node-link JSON, CSV, tables
of many graphs, molecules, and zips of the TU collection. ``walk`` finds files, ``sources`` reads
one of them, and ``batches`` all.
"""

from skgraphkde.reading.files.batches import iter_graphs, read_batch
from skgraphkde.reading.files.sources import Source, node_link_graphs
from skgraphkde.reading.files.tables import TableFiles
from skgraphkde.reading.files.walk import find_files

__all__ = [
    "Source",
    "TableFiles",
    "find_files",
    "iter_graphs",
    "node_link_graphs",
    "read_batch",
]
