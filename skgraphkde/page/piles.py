"""The page of two piles: what `compare` found -> one HTML file with findings and typical graphs."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skgraphkde._messages import encodable, shown
from skgraphkde._version import __version__
from skgraphkde._words import number
from skgraphkde.comparing import SINGLE, Comparison, first_of_alike
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.explanation.views import name_view, summarize_view
from skgraphkde.explanation.wording import in_two_lines
from skgraphkde.page import pictures
from skgraphkde.page.comparison import category_of_pictures
from skgraphkde.page.rendering import edge_categories_of, open_template, style_of_page
from skgraphkde.page.rows import LONGEST, shorten_name

# What is less probable by chance counts as a difference.
LEVEL = 0.05
# Typical graphs of each pile that are drawn.
DRAWN = 3
# With fewer graphs in a pile, only large differences are found.
FEW = 20
# Smaller p-values are told as draws of 1000.
FEWEST_OF_100 = 0.02


class Bar(NamedTuple):
    """A view, and how far the piles are from each other in it."""

    name: str
    summary: str
    p_value: float
    width: float  # in percent


class Line(NamedTuple):
    """A finding, and others that say about the same."""

    text: str
    p_value: float
    others: list[str]


class Picture(NamedTuple):
    """A typical graph."""

    name: str
    size: str
    source: str  # of an <img>


class PilesModel:
    """What the page says of two piles.

    Parameters
    ----------
    found : Comparison
    sizes : tuple of int
        Numbers of graphs.
    piles : tuple of str
        Names.
    exchanged : sequence of str
        Among which graphs these were exchanged; none: among all.
    """

    def __init__(
        self,
        found: Comparison,
        sizes: tuple[int, int],
        piles: tuple[str, str],
        exchanged: Sequence[str],
    ) -> None:
        self.exchanged = shown(", ".join(exchanged), LONGEST)
        self.found = found
        self.sizes = sizes
        self.piles = (shown(piles[0]), shown(piles[1]))
        self.model = found.detector.model_
        vocabulary = self.model.categories.vocabulary
        self.named = vocabulary.named if vocabulary.names else ""
        self.words = found.detector.schema_.words
        self.is_different = found.p_value <= LEVEL
        self.p_value = number(found.p_value)

    @property
    def headline(self) -> str:
        """Whether the piles differ, and most in what."""
        if not self.is_different:
            return f"No difference is shown: p = {self.p_value}"
        return f"{self.piles[0]} and {self.piles[1]} differ: p = {self.p_value}"

    @property
    def how_sure(self) -> str:
        """What the p-value means."""
        graphs = self.words.graphs
        text = (
            f"If all {graphs} came from one source, piles of {self.sizes[0]} and {self.sizes[1]} "
            f"would look this different in about {_of_draws(self.found.p_value)} draws."
        )
        if self.exchanged:
            text += f" The {graphs} were exchanged {self.exchanged} only."
        if not self.is_different:
            text += f" That is no proof that they are alike: more {graphs} may show a difference."
        if min(self.sizes) < FEW:
            text += f" With few {graphs} in a pile, only large differences can be found."
        return text

    @property
    def bars(self) -> list[Bar]:
        """The views, the strongest first."""
        names = {view.name: (name_view(view), summarize_view(view)) for view in self.model.views}
        names[SINGLE] = ("single differences", "The strongest line above, whatever it is of.")
        largest = max(float(self.found.views["statistic"].max()), 1e-9)
        bars = []
        for view, statistic, p_value in zip(
            self.found.views["view"],
            self.found.views["statistic"],
            self.found.views["p_value"],
            strict=True,
        ):
            width = round(100 * max(float(statistic), 0.0) / largest, 1)
            bars.append(Bar(*names[view], float(p_value), width))
        return bars

    def lines(self, *, sure: bool) -> list[Line]:
        """The findings that are hardly chance, or the others; each with those that go with it."""
        table = self.found.findings
        is_sure = table["p_value"] <= LEVEL
        chosen = table[is_sure if sure else ~is_sure]
        lines = []
        for place, row in first_of_alike(chosen).iterrows():
            others = chosen.loc[self._followers(chosen, int(str(place))), "finding"]
            lines.append(Line(row["finding"], float(row["p_value"]), list(others)))
        return lines

    def _followers(self, table: pd.DataFrame, place: int) -> list[int]:
        """Positions of the findings that go with one, or with one of these."""
        found = [place]
        for i, other in table["goes_with"].items():
            if other in found:
                found.append(int(str(i)))
        return found[1:]


def page_of_piles(
    found: Comparison,
    X: GraphBatch,
    Z: GraphBatch,
    piles: tuple[str, str],
    skipped: Sequence[str] = (),
    notes: Iterable[str] = (),
    exchanged: Sequence[str] = (),
) -> str:
    """The page of what :func:`skgraphkde.comparing.compare` found.

    Parameters
    ----------
    found : Comparison
    X, Z : GraphBatch
        The piles.
    piles : tuple of str
        What they are called.
    skipped, notes : sequence of str, default=()
        Why graphs are left out; warnings of how they were read.
    exchanged : sequence of str, default=()
        Among which graphs these were exchanged, as "within each site".

    Returns
    -------
    str
        HTML that needs no network and runs no script.
    """
    page = PilesModel(found, (len(X), len(Z)), piles, exchanged)
    looks = {
        "edge_categories": edge_categories_of(page.model.references),
        "category": category_of_pictures(page.model.references, page.named),
    }
    typical = []
    for pile, index in zip((X, Z), found.typical, strict=True):
        typical.append([_picture(pile, i, looks) for i in index[:DRAWN].tolist()])
    sizes = pictures.two_sizes(
        np.asarray(X.n_nodes_per_graph),
        np.asarray(Z.n_nodes_per_graph),
        page.piles,
        page.words.nodes,
        page.words.graphs,
    )
    html = open_template("piles.html").render(
        version=__version__,
        page=page,
        words=page.words,
        typical=typical,
        sizes=_embedded(sizes),
        skipped=skipped,
        notes=list(notes),
        style=style_of_page(),
        level=LEVEL,
    )
    return encodable(html)


def _of_draws(p_value: float) -> str:
    """A p-value as a number of draws."""
    n = 1000 if p_value < FEWEST_OF_100 else 100
    return f"{max(round(n * p_value), 1)} of {n}"


def _picture(pile: GraphBatch, i: int, looks: dict[str, Any]) -> Picture:
    graph = pile[i]
    words = graph.schema.words
    n_edges = int(graph.n_edges_per_graph[0])
    size = f"{words.counted(graph.n_nodes, 'node')}, {words.counted(n_edges, 'edge')}"
    name = in_two_lines(shorten_name(shown(pile.name(i), LONGEST)), ())[0]
    return Picture(name, size, _embedded(pictures.graph_picture(graph, looks)))


def _embedded(svg: str) -> str:
    """A picture as the source of an <img>: a document of its own."""
    return "data:image/svg+xml;base64," + base64.b64encode(svg.encode()).decode()
