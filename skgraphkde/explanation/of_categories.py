"""Words for categories: what nearly all known graphs have, what none has, and what few have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set

import numpy as np

from skgraphkde._messages import listed
from skgraphkde._words import Words
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.base import Facts, Reason
from skgraphkde.core.views.categories import LISTED, Table, places
from skgraphkde.explanation.facts import Fact, fact_of_value, facts_of_parts
from skgraphkde.explanation.properties import FEWEST, Properties
from skgraphkde.explanation.wording import HERE, NEVER_SEEN, part_names, ways

# The words for programs, whatever people say.
PLAIN = Words()
# No reason, after all.
NONE = Reason("", "")


class CategoryWords:
    """Reasons of some graphs about their categories.

    Parameters
    ----------
    properties : Properties
        Of the references.
    graphs : GraphBatch
    own : ndarray of shape (n_graphs,)
        The training graph that each graph is, which is left out; -1 if it is none.
    """

    def __init__(self, properties: Properties, graphs: GraphBatch, own: np.ndarray) -> None:
        self.properties = properties
        self.graphs = graphs
        self.own = own
        self.words = properties.words

    def missing(self, i: int, table: Table) -> Reason:
        """What nearly all known graphs have, the most common first."""
        properties = self.properties
        counts = properties.counts
        graph = self.graphs[i]
        n_graphs = properties.common[table.name].n_graphs
        lacks = properties.lacking(graph, list(counts.parts(graph)))[table.name]
        index = np.flatnonzero(lacks)
        index = index[np.argsort(-n_graphs[index], kind="stable")]
        names = []
        plain = []
        about: list[Fact] = []
        for x in index.tolist():
            example, part = properties.example_of(table, x)
            names.append(part_names(example, table, counts, self.words)[part])
            plain.append(part_names(example, table, counts, PLAIN)[part])
            fact = facts_of_parts(example, table, counts)[part]
            if table.category:
                values = counts.vocabulary.values[table.part][table.category]
                fact = fact_of_value(table.part, table.category, fact[-1], tuple(values))
            about.append(fact)
        start = self._start_of_missing(table, names[0])
        n_of = dict(zip(names, n_graphs[index], strict=True))
        seen = self._seen("unlike", n_of, i, table)
        facts = Facts(table.part, n_known=int(n_graphs[index[0]]))
        return Reason(listed(plain, LISTED), start, about=tuple(about), names=seen, facts=facts)

    def new(self, i: int, table: Table, stated: Set[Fact]) -> Reason:
        """What no known graph has; what other reasons have stated is not named again."""
        counts = self.properties.counts
        words = self.words
        graph = self.graphs[i]
        keys, own, once = self._parts(i, table)
        index = np.flatnonzero(once & self.properties.new_parts(graph, table, keys, own))
        if table.role == "surroundings":  # in the words of the first table in which they are new
            for other, of_other, _ in counts.parts(graph):
                is_first = other.role == "surroundings"
                if is_first and other.known.is_new(of_other, own)[index].all():
                    table = other
                    break
        texts, plain = (part_names(graph, table, counts, x) for x in (self.words, PLAIN))
        source = graph.source_of_arc
        target = graph.adjacency.indices
        is_told = np.array([("arc", x) in stated for x in range(len(target))], dtype=bool)
        if table.part == "edge":
            index = index[~is_told[index]]
        if table.role == "surroundings":
            index = np.setdiff1d(index, [source[is_told], target[is_told]])
        if not len(index):
            return NONE
        names, codes = (
            [name for name, _ in Counter(of[x] for x in index).most_common()]
            for of in (texts, plain)
        )
        start = NEVER_SEEN
        about: list[Fact] = ["surroundings"]
        if table.role != "surroundings":
            facts_of = facts_of_parts(graph, table, counts)
            about = list(dict.fromkeys(facts_of[x] for x in index))
        if table.category:  # of two values, the share of the other follows
            about.append((table.part, table.category))
        elif table.role == "together":
            at_nodes = np.flatnonzero(np.isin(source, index) | np.isin(target, index))
            about += [("arc", x) for x in at_nodes.tolist()]
        if table.part == "edge":
            about += [("arc", x) for x in index.tolist()]
            if table.role == "edges" and graph.directed:
                names, codes = (ways(graph, table, counts, x, index) for x in (words, PLAIN))
            told = {texts[x] for x in index}
            n = sum(texts[x] in told for x in np.flatnonzero(once))
            if n > 1:
                start = f"{self._counted_edges(n, len(told))} {NEVER_SEEN}"
            names = list(dict.fromkeys(names))
            codes = list(dict.fromkeys(codes))
        where = self._places(graph, table, index)
        facts = Facts("node" if table.part == "pair" else table.part, n_known=0)
        what = listed(codes, LISTED)
        return Reason(what, f"{start}: ", "", *where, tuple(about), tuple(names), facts)

    def rare(self, i: int, table: Table) -> Reason:
        """What few known graphs have, the rarest first."""
        counts = self.properties.counts
        graph = self.graphs[i]
        keys, own, once = self._parts(i, table)
        is_rare, n_graphs = self.properties.rare_parts(graph, table, keys, own)
        texts, plain = (part_names(graph, table, counts, x) for x in (self.words, PLAIN))
        index = np.flatnonzero(once & is_rare)
        index = index[np.argsort(n_graphs[index], kind="stable")]
        few = index[n_graphs[index] <= max(FEWEST * self.properties.n_training_graphs, 1)]
        start, index = ("rare: ", few) if len(few) else ("unusual: ", index)
        n_of = {texts[x]: n_graphs[x] for x in index}
        where = self._places(graph, table, index)
        if table.part == "edge":
            about: list[Fact] = [("arc", x) for x in index.tolist()]
            if len(index) > 1:
                start = f"{self._counted_edges(len(index), len(n_of))} {start}"
        else:
            facts_of = facts_of_parts(graph, table, counts)
            about = list(dict.fromkeys(facts_of[x] for x in index))
        what = listed([*dict.fromkeys(plain[x] for x in index)], LISTED)
        part = "node" if table.part == "pair" else table.part
        facts = Facts(part, n_known=int(n_graphs[index[0]]))
        seen = self._seen("in", n_of, i, table)
        return Reason(what, start, "", *where, tuple(about), seen, facts)

    def _start_of_missing(self, table: Table, name: str) -> str:
        """How a sentence begins that goes on with the first name: "no node with ", "no "."""
        noun = f"{getattr(self.words, table.part)} "
        if table.part == "edge" and self.properties.counts.vocabulary.edge_labels:
            noun = ""  # their names have it
        if table.category not in ("", "label"):
            is_truth = name in (table.category, f"not {table.category}")
            noun += "that is " if is_truth else "with "
        return f"no {noun}"

    def _seen(self, how: str, n_of: dict[str, int], i: int, table: Table) -> tuple[str, ...]:
        """Names, each with the number of other training graphs that have it."""
        # Names of pairs end with a value of this graph only.
        are_pairs = table.part == "pair"
        n_known = self.properties.n_training_graphs - (self.own[i] >= 0)
        others = f" other {self.words.graphs}"
        seen = list[str]()
        for name, n in n_of.items():
            base, here, who = name.partition(HERE) if are_pairs else (name, "", "")
            many = str(n) if seen else f"{n} of {n_known}"
            many = f"all {n}" if n == n_known else many
            seen.append(f"{base} ({how} {many}{'' if seen else others}){here}{who}")
        return tuple(seen)

    def _parts(self, i: int, table: Table) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The colors of a graph's parts of a table, its reference, and a mask: edges once."""
        graph = self.graphs[i]
        keys, _ = self.properties.counts.colors(graph, table)
        once = np.ones(len(keys), dtype=bool)
        if table.part == "edge" and not graph.directed:
            once = graph.source_of_arc < graph.adjacency.indices
        return keys, np.full(len(keys), self.own[i]), once

    def _places(self, graph: GraphBatch, table: Table, index: np.ndarray) -> tuple[tuple, tuple]:
        """Positions of some parts of a table, see :func:`places`; nodes, for pairs of these."""
        if table.part == "pair":
            ends = np.column_stack(self.properties.counts.ends(graph, table))
            return places(graph, "node", np.unique(ends[index]))
        return places(graph, table.part, index)

    def _counted_edges(self, n: int, n_kinds: int) -> str:
        """A number of edges, and of their kinds, if both say something: "4 bonds of 2 kinds"."""
        kinds = f" of {n_kinds} kinds" if 1 < n_kinds < n else ""
        return f"{self.words.counted(n, 'edge')}{kinds}"
