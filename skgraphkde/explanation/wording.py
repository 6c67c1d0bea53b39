"""Wording: node features, nodes and edges -> their names in reasons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from skgraphkde._messages import printable, shown
from skgraphkde._words import Words, category_text, category_verb, usually
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.schema import FittedSchema
from skgraphkde.core.points.features import NodeFeatures
from skgraphkde.core.views.categories import CategoryCounts, Table, Vocabulary
from skgraphkde.explanation.facts import Fact, fact_of_value
from skgraphkde.explanation.naming import (
    compared_words,
    edge_category,
    edge_name,
    edge_words,
    names_of_nodes,
    pair_words,
    shared_words,
    surrounding_names,
)

# Characters of a reason: two lines. The rest opens.
LONGEST = 160
# What edges are called that are in no group of their own.
RARER = " of rarer kinds"
# What comes after it is not of others that have the same.
HERE = ", here "
# A bracket that is cut, behind a word.
CUT_BRACKET = re.compile(r"(?<=[^\s:,;])(?:\.\.\.)? \((?:[^()]|\([^()]*\)|\((?=[^()]*$))*\.\.\.$")
# What no known graph has; the page explains these words.
NEVER_SEEN = "never seen"
ONE = {"are": "is", "have": "has", "lack": "lacks"}


class Feature(NamedTuple):
    """A column of node features, and how a reason states its mean over a graph."""

    name: str
    form: str = ""  # "share", "count", "mean", "missing"; "" for one that no reason states
    words: str = ""  # the end of a sentence about nodes, or the number
    fact: Fact = ""  # that it states
    of: str = "node"  # or "edge"
    kind: str = ""  # of these edges, in words
    group: int = 0  # that these edges are


def features_in_words(features: NodeFeatures, schema: FittedSchema) -> list[Feature]:
    """The columns of fitted features, in their order.

    Parameters
    ----------
    features : NodeFeatures
    schema : FittedSchema
        Of the graphs.
    """
    found = []
    for block in features.blocks_:
        columns = _columns_in_words(block, schema)
        found += [Feature(name, *words) for name, words in zip(block.names, columns, strict=True)]
    return found


def _columns_in_words(block: Any, schema: FittedSchema) -> Iterator[tuple]:
    """Generate the fields of the Feature of each column, but for its name."""
    if block.kind == "label" and block.weights is None:
        for category, values in zip(block.categories, block.vocabularies, strict=True):
            for value in values:
                fact = fact_of_value("node", category, value, values)
                yield "share", category_verb(category, value), fact
    elif block.kind == "edge":
        yield from _edge_columns_in_words(block, schema)
    elif block.kind in ("attribute", "raw_attribute"):
        names = [block.columns[j] for j in block.used]
        for name in names:
            yield "mean", name, ("node", name)
        for name in names if block.indicates else ():
            yield "missing", name, ("missing", "node", name)
    else:  # degrees, random walks, projections and constants
        for _ in block.names:
            yield ()


def _edge_columns_in_words(block: Any, schema: FittedSchema) -> Iterator[tuple]:
    """The same of the columns of edges: numbers over all edges of a group, in any direction."""
    nouns = [("count", "", block.groups)] if block.groups.n_relations else []
    for column in [block.columns[j] for j in block.used]:
        nouns.append(("mean", column, block.number_groups))
        if block.indicates:
            nouns.append(("missing", column, block.number_groups))
    for form, noun, groups in nouns:
        for k, value in enumerate((*groups.categories, *("",) * groups.has_others) or ("",)):
            kind = ""
            if k < len(groups.categories):
                values = value if len(schema.edge_categories) > 1 else (value,)
                kind = f" ({', '.join(map(edge_category, schema.edge_categories, values))})"
            elif groups.categories:
                kind = RARER
            fact: Fact = (form, "edge", noun, kind)
            if form == "mean":
                fact = "edge", noun
            if form == "count" and k < len(groups.categories):  # as of a value never seen
                fact = "edge", "+".join(schema.edge_categories), value
            is_size = form == "count" and not groups.categories
            yield () if is_size else (form, noun, fact, "edge", kind, k)
        for _ in groups.names if groups.directed else ():  # of what comes in, which is the same
            yield ()


def feature_words(
    feature: Feature, own: float, known: np.ndarray, n: int, words: Words, others: str
) -> tuple[str, str]:
    """A reason: the mean of a node feature, and what is usual.

    Parameters
    ----------
    feature : Feature
    own : float
    known : ndarray of shape (n_known,)
        NaN where a graph has none.
    n : int
        Number of nodes of the graph; of edges, for a number that edges lack.
    words : Words
    others : str
        What the known graphs are called.
    """
    form = feature.form
    what = feature.words
    k = round(own * n)
    number, usual = usually(own, known, percent=form in ("share", "missing"))
    n_have = np.count_nonzero(known > 0)
    have = f"{n_have} of {len(known)} {others} have"
    if form == "share":
        verb, _, rest = what.partition(" ")
        if not k:
            return f"no {words.node} {ONE[verb]} {rest}; {have} one", ""
        if not n_have:
            value = f"{'no ' if verb == 'lack' else ''}{rest} ({k} of {words.counted(n, 'node')})"
            return f"{NEVER_SEEN} in {len(known)} {others}: {value}", ""
        if k == 1:  # others may have one, too, among more
            verb = ONE[verb]
            usual = usual.partition(", ")[0]
        return f"{k} of {words.counted(n, 'node')} ({number}) {verb} {rest}", usual
    if form == "missing":
        of = words.counted(n, feature.of) + feature.kind
        only = "only " if k and own < np.nanmedian(known) else ""
        return f"{what} is missing at {only}{k or 'none'} of {of} ({number})", usual
    if form == "count":
        if not k:
            return f"no {words.edge}{feature.kind}; {have} one", ""
        edges = words.counted(k, "edge") + feature.kind
        return f"{edges}, {number} per {words.node}", usual
    of = words.nodes if feature.of == "node" else words.edges + feature.kind
    return f"average {what} of {of}: {number}", usual


def in_two_lines(
    start: str, names: Sequence[str], between: str = ", ", end: str = ""
) -> tuple[str, str]:
    """A reason with as many names as fit in two lines, and with all; "" if these are all.

    A bracket is left out rather than cut.

    Parameters
    ----------
    start : str
    names : sequence of str
    between : str, default=", "
        What is written between names.
    end : str, default=""
    """
    start, *names, end = map(printable, (start, *names, end))
    whole = start + between.join(names) + end
    if len(whole) <= LONGEST:
        return whole, ""
    for k in range(len(names) - 1, 0, -1):
        text = f"{start}{between.join(names[:k])}{between}and {len(names) - k} more{end}"
        if len(text) <= LONGEST:
            return text, whole
    end = f"{between}and {len(names) - 1} more{end}" if len(names) > 1 else end
    first = shown(start + "".join(names[:1]), LONGEST - len(end) - 3)
    return CUT_BRACKET.sub("...", first) + end, whole


def part_names(graph: GraphBatch, table: Table, counts: CategoryCounts, words: Words) -> list[str]:
    """Names of the nodes, or of the arcs, by their categories.

    Parameters
    ----------
    graph : GraphBatch
        Batch of one graph.
    table : Table
        One of `counts`.
    counts : CategoryCounts
        Of the references. An edge of categories that no edge of these has is named by them alone.
    words : Words
        For nodes and edges.
    """
    vocabulary = counts.vocabulary
    category = table.category
    if table.role == "same":
        return _pair_names(graph, table, counts)
    if table.role == "surroundings":
        texts = surrounding_names(graph, _end_names(graph, table, vocabulary), words)
        main = vocabulary.names.index(vocabulary.named)
        # The value of another category stands for a node.
        return texts if main in table.categories else [f"{words.node} {x}" for x in texts]
    if table.role == "edges":
        ends = _end_names(graph, table, vocabulary)
        return _edge_names(graph, vocabulary.edge_labels, ends, words)
    used, place = np.unique(np.asarray(graph.data(table.part).labels), return_inverse=True)
    if category:
        all_values = graph.values_by_category(table.part)[category]
        values = [all_values[code] for code in used.tolist()]
        texts = [category_text(category, value) for value in values]
        if (table.part, category) == ("edge", "label"):  # which has no name
            texts = [edge_words([category], value, words.edge) for value in values]
    else:
        values = [graph.label_names[code] for code in used.tolist()]
        texts = [compared_words(graph.schema.node_categories, x) for x in values]
    return [texts[k] for k in place.tolist()]


def _pair_names(graph: GraphBatch, table: Table, counts: CategoryCounts) -> list[str]:
    """The steps of each pair with the same value of a category."""
    vocabulary = counts.vocabulary
    [i] = table.categories
    first, second = counts.ends(graph, table)
    steps = vocabulary.steps_of_pairs(graph, first, second)
    pairs = zip(steps, shared_words(vocabulary, graph, i, first), strict=True)
    return [f"{pair_words(vocabulary, two, i)}{HERE}{value}" for two, value in pairs]


def _end_names(graph: GraphBatch, table: Table, vocabulary: Vocabulary) -> list[str]:
    """The categories of each node that a table compares, in words; "" without categories."""
    if graph.labels is None:
        return [""] * graph.n_nodes
    return names_of_nodes(vocabulary, graph, table.categories)


def _edge_names(graph: GraphBatch, known: tuple, ends: list[str], words: Words) -> list[str]:
    """The category of each arc and those of its ends, in words."""
    codes = (
        np.zeros(graph.adjacency.nnz, dtype=int) if graph.edge_labels is None else graph.edge_labels
    )
    categories = graph.schema.edge_categories
    values = graph.edge_label_names
    texts = []
    by_kind = dict[tuple[int, str, str], str]()
    arcs = zip(codes.tolist(), graph.source_of_arc, graph.adjacency.indices, strict=True)
    for code, u, v in arcs:
        kind = code, ends[u], ends[v]
        if kind not in by_kind:
            by_kind[kind] = edge_name(graph, *kind, words.edge)
            has_label = graph.edge_labels is not None
            if has_label and (values[code] not in known or graph.labels is None):
                by_kind[kind] = edge_words(categories, values[code], words.edge)
        texts.append(by_kind[kind])
    return texts


def ways(
    graph: GraphBatch, table: Table, counts: CategoryCounts, words: Words, arcs: np.ndarray
) -> list[str]:
    """Names of arcs, of which those that follow each other are one: "a -> b -> c".

    Parameters
    ----------
    graph : GraphBatch
        Batch of one graph, directed.
    table : Table
        One of edges.
    counts, words
        As for :func:`part_names`.
    arcs : ndarray of int
    """
    texts = part_names(graph, table, counts, words)
    ends = _end_names(graph, table, counts.vocabulary)
    found: list[str] = []
    at: dict[tuple[int, int], int] = {}  # the last nodes of these, and the categories of edges
    for arc in arcs.tolist():
        u = int(graph.source_of_arc[arc])
        v = int(graph.adjacency.indices[arc])
        code = 0 if graph.edge_labels is None else int(graph.edge_labels[arc])
        k = at.pop((u, code), -1)
        step = f" -> {ends[v]}"
        if k >= 0 and texts[arc].endswith(step):
            found[k] += step
        else:
            k = len(found)
            found.append(texts[arc])
        at[v, code] = k
    return found


def checked_names(names: Any, n: int, *, of: str = "graphs", what: str = "names") -> list:
    """The names in their order, one for each of n graphs, or an error that says what they are.

    A pandas Series is taken by position, whatever its index.
    """
    found: Any = f"a {type(names).__name__}, which has no order"
    if isinstance(names, str | bytes):
        found = "one text"
    elif isinstance(names, Iterable) and not isinstance(names, Mapping | Set):
        in_order = list(names)
        if len(in_order) == n:
            return in_order
        found = len(in_order)
    raise ValueError(f"{what} must have one name for each of {n} {of}, got {found}")
