"""View: the protocol of views, which score graphs by their references.

A view learns from reference graphs and gives each graph a score; a model adds up the p-values of
several views. A view is one class: its parameters, its fitted attributes, and its reasons. Work
that views share goes through the context of one call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from skgraphkde._words import usual_range
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.schema import KINDS_OF
from skgraphkde.core.specification import Specification

# For each view that compares clouds of points, the clouds of some graphs.
Clouds = dict[Any, DiscreteMeasures]


class Context:
    """Work on some graphs that views share, during one call.

    A model makes a context for each block of graphs that it scores, passes it to each view, and
    drops it. A view without shared work ignores it.

    Parameters
    ----------
    graphs : GraphBatch
    embedding : Embedding, or callable
        Function of graphs that returns their clouds of points, for each view that has
        `uses_points`.
    known : dict of View -> DiscreteMeasures
        Clouds of the references.
    clouds : dict of View -> DiscreteMeasures, default=None
        Clouds of the graphs. None: `embedding` makes them when a view asks for them.

    Attributes
    ----------
    squared : dict of View -> ndarray of shape (n_graphs, n_graphs)
        Squared distances between all graphs, which `fit` computed, and `scores` uses again.
    """

    def __init__(
        self,
        graphs: GraphBatch,
        embedding: Any,
        known: Clouds,
        clouds: Clouds | None = None,
    ) -> None:
        self.graphs = graphs
        self.embedding = embedding
        self.known = known
        self.squared: dict[Any, np.ndarray] = {}
        self._clouds = clouds
        self._shared: dict[tuple, Any] = {}

    @property
    def clouds(self) -> Clouds:
        """Clouds of points of the graphs, for each view that has `uses_points`."""
        if self._clouds is None:
            self._clouds = self.embedding(self.graphs)
        return self._clouds

    def shared(self, compute: Callable[..., Any], *arguments: Any) -> Any:
        """Result of ``compute(graphs, *arguments)``, which is computed once in a call.

        Parameters
        ----------
        compute : callable
        *arguments : hashable

        Returns
        -------
        object
        """
        key = compute, *arguments
        if key not in self._shared:
            self._shared[key] = compute(self.graphs, *arguments)
        return self._shared[key]

    def part(self, block: slice | np.ndarray) -> Context:
        """Context of some of the graphs, with those of the results for all that are known."""
        graphs = self.graphs[block]
        if graphs is self.graphs:
            return self
        clouds = self._clouds
        if clouds is not None:
            clouds = {view: measures[block] for view, measures in clouds.items()}
        part = Context(graphs, self.embedding, self.known, clouds)
        part.squared = {view: squared[block] for view, squared in self.squared.items()}
        return part


class Property(NamedTuple):
    """A number of each graph that can be unusual, and what it is about."""

    kind: str  # as in the table of `explain`
    what: str
    values: np.ndarray  # (n_graphs,); NaN where a graph has none
    least: np.ndarray  # (n_graphs,), the smallest difference that counts
    place: int = 0  # among properties of the same kind and what
    both: bool = False  # small numbers are unusual, too
    # the reference that the graph of a reason is, to be left out, or the training graph for a view
    # that uses all of them; -1: none
    own: int = -1


class Facts(NamedTuple):
    """The numbers of a reason, for programs: NaN, and -1, where there are none."""

    part: str = "graph"  # "node", "edge" or "graph"
    value: float = np.nan  # as the reason says it
    low: float = np.nan  # the ends of the usual range: nine in ten known ones are within
    high: float = np.nan
    n_known: int = -1  # known graphs that have it; known numbers that were compared

    @classmethod
    def of(cls, part: str, value: float, known: np.ndarray) -> Self:
        """The facts about a number among known ones.

        Parameters
        ----------
        part : {"node", "edge", "graph"}
        value : float
        known : ndarray of shape (n_known,)
            NaN is ignored.
        """
        low, high = usual_range(known)
        n_known = int(np.count_nonzero(~np.isnan(known)))
        return cls(part, float(value), float(low), float(high), n_known)


class Reason(NamedTuple):
    """The words for an unusual property of one graph, with nodes and edges by their positions."""

    what: str
    statement: str  # "": none, after all
    usual: str = ""  # what others have: "usually 5 to 6"
    nodes: tuple[int, ...] = ()
    edges: tuple[tuple[int, int], ...] = ()
    #: The facts that it states, if not `what`; weaker reasons that state them are left out.
    about: tuple[Any, ...] = ()
    names: tuple[str, ...] = ()  # they end the statement, as many of them as fit in two lines
    facts: Facts = Facts()

    @property
    def text(self) -> str:
        """The whole sentence: "7 nodes; usually 5 to 6"."""
        statement = self.statement + ", ".join(self.names)
        return f"{statement}; {self.usual}" if self.usual else statement


class View(Specification):
    """Base class of views.

    A subclass defines ``__init__`` with its parameters, :meth:`fit` and :meth:`scores`. `fit` sets
    attributes whose names end with an underscore. A detector fits a copy and never changes the
    object that it was given. Work that several views share goes through the :class:`Context` of a
    call, which other views ignore.

    Examples
    --------
    >>> import numpy as np
    >>> from skgraphkde import Density, GraphKDEDetector, View
    >>> class Size(View):
    ...     def fit(self, references, context):
    ...         self.sizes_ = np.log(references.n_nodes_per_graph)
    ...         return self
    ...
    ...     def scores(self, graphs, own, context):
    ...         away = abs(np.log(graphs.n_nodes_per_graph)[:, None] - self.sizes_)
    ...         away[own >= 0, own[own >= 0]] = np.inf
    ...         return -away.min(axis=1)
    >>> GraphKDEDetector(views=("density", Size()))
    GraphKDEDetector(views=('density', Size()))
    """

    #: One sentence for readers of reports about what a view of your own looks at.
    summary: ClassVar[str] = ""
    #: Whether the view compares clouds of points: it has a `distance_`, and `clouds` of a context.
    uses_points: ClassVar[bool] = False
    #: Which data of graphs as a whole the view looks at; by default, it may be all.
    graph_data: ClassVar[tuple[str, ...]] = KINDS_OF["graph"]
    #: Whether the view counts in all training graphs: `fit` gets these, and `own` is an index of
    #: them. Other views compare graphs with the references, of which there may be fewer.
    uses_all_graphs: ClassVar[bool] = False
    #: Whether the view has :meth:`distances` between graphs, by which confirmed anomalies are near.
    has_distances: ClassVar[bool] = False

    @property
    def name(self) -> str:
        """Name of the view for programs, as in tables; words are in `explanation`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower()

    def applies_to(self, graphs: GraphBatch) -> bool:
        """True if ``views="auto"`` includes the view for these training graphs."""
        return True

    def fit(self, references: GraphBatch, context: Context) -> Self:
        """Learn from references, and set attributes whose names end with an underscore.

        Parameters
        ----------
        references : GraphBatch
        context : Context
            Work on the references that views share.

        Returns
        -------
        self
        """
        raise NotImplementedError(f"{type(self).__name__} has no method fit(references, context)")

    def scores(self, graphs: GraphBatch, own: np.ndarray, context: Context) -> np.ndarray:
        """Score graphs by the references.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            Index of the reference, or with `uses_all_graphs` of the training graph, that equals
            each graph and is excluded; -1 excludes none.
        context : Context
            Work on the graphs that views share.

        Returns
        -------
        ndarray of shape (n_graphs,)
            Higher for normal graphs, independent of the other graphs.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has no method scores(graphs, own, context)"
        )

    def distances(self, context: Context, others: Context, own: np.ndarray) -> np.ndarray:
        """Distances between graphs and others, by what `fit` learned of the references.

        Parameters
        ----------
        context, others : Context
            Contexts of the graphs and of the others.
        own : ndarray of shape (n_graphs,), int
            As for :meth:`scores`.

        Returns
        -------
        ndarray of shape (n_graphs, n_others)
            At least 0.
        """
        raise NotImplementedError(f"{type(self).__name__} has no distances between graphs")

    def check_batch(self, graphs: GraphBatch) -> None:
        """Raise a ValueError if graphs lack what the view needs."""

    def properties(
        self, graphs: GraphBatch, own: np.ndarray, scores: np.ndarray, context: Context
    ) -> list[Property]:
        """Numbers of graphs from which reasons are made, always in the same order.

        Parameters
        ----------
        graphs : GraphBatch
        own : ndarray of shape (n_graphs,), int
            As for :meth:`scores`.
        scores : ndarray of shape (n_graphs,)
            Their scores.
        context : Context
            As for :meth:`scores`.

        Returns
        -------
        list of Property
            By default minus the score. An empty list leaves the reasons to other properties.
        """
        return [Property(self.name, self.name, -scores, np.zeros(len(graphs)))]

    def reason(
        self,
        graph: GraphBatch,
        unusual: Property,
        known: np.ndarray,
        context: Context,
        node_names: Sequence[Any] | None = None,
    ) -> Reason | None:
        """Words for an unusual property of one graph.

        Parameters
        ----------
        graph : GraphBatch
            Batch of one graph.
        unusual : Property
            One of :meth:`properties`, of this graph.
        known : ndarray of shape (n_references,)
            The same property of the references, each compared with the others.
        context : Context
            Context of the graph.
        node_names : sequence, default=None
            Names of the nodes; None means their positions.

        Returns
        -------
        Reason or None
            None, by default: the number, and what is usual.
        """
        return None

    def __getstate__(self) -> dict[str, Any]:
        # Without what is computed when it is first needed.
        return {name: x for name, x in super().__getstate__().items() if not name.startswith("_")}
