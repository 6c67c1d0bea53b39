"""report: a fitted detector and graphs -> one HTML file with scores, reasons and pictures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from skgraphkde._messages import encodable, shown
from skgraphkde._utils import during
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.calibration import check_alpha
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.explanation.of_groups import GroupInWords
from skgraphkde.explanation.results import N_REASONS, groups_of, judge, judge_some, to_judge
from skgraphkde.explanation.wording import checked_names
from skgraphkde.page import rendering
from skgraphkde.page.comparison import data_of
from skgraphkde.page.rows import LONGEST, Drawn, Row
from skgraphkde.saving import atomic_file

# The graphs that are drawn, at most: the oddest.
PICTURED = 50
SUFFIXES = (".html", ".htm")


def report(
    detector: BaseGraphDetector,
    graphs: Any = None,
    names: Sequence[Any] | None = None,
    path: str | os.PathLike | None = None,
    *,
    alpha: float = 0.1,
    known_names: Sequence[Any] | None = None,
) -> HtmlPage | None:
    """Page of the anomalies among graphs and their reasons: one HTML file that needs no network.

    The page counts the graphs that stand out, and says how many would if all were usual. It shows
    the distribution of the scores, and a table to sort, filter and save. A click on a row, or
    Enter, shows the data of the graph and the reasons in words; for the 50 lowest scores, also a
    picture with colors and marks where the graph is odd, the most similar graph of the same kind
    and size that does not stand out, and their differences.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted. Only a :class:`GraphKDEDetector` has reasons.
    graphs : sequence of graphs, or GraphBatch, default=None
        None: the training graphs, each judged by the others.
    names : sequence, default=None
        One for each graph. None: the names of the graphs, or "graph 0", "graph 1", ...
    path : str or path-like, default=None
        File of the page, written in one step, with the suffix .html or .htm. None: return it.
    alpha : float, default=0.1
        Bound on the expected share of normal graphs among those selected, in (0, 1], see
        :meth:`GraphKDEDetector.select`.
    known_names : sequence, default=None
        One for each of ``detector.model_.references``: the training graphs in their order, or
        those that were chosen. None: the names of the graphs, or their positions.

    Returns
    -------
    HtmlPage or None
        The page, if `path` is None: a string that notebooks show as a page.

    Raises
    ------
    TypeError, ValueError
        If a graph cannot be used, there is not one name for each, `path` has another suffix, or
        `alpha` is not in (0, 1].

    Examples
    --------
    >>> import networkx as nx
    >>> import skgraphkde
    >>> known = [nx.cycle_graph(n) for n in range(10, 30)]
    >>> detector = skgraphkde.GraphKDEDetector().fit(known)
    >>> page = skgraphkde.report(detector, [nx.cycle_graph(15), nx.star_graph(15)], ["a", "b"])
    >>> "1 of 2 graphs stands out" in page
    True
    """
    if path is not None:
        check_suffix(path)
    page = Page(detector, alpha, known_names)
    batch, own = to_judge(page.detector, graphs)
    if not len(batch):
        raise ValueError("a page needs a graph, and the list is empty: give at least one graph")
    if names is None:
        names = [x or f"graph {i}" for i, x in enumerate(batch.names or [""] * len(batch))]
    page.add_all(batch, checked_names(names, len(batch)), batch.ids_by_graph(), own)
    html = page.html()
    if path is None:
        return HtmlPage(html)
    with atomic_file(path, "t", encoding="utf-8", newline="") as file:
        file.write(html)
    return None


class HtmlPage(str):
    """An HTML page, which notebooks show in a frame of its own."""

    def _repr_html_(self) -> str:
        # In a frame, neither page nor notebook changes how the other looks.
        style = "width: 100%; height: 50em; border: 0"
        return f'<iframe srcdoc="{escape(self)}" style="{style}"></iframe>'


def check_suffix(path: str | os.PathLike) -> None:
    """Raise a ValueError unless a path has a suffix that browsers open as a page."""
    if Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(f"{os.fspath(path)} is a page: give it the suffix .html")


class Page:
    """Verdicts on graphs, the reasons for the oddest, and the page that shows them.

    Parameters
    ----------
    detector, alpha, known_names
        As for :func:`report`.

    Attributes
    ----------
    listed : list of Row
        All graphs, in their order.

    Raises
    ------
    ValueError
        As for :func:`report`, before anything is read.
    """

    def __init__(
        self, detector: BaseGraphDetector, alpha: float, known_names: Sequence[Any] | None = None
    ) -> None:
        check_is_fitted(detector)
        check_alpha(alpha)
        if known_names is not None:
            is_kde = isinstance(detector, GraphKDEDetector)
            n_known = len(detector.model_.references) if is_kde else 0
            known_names = checked_names(known_names, n_known, of="references", what="known_names")
        self.detector = detector
        self.alpha = alpha
        self.known_names = known_names
        self.listed: list[Row] = []
        self.drawn: list[Drawn] = []
        self.groups: list[GroupInWords] = []

    def add_all(
        self,
        batch: GraphBatch,
        names: Sequence[Any],
        ids: Sequence[Sequence[Any]] | None = None,
        own: np.ndarray | None = None,
        origins: Mapping[str, str] | None = None,
        unread: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Judge the graphs of the page, and explain the oddest.

        Parameters
        ----------
        batch : GraphBatch
            Graphs as the detector reads them.
        names : sequence
            One for each graph.
        ids : sequence of sequences, default=None
            Ids of the nodes of each graph. None: their positions.
        own : ndarray of shape (n_graphs,), default=None
            As for :func:`~skgraphkde.explanation.results.judge`.
        origins : mapping of str, default=None
            The rows of a table that each graph is of, in words, by its name.
        unread : sequence of mapping, default=()
            Data of each graph that the detector does not read, which are shown beside those that
            it reads.
        """
        if own is not None:
            self.groups = groups_of(self.detector, unread)
        # Whoever can be looked at is explained: in a long list, that takes most of the time.
        n_reasons = N_REASONS if len(batch) <= rendering.ROWS else 0
        begin = 0.15 if own is not None else 0.4  # the scores of training graphs are known
        with during(0.15, 1.0 if n_reasons else begin):
            judged = judge(self.detector, batch, n_reasons=n_reasons, node_names=ids, own=own)
        decisions = np.array([x.decision for x in judged])
        oddest = np.argsort(decisions, kind="stable")
        if not n_reasons:
            members = [x for group in self.groups for x in group.members.tolist()]
            # Members are in the rows of their groups, which leaves room for as many others.
            n_rows = rendering.most_rows(int((decisions < 0).sum())) + len(members)
            listed = np.unique([*oddest[:n_rows].tolist(), *members])
            with during(begin, 1.0):
                judged = judge_some(self.detector, batch, listed, judged, node_names=ids, own=own)
        n_nodes = batch.n_nodes_per_graph.tolist()
        n_edges = batch.n_edges_per_graph.tolist()
        data = data_of(batch)
        if unread:
            more = dict.fromkeys(name for of in unread for name in of)  # the same of all rows
            both = zip(data, unread, strict=True)
            data = [of | {name: str(x.get(name, "")) for name in more} for of, x in both]
        if origins:
            data = [
                {"rows": origins.get(str(x), ""), **of} for x, of in zip(names, data, strict=True)
            ]
        texts = [shown(str(name), LONGEST) for name in names]
        starts = {text[: max(text.rfind("/"), text.rfind("#")) + 1] for text in texts}
        start = starts.pop() if len(starts) == 1 else ""
        self.listed = [
            Row(i, name, judged[i], n_nodes[i], int(n_edges[i]), data[i], start=start)
            for i, name in enumerate(texts)
        ]
        of_groups = [x.members[decisions[x.members].argmin()] for x in self.groups]
        self.drawn = [
            (i, batch[i], None if ids is None else ids[i])
            for i in dict.fromkeys([*oddest[:PICTURED].tolist(), *map(int, of_groups)])
        ]

    def html(
        self,
        skipped: Sequence[str] = (),
        earlier: Mapping[str, int] | None = None,
        notes: Iterable[str] = (),
    ) -> str:
        """The page.

        Parameters
        ----------
        skipped : sequence of str, default=()
            Why graphs are not on it.
        earlier : dict of str -> int, default=None
            The rank of each graph, by name, on a page before.
        notes : iterable of str, default=()
            Warnings of how the graphs were read.
        """
        return encodable(
            rendering.render(
                self.detector,
                self.listed,
                self.drawn,
                self.alpha,
                self.known_names,
                skipped,
                self.groups,
                earlier or {},
                notes,
            )
        )
