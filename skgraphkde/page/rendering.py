"""render: judgements and the graphs to draw -> HTML.

The page is a Jinja template that escapes whatever it is given; the table is DataTables, as packed
in itables; the histogram is matplotlib's. Names are text of HTML and nothing else: none of them is
in a script, in JSON or in an attribute that the table would read as HTML.
"""

from __future__ import annotations

import base64
import functools
import gzip
import importlib.metadata as metadata
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from skgraphkde._messages import encodable, listed, shown
from skgraphkde._utils import during, one_blas_thread, progress
from skgraphkde._version import __version__
from skgraphkde._words import category_text
from skgraphkde._words import number as with_three_digits
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.schema import unread_attributes
from skgraphkde.core.scoring.calibration import discoveries
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.explanation.of_groups import GroupInWords
from skgraphkde.explanation.results import group_numbers
from skgraphkde.explanation.wording import NEVER_SEEN
from skgraphkde.page import pictures
from skgraphkde.page.comparison import (
    SAME_SIZE,
    SIZE,
    UsualGraphs,
    place_in,
    set_apart,
)
from skgraphkde.page.model import PageModel, percent
from skgraphkde.page.nodes import FULL, colors_of, nodes_of, usual_share
from skgraphkde.page.rows import LONGEST, Detail, Drawn, GroupRow, Row, are_known, shorten_name
from skgraphkde.plots import category_of_kinds, lowest_shown, node_kinds, smiles_of

# Rows of the table, at most: the oddest. More that stand out have a row, up to MOST_ROWS.
ROWS = 500
MOST_ROWS = 10_000
# Differences from a usual graph, at most.
DIFFERENCES = 10
# A graph that has risen is among so many, and so many are named at the top of the page.
HIGH = 25
RISEN = 5
# Ignored attributes that are named, at most.
MOST_NAMES = 20
# Characters of the name of a node that stands in its circle, at most.
LONGEST_IN_CIRCLE = 3
# A text that spreadsheets would run, and no number; also with what keeps them from it before it.
FORMULA = re.compile(r"^'*([=@]|[+-](?![0-9.,]+(e[+-]?[0-9]+)?%?$))")
# An arrow and short words around it, which stay on one line; an arrow alone; where a line may end.
WAY = re.compile(r"((?:\S{1,20} )?(?:->|-) \S{1,20})")
ARROW = re.compile("(->)")
BREAK = re.compile("(?<=[=_])")
HERE = Path(__file__).parent


def render(
    detector: BaseGraphDetector,
    graphs: list[Row],
    drawn: list[Drawn],
    alpha: float,
    known_names: Sequence[Any] | None,
    skipped: Sequence[str],
    groups: list[GroupInWords],
    earlier: Mapping[str, int],
    notes: Iterable[str],
) -> str:
    """Render the page as HTML.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graphs : list of Row
        All of them.
    drawn : list of Drawn
        Some of them, the oddest first.
    alpha, known_names
        As for :func:`skgraphkde.report`.
    skipped : sequence of str
        What is said of graphs that are left out.
    groups : list of GroupInWords
        With the numbers of graphs that are alike.
    earlier : dict of str -> int
        The rank of each graph, by name, on a page before.
    notes : iterable of str
        Warnings of how the graphs were read.
    """
    is_known = are_known(graphs)
    verdicts = detector.verdicts_ if is_known else np.zeros(len(graphs))
    rows = _with_rises(_with_selection(graphs, alpha, verdicts), earlier)
    page = PageModel(detector, rows, alpha)
    entries, small_groups = _entries(rows, groups)
    is_kde = isinstance(detector, GraphKDEDetector)
    usual = None
    if is_kde:
        judged = [x.judged for x in graphs] if is_known else []
        usual = UsualGraphs(detector, set_apart(detector, judged, groups), judged)
    # Two threads take longer for small graphs, one at a time.
    with during(0.0, 0.6), one_blas_thread():
        details, drawings = _details(
            detector, {x.number: x for x in rows}, drawn, known_names, usual
        )
    scores = np.array([row.judged.score for row in graphs])
    offset = float(detector.offset_)
    predicted = np.where([row.judged.is_anomaly for row in graphs], -1, 1)  # as the headline counts
    drawings["scores"] = pictures.distribution(scores, offset, predicted, page.words.graphs)
    library = _library()
    packed = {
        "library": library.pop("script"),
        "pictures": drawings,
        "table": _table(rows, groups).to_csv(index=False),
        "formula": FORMULA.pattern,
    }
    unread = unread_attributes(detector.given_schema, detector.schema_.ignored)
    risen = sorted((row for row in rows if row.risen_from), key=lambda row: row.place)
    return open_template("page.html").render(
        version=__version__,
        kind=type(detector).__name__,
        detector=detector,
        page=page,
        words=page.words,
        are_known=is_known,
        has_selection=detector.is_calibrated_ and not is_known,
        has_reasons=is_kde,
        can_learn=is_kde and detector.keeps_training_graphs,
        n_sampled=_n_sampled(detector),
        entries=entries,
        small_groups=small_groups,
        n_listed=sum(len(x.members) or 1 for x in entries + small_groups + page.given),
        data_names=list(map(shown, rows[0].data)),
        skipped=skipped,
        notes=notes,
        details=details,
        risen=risen[:RISEN],
        unread=listed(unread, MOST_NAMES),
        unseen=listed([f"“{shown(x.name)}”" for x in unread if not x.is_name]),
        is_readable=any(x.is_readable for x in unread),
        has_tail=bool(scores.min() < lowest_shown(scores, offset, predicted)),
        packed=_packed(packed),
        library=library,
        script=(HERE / "page.js").read_text(encoding="utf-8"),
        style=style_of_page(),
        never_seen=NEVER_SEEN,
        full=FULL,
        alike_size=SIZE,
        same_size=SAME_SIZE,
        n_differences=DIFFERENCES,
    )


def _n_sampled(detector: BaseGraphDetector) -> int:
    """How many training graphs each graph is compared with, if these are a sample; or 0."""
    if not isinstance(detector, GraphKDEDetector):
        return 0
    n = len(detector.model_.references)
    return n if n < detector.model_.n_training_graphs else 0


def open_template(name: str) -> Any:
    """A template of a page, with the filters of all of them."""
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["unbroken"] = _unbroken
    environment.filters["percent"] = percent
    environment.filters["number"] = with_three_digits
    environment.filters["breakable"] = _breakable
    return environment.get_template(name)


def style_of_page() -> str:
    """The CSS of all pages."""
    return (HERE / "page.css").read_text(encoding="utf-8")


def _unbroken(text: str, as_html: Callable[[str], Markup] = escape) -> Markup:
    """A text as HTML in which no line begins or ends with a short arrow, nor breaks in one."""
    with_arrows = functools.partial(_in_spans, ARROW, "arrow", as_html)
    return _in_spans(WAY, "way", with_arrows, text)


def _breakable(text: str) -> Markup:
    """The same, in which a line may end after "=" and "_", for narrow columns."""
    return _unbroken(text, lambda part: Markup("<wbr>").join(BREAK.split(part)))


def _in_spans(
    pattern: re.Pattern, kind: str, as_html: Callable[[str], Markup], text: str
) -> Markup:
    """A text as HTML, in which what the group of a pattern finds is in spans of a class."""
    parts = [as_html(part) for part in pattern.split(text)]
    parts[1::2] = [Markup('<span class="{}">{}</span>').format(kind, x) for x in parts[1::2]]
    return Markup().join(parts)


def _table(rows: list[Row], groups: list[GroupInWords]) -> pd.DataFrame:
    """All graphs, the oddest first, with their reasons and the codes of these."""
    lines = [
        {
            "graph": _inert(row.name),
            "verdict": row.judged.verdict,
            "yours": row.given,
            "score": row.judged.score,
            "p_value": row.judged.p_value,
            "selected": None if row.judged.own >= 0 else row.is_selected,
            "nodes": row.n_nodes,
            "edges": row.n_edges,
            "reason": _inert(row.judged.why),
            "codes": row.judged.codes,
            **{f"data.{encodable(name)}": _inert(value) for name, value in row.data.items()},
        }
        for row in rows
    ]
    numbers = group_numbers(groups, len(rows))[[row.number for row in rows]]
    return pd.DataFrame(lines).assign(group=numbers)


def _inert(text: str | None) -> str | None:
    """A cell that no spreadsheet runs."""
    return f"'{text}" if text and FORMULA.match(text) else text


def _with_selection(graphs: list[Row], alpha: float, verdicts: np.ndarray) -> list[Row]:
    """All rows, the lowest scores first, with what is selected and the verdicts of people."""
    p_values = np.array([row.judged.p_value for row in graphs])
    selected = np.zeros(len(graphs), dtype=bool)
    # Training graphs have ranks among themselves, of which nothing is selected.
    if None not in p_values and not are_known(graphs):
        selected = discoveries(p_values, alpha)
    given = [{-1: "anomaly", 0: "", 1: "normal"}[int(verdict)] for verdict in verdicts]
    both = zip(graphs, selected.tolist(), given, strict=True)
    rows = [row._replace(is_selected=x, given=verdict) for row, x, verdict in both]
    rows.sort(key=lambda row: (row.judged.decision, row.number))
    places = np.cumsum([not row.given for row in rows]).tolist()
    return [
        row._replace(rank=i, place=place)
        for i, (row, place) in enumerate(zip(rows, places, strict=True), 1)
    ]


def _with_rises(rows: list[Row], earlier: Mapping[str, int]) -> list[Row]:
    """The rows, and those that have halved their place among the graphs without a verdict."""
    unknown = [row for row in rows if not row.given and row.name in earlier]
    before = sorted(unknown, key=lambda row: earlier[row.name])
    place_before = {row.number: place for place, row in enumerate(before, 1)}
    place = {row.number: place for place, row in enumerate(unknown, 1)}
    return [
        row._replace(place=place[row.number], risen_from=place_before[row.number])
        if place.get(row.number, HIGH + 1) <= HIGH
        and 2 * place[row.number] <= place_before[row.number]
        else row
        for row in rows
    ]


def _entries(rows: list[Row], groups: Sequence[GroupInWords]) -> tuple[list[Any], list[GroupRow]]:
    """The rows of the table, with groups in the place of their first members, and small groups.

    Small groups are those of which no graph is flagged, in the order of `groups`. Graphs that
    people have judged are in neither.
    """
    row_of = {row.number: row for row in rows}
    found = list[GroupRow]()
    for number, group in enumerate(groups, 1):
        members = [row_of[i] for i in group.members.tolist() if not row_of[i].given]
        if len(members) > 1:
            is_only = group.is_only and len(members) == len(group.members)
            members.sort(key=lambda row: row.rank)
            found.append(GroupRow(number, members, group, is_only))
    flagged = {x.members[0].number: x for x in found if x.n_anomalies}
    grouped = {row.number for x in found for row in x.members} - flagged.keys()
    entries = [
        flagged.get(row.number, row) for row in rows if not row.given and row.number not in grouped
    ]
    n_anomalies = sum(row.judged.is_anomaly for row in rows)
    return entries[: most_rows(n_anomalies)], [x for x in found if not x.n_anomalies]


def most_rows(n_anomalies: int) -> int:
    """Number of rows that the table has at most, if so many graphs stand out."""
    return max(ROWS, min(n_anomalies, MOST_ROWS))


def _details(
    detector: BaseGraphDetector,
    rows: dict[int, Row],
    drawn: list[Drawn],
    known_names: Sequence[Any] | None,
    usual: UsualGraphs | None,
) -> tuple[dict[int, Detail], dict[str, str]]:
    """What is said of the graphs that are drawn, and the pictures of them and of usual ones."""
    looks = dict[str, Any](edge_categories=[], category=None)
    if usual is not None:
        looks = {
            "edge_categories": edge_categories_of(usual.model.references),
            "category": usual.category,
        }
        known_names = known_names or usual.model.references.names
    share = functools.cache(lambda view: usual_share(detector, view))
    details = {}
    drawings = dict[str, str]()
    for number, graph, ids in progress(drawn):
        row = rows[number]
        names = list(range(graph.n_nodes) if ids is None else ids)
        reasons = row.judged.told
        colors = colors_of(detector, graph, row.judged, share)
        concerned = nodes_of(reasons)
        edges = list(dict.fromkeys(edge for reason in reasons for edge in reason.edges))
        in_circles = {node: shown(names[node]) for node in concerned}
        are_long = max(map(len, in_circles.values()), default=0) > LONGEST_IN_CIRCLE
        if are_long:
            in_circles = {node: str(i) for i, node in enumerate(concerned, 1)}
        drawings[f"graph {number}"] = pictures.graph_picture(
            graph, looks, colors, marked=edges, outlined=in_circles
        )
        said = "\n".join(f"{x.what}\n{x.text}\n{x.more}" for x in reasons)
        unsaid = {node: str(names[node]) if are_long else "" for node in concerned}
        lines: dict[tuple[str, tuple[int, ...]], list[str]] = {}
        for node, text in _called(graph, unsaid, said, looks["category"]).items():
            lines.setdefault((text, tuple(concerned[node])), []).append(in_circles[node])
        detail = Detail(colors, lines, shown(smiles_of(graph), LONGEST))
        if usual is not None:
            detail = _compared(detail, usual, graph, row, said, known_names)
            known = f"known {detail.usual}"
            if detail.usual >= 0 and known not in drawings:
                reference = usual.model.references[detail.usual]
                drawings[known] = pictures.graph_picture(reference, looks)
        details[number] = detail
    return details, drawings


def edge_categories_of(references: GraphBatch) -> list[Any]:
    """The categories of edges, the most frequent first: they look the same in all pictures."""
    if references.edge_labels is None:
        return []
    frequent = np.argsort(-np.bincount(references.edge_labels), kind="stable")
    return [references.edge_label_names[code] for code in frequent]


def _called(
    graph: GraphBatch, names: Mapping[int, str], said: str, category: str | None
) -> dict[int, str]:
    """Some nodes by their names, which may be "", and the categories that reasons say."""
    kinds = node_kinds(graph, category)
    called = dict[int, str]()
    others_by_name = dict(graph.values_by_category("node")) if kinds else {}
    if kinds:
        del others_by_name[category_of_kinds(graph, category)]
    for node, name in names.items():
        texts = [category_text(of, x[graph.labels[node]]) for of, x in others_by_name.items()]
        others = [x for x in texts if place_in(said, x) >= 0]
        words = ", ".join(map(shown, [*kinds[node : node + 1], *others]))
        called[node] = f"{shown(name)} ({words})" if name and words else words or shown(name)
    return called


def _compared(
    detail: Detail,
    usual: UsualGraphs,
    graph: GraphBatch,
    row: Row,
    said: str,
    known_names: Sequence[Any] | None,
) -> Detail:
    """The detail with the most similar usual graph and the differences, if there is one."""
    reference, lacks = usual.nearest(graph, row.judged)
    if reference < 0:
        return detail
    name = str(known_names[reference] if known_names else "").removeprefix(row.start)
    called = graph.schema.words.graph
    name = shorten_name(name or f"known {called} {reference}")
    return detail._replace(
        usual=reference,
        usual_name=f"{called} {name}" if name.isdecimal() else name,
        lacks=lacks,
        differences=usual.differences(graph, reference, said),
    )


def _packed(contents: dict[str, Any]) -> str:
    """JSON that the page unpacks: SVGs and scripts repeat themselves."""
    return base64.b64encode(gzip.compress(json.dumps(contents).encode(), mtime=0)).decode()


def _library() -> dict[str, str]:
    """Script, style, name and license of DataTables, from itables, which need not be imported."""
    package = metadata.distribution("itables")

    def text(name: str) -> str:
        return Path(str(package.locate_file(f"itables/html/{name}"))).read_text(encoding="utf-8")

    license_file = next(x for x in package.files or () if x.name == "LICENSE")
    return {
        "script": text("dt_bundle.js"),
        "style": text("dt_bundle.css"),
        "name": f"itables {package.version}",
        "license": license_file.read_text(encoding="utf-8"),
    }
