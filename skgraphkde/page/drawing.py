"""Drawing: what a picture of a graph shows, and where -> an SVG.

The page has hundreds of pictures, for which matplotlib takes minutes. They show what those of
:func:`skgraphkde.plots.plot_graph` show.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from skgraphkde.plots import (
    BEND,
    CHARACTERS,
    DARK,
    FONT,
    GROUND,
    LONG_NAME,
    LUMA,
    NEXT_BEND,
    PALE,
    SMALLEST_FONT,
    VERMILION,
    Plan,
)

# Points: of a side of the picture, and of what is left free at each.
SIDE = 288.0
MARGIN = 30.0
# The height of a line of the legend, and the length of a sample in it.
LINE = 10.0
SAMPLE = 16.0
# Of letters, as shares of their size: widths on average, and heights of lines.
LETTER = 0.56
LEADING = 1.2
# The shorter side of what is drawn is no shorter, as a share of the longer one.
FLATTEST = 0.3

Point = np.ndarray


def draw_graph(
    plan: Plan,
    colors: np.ndarray | None,
    marked: Sequence[tuple[int, int]] = (),
    outlined: Mapping[int, str] | None = None,
) -> str:
    """Draw a graph.

    Parameters
    ----------
    plan : Plan
    colors : ndarray of shape (n_nodes, 4) or None
        Red, green, blue and opacity of each node of the graph. None: white.
    marked, outlined
        As in :func:`skgraphkde.plots.plot_graph`.

    Returns
    -------
    str
        An SVG.
    """
    outlined = outlined or {}
    legend, height = _legend(plan)
    places = _places(plan, SIDE - height)
    diameter = plan.diameter(outlined, SIDE)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIDE:g} {SIDE:g}" width="{SIDE:g}"'
        f' height="{SIDE:g}" font-family="DejaVu Sans, Verdana, sans-serif" text-anchor="middle">'
    ]
    for width, color in ((9.0, VERMILION), (6.5, PALE)):
        for u, v in marked:
            parts.append(_path([places[u], places[v]], width, color))
    parts += _edges(plan, places, diameter)
    for node in plan.positions:
        parts.append(_circle(places[node], diameter, colors, node, node in outlined))
    parts += [_text(gap, "…", 2 * FONT) for gap in places["gaps"]]
    parts += _labels(plan, places, diameter, colors, outlined)
    return "".join([*parts, *legend, "</svg>"])


def _places(plan: Plan, height: float) -> dict[Any, Any]:
    """Where nodes are in the picture, by node, and the gaps."""
    points = np.vstack([*plan.positions.values(), *plan.gaps])
    low = points.min(axis=0)
    size = np.ptp(points, axis=0)
    size = np.maximum(size, max(FLATTEST * size.max(), 1e-9))
    middle = low + np.ptp(points, axis=0) / 2
    room = np.array([SIDE, height]) - 2 * MARGIN
    turned = np.array([1.0, -1.0])  # up is up
    points = (points - middle) / size * room * turned + np.array([SIDE, height]) / 2
    n = len(plan.positions)
    return dict(zip(plan.positions, points[:n], strict=True)) | {"gaps": points[n:]}


def _edges(plan: Plan, places: dict[Any, Point], diameter: float) -> Iterator[str]:
    """Edges; arrows, and edges between the same two nodes, are bent apart."""
    edges = plan.edges
    are_bent = plan.directed or bool(edges.duplicated(["u", "v"]).any())
    before = edges.groupby(["u", "v"]).cumcount()
    columns = (edges[name].tolist() for name in ("u", "v", "code", "width"))
    for u, v, code, width, nth in zip(*columns, before.tolist(), strict=True):
        _, color, style = plan.looks[code]
        start, end = places[u], places[v]
        if not are_bent:
            yield _path([start, end], width, color, style)
            continue
        along = end - start
        aside = np.array([along[1], -along[0]]) * (BEND + NEXT_BEND * nth)
        middle = (start + end) / 2 + aside
        if not plan.directed:
            yield _path([start, middle, end], width, color, style)
            continue
        direction = _unit(end - middle)
        tip = end - direction * (diameter / 2 + 0.5)
        length = 0.25 * diameter + 2 + width
        yield _path([start, middle, tip - 0.7 * length * direction], width, color, style)
        base = tip - length * direction
        half = 0.4 * length * np.array([-direction[1], direction[0]])
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in (tip, base + half, base - half))
        yield f'<polygon points="{corners}" fill="{color}"/>'


def _labels(
    plan: Plan,
    places: dict[Any, Point],
    diameter: float,
    colors: np.ndarray | None,
    outlined: Mapping[int, str],
) -> Iterator[str]:
    """What is written on nodes, or above their labels, and labels on or below nodes.

    Where labels below nodes would cover each other, the first of them is written.
    """
    on_nodes = plan.are_long or not plan.labels
    taken: list[tuple[Point, Point]] = []
    for node, text in outlined.items():
        at = places[node]
        color = "black"
        if on_nodes and colors is not None and colors[node, :3] @ np.array(LUMA) < DARK:
            color = "white"
        if not on_nodes:
            at = at - np.array([0.0, diameter / 2 + 2 + 0.4 * FONT])
        yield _text(at, text, FONT, f' font-weight="bold" fill="{color}"')
        taken.append(_box(at, [text], FONT, 3.0))
    font = FONT if plan.are_long else min(8.0, 0.57 * diameter)
    if font < SMALLEST_FONT:
        return
    for node, label in plan.labels.items():
        lines = textwrap.wrap(label, CHARACTERS, max_lines=2, placeholder="…") or [""]
        first = places[node].copy()
        halo = ""
        if plan.are_long:
            first[1] += diameter / 2 + 3 + 0.5 * font
            box = _box(
                first + np.array([0.0, (len(lines) - 1) * LEADING * font / 2]), lines, font, 0.0
            )
            if any(_overlap(box, other) for other in taken):
                continue
            taken.append(box)
            halo = f' stroke="{GROUND}" stroke-opacity=".7" stroke-width="2" paint-order="stroke"'
        for k, line in enumerate(lines):
            shift = k if plan.are_long else k - (len(lines) - 1) / 2
            yield _text(first + np.array([0.0, shift * LEADING * font]), line, font, halo)


def _legend(plan: Plan) -> tuple[list[str], float]:
    """The categories of edges, and how many nodes are drawn; and the height that this takes."""
    looks = list(plan.legend.items())
    longest = max((len(name) for name, _ in looks), default=0)
    n_columns = max(1, 3 - longest // LONG_NAME)
    n_rows = -(-len(looks) // n_columns)
    height = LINE * (n_rows + bool(plan.title))
    if not height:
        return [], 0.0
    top = SIDE - height - 3
    parts = []
    if plan.title:
        parts.append(_text(np.array([SIDE / 2, top + LINE / 2]), plan.title, 8.0))
        top += LINE
    width = SAMPLE + 6 + LETTER * 7.0 * longest + 8
    for i, (name, (color, style)) in enumerate(looks):
        row, column = divmod(i, n_columns)
        in_row = min(n_columns, len(looks) - row * n_columns)
        left = SIDE / 2 + width * (column - in_row / 2)
        y = top + LINE * (row + 0.5)
        parts.append(_path(np.array([[left, y], [left + SAMPLE, y]]), 1.5, color, style))
        at = np.array([left + SAMPLE + 4, y])
        parts.append(_text(at, name, 7.0, ' text-anchor="start"'))
    return parts, height + 3


def _path(points: Any, width: float, color: str, style: Any = "solid") -> str:
    """A line from the first point to the last, bent by one between them."""
    x, y = points[0]
    bend = "Q" if len(points) == 3 else "L"
    to = " ".join(f"{x:.1f} {y:.1f}" for x, y in points[1:])
    dashes = ""
    if style != "solid":  # of matplotlib, in units of the width
        lengths = " ".join(f"{max(width, 0.8) * x:.2g}" for x in style[1])
        dashes = f' stroke-dasharray="{lengths}"'
    return (
        f'<path d="M{x:.1f} {y:.1f}{bend}{to}" fill="none" stroke="{color}" '
        f'stroke-width="{width:.2g}"{dashes}/>'
    )


def _circle(
    at: Point, diameter: float, colors: np.ndarray | None, node: int, has_ring: bool
) -> str:
    """A node."""
    fill = "white"
    if colors is not None:
        red, green, blue = np.rint(255 * colors[node, :3]).astype(int)
        fill = f"#{red:02x}{green:02x}{blue:02x}"
    stroke, width = ("black", 2.2) if has_ring else ("#555555", 0.6)
    return (
        f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="{diameter / 2:.1f}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="{width}"/>'
    )


def _text(at: Point, text: str, size: float, style: str = "") -> str:
    """A line of text around a point."""
    x, y = at
    y += 0.36 * size  # from the middle to the base of letters
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:.2g}"{style}>{escape(text)}</text>'


def _box(at: Point, lines: Sequence[str], size: float, padding: float) -> tuple[Point, Point]:
    """About the corners of what some lines around a point take."""
    width = LETTER * size * max(map(len, lines))
    half = np.array([width, LEADING * size * len(lines)]) / 2 + padding
    return at - half, at + half


def _overlap(box: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    return bool((box[0] < other[1]).all() and (other[0] < box[1]).all())


def _unit(vector: Point) -> Point:
    return vector / max(float(np.hypot(*vector)), 1e-9)
