"""Namesakes: the view of the node that is linked unlike those of the same name in other graphs."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np

from skgraphkde._utils import blocks
from skgraphkde._words import USUAL
from skgraphkde.core.graphs.arrays import find_in
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.names import may_compare_names, recurring_names, with_name_keys
from skgraphkde.core.specification import StrOptions, at_least
from skgraphkde.core.views.base import Context, Property, View

# Names tell how nodes are linked if they explain such a share of the variance of their links.
EXPLAINED = 0.5
# Numbers of links are cut to so many times the size of the 95th of a hundred.
FAR_OUT = 3.0
MOST_USUAL = 0.95
# A node is missed where more than such a share of the graphs has one of its name.
USUALLY_THERE = 0.5


class Links(NamedTuple):
    """Where the links between named nodes of some graphs are, and their numbers."""

    is_there: np.ndarray  # (n_graphs, n_names), 1.0 for a name that a graph has
    graph: np.ndarray  # (n_links,)
    source: np.ndarray  # (n_links,), places of names
    target: np.ndarray  # (n_links,)
    numbers: np.ndarray  # (n_numbers, n_links): the weight or 1, and the numbers of the edge
    are_twice: bool  # undirected, with each link in both directions

    def turned(self) -> Self:
        """The same links, from their targets to their sources."""
        return self._replace(source=self.target, target=self.source)

    def totals(self, j: int) -> np.ndarray:
        """Sum of a number over the links of each name in either direction, (n_graphs, n_names)."""
        shape = self.is_there.shape
        at = self.graph * shape[1]
        found = np.bincount(at + self.source, self.numbers[j], self.is_there.size)
        found += np.bincount(at + self.target, self.numbers[j], self.is_there.size)
        return found.reshape(shape) / 2 if self.are_twice else found.reshape(shape)

    def row(self, j: int, name: int) -> np.ndarray:
        """One number of the links from a name to all others, shape (n_graphs, n_names)."""
        found = np.zeros(self.is_there.shape)
        is_from = self.source == name
        found[self.graph[is_from], self.target[is_from]] = self.numbers[j, is_from]
        return found


class Usual(NamedTuple):
    """One number of the links between pairs of named nodes, over the training graphs."""

    means: np.ndarray  # (n_names, n_names), where both nodes are there; 0 where no link is
    variances: np.ndarray  # (n_names, n_names)
    typical: float  # the mean square of the number of a link
    limit: float  # larger numbers are cut to this one
    explained: float  # the share of the variance that the names explain

    def cut(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers, of which larger ones than the limit are cut to it."""
        return np.clip(numbers, -self.limit, self.limit)


class Odd(NamedTuple):
    """The named node of a graph that is least like its namesakes, and these."""

    key: np.uint64  # of the name
    node: int  # in its graph; -1 if the graph has none of this name
    number: int  # which number of its links is unusual: 0 is their weight, or that they are there
    n_known: int  # training graphs with a node of this name
    n_odd: int = 1  # its links that are at least half as odd as the oddest
    total: float = 0.0  # of the number over its links, in one direction
    known: np.ndarray = np.empty(0)  # (n_known,), the same of its namesakes
    neighbor: int = -1  # the node to which its link is most unusual
    is_turned: bool = False  # True if that link comes from the neighbor
    has_link: bool = False  # whether it is there
    value: float = 0.0  # of its number
    known_values: np.ndarray = np.empty(0)  # (n_both,), where both nodes are there; 0 for no link


class Shifted(NamedTuple):
    """How many named nodes of a graph have more, or less, in all than nearly all namesakes."""

    number: int  # of which number of links
    n_names: int  # that the graph has
    above: np.ndarray  # (n_above,), nodes, that which is farthest out first
    below: np.ndarray  # (n_below,)
    total: float  # of the first node of the longer one
    known: np.ndarray  # (n_known,), the same of its namesakes


class Namesakes(View):
    """The node whose links are least like those of the nodes with the same name.

    Where nodes have names that recur from graph to graph, as regions of brains, services and
    departments do, a node is compared with its namesakes. The weights of its links (1 if they have
    none, and 0 where there is no link) to the other named nodes of the graph are compared with
    those of the training graphs that have both nodes: the ratio of a node is the mean of the
    squared deviations from the mean, each in units of the variance, which counts one more graph
    with a typical weight. A node that more than half of the graphs have, a share q, is missed: this
    counts as q^2 over the variance of being there, q (1 - q) + 1 / n. The score is minus the
    largest of these ratios, minus the largest deviation of one link, or minus the mean of the
    ratios over all names. Numbers of edges are compared as weights are.

    Names are text. They are compared where the means by pairs of names explain at least half of the
    variance of links, and not if they only count the nodes, as n1, n2, ... do.

    Parameters
    ----------
    of : {"node", "link", "graph"}, default="node"
        What is odd: one node, with the largest ratio; one link, or a link that is not there; or the
        graph, with a large mean of the ratios.
    n_names : int, default=1000
        Largest number of names, of which the most frequent ones are compared.

    Attributes
    ----------
    names_ : ndarray of shape (n_names,), uint64
        Keys of the names that are compared: hashes, in ascending order.
    references_ : GraphBatch
        The training graphs.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from skgraphkde import GraphKDEDetector, Namesakes
    >>> usual = np.array([[0, 5, 1], [5, 0, 2], [1, 2, 0]])
    >>> names = ["Insula", "Lingual", "Rectus"]
    >>> scans = [pd.DataFrame(usual * (1 + i / 100), names, names) for i in range(30)]
    >>> detector = GraphKDEDetector(views=("density", Namesakes())).fit(scans)
    >>> swapped = pd.DataFrame(usual * 1.1, names[::-1], names[::-1])
    >>> bool(detector.score_samples([swapped])[0] < detector.training_scores_.min())
    True
    """

    uses_all_graphs = True
    graph_data = ()
    _parameter_constraints: dict = {
        "of": [StrOptions({"node", "link", "graph"})],
        "n_names": [at_least(2, Integral)],
    }

    names_: np.ndarray
    references_: GraphBatch

    def __init__(self, of: str = "node", n_names: int = 1000) -> None:
        self.of = of
        self.n_names = n_names

    @property
    def name(self) -> str:
        """Name of the view for programs."""
        return f"namesakes of {self.of}s"

    def applies_to(self, graphs: GraphBatch) -> bool:
        """True if the names of nodes recur, and tell how these are linked."""
        return _have_names(graphs)

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Learn the links of named nodes.

        Parameters
        ----------
        references : GraphBatch
        context : Context
            Not used.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If names of nodes do not recur.
        """
        if not _have_names(references):
            raise ValueError(
                "Namesakes needs nodes with names, which are text, that recur from graph to graph "
                "and tell how nodes are linked: omit the view"
            )
        keys = references.name_keys
        names = recurring_names(references)
        counts = np.bincount(np.searchsorted(names, keys[np.isin(keys, names)]))
        most = np.argsort(-counts, kind="stable")[: self.n_names]
        self.names_ = names[np.sort(most)]
        self.references_ = references
        return self

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Minus the largest ratio of a name or link, or the mean, see :meth:`View.scores`."""
        if self.of == "link":
            return -self._deviations_of_links(graphs, own >= 0)[0]
        ratios, _ = self._ratios(graphs, own >= 0)
        return -ratios.mean(axis=1) if self.of == "graph" else -ratios.max(axis=1)

    # -- links of namesakes ------------------------------------------------------------------------

    @cached_property
    def _links(self) -> Links:
        return _links_of(self.references_, self.names_)

    @cached_property
    def _n_graphs(self) -> np.ndarray:
        """Number of training graphs that have both names, shape (n_names, n_names)."""
        return self._links.is_there.T @ self._links.is_there

    @cached_property
    def _usual(self) -> list[Usual]:
        return [_usual_of(self._links, x, self._n_graphs) for x in self._links.numbers]

    def _ratios(self, graphs: GraphBatch, is_own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ratios of each graph and name, and which number has them, (n_graphs, n_names) each.

        Parameters
        ----------
        graphs : GraphBatch
        is_own : ndarray of shape (n_graphs,), bool
            Training graphs, which are compared with the others.
        """
        shape = len(graphs), len(self.names_)
        ratios = np.zeros(shape)
        numbers = np.zeros(shape, dtype=np.int64)
        for own in (False, True):
            rows = np.flatnonzero(is_own == own)
            if not len(rows):
                continue
            links = _links_of(graphs[rows], self.names_)
            found = self._ratio_of_absence(links, own)
            which = np.zeros(found.shape, dtype=np.int64)
            for j in self._compared:
                ratio = self._ratio_of_links(links, j, own)
                which[ratio > found] = j
                found = np.maximum(found, ratio)
            ratios[rows] = found
            numbers[rows] = which
        return ratios, numbers

    def _deviations_of_links(
        self, graphs: GraphBatch, is_own: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Largest deviation of a link of each graph, and where it is.

        Parameters
        ----------
        graphs, is_own
            As for :meth:`_ratios`.

        Returns
        -------
        largest : ndarray of shape (n_graphs,)
        where : ndarray of shape (n_graphs, 3), int
            The number of links, and the places of the names at both ends.
        """
        largest = np.zeros(len(graphs))
        where = np.zeros((len(graphs), 3), dtype=np.int64)
        for own in (False, True):
            rows = np.flatnonzero(is_own == own)
            for j in self._compared if len(rows) else ():
                pairs = np.flatnonzero(self._usual[j].means)
                if not len(pairs):
                    pairs = np.zeros(1, dtype=np.int64)  # of the first name and itself, unlinked
                for block in blocks(np.full(len(rows), 8.0 * (len(pairs) + 1))):
                    here = rows[block]
                    links = _links_of(graphs[here], self.names_)
                    found, pair = self._oddest_pairs(links, j, own, pairs)
                    is_larger = found > largest[here]
                    ends = np.column_stack(np.divmod(pair, len(self.names_)))
                    where[here[is_larger]] = np.insert(ends[is_larger], 0, j, axis=1)
                    largest[here] = np.maximum(largest[here], found)
        return largest, where

    def _oddest_pairs(
        self, links: Links, j: int, own: bool, pairs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Largest deviation of a pair of names that each graph has, and which pair it is.

        Parameters
        ----------
        links : Links
        j : int
            Which number of links.
        own : bool
            As for :func:`_deviation`.
        pairs : ndarray of shape (n_pairs,), int
            Those that some training graph links, ascending: others deviate only where a graph
            links them.

        Returns
        -------
        largest : ndarray of shape (n_graphs,)
        pair : ndarray of shape (n_graphs,), int
            The place of its source times the number of names, and that of its target.
        """
        usual = self._usual[j]
        n_names = len(self.names_)
        means = usual.means.ravel()
        variances = usual.variances.ravel()
        n = self._n_graphs.ravel()
        source, target = np.divmod(pairs, n_names)
        of_pairs = means[pairs], variances[pairs], n[pairs]
        without = _deviation(0.0, *of_pairs, usual.typical, own) * (n[pairs] - own >= 2)
        table = links.is_there[:, source] * links.is_there[:, target] * without
        code = links.source * n_names + links.target
        of_links = means[code], variances[code], n[code]
        numbers = usual.cut(links.numbers[j])
        values = _deviation(numbers, *of_links, usual.typical, own) * (n[code] - own >= 2)
        place = find_in(pairs, code)
        is_known = place >= 0
        table[links.graph[is_known], place[is_known]] = values[is_known]
        best = table.argmax(axis=1)
        largest = table[np.arange(len(table)), best]
        pair = pairs[best]
        new = np.flatnonzero(~is_known)
        order = new[
            np.lexsort((-code[new], values[new]))
        ]  # the largest last, of equal ones the first
        for k in order[values[order] > largest[links.graph[order]]].tolist():
            largest[links.graph[k]] = values[k]
            pair[links.graph[k]] = code[k]
        return largest, pair

    @property
    def _compared(self) -> list[int]:
        """The numbers of links that names explain; the first one if they explain none."""
        found = [j for j, x in enumerate(self._usual) if x.explained >= EXPLAINED]
        return found or [0]

    def _ratio_of_absence(self, links: Links, own: bool) -> np.ndarray:
        """Ratios of names that a graph lacks, and 0 for those that it has."""
        n = len(self.references_) - own
        is_absent = 1 - links.is_there
        share = (np.diag(self._n_graphs) - own * links.is_there) / n
        ratio = share**2 / (share * (1 - share) + 1 / n)
        return is_absent * (share > USUALLY_THERE) * ratio

    def _ratio_of_links(self, links: Links, j: int, own: bool) -> np.ndarray:
        """Ratios of names that a graph has, by one number of their links."""
        usual = self._usual[j]
        n = self._n_graphs
        is_known = n - own >= 2
        np.fill_diagonal(is_known, False)
        shape = len(links.is_there), len(self.names_)
        away, n_others = np.zeros((2, *shape))
        for is_turned in (False, True)[: 1 + self.references_.directed]:
            side = links.turned() if is_turned else links
            mean = usual.means.T if is_turned else usual.means
            variance = usual.variances.T if is_turned else usual.variances
            # First as if there were no links, and then what each one changes.
            without = _deviation(0.0, mean, variance, n, usual.typical, own) * is_known
            pair = side.source, side.target
            numbers = usual.cut(side.numbers[j])
            values = _deviation(numbers, mean[pair], variance[pair], n[pair], usual.typical, own)
            change = (values - without[pair]) * is_known[pair]
            place = side.graph * shape[1] + side.source
            away += side.is_there @ without.T
            away += np.bincount(place, change, shape[0] * shape[1]).reshape(shape)
            n_others += side.is_there @ is_known
        return links.is_there * np.maximum(away, 0.0) / np.maximum(n_others, 1)

    # -- findings ----------------------------------------------------------------------------------

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """The largest ratio of a named node, or the mean of all."""
        return [Property("namesakes", self.name, -scores, np.full(len(graphs), 0.1))]

    def oddest(self, graph: GraphBatch, own: int) -> Odd:
        """The named node of a graph that is least like its namesakes, and these.

        Parameters
        ----------
        graph : GraphBatch
            Batch of one graph.
        own : int
            The training graph that it is, to be left out; -1 if it is none.
        """
        ratios, numbers = self._ratios(graph, np.array([own >= 0]))
        name = int(ratios[0].argmax())
        j = int(numbers[0, name])
        is_known = self._links.is_there[:, name] > 0
        if own >= 0:
            is_known[own] = False
        node = self._node_of(graph, name)
        key = self.names_[name]
        if node < 0:
            return Odd(key, node, j, int(is_known.sum()))
        links = _links_of(graph, self.names_)
        found = []
        for is_turned in (False, True)[: 1 + self.references_.directed]:
            side = links.turned() if is_turned else links
            of_known = self._links.turned() if is_turned else self._links
            row = side.row(j, name)[0]
            rows = of_known.row(j, name)[is_known]
            has_both = of_known.is_there[is_known] > 0
            n_both = np.maximum(has_both.sum(axis=0), 1)
            means = (rows * has_both).sum(axis=0) / n_both
            squares = ((rows - means) ** 2 * has_both).sum(axis=0) + self._usual[j].typical
            away = (row - means) ** 2 / (squares / n_both) * side.is_there[0]
            away[name] = 0.0
            other = int(away.argmax())
            of_link = {
                "neighbor": self._node_of(graph, other),
                "is_turned": is_turned,
                "has_link": bool(((side.source == name) & (side.target == other)).any()),
                "value": float(row[other]),
                "known_values": rows[has_both[:, other], other],
            }
            found.append((away, float(row.sum()), rows.sum(axis=1), of_link))
        away, total, totals, of_link = max(found, key=lambda x: float(x[0].max()))
        every = np.concatenate([x[0] for x in found])
        n_odd = int((2 * every >= away.max()).sum())
        return Odd(key, node, j, len(totals), n_odd, total, totals, **of_link)

    def oddest_link(self, graph: GraphBatch, own: int) -> Odd:
        """The pair of named nodes whose link, or its lack, is least like those of namesakes.

        Parameters
        ----------
        graph, own
            As for :meth:`oddest`.
        """
        _, [[j, source, target]] = self._deviations_of_links(graph, np.array([own >= 0]))
        links = _links_of(graph, self.names_)
        known = self._links
        has_both = known.is_there[:, source] * known.is_there[:, target] > 0
        if own >= 0:
            has_both[own] = False
        values = known.row(j, source)[has_both, target]
        return Odd(
            self.names_[source],
            self._node_of(graph, int(source)),
            int(j),
            len(values),
            neighbor=self._node_of(graph, int(target)),
            has_link=bool(((links.source == source) & (links.target == target)).any()),
            value=float(links.row(j, source)[0, target]),
            known_values=values,
        )

    def shifted(self, graph: GraphBatch, own: int) -> Shifted:
        """How many named nodes of a graph have more, or less, in all than nearly all namesakes.

        Parameters
        ----------
        graph : GraphBatch
            Batch of one graph.
        own : int
            As for :meth:`oddest`.
        """
        j = self._compared[0]
        is_there = self._links.is_there > 0
        if own >= 0:
            is_there = np.delete(is_there, own, axis=0)
        known = self._links.totals(j)
        known = known if own < 0 else np.delete(known, own, axis=0)
        links = _links_of(graph, self.names_)
        names = np.flatnonzero((links.is_there[0] > 0) & is_there.any(axis=0))
        if not len(names):
            none = np.zeros(0, dtype=np.int64)
            return Shifted(j, 0, none, none, 0.0, np.zeros(0))
        totals = links.totals(j)[0, names]
        others = np.where(is_there, known, np.nan)[:, names]
        low, high = np.nanquantile(others, USUAL, axis=0)
        middle = np.nanmedian(others, axis=0)
        reach = np.maximum(np.where(totals > middle, high - middle, middle - low), 1e-12)
        order = np.argsort(-np.abs(totals - middle) / reach, kind="stable")
        above = order[(totals > high)[order]]
        below = order[(totals < low)[order]]
        more = above if len(above) >= len(below) else below
        nodes_above, nodes_below = (
            np.array([self._node_of(graph, int(names[i])) for i in x], dtype=np.int64)
            for x in (above, below)
        )
        if not len(more):
            return Shifted(j, len(names), nodes_above, nodes_below, 0.0, np.zeros(0))
        of_first = others[:, more[0]]
        total = float(totals[more[0]])
        known_totals = of_first[~np.isnan(of_first)]
        return Shifted(j, len(names), nodes_above, nodes_below, total, known_totals)

    def name_of(self, odd: Odd) -> str:
        """The name that a graph lacks; "" for a model of a file, which holds no names."""
        ids = self.references_.node_ids
        if ids is None:
            return ""
        first = np.flatnonzero(self.references_.name_keys == odd.key)[0]
        return str(ids[first])

    def _node_of(self, graph: GraphBatch, name: int) -> int:
        """The node of a batch of one graph that has a name, by its place; -1 for none."""
        nodes = np.flatnonzero(graph.name_keys == self.names_[name])
        return int(nodes[0]) if len(nodes) else -1


def compare_names(graphs: GraphBatch) -> GraphBatch:
    """Give training graphs keys of their nodes' names, if names tell how nodes are linked.

    Parameters
    ----------
    graphs : GraphBatch

    Returns
    -------
    GraphBatch
        The same one, if names do not recur, or tell nothing.
    """
    if graphs.node_ids is None or not any(isinstance(x, str) for x in graphs.node_ids):
        return graphs
    named = with_name_keys(graphs, must_have_all=False)
    if not may_compare_names(named):
        return graphs
    links = _links_of(named, recurring_names(named))
    n_graphs = links.is_there.T @ links.is_there
    explained = (_usual_of(links, x, n_graphs).explained for x in links.numbers)
    return named if max(explained) >= EXPLAINED else graphs


def explain_numbers(graphs: GraphBatch) -> bool:
    """True if the names of nodes explain all numbers of edges: namesakes compare these."""
    if not _have_names(graphs) or graphs.edge_attributes is None:
        return False
    links = _links_of(graphs, recurring_names(graphs))
    n_graphs = links.is_there.T @ links.is_there
    explained = (_usual_of(links, x, n_graphs).explained for x in links.numbers[1:])
    return min(explained) >= EXPLAINED


def _have_names(graphs: GraphBatch) -> bool:
    """True if names count, and some recur, as they may not where all other graphs are copies."""
    return graphs.name_keys is not None and len(recurring_names(graphs)) > 0


def _places_of(graphs: GraphBatch, names: np.ndarray) -> np.ndarray:
    """The place of each node's name among sorted names, -1 for others, shape (n_nodes,)."""
    return find_in(names, graphs.name_keys)


def _links_of(graphs: GraphBatch, names: np.ndarray) -> Links:
    """Links between nodes whose names are compared."""
    place = _places_of(graphs, names)
    is_there = np.zeros((len(graphs), len(names)))
    has_name = place >= 0
    is_there[graphs.graph_of_node[has_name], place[has_name]] = 1.0
    ends = place[np.array([graphs.source_of_arc, graphs.adjacency.indices])]
    kept = np.flatnonzero((ends >= 0).all(axis=0))
    numbers = [graphs.adjacency.data]
    if graphs.edge_attributes is not None:
        numbers += list(np.nan_to_num(np.asarray(graphs.edge_attributes)).T)
    source, target = ends[:, kept]
    graph = graphs.graph_of_arc[kept]
    of_links = np.array(numbers)[:, kept]
    return Links(is_there, graph, source, target, of_links, not graphs.directed)


def _usual_of(links: Links, number: np.ndarray, n_graphs: np.ndarray) -> Usual:
    """Mean and variance of a number between each pair of names, and what the pair explains."""
    limit = 0.0
    if len(number):
        limit = float(np.quantile(np.abs(number), MOST_USUAL))
    # One absurd number would hide that names explain all others.
    explained = _explained(links, np.clip(number, -limit, limit), n_graphs)
    limit *= FAR_OUT
    number = np.clip(number, -limit, limit)
    means, variances = _moments(links, number, n_graphs)
    typical = float(np.mean(number**2)) if len(number) else 0.0
    return Usual(means, variances, typical, limit, explained)


def _moments(
    links: Links, number: np.ndarray, n_graphs: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a number between each pair of names, where both are there."""
    shape = n_graphs.shape
    pair = links.source * shape[1] + links.target
    divisor = np.maximum(n_graphs, 1)
    means = np.bincount(pair, number, n_graphs.size).reshape(shape) / divisor
    # Around the means, as a difference of large squares would be rounded.
    away = np.bincount(pair, (number - means.ravel()[pair]) ** 2, n_graphs.size).reshape(shape)
    n_links = np.bincount(pair, minlength=n_graphs.size).reshape(shape)
    return means, (away + (n_graphs - n_links) * means**2) / divisor


def _explained(links: Links, number: np.ndarray, n_graphs: np.ndarray) -> float:
    """The share of the variance of a number that the pairs of names explain; 0 if it is constant.

    A pair of nodes without a link has the number 0.
    """
    _, variances = _moments(links, number, n_graphs)
    n_of_pair = n_graphs * ~np.eye(len(n_graphs), dtype=bool)
    n_pairs = max(n_of_pair.sum(), 1)
    total = (number**2).sum() / n_pairs - (number.sum() / n_pairs) ** 2
    within = (n_of_pair * variances).sum() / n_pairs
    is_constant = total <= np.finfo(float).eps * (number**2).sum()
    return 0.0 if is_constant else float(1 - within / total)


def _deviation(
    number: Any,
    mean: np.ndarray,
    variance: np.ndarray,
    n: np.ndarray,
    typical: float,
    own: bool,
) -> np.ndarray:
    """Squared deviation of a number of links from its mean, in units of its variance.

    A training graph is taken out of mean and variance: with n graphs, the deviation from the mean
    of the others is n / (n - 1) times that from the mean m of all, and the sum of their squares is
    less by n / (n - 1) times the square of the own deviation from m.

    Parameters
    ----------
    number : float or ndarray
    mean, variance, n : ndarray
        Of pairs of names: over the training graphs that have both, and the number of these.
    typical : float
        Mean square of the number of a link, which one more graph is taken to have.
    own : bool
        Whether the graph is a training graph.
    """
    n_others = np.maximum(n - own, 1)
    factor = np.maximum(n, 1) / n_others
    squared = (number - mean) ** 2
    variance_of_others = np.maximum(n * variance - own * factor * squared, 0.0) / n_others
    least = max(typical, np.finfo(float).tiny) / n_others
    return factor**2 * squared / (variance_of_others + least)
