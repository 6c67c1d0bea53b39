"""GML files -> networkx graphs, directed or not."""

from __future__ import annotations

import re
from pathlib import Path

import networkx as nx

from skgraphkde.graphs.assembly import names_in_schema
from skgraphkde.graphs.files.common import Graphs, read_content
from skgraphkde.graphs.schema import GraphSchema

# Whether a graph is directed, or has parallel edges, as some programs write it before the nodes:
# networkx takes any text for yes.
QUOTED = re.compile(r'\b(directed|multigraph)\s+"(0|1|true|false)"', re.IGNORECASE)
FIRST_NODE = re.compile(r"(?=\bnode\s*\[)")


def read_gml(path: Path, schema: GraphSchema) -> Graphs:
    """Read the graph of a file. "label" names its nodes, unless it is named in the schema.

    Parameters
    ----------
    path : Path
    schema : GraphSchema
        The names of what is read.
    """
    text = read_content(path).decode("utf-8")
    head, *rest = FIRST_NODE.split(text, maxsplit=1)
    graph = nx.parse_gml("".join([QUOTED.sub(_unquoted, head), *rest]), label=None)
    if "label" in names_in_schema(schema, "node"):
        return [("", graph)]
    names = nx.get_node_attributes(graph, "label")
    are_ids = len(set(names.values())) == len(graph)
    if names and not are_ids and schema.node_categories in ("auto", "all"):
        raise ValueError(
            "its node labels cannot be the names of its nodes, because some repeat or are missing; "
            "say whether to read them: name 'label' or other node_categories in the schema, or "
            "None of them"
        )
    for data in graph.nodes.values():
        data.pop("label", None)
    return [("", nx.relabel_nodes(graph, names) if are_ids else graph)]


def _unquoted(match: re.Match[str]) -> str:
    """The number 0 or 1 in place of a quoted answer."""
    return f"{match[1].lower()} {int(match[2].lower() in ('1', 'true'))}"
