"""GML files -> networkx graphs, directed or not."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import networkx as nx

from skgraphkde.computing.warn import warn
from skgraphkde.graphs.assembly import names_in_schema
from skgraphkde.graphs.files.common import Graphs, read_content
from skgraphkde.graphs.schema import GraphSchema

# Whether a graph is directed, or has parallel edges, as some programs write it before the nodes:
# networkx takes any text for yes.
QUOTED = re.compile(r'\b(directed|multigraph)\s+"(0|1|true|false)"', re.IGNORECASE)
FIRST_NODE = re.compile(r"(?=\bnode\s*\[)")
GRAPH = re.compile(r"\bgraph\s*\[")


def read_gml(path: Path, schema: GraphSchema) -> Graphs:
    """Read the graph of a file. "label" names its nodes, unless it is named in the schema.

    Labels that repeat are followed by the id in parentheses.

    Parameters
    ----------
    path : Path
    schema : GraphSchema
        The names of what is read.
    """
    text = read_content(path).decode("utf-8-sig")
    head, *rest = FIRST_NODE.split(text, maxsplit=1)
    graph = _parsed(QUOTED.sub(_unquoted, head), "".join(rest))
    if "label" in names_in_schema(schema, "node"):
        return [("", graph)]
    labels = nx.get_node_attributes(graph, "label")
    counts = Counter(labels.values())
    names = {id: id for id in graph}
    names |= {id: x if counts[x] == 1 else f"{x} ({id})" for id, x in labels.items()}
    if len(counts) < len(labels) and schema.node_categories in ("auto", "all"):
        warn(
            "node labels repeat in GML files; they are names there, and whatever is odd in them is "
            "not found: to read them, name 'label' as a category of nodes (node_categories='label' "
            "in the schema, --node-category label in the shell)"
        )
    for data in graph.nodes.values():
        data.pop("label", None)
    are_names = len(set(names.values())) == len(graph)
    return [("", nx.relabel_nodes(graph, names) if are_names else graph)]


def _parsed(head: str, rest: str) -> nx.Graph:
    """The graph of a text; a multigraph if edges are parallel, whatever the text says."""
    try:
        graph = nx.parse_gml(head + rest, label=None)
    except nx.NetworkXError as error:
        *_, start = [0, *(match.end() for match in GRAPH.finditer(head))]
        own = re.sub(r"\bmultigraph\s+0", "", head[start:])
        try:
            graph = nx.parse_gml(f"{head[:start]} multigraph 1 {own}{rest}", label=None)
        except nx.NetworkXError:
            raise error from None
    if graph.is_multigraph():  # networkx takes "key" for the number of a parallel edge
        for *_, key, data in graph.edges(keys=True, data=True):
            data |= {} if isinstance(key, int) else {"key": key}
    return graph


def _unquoted(match: re.Match[str]) -> str:
    """The number 0 or 1 in place of a quoted answer."""
    return f"{match[1].lower()} {int(match[2].lower() in ('1', 'true'))}"
