"""render: judgements and the graphs to draw -> HTML.

The page is a Jinja template that escapes whatever it is given; the table is DataTables, as packed
in itables; the pictures are matplotlib's. Names are text of HTML and nothing else: none of them is
in a script, in JSON or in an attribute that the table would read as HTML.
"""

from __future__ import annotations

import base64
import importlib.metadata as metadata
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skgraphkde._version import __version__
from skgraphkde.calibration import discoveries
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.display.common import lowest_shown
from skgraphkde.display.graph_drawing import common_categories
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import known_name, shown
from skgraphkde.graphs.naming import listed as named
from skgraphkde.graphs.schema import unread_attributes
from skgraphkde.inspection.results import Judgement
from skgraphkde.inspection.wording import learned_words
from skgraphkde.reporting import pictures
from skgraphkde.reporting.nodes import Nodes, listed, nodes_of, usual_share

# Nearest known graphs of each graph.
NEAREST = 3
# Rows of the table, at most: the oddest.
ROWS = 2_000
# Characters of all pictures together, so that a page of 1,000 graphs has at most 20 MB.
ROOM = 15_000_000
# Ignored attributes that are named, at most.
MOST_NAMES = 20
# Characters of a name or a reason in the table, and of a name anywhere.
BRIEF, LONGEST = 160, 1_000
# Colors of nodes are full at this multiple of the share that is usual in known graphs.
FULL = 3
HERE = Path(__file__).parent


class Row(NamedTuple):
    """A row of the table: a graph that the page counts."""

    number: int  # in the order in which it was added
    name: str
    judged: Judgement
    n_nodes: int
    n_edges: int
    is_selected: bool = False

    @property
    def reason(self) -> str:
        """The main reason."""
        return shown(self.judged.why or "nothing unusual", BRIEF)

    @property
    def nearest(self) -> list[int]:
        """Positions of the nearest known graphs."""
        return self.judged.references[:NEAREST].tolist()

    @property
    def brief(self) -> str:
        """The name, not too long for a table."""
        return shown(self.name, BRIEF)


class Drawn(NamedTuple):
    """A graph that the page explains and, if it is odd enough, draws."""

    number: int  # of its row
    batch: GraphBatch
    position: int  # in the batch
    ids: Sequence[Any] | None  # of its nodes

    @property
    def graph(self) -> GraphBatch:
        """The batch of this one graph."""
        return self.batch[self.position]


class NodeLine(NamedTuple):
    """A line of the list of nodes."""

    number: int  # in the picture
    name: str
    reasons: str  # the numbers of those that point at it
    share: str  # "" if there are none
    new_from: str


class Detail(NamedTuple):
    """The picture of a graph and its nodes, which a click on a row shows."""

    picture: str
    colors: str  # the numbers that they show: "shares", "new" or ""
    is_near: bool  # True if no distance is surprised
    nodes: list[NodeLine]


def render(
    detector: BaseGraphDetector,
    listed: list[Row],
    drawn: list[Drawn],
    alpha: float,
    known_names: Sequence[Any] | None,
    skipped: Sequence[str],
) -> str:
    """Render the page as HTML.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    listed : list of Row
        All graphs.
    drawn : list of Drawn
        Some of them, the oddest first.
    alpha, known_names
        As for :func:`skgraphkde.report`.
    skipped : sequence of str
        What is said of graphs that are left out.
    """
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    rows = _with_selection(listed, alpha)
    are_known = any(row.judged.own >= 0 for row in listed)  # each was judged by the others
    scores = np.array([row.judged.score for row in listed])
    details, known = _details(detector, {row.number: row for row in rows}, drawn)
    model = detector.model_ if isinstance(detector, GraphKDEDetector) else None
    graph_map = None
    if isinstance(detector, GraphKDEDetector):
        together = GraphBatch.concatenate([graph.graph for graph in drawn])
        judged = [listed[graph.number].judged for graph in drawn]
        graph_map = pictures.graph_map(
            detector,
            together,
            np.array([x.score for x in judged]),
            np.array([x.own for x in judged]),
        )
    unread = unread_attributes(detector.specification("schema"), detector.schema_.ignored)
    least = 1 / (len(detector.calibration_scores_) + 1)
    return environment.get_template("page.html").render(
        version=__version__,
        detector=detector,
        kind=type(detector).__name__,
        has_reasons=model is not None,
        alpha=alpha,
        n_anomalies=sum(row.judged.is_anomaly for row in rows),
        n_selected=sum(row.is_selected for row in rows),
        n_graphs=len(rows),
        least_p_value=least,
        least_selected=math.ceil(len(rows) * least / alpha - 1e-9),
        rows=rows[:ROWS],
        skipped=skipped,
        details=details,
        known=known,
        full=FULL,
        views=() if model is None else model.views,
        learned=[] if model is None else learned_words(model),
        can_learn=isinstance(detector, GraphKDEDetector)
        and detector.keeps_training_graphs
        and not are_known,  # which `find` fits and forgets
        has_tail=bool((scores < lowest_shown(scores, float(detector.offset_), None)).any()),
        are_known=are_known,
        has_selection=detector.is_calibrated_ and not are_known,
        keeps_all=model is not None and len(model.references) == detector.n_graphs_seen_,
        calibration=detector.calibration_,
        left_out=named(unread, MOST_NAMES),
        has_readable=any(x.is_readable for x in unread),
        known_of={x: _known(detector, x, known_names) for row in rows for x in row.nearest},
        distribution=pictures.distribution(scores, float(detector.offset_)),
        map=graph_map,
        n_mapped=len(drawn),
        library=_library(),
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
    )


def _with_selection(listed: list[Row], alpha: float) -> list[Row]:
    """All rows, those that are selected marked, the lowest scores first."""
    selected = np.zeros(len(listed), dtype=bool)
    p_values = [row.judged.p_value for row in listed]
    if None not in p_values:
        selected = discoveries(np.array(p_values), alpha)
    rows = [row._replace(is_selected=x) for row, x in zip(listed, selected.tolist(), strict=True)]
    return sorted(rows, key=lambda row: (row.judged.decision, row.number))


def _details(
    detector: BaseGraphDetector, rows: dict[int, Row], drawn: list[Drawn]
) -> tuple[dict[int, Detail], dict[int, str]]:
    """The pictures of graphs, and of the nearest known ones, as long as there is room."""
    details: dict[int, Detail] = {}
    known: dict[int, str] = {}
    references = detector.model_.references if isinstance(detector, GraphKDEDetector) else None
    categories = common_categories(references, [x.graph for x in drawn])
    details_of, room = _Details(detector, categories), ROOM
    for graph in drawn:
        row = rows[graph.number]
        details[graph.number] = details_of(graph, row.judged)
        room -= len(details[graph.number].picture)
        if references is not None and row.nearest[0] not in known:
            nearest = references[row.nearest[0]]
            picture = pictures.graph_picture(nearest, edge_categories=categories)
            known[row.nearest[0]] = picture
            room -= len(picture)
        if room < 0:
            break
    return details, known


class _Details:
    """Draws graphs so that colors and styles mean the same in all pictures."""

    def __init__(self, detector: BaseGraphDetector, categories: list) -> None:
        self.detector, self.categories = detector, categories
        self.usual: dict[int, float] = {}  # the shares that full colors are compared with

    def __call__(self, drawn: Drawn, judged: Judgement) -> Detail:
        """The picture, and the list of its nodes."""
        found = nodes_of(self.detector, drawn.graph, judged)
        numbered = listed(found, judged)
        ids = range(drawn.graph.n_nodes) if drawn.ids is None else drawn.ids
        vmax = self._full(judged.view) if found.colors == "shares" else None
        picture = pictures.graph_picture(
            drawn.graph, found, numbered, vmax=vmax, marked=judged.edges, outlined=judged.nodes,
            names=ids, edge_categories=self.categories,
        )  # fmt: skip
        lines = [
            self._line(number, node, shown(ids[node]), found, judged)
            for number, node in enumerate(numbered, 1)
        ]
        return Detail(picture, found.colors, found.is_near, lines)

    def _full(self, view: int) -> float | None:
        if view not in self.usual:
            self.usual[view] = usual_share(self.detector, view)
        return FULL * self.usual[view] or None

    def _line(self, number: int, node: int, name: str, found: Nodes, judged: Judgement) -> NodeLine:
        pointing = [str(i) for i, x in enumerate(judged.unusual, 1) if node in x.pointed]
        share = "" if found.shares is None else f"{found.shares[node]:.3g}"
        radius = found.radius + 1 if found.new_from is None else int(found.new_from[node])
        new_from = "known" if radius > found.radius else str(radius)
        return NodeLine(number, name, ", ".join(pointing), share, new_from)


def _known(detector: Any, position: int, names: Sequence[Any] | None) -> str:
    """A known graph, in words."""
    references = detector.model_.references
    name = known_name(references, position) if names is None else shown(names[position], BRIEF)
    n_nodes = references.n_nodes_per_graph[position]
    n_edges = references.n_edges_per_graph[position]
    return f"{name} ({n_nodes} nodes, {n_edges} edges)"


def _library() -> dict[str, str]:
    """Script, style, name and license of DataTables, from itables, which need not be imported."""
    package = metadata.distribution("itables")

    def encoded(suffix: str) -> str:
        path = Path(str(package.locate_file(f"itables/html/dt_bundle.{suffix}")))
        return base64.b64encode(path.read_bytes()).decode()

    license_file = next(x for x in package.files or () if x.name == "LICENSE")
    return {
        "script": encoded("js"),
        "style": encoded("css"),
        "name": f"itables {package.version}",
        "license": license_file.read_text(encoding="utf-8"),
    }
