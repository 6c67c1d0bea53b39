"""Views in words: what each one is called, and what it looks at."""

from __future__ import annotations

from skgraphkde.core.views.base import View
from skgraphkde.core.views.confirmed import Confirmed
from skgraphkde.core.views.density import Density
from skgraphkde.core.views.neighborhoods import Neighbors, Novelty, Tanimoto
from skgraphkde.core.views.numbers import Numbers
from skgraphkde.core.views.statistics import Statistics

#: What each view looks at, in one sentence for readers of reports.
SUMMARIES: dict[type[View], str] = {
    Density: "The nodes with their features and surroundings.",
    Novelty: "Surroundings of nodes, and categories, that no known graph has.",
    Tanimoto: "The share of surroundings in common with the most similar known graph.",
    Neighbors: "Differences from the nearest known graphs: surroundings that only one of both has.",
    Statistics: "The graph as a whole: size, degrees, shares of categories, means of numbers.",
    Numbers: "The node or edge whose numbers together are most unusual, or those of the graph.",
    Confirmed: "How near the graph is to confirmed anomalies.",
}


def summarize_view(view: View) -> str:
    """What a view looks at: a sentence, or the name of a view of your own without `summary`."""
    return view.summary or SUMMARIES.get(type(view), view.name)


def name_view(view: View) -> str:
    """What a view is called in reasons and reports; :attr:`View.name` is for programs.

    Examples
    --------
    >>> from skgraphkde import Novelty, Tanimoto
    >>> name_view(Novelty(radius=3)), Novelty(radius=3).name
    ('novelty of neighborhoods of radius 3', 'novelty of radius 3')
    >>> name_view(Tanimoto())
    'Tanimoto similarity to the most similar graph'
    """
    if isinstance(view, Density):
        return f"nodes and their surroundings ({view.distance_.name})"
    if isinstance(view, Novelty):
        return f"novelty of neighborhoods of radius {view.radius}"
    if isinstance(view, Tanimoto):
        return "Tanimoto similarity to the most similar graph"
    if isinstance(view, Neighbors):
        return "neighborhoods that differ from the nearest graphs"
    if isinstance(view, Statistics):
        return "statistics of the graph"
    if isinstance(view, Numbers):
        return "numbers together"
    if isinstance(view, Confirmed):
        return f"nearness to confirmed anomalies: {name_view(view.view)}"
    return view.name
