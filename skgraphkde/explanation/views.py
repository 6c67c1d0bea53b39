"""Views in words: what each one is called, and what it looks at."""

from __future__ import annotations

from skgraphkde.core.views.base import View
from skgraphkde.core.views.confirmed import Confirmed
from skgraphkde.core.views.density import Density
from skgraphkde.core.views.namesakes import Namesakes
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
    Namesakes: "The links of nodes, compared with those of the same name in other graphs.",
    Confirmed: "How near the graph is to confirmed anomalies.",
}


def summarize_view(view: View) -> str:
    """What a view looks at, in a sentence; "" for a view of your own that does not say it."""
    if view.summary:
        return view.summary
    return next((SUMMARIES[cls] for cls in type(view).__mro__ if cls in SUMMARIES), "")


def name_view(view: View) -> str:
    """What a view is called in reasons and reports; :attr:`View.name` is for programs.

    A view of your own is called by its name.

    Examples
    --------
    >>> from skgraphkde import Novelty, Tanimoto
    >>> name_view(Novelty(radius=3)), Novelty(radius=3).name
    ('novelty of neighborhoods of radius 3', 'novelty of radius 3')
    >>> name_view(Tanimoto())
    'Tanimoto similarity to the most similar graph'
    """
    if _has_own_name(type(view)):
        return view.name
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
    if isinstance(view, Namesakes):
        return f"links of {view.of}s by the names of nodes"
    if isinstance(view, Confirmed):
        return f"nearness to confirmed anomalies: {name_view(view.view)}"
    return view.name


def _has_own_name(cls: type) -> bool:
    """True for a class of views whose name is not that of one of ours."""
    for base in cls.__mro__:
        if base in SUMMARIES:
            return False
        if "name" in vars(base):
            return True
    return True
