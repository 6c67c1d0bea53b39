"""render: findings and the graphs to draw -> HTML.

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
from skgraphkde.display.common import pyplot
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import shown
from skgraphkde.reporting import pictures
from skgraphkde.reporting.findings import Finding, largest, nodes

# Rows of the table, at most: the oddest.
ROWS = 5_000
# Characters of all pictures together, so that a page of 1,000 graphs has at most 20 MB.
ROOM = 15_000_000
# Characters of a name or a reason in the table, and of a name anywhere.
BRIEF, LONGEST = 160, 1_000
HERE = Path(__file__).parent


class Listed(NamedTuple):
    """A graph that a page counts."""

    number: int  # in the order in which it was added
    name: str
    finding: Finding


class Drawn(NamedTuple):
    """A graph that a page draws."""

    number: int
    graph: GraphBatch  # of this one graph
    ids: Sequence[Any] | None  # of its nodes


class Row(NamedTuple):
    """A row of the table."""

    number: int
    name: str
    finding: Finding
    verdict: str
    is_selected: bool

    @property
    def reason(self) -> str:
        """The main reason."""
        reasons = self.finding.reasons
        return shown(reasons[0].text, BRIEF) if reasons else "nothing unusual"

    @property
    def brief(self) -> str:
        """The name, not too long for a table."""
        return shown(self.name, BRIEF)


class Detail(NamedTuple):
    """What a click on a row shows beyond what is found of every graph."""

    picture: str
    has_shares: bool
    nodes: list[tuple[int, str, str, str]]  # number in the picture, id, share, new from


class Library(NamedTuple):
    """DataTables."""

    script: str
    style: str
    name: str
    license: str


def check_installed() -> None:
    """Raise an ImportError that says what to install, if a package is missing."""
    try:
        import jinja2  # noqa: F401

        metadata.distribution("itables")
    except (ImportError, metadata.PackageNotFoundError) as error:
        raise ImportError(
            'a report needs Jinja2, itables and matplotlib: pip install "skgraphkde[report]"'
        ) from error
    pyplot()


def render(
    detector: BaseGraphDetector,
    listed: list[Listed],
    drawn: list[Drawn],
    alpha: float,
    known_names: Sequence[Any] | None,
) -> str:
    """The page.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    listed : list of Listed
        All graphs.
    drawn : list of Drawn
        Some of them, the oddest first.
    alpha, known_names
        As for :func:`skgraphkde.report`.
    """
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    rows = _rows(listed, alpha)
    scores = np.array([graph.finding.score for graph in listed])
    details, known = _details(detector, {row.number: row for row in rows}, drawn)
    graph_map = None
    if isinstance(detector, GraphKDEDetector):
        together = GraphBatch.concatenate([graph.graph for graph in drawn])
        graph_map = pictures.graph_map(detector, together, scores[[x.number for x in drawn]])
    least = 1 / (len(detector.calibration_scores_) + 1)
    return environment.get_template("page.html").render(
        version=__version__,
        detector=detector,
        kind=type(detector).__name__,
        has_reasons=isinstance(detector, GraphKDEDetector),
        alpha=alpha,
        n_anomalies=sum(row.finding.is_anomaly for row in rows),
        n_selected=sum(row.is_selected for row in rows),
        n_graphs=len(rows),
        least_p_value=least,
        least_selected=math.ceil(len(rows) * least / alpha - 1e-9),
        rows=rows[:ROWS],
        details=details,
        known=known,
        known_of={x: _known(detector, x, known_names) for row in rows for x in row.finding.nearest},
        distribution=pictures.distribution(scores, float(detector.offset_)),
        map=graph_map,
        n_mapped=len(drawn),
        library=_library(),
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        style=(HERE / "page.css").read_text(encoding="utf-8"),
    )


def _rows(listed: list[Listed], alpha: float) -> list[Row]:
    """All graphs, the oddest first."""
    selected = np.zeros(len(listed), dtype=bool)
    p_values = [graph.finding.p_value for graph in listed]
    if None not in p_values:
        selected = discoveries(np.array(p_values), alpha)
    rows = []
    for graph, is_selected in zip(listed, selected.tolist(), strict=True):
        name = shown(graph.name, LONGEST)
        verdict = "anomaly" if graph.finding.is_anomaly else "normal"
        rows.append(Row(graph.number, name, graph.finding, verdict, is_selected))
    return sorted(rows, key=lambda row: (row.finding.decision, row.number))


def _details(
    detector: BaseGraphDetector, rows: dict[int, Row], drawn: list[Drawn]
) -> tuple[dict[int, Detail], dict[int, str]]:
    """The pictures of graphs, and of the nearest known ones, as long as there is room."""
    details: dict[int, Detail] = {}
    known: dict[int, str] = {}
    room = ROOM
    for number, graph, ids in drawn:
        finding = rows[number].finding
        details[number] = _detail(detector, graph, ids, finding)
        room -= len(details[number].picture)
        if isinstance(detector, GraphKDEDetector) and finding.nearest[0] not in known:
            nearest = detector.density_.references[finding.nearest[0]]
            known[finding.nearest[0]] = pictures.graph_picture(nearest)
            room -= len(known[finding.nearest[0]])
        if room < 0:
            break
    return details, known


def _detail(
    detector: BaseGraphDetector, graph: GraphBatch, ids: Sequence[Any] | None, finding: Finding
) -> Detail:
    found = nodes(detector, graph)
    numbered = largest(found)
    picture = pictures.graph_picture(graph, found.shares, numbered, finding.edges)
    lines = []
    for number, node in enumerate(numbered, 1):
        name = str(node) if ids is None else shown(ids[node])
        share = "" if found.shares is None else f"{found.shares[node]:.3g}"
        radius = found.radius + 1 if found.new_from is None else int(found.new_from[node])
        lines.append((number, name, share, "known" if radius > found.radius else str(radius)))
    return Detail(picture, found.shares is not None, lines)


def _known(detector: Any, position: int, names: Sequence[Any] | None) -> str:
    """A known graph, in words."""
    references = detector.density_.references
    name = f"known graph {position}" if names is None else shown(names[position], BRIEF)
    n_nodes = references.n_nodes_per_graph[position]
    n_edges = references.n_edges_per_graph[position]
    return f"{name} ({n_nodes} nodes, {n_edges} edges)"


def _library() -> Library:
    """DataTables from itables, which need not be imported for that."""
    package = metadata.distribution("itables")
    script, style = (
        Path(str(package.locate_file(f"itables/html/dt_bundle.{suffix}"))).read_bytes()
        for suffix in ("js", "css")
    )
    license_file = next(x for x in package.files or () if x.name == "LICENSE")
    return Library(
        base64.b64encode(script).decode(),
        base64.b64encode(style).decode(),
        f"itables {package.version}",
        license_file.read_text(encoding="utf-8"),
    )
