"""Reading: graphs of many kinds, tables and files -> one array type, GraphBatch."""

from skgraphkde.reading.cases import split_cases
from skgraphkde.reading.logs import read_log
from skgraphkde.reading.readers import read_graphs
from skgraphkde.reading.tables import read_tables

__all__ = ["read_graphs", "read_log", "read_tables", "split_cases"]
