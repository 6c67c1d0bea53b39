"""Words for what a graph has in common with an anomaly that somebody confirmed."""

from __future__ import annotations

import numpy as np

from skgraphkde._messages import shown
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.base import Context, Property, Reason
from skgraphkde.core.views.categories import LISTED
from skgraphkde.core.views.confirmed import ITSELF, Confirmed
from skgraphkde.explanation.of_statistics import in_words, name_here

# What may follow from the number of nodes, as in chains, and is not told beside it.
FROM_SIZE = [
    ("density",),
    ("mean degree",),
    ("deviation of degrees",),
    ("degree 1",),
    ("degree 2",),
]
# Statistics that a reason names.
MOST_SHARED = 2
# The fact that reasons of all views of confirmed anomalies state.
ABOUT = ("confirmed anomalies",)


def say_confirmed(
    view: Confirmed, graph: GraphBatch, unusual: Property, context: Context
) -> Reason:
    """The nearest confirmed anomaly, and what it shares; no text if nothing is shared.

    Parameters
    ----------
    view : Confirmed
        Fitted.
    graph : GraphBatch
        Batch of one graph.
    unusual : Property
        The view's property, of this graph.
    context : Context
        Context of the graph.

    Returns
    -------
    Reason
    """
    [distances] = view.distances_to_anomalies(context, np.array([unusual.own]))
    is_copy = unusual.values[0] == -ITSELF
    i = int(view.copied(graph)[0] if is_copy else distances.argmin())
    name = view.anomalies_.names[i] if view.anomalies_.names else ""
    one = f"{shown(name)!r}, a confirmed anomaly" if name else "a confirmed anomaly"
    if is_copy:
        is_itself = name and graph.names == (name,)
        text = "confirmed as an anomaly" if is_itself else f"the same as {one}"
        return Reason(view.name, text, about=ABOUT)
    is_same = view.view is view.statistics and distances[i] == 0
    if is_same or view.statistics is None:  # nobody knows what they share
        text = f"the same as {one}, in its statistics" if is_same else f"like {one}"
        return Reason(view.name, text, about=ABOUT)
    shared = _shared(view, context, i, unusual.own)
    what = f"in what hardly any other {graph.schema.words.graph} has"
    text = f"like {one}, {what}: " if shared else ""
    nodes = dict.fromkeys(v for j in shared for v in view.statistics.here(j, graph)[0].tolist())
    return Reason(view.name, text, "", tuple(nodes)[:LISTED], (), ABOUT, tuple(shared.values()))


def _shared(view: Confirmed, context: Context, i: int, own: int) -> dict[int, str]:
    """The statistics in which a graph and an anomaly are most unlike known graphs, in words."""
    statistics = view.statistics
    assert statistics is not None
    [(metric, _)] = statistics.metrics(np.array([own]))
    rows = np.vstack([statistics.table(context), view.statistics_of_anomalies()[i]])
    known = statistics.table_ if own < 0 else np.delete(statistics.table_, own, axis=0)
    away = metric.away(rows, known)
    keys = list(statistics.keys_)
    if away[keys.index(("nodes",))]:
        away[[keys.index(key) for key in FROM_SIZE]] = 0
    said: dict[int, str] = {}
    for j in np.argsort(-away.round(9), kind="stable"):  # rounding decides on no order
        if not away[j] > away.max() / 2 or len(said) == MOST_SHARED:
            break
        mean = statistics.subjects[j]  # which is plainer than a deviation
        k = int(mean if away[mean] else j)
        about = name_here(statistics, k, context.graphs), statistics.forms_[k], rows[:, k].tolist()
        text, usual = in_words(*about, known[:, k], "{} in both", "{} here and {} there")
        said[k] = f"{text} ({usual})" if usual else text
    return said
