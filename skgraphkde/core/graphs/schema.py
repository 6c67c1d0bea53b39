"""GraphSchema: which names of data of nodes, edges and graphs are read, and as what.

It takes the names that a user wrote, or the conventions. What was found is a
:class:`FittedSchema`, which each :class:`~skgraphkde.core.graphs.batch.GraphBatch` carries.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from skgraphkde._words import CALLED, CALLED_ONE, LONGEST_NOUN, Words, guessed
from skgraphkde.core.graphs.problems import Ignored
from skgraphkde.core.specification import Specification, StrOptions

__all__ = ["FittedSchema", "GraphSchema"]

#: Names that are read where graphs have them, unless the user names others.
CONVENTIONS = {
    "node_categories": ("label", "node_type"),
    "node_numbers": ("x",),
    "edge_categories": ("label", "edge_type"),
    "edge_numbers": ("x", "edge_attr"),
    "graph_categories": (),
    "graph_numbers": (),
}
KINDS = tuple(CONVENTIONS)
#: What has data.
PARTS = ("node", "edge", "graph")
KINDS_OF = {part: (f"{part}_categories", f"{part}_numbers") for part in PARTS}
# Names of node numbers that say where a node is, or may say anything, unless the user wrote them.
PLACES = {"x", "y", "z", "xyz", "pos", "position", "positions", "coords", "coordinates"}


# Categories of the atoms of molecules.
ATOM = ("label", "charge", "hydrogens", "aromatic", "ring")


class GraphSchema(Specification):
    """The attributes of nodes, edges and graphs that are read, and their kinds.

    Each of the first six parameters is a name or a tuple of names; "auto" for the conventions
    below, where graphs have them; "all" for everything that is of the kind; or None for nothing.
    ``("all", "code")`` is everything of the kind, and also "code", whatever it looks like. A name
    that you write and no graph has is an error that lists the names that there are.

    Parameters
    ----------
    node_categories : str, tuple of str or None, default="auto"
        Node attributes that hold a category, any hashable, or a vector of 0 and 1, which says one.
        "auto" is "label" and "node_type".
    node_numbers : str, tuple of str or None, default="auto"
        Node attributes that hold a number or a vector of numbers. "auto" is "x", of which the
        detector leaves out what looks like a position in space; what you name is never left out.
        Vectors that you did not name are a category if each has one 1 and is 0 elsewhere.
    edge_categories : str, tuple of str or None, default="auto"
        Edge attributes that hold a category: bond types, relations, system calls. "auto" is "label"
        and "edge_type".
    edge_numbers : str, tuple of str or None, default="auto"
        Lengths, amounts, delays. "auto" is "x" and "edge_attr".
    graph_categories : str, tuple of str or None, default="auto"
        Attributes of a graph as a whole that hold a category: a channel, a country. "auto" is none.
    graph_numbers : str, tuple of str or None, default="auto"
        Attributes of a graph as a whole that hold a number or a vector of numbers: a total, a
        duration, a molecular weight. "auto" is none. "all" leaves out what a graph is called, and
        what may be predicted of it ("y", "label", "target", "class", "anomaly").
    edge_weight : str or None, default=None
        A positive number that scales what passes along an edge, beside what a node keeps of its
        own, which weighs 1. Name it in `edge_numbers`, too, if its size matters edge by edge. None:
        all edges are alike, but for those of matrices with entries that are not 1. Entries of any
        sign are read by ``edge_numbers="weight"`` without an `edge_weight`.
    directed : {"auto"} or bool, default="auto"
        Whether an edge from u to v differs from one from v to u. "auto": as the graphs are.
    missing : {"error", "indicate"}, default="error"
        What a missing value is: an error, or evidence. With "indicate" a missing number counts as
        the mean, beside a column that says so, and a missing category is one of its own.
    call : dict or None, default=None
        Names for "nodes", "edges" and "graphs" in reasons and on pages, such as ``{"nodes":
        "steps", "graphs": "cases"}``. One of them is called as the plural without its end, or as
        you say: ``{"graphs": "movies", "graph": "movie"}``. They change no score. None: those of
        molecules, traces and event logs are guessed.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphSchema, read_graphs
    >>> pump = nx.DiGraph([("a", "b", {"flow": 1.5})])
    >>> nx.set_node_attributes(pump, {"a": 60.0, "b": 71.5}, "temp")
    >>> read_graphs([pump], schema=GraphSchema(node_numbers="temp", edge_numbers="flow"))
    GraphBatch(n_graphs=1, n_nodes=2, n_arcs=1, n_attributes=1, n_edge_attributes=1)
    """

    _parameter_constraints: dict = {
        **{name: [str, tuple, list, None] for name in KINDS},
        "edge_weight": [str, None],
        "directed": [StrOptions({"auto"}), bool],
        "missing": [StrOptions({"error", "indicate"})],
        "call": [dict, None],
    }

    def __init__(
        self,
        *,
        node_categories: Any = "auto",
        node_numbers: Any = "auto",
        edge_categories: Any = "auto",
        edge_numbers: Any = "auto",
        graph_categories: Any = "auto",
        graph_numbers: Any = "auto",
        edge_weight: str | None = None,
        directed: Any = "auto",
        missing: str = "error",
        call: dict[str, str] | None = None,
    ) -> None:
        self.node_categories = node_categories
        self.node_numbers = node_numbers
        self.edge_categories = edge_categories
        self.edge_numbers = edge_numbers
        self.graph_categories = graph_categories
        self.graph_numbers = graph_numbers
        self.edge_weight = edge_weight
        self.directed = directed
        self.missing = missing
        self.call = call

    def _validate_values(self) -> None:
        call = self.call or {}
        for what, noun in call.items():
            is_known = what in CALLED or (what in CALLED_ONE and f"{what}s" in call)
            is_noun = isinstance(noun, str) and 0 < len(noun.strip()) <= LONGEST_NOUN
            if not (is_known and is_noun):
                raise ValueError(
                    "call of GraphSchema must give names to nodes, edges or graphs, such as "
                    "{'nodes': 'steps', 'graphs': 'cases'}, and to one of these only beside the "
                    f"others: {{'graphs': 'movies', 'graph': 'movie'}}. A name has at most "
                    f"{LONGEST_NOUN} characters. Got {what!r}: {noun!r}."
                )
        for part, (categories, numbers) in KINDS_OF.items():
            names = [*self.named(categories), *self.named(numbers)]
            for name in names:
                if not isinstance(name, str) or not name:
                    raise ValueError(
                        f"{categories} and {numbers} of GraphSchema must hold names of attributes. "
                        f"Got {name!r}."
                    )
                if names.count(name) > 1:
                    raise ValueError(
                        f"GraphSchema: the {part} attribute {name!r} is named twice, in "
                        f"{categories} or {numbers}: name it once"
                    )

    @classmethod
    def everything(cls, **changes: Any) -> GraphSchema:
        """The schema that "all" stands for.

        Parameters
        ----------
        **changes : dict
            Other parameters, such as ``missing="indicate"``. They replace "all":
            ``node_categories="code"`` reads no other category of nodes, ``("all", "code")`` does.
        """
        return cls(**dict.fromkeys(KINDS, "all") | changes)

    @classmethod
    def molecule(cls, **changes: Any) -> GraphSchema:
        """The schema that "molecule" stands for: what is read of molecules of RDKit.

        Atoms have their element, charge, hydrogens, aromaticity, and whether they are in a ring;
        bonds have their type; and molecules have the properties of the rules of Lipinski and Veber:
        weight, logP, polar surface, donors and acceptors of hydrogen bonds, rotatable bonds.

        Parameters
        ----------
        **changes : dict
            Other parameters, such as ``graph_numbers=("logp", "solubility")``.
        """
        properties = ("weight", "logp", "surface", "donors", "acceptors", "rotatable")
        read = {"node_categories": ATOM, "edge_categories": "label", "graph_numbers": properties}
        others = dict.fromkeys(("node_numbers", "edge_numbers", "graph_categories"))
        return cls(**{**read, **others, **changes})

    @property
    def reads_molecules(self) -> bool:
        """True for :meth:`molecule`, also with changes: it names what only atoms have."""
        return bool({"hydrogens", "aromatic"} & set(self.named("node_categories")))

    def reads_all(self, part: str) -> bool:
        """True if the categories, or the numbers, of a part are "all"."""
        return any(map(self.is_all, KINDS_OF[part]))

    def is_all(self, kind: str) -> bool:
        """True if a kind, such as "node_categories", is "all", alone or beside names."""
        value = getattr(self, kind)
        return value == "all" if isinstance(value, str) else "all" in (value or ())

    def named(self, kind: str) -> tuple[str, ...]:
        """The names that the user wrote for a kind, such as "node_categories"."""
        value = getattr(self, kind)
        if value is None or value == "auto":
            return ()
        names = (value,) if isinstance(value, str) else value
        return tuple(name for name in names if name != "all")


#: Names of schemas.
SCHEMAS = {"all": GraphSchema.everything, "molecule": GraphSchema.molecule}


def validated(schema: Any) -> GraphSchema:
    """The schema that the user gave, or that a name or None is short for, checked."""
    if schema is None:
        return GraphSchema()
    if isinstance(schema, str) and schema in SCHEMAS:
        return SCHEMAS[schema]()
    if not isinstance(schema, GraphSchema):
        raise TypeError(f"schema must be a GraphSchema, 'all', 'molecule' or None, got {schema!r}")
    schema.validate()
    return schema


def names_in_schema(schema: GraphSchema, part: str) -> list[str]:
    """The names of data of nodes, of edges, or of graphs, that the user wrote.

    Parameters
    ----------
    schema : GraphSchema
    part : {"node", "edge", "graph"}
    """
    names = [name for kind in KINDS_OF[part] for name in schema.named(kind)]
    if part == "edge" and schema.edge_weight is not None:
        names.append(schema.edge_weight)
    return names


def conventional_names(schema: GraphSchema, part: str) -> list[str]:
    """The names that the user wrote, and those that are read by convention.

    Parameters
    ----------
    schema : GraphSchema
    part : {"node", "edge", "graph"}
    """
    conventions = [name for kind in KINDS_OF[part] for name in CONVENTIONS[kind]]
    return [*names_in_schema(schema, part), *conventions]


def closest_names(name: str, known: Iterable[str]) -> str:
    """Up to ten names that there are, the closest to `name` first, for a message.

    Parameters
    ----------
    name : str
    known : iterable of str
    """
    return ", ".join(map(repr, difflib.get_close_matches(name, known, n=10, cutoff=0.0)))


Widths = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class FittedSchema:
    """The attributes that were read of graphs.

    Attributes
    ----------
    node_categories, edge_categories, graph_categories : tuple of str
        Names of attributes.
    node_numbers, edge_numbers, graph_numbers : tuple of (str, int)
        Names, each with its number of columns.
    edge_weight : str or None
    directed : bool
    missing : {"error", "indicate"}
    named : tuple of str
        The names of node numbers that the user wrote.
    ignored : tuple of Ignored
        Attributes of the graphs that were not read.
    n_self_loops : int
        How many edges were left out, as they join a node with itself.
    directed_policy : {"auto"} or bool
        The direction that the user's schema asks for.
    labels : tuple of (str, tuple of str)
        What pandas calls the columns of an attribute, where it does.
    called : tuple of (str, str)
        What the user calls nodes, edges and graphs.
    one_hot : tuple of (str, str), or None
        Parts and names of categories that are vectors of 0 and 1. None: not known, in old files.
    """

    node_categories: tuple[str, ...] = ()
    node_numbers: Widths = ()
    edge_categories: tuple[str, ...] = ()
    edge_numbers: Widths = ()
    graph_categories: tuple[str, ...] = ()
    graph_numbers: Widths = ()
    edge_weight: str | None = None
    directed: bool = False
    missing: str = "error"
    named: tuple[str, ...] = ()
    ignored: tuple[Ignored, ...] = ()
    n_self_loops: int = 0
    directed_policy: Any = "auto"
    labels: tuple[tuple[str, tuple[str, ...]], ...] = ()
    called: tuple[tuple[str, str], ...] = ()
    one_hot: tuple[tuple[str, str], ...] | None = None

    def __repr__(self) -> str:
        hidden = ("named", "n_self_loops", "directed_policy", "labels", "called", "one_hot")
        fields = {name: x for name, x in vars(self).items() if name not in hidden}
        fields["ignored"] = tuple(map(str, self.ignored))
        texts = [f"{name}={x!r}" for name, x in fields.items() if x not in ((), None, "error")]
        return f"FittedSchema({', '.join(texts)})"

    def names(self, kind: str) -> tuple[str, ...]:
        """Names of the attributes of a kind, such as "node_numbers"."""
        value = getattr(self, kind)
        return value if kind.endswith("categories") else tuple(name for name, _ in value)

    @property
    def node_columns(self) -> tuple[str, ...]:
        """Names of the columns of the node numbers: "temp", or "x_0", "x_1", ... of a vector."""
        return column_names(self.node_numbers)

    @property
    def edge_columns(self) -> tuple[str, ...]:
        """Names of the columns of the edge numbers."""
        return column_names(self.edge_numbers)

    @property
    def graph_columns(self) -> tuple[str, ...]:
        """Names of the columns of the graph numbers."""
        return column_names(self.graph_numbers)

    @property
    def is_explicit_feature(self) -> np.ndarray:
        """Mask of the node number columns that the user named or whose names are not positions."""
        meant = [name in self.named or name.lower() not in PLACES for name, _ in self.node_numbers]
        return np.repeat(np.array(meant, dtype=bool), [width for _, width in self.node_numbers])

    @property
    def words(self) -> Words:
        """What people call nodes, edges and graphs: as the user said, or by their attributes."""
        kinds = (kind for part in ("node", "edge") for kind in KINDS_OF[part])
        names = {name for kind in kinds for name in self.names(kind)}
        names |= {x.name for x in self.ignored if x.part != "graph"}
        return Words.of(guessed(names) | dict(self.called))

    def to_schema(self) -> GraphSchema:
        """The schema that reads the same, by name, of other graphs."""
        return GraphSchema(
            **{kind: self.names(kind) for kind in KINDS},
            edge_weight=self.edge_weight,
            directed=self.directed_policy,
            missing=self.missing,
            call=dict(self.called) or None,
        )

    def conflict(self, other: FittedSchema) -> str | None:
        """The first difference between what was read of two batches; None if there is none."""
        for field in (*KINDS, "edge_weight"):
            mine = getattr(self, field)
            theirs = getattr(other, field)
            if mine != theirs:
                return f"{field.replace('_', ' ')} {described(mine)} and {described(theirs)}"
        return None

    def joined(self, others: Iterable[FittedSchema]) -> FittedSchema:
        """The schema of graphs that were read by this one and others, between which is no conflict.

        Undirected graphs become directed ones beside such.
        """
        everyone = [self, *others]
        ignored = dict.fromkeys(item for x in everyone for item in x.ignored)
        return replace(
            self,
            directed=any(x.directed for x in everyone),
            missing="indicate" if any(x.missing == "indicate" for x in everyone) else "error",
            named=tuple(dict.fromkeys(name for x in everyone for name in x.named)),
            ignored=tuple(sorted(ignored, key=lambda x: PARTS.index(x.part))),
            n_self_loops=sum(x.n_self_loops for x in everyone),
        )


def unread_attributes(
    schema: GraphSchema | None, ignored: Sequence[Ignored], known: Sequence[Ignored] = ()
) -> list[Ignored]:
    """Ignored attributes that the user's schema does not mention.

    A schema that says which categories and which numbers nodes have mentions all data of nodes, and
    so for edges and graphs. One that says which categories, or None, mentions the conventional
    ones; "all" mentions nothing.

    Parameters
    ----------
    schema : GraphSchema or None
        The schema of the user.
    ignored : sequence of Ignored
    known : sequence of Ignored, default=()
        Those that were said before, and are left out.
    """
    schema = schema or GraphSchema()
    mentioned = {(x.part, x.name) for x in known}
    for part, kinds in KINDS_OF.items():
        decided = [x for x in kinds if getattr(schema, x) != "auto" and not schema.is_all(x)]
        mentioned |= {(part, name) for kind in decided for name in CONVENTIONS[kind]}
        if len(decided) == len(kinds):
            mentioned |= {(x.part, x.name) for x in ignored if x.part == part}
    return [x for x in ignored if (x.part, x.name) not in mentioned]


def column_names(numbers: Widths) -> tuple[str, ...]:
    """A name for each column of numbers."""
    return tuple(
        column
        for name, width in numbers
        for column in ((name,) if width == 1 else (f"{name}_{i}" for i in range(width)))
    )


def described(names: Any) -> str:
    """A name, or names of categories, or of numbers with their widths, for a message."""
    if not isinstance(names, tuple):
        return repr(names)
    texts = [repr(x) if isinstance(x, str) else f"{x[0]!r} ({x[1]})" for x in names]
    return ", ".join(texts) or "none"
