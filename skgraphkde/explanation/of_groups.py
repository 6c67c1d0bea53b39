"""Words for what small groups of training graphs share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import hypergeom

from skgraphkde._messages import listed, printable
from skgraphkde._words import category_text, singular
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.groups import Group, Things
from skgraphkde.core.scoring.model import GraphModel
from skgraphkde.core.views.base import Reason
from skgraphkde.core.views.neighborhoods import NeighborhoodView
from skgraphkde.core.views.statistics import Statistics
from skgraphkde.explanation.naming import (
    around_words,
    edge_name,
    names_of_nodes,
    surrounding_names,
    words_of,
)
from skgraphkde.explanation.of_statistics import in_words, name_here

# Things that are told.
MOST_SHARED = 3
# All members of a group have what so many graphs have by chance with this probability, over all
# data of graphs.
BY_CHANCE = 1e-3
# Characters of these, or only the first is named.
LONGEST = 160


class GroupInWords(NamedTuple):
    """Training graphs that are alike and unlike the others, and what they share."""

    members: np.ndarray  # positions of training graphs, ascending
    share: float  # as of a Group
    things: tuple[str, ...]  # that all members share, and few other references or none
    is_only: bool  # no other training graph has them

    @property
    def shared(self) -> str:
        """All of these."""
        return " and ".join(self.things)


def say_group(model: GraphModel, group: Group) -> list[str]:
    """The things that all members of a group share, in words.

    Parameters
    ----------
    model : GraphModel
    group : Group
        Of the references of the model.

    Returns
    -------
    list of str
    """
    if group.things is None:
        return [printable(_say_statistics(model, group.references))]
    say = _say_edge if group.things.values else _say_neighborhood
    chosen = group.shared[:MOST_SHARED].tolist()
    names = list(dict.fromkeys(printable(say(model, group.things, i)) for i in chosen))
    return names if len(" and ".join(names)) <= LONGEST else names[:1]


def say_data_of_group(
    members: np.ndarray, data: Sequence[Mapping[str, Any]], graphs: str
) -> dict[str, str]:
    """The data of graphs as a whole that all members have, and so many others do not by chance.

    Parameters
    ----------
    members : ndarray of int
    data : sequence of mapping
        Of all graphs: values by name.
    graphs : str
        What people call graphs.

    Returns
    -------
    dict of str -> str
        How many others have each, such as {"site=C": "no other graph"}.
    """
    found: dict[str, str] = {}
    n = len(data)
    names = dict.fromkeys(name for i in members.tolist() for name in data[i])
    for name in names:
        values = {data[i].get(name) for i in members.tolist()}
        value = next(iter(values))
        if len(values) > 1 or value is None:
            continue
        n_alike = sum(x.get(name) == value for x in data)
        # That so many graphs, drawn at random, would all be among those that have it.
        chance = hypergeom.sf(len(members) - 1, n, n_alike, len(members))
        if chance * len(names) > BY_CHANCE:
            continue
        n_others = n_alike - len(members)
        of_others = f"{n_others} of {n - len(members)} other" if n_others else "no other"
        noun = graphs if n_others else singular(graphs)
        found[category_text(name, value)] = f"{of_others} {noun}"
    return found


def _say_edge(model: GraphModel, things: Things, i: int) -> str:
    """An edge, by one category of the nodes at its ends and by its own."""
    graphs: GraphBatch = model.references
    u, v, code = things.data[:, i].tolist()
    vocabulary = model.categories.vocabulary
    start, end = (words_of(vocabulary, (things.category,), (things.values[x],)) for x in (u, v))
    return edge_name(graphs, code, start, end, graphs.schema.words.edge)


def _say_neighborhood(model: GraphModel, things: Things, i: int) -> str:
    """A neighborhood, by the first node of the references that has it."""
    view = model.first(NeighborhoodView)
    assert view is not None  # of which the neighborhoods are
    graphs = model.references
    known = view.neighborhoods_
    first = int(things.data[0, i])
    graph = int(graphs.graph_of_node[first])
    called = graphs.schema.words
    alone = graphs[graph]
    node = int(first - graphs.node_ptr[graph])
    names = names_of_nodes(known.vocabulary, alone, known.vocabulary.together)
    if things.radius == 1:
        names = surrounding_names(alone, names, called)
    text = names[node] if known.vocabulary.by_label else f"one {names[node]}"
    if things.radius > 1:
        near = listed(around_words(known, alone, node, things.radius))
        distance = f"{things.radius} {called.edges} away"
        text += f" with exactly these {called.nodes} up to {distance}: {near}"
    return text


def _say_statistics(model: GraphModel, members: np.ndarray) -> str:
    """The statistic in which all members are outside of the usual range."""
    statistics = model.first(Statistics)
    assert statistics is not None  # in which they are a cluster
    own = statistics.table_[members]
    known = np.delete(statistics.table_, members, axis=0)
    away = statistics.metric.away(own, known)
    if not away.any():
        return "nearly the same numbers as a whole, none of which is odd alone"
    j = int(away.argmax())
    ends = [float(own[:, j].min()), float(own[:, j].max())]
    name = name_here(statistics, j, model.references[members])
    form = statistics.forms_[j]
    return Reason(name, *in_words(name, form, ends, known[:, j])).text
