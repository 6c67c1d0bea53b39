"""A reader of reasons: each number and name in them against the graphs, counted again, slowly.

It knows nothing of the package but the words of its sentences, and takes from a detector only which
categories count together.
"""

import re
from collections import Counter
from itertools import combinations, pairwise

import networkx as nx
import numpy as np

NUMBER = r"-?\d*\.?\d+(?:e[+-]?\d+)?%?"
BEYOND = rf"at most {NUMBER}|at least {NUMBER}"
USUALLY = (
    rf"usually (none|{NUMBER}(?: to {NUMBER})?(?:, (?:{BEYOND}))?|always {NUMBER}(?: to {NUMBER})?)"
)
KIND = r"(?: \((?P<kind>[^()]*)\)| (?P<other>of rarer kinds)(?: \([^()]*\))?)?"
FEWEST = {"node": 5, "edge": 5, "graph": 10}  # graphs with a kind, or it is a rare one


def number(text):
    return float(text.rstrip("%")) / (100 if text.endswith("%") else 1)


def is_close(text, value):
    """True if the text is this number, as far as it is written."""
    digits = len(text.rstrip("%").partition(".")[2])
    least = 0.51 * 10.0**-digits / (100 if text.endswith("%") else 1) if "e" not in text else 0
    return abs(number(text) - value) <= max(0.0051 * abs(value), least, 1e-9)


def as_one(text):
    """A value that reads as several, in quotes and as one word, as the reader replaces it."""
    reads_as_several = isinstance(text, str) and re.search(r", |; | -> |=| \(|^\s|\s$", text)
    return "'" + re.sub(r"\W", "_", text) + "'" if reads_as_several else text


def with_values_as_one(graph):
    """A graph with each value as one word."""
    graph = graph.copy()
    for data in (graph.graph, *graph.nodes.values(), *graph.edges.values()):
        data |= {name: as_one(x) for name, x in data.items()}
    return graph


def n_linked(graph):
    """The number of pairs of different nodes that are linked, or 1."""
    return max(len({(u, v) for u, v, *_ in graph.edges if u != v}), 1)


def sizes_of_shapes(graph):
    """The largest shapes: edges to different nodes, nodes of ways and of the part at a bridge."""
    links = nx.Graph(graph)
    links.remove_edges_from(list(nx.selfloop_edges(links)))
    bridges = {"bridge": max((min(x) for x in parts_at_bridges(links)), default=0)}
    if not graph.is_directed():
        return {"at": max((n for _, n in links.degree), default=0)} | bridges
    graph = nx.DiGraph(graph)
    graph.remove_edges_from(list(nx.selfloop_edges(graph)))
    part_of = {}
    cycles = [0]
    for number, nodes in enumerate(nx.strongly_connected_components(graph)):
        part_of |= dict.fromkeys(nodes, number)
        if len(nodes) >= 3 and graph.subgraph(nodes).number_of_edges() == len(nodes):
            cycles.append(len(nodes))
    single = nx.DiGraph()
    for u, v in graph.edges:
        if graph.out_degree(u) == graph.in_degree(v) == 1 and part_of[u] != part_of[v]:
            single.add_edge(u, v)
    chains = [len(nodes) for nodes in nx.weakly_connected_components(single)]
    return {
        "into": max((n for _, n in graph.in_degree), default=0),
        "from": max((n for _, n in graph.out_degree), default=0),
        "cycle": max(cycles),
        "chain": max((n for n in chains if n >= 4), default=0),
    } | bridges


def parts_at_bridges(links):
    """The numbers of nodes of the two parts at each bridge, where both have a cycle."""
    for pair in list(nx.bridges(links)):
        without = nx.restricted_view(links, [], [pair])
        parts = [without.subgraph(nx.node_connected_component(without, v)) for v in pair]
        if all(part.number_of_edges() >= len(part) for part in parts):
            yield [len(part) for part in parts]


def quantiles(values):
    return np.quantile([x for x in values if x is not None], (0.05, 0.95), method="nearest")


def said(data, name):
    """A category with its name: kind=pump, ring, not ring, no kind."""
    if data.get(name) is None:
        return f"no {name}"
    return {"True": name, "False": f"not {name}"}.get(str(data[name]), f"{name}={data[name]}")


def counted(things):
    """Names of things by the alphabet, with their numbers."""
    return [f"{n} times {x}" if n > 1 else x for x, n in sorted(Counter(things).items())]


def degrees(graph):
    return [degree for _, degree in nx.Graph(graph).degree]


def n_pieces(graph):
    return nx.number_connected_components(nx.Graph(graph))


def n_loops(graph):
    return nx.Graph(graph).number_of_edges() - len(graph) + n_pieces(graph)


STATISTICS = {
    "most links at one node": lambda graph: max(degrees(graph)),
    "parts with no edges between them": n_pieces,
    "edges beyond those needed to connect the nodes": n_loops,
}


class Checker:
    """Reads the reasons of one detector.

    Parameters
    ----------
    detector : GraphKDEDetector
    known : list of networkx graphs
        Its training graphs.
    """

    def __init__(self, detector, known):
        self.known = known = [with_values_as_one(x) for x in known]
        self.schema, self.model = detector.schema_, detector.model_
        self.directed = self.schema.directed
        vocabulary = self.model.categories.vocabulary
        names = self.schema.node_categories
        self.step = names[vocabulary.step] if names else None
        self.together = [names[i] for i in vocabulary.together] if names else []
        self.named = "label" if "label" in names else self.step
        # Categories that are written together.
        self.tables = [x for x in (self.together, *([name] for name in names)) if x]
        self.read = 0
        nodes = [data for graph in known for data in graph.nodes.values()]
        edges = [data for graph in known for *_, data in graph.edges(data=True)]
        self.lines = {str([data.get(x) for x in self.schema.edge_categories]) for data in edges}
        self.values = {name: {str(data.get(name)) for data in nodes} for name in names}
        self.surroundings = {graph: self._surroundings(graph) for graph in known}

    def check(self, graph, own, reason):
        """What is false in a reason; None if nothing is.

        Parameters
        ----------
        graph : networkx graph
        own : int
            The training graph that it is; -1 if it is none.
        reason : row of `explain`
        """
        self.graph, self.own = self.known[own] if own >= 0 else with_values_as_one(graph), own
        self.others = [x for i, x in enumerate(self.known) if i != own]
        if len(reason.reason) > 160 or not reason.reason.strip():
            return "longer than two lines, or empty"
        start, is_cut, _ = reason.reason.partition("..." if reason.more else "\n")
        if not reason.more.startswith(start * bool(is_cut)):
            return f"not the start of {reason.more}"
        for text in filter(None, ("" if is_cut else reason.reason, reason.more)):
            found = self._sentence(re.sub("'([^']+)'", lambda x: as_one(x[1]), text))
            if found is not None:
                return found
        self.read += 1
        return None

    def _sentence(self, text):
        for pattern, check in self.PATTERNS:
            if match := re.fullmatch(pattern, text):
                given = match.groupdict()
                # Which kinds are other ones, only the features know.
                return None if given.pop("other", None) else check(self, **given)
        return "no sentence that is known"

    # -- numbers and their ranges ------------------------------------------------------------------

    def _range(self, usually, known, own=None):
        known = [x for x in known if x is not None and not np.isnan(x)]
        if rank := re.match(r"(higher|lower) than in (\d+) of (\d+)", usually):
            sign, near = 1 if rank[1] == "higher" else -1, 1e-6 * max(map(abs, known))
            n = sum(sign * (own - x) > near for x in known)
            return None if (n, len(known)) == (int(rank[2]), int(rank[3])) else f"{n} for {usually}"
        if not known or usually == "none":
            return None if not known and usually == "none" else f"{known} for {usually}"
        ends = quantiles(known)
        if usually.startswith("always "):
            usually, ends = usually.removeprefix("always "), [min(known), max(known)]
        usually, _, beyond = usually.partition(", ")
        texts = usually.split(" to ") if " to " in usually else [usually, usually]
        is_beyond = own is not None and not min(known) <= own <= max(known)
        if bool(beyond) > is_beyond:
            return f"{own} beyond {min(known)} to {max(known)}: {beyond}"
        if beyond:
            end = max(known) if "most" in beyond else min(known)
            if not is_close(beyond.split()[-1], end):
                return f"{beyond} is {end}"
        if not all(map(is_close, texts, ends)):
            return f"usually {ends.tolist()}"
        if own is not None and ends[0] <= own <= ends[1]:
            return f"{own} is in the usual range {ends.tolist()}"
        return None

    def _number(self, function, own, usually):
        """A number of the graph, and its range in the others."""
        value = function(self.graph)
        if value is None or not is_close(own, value):
            return f"{own} is {value}"
        return self._range(usually, [function(x) for x in self.others], value)

    def _share(self, count, own, total, percent, usually):
        """A number of parts of all, and the range of its share in the others."""
        k, n = count(self.graph)
        if (k, n) != (int(number(own)), int(number(total))):
            return f"{own} of {total} is {k} of {n}"

        def share(graph):
            k, n = count(graph)
            return k / n if n else None

        return self._number(share, percent, usually)

    def _among(self, function, own, usually):
        """A number of the graph beside others, and of each of these beside the rest."""
        value = function(self.graph, self.others)
        if not is_close(own, value):
            return f"{own} is {value}"
        known = [function(x, [y for y in self.known if y is not x]) for x in self.others]
        return self._range(usually, known, value)

    def _owners(self, has, n, total):
        """How many others have something that the graph lacks."""
        if has(self.graph):
            return "the graph has it"
        found = sum(bool(has(x)) for x in self.others), len(self.others)
        if found != (int(number(n)), int(number(total))):
            return f"{n} of {total} is {found}"
        return None

    # -- parts -------------------------------------------------------------------------------------

    def _edges(self, graph, kind=None):
        """The data of the edges, of one kind."""
        kinds = kind.split(", ") if kind else []
        edges = [data for *_, data in graph.edges(data=True)]
        return [data for data in edges if all(self._category(data, x) for x in kinds)]

    def _category(self, data, text):
        """Whether data have a category as it is written: kind=pump, N, no kind."""
        for name in (*self.schema.node_categories, *self.schema.edge_categories):
            if text in (name, f"not {name}", f"no {name}") or text.startswith(f"{name}="):
                return text == said(data, name)
        return "label" in data and str(data["label"]) == text

    def _words(self, data, names):
        """Categories of a node or an edge, as they are written together."""
        first = "label" if "label" in names else names[0]
        is_plain = len(names) > 1 or first == self.named
        is_plain &= first not in self.schema.edge_categories  # which have no words of their own
        is_word = is_plain and str(data.get(first)) not in ("True", "False", "None")
        head = str(data[first]) if is_word else said(data, first)
        rest = [said(data, name) for name in names if name != first]
        return f"{head} ({', '.join(rest)})" if rest else head

    def _edge_name(self, graph, u, v, at_ends):
        """An edge as it is written, with its category and those of its ends."""
        a, b = (self._words(graph.nodes[x], at_ends) for x in (u, v))
        if not self.directed:
            a, b = sorted((a, b))
        ends = f"{a} -> {b}" if self.directed else f"{a} - {b}"
        return f"{self._kind(graph.edges[u, v])}{ends}"

    def _edge_names(self, graph, u, v):
        """All names of an edge that reasons can write."""
        names = {self._edge_name(graph, u, v, names) for names in self.tables}
        return names.union(self._edge_kinds(graph.edges[u, v]))

    def _kind(self, data):
        """The categories of an edge, before it."""
        names = self.schema.edge_categories
        if len(names) == 1 and data.get(names[0]) is None:
            return f"edge without {names[0]} "
        return f"{self._words(data, names)} edge " if names else ""

    def _edge_kinds(self, data):
        """An edge by each of its categories, and last by all."""
        names = self.schema.edge_categories
        texts = [said(data, name) for name in names]
        return [*texts, self._kind(data).rstrip()] if names else []

    def _things(self, graph):
        """All names of nodes, edges and the graph that reasons can write."""
        categories, found = self.schema.node_categories, set()
        for data in graph.nodes.values():
            if categories:
                found.add(self._words(data, categories))
            for name in categories:
                is_word = name == "label" and data.get(name) is not None
                found.add(str(data[name]) if is_word else said(data, name))
        found.update(said(graph.graph, name) for name in self.schema.graph_categories)
        for edge in graph.edges:
            found |= self._edge_names(graph, *edge)
        for names in self.tables:
            found |= {self._node_and_neighbors(graph, v, names) for v in graph}
        return found | self._pairs(graph)

    def _node_and_neighbors(self, graph, v, names):
        """A node with all that is next to it, as they are written."""
        before, after = Counter(), Counter()
        for u, w, data in graph.edges(data=True):
            by = f" ({self._kind(data).rstrip()})" if self.schema.edge_categories else ""
            for x, y, near in ((u, w, after), (w, u, before if self.directed else after)):
                if x == v:
                    near[f"{self._words(graph.nodes[y], names)}{by}"] += 1
        into, out = (" and ".join(counted(near)) or "nothing" for near in (before, after))
        sides = f"before it {into}; after it {out}" if self.directed else out
        n = before.total() + after.total()
        how = f"with exactly {'one neighbor' if n == 1 else 'these neighbors'}: {sides}"
        name = self._words(graph.nodes[v], names)
        name = name if self.named in names else f"node {name}"
        return f"{name} {how if n else 'linked to no other'}"

    def _pairs(self, graph):
        """Pairs of different steps with the same value of another category."""
        found = set()
        for name in self.schema.node_categories:
            if name == self.step:
                continue
            for x, y in combinations(graph.nodes.values(), 2):
                if x.get(name) is not None and x.get(name) == y.get(name):
                    steps = (data.get(self.step) for data in (x, y))
                    texts = sorted(f"no {self.step}" if s is None else str(s) for s in steps)
                    found.add(f"{self.step} {' and '.join(texts)} with the same {name}")
        return found

    def _own_name(self, name):
        """A name, without what is only said of this graph: "here Ann"."""
        base, _, here = name.partition(", here ")
        if here and not any(here == str(x) for d in self.graph.nodes.values() for x in d.values()):
            return "no such name"
        return base

    # -- sentences ---------------------------------------------------------------------------------

    def size(self, own, usually):
        return self._number(len, own, usually)

    def no_edges(self, usually):
        if self.graph.number_of_edges():
            return "the graph has edges"
        return self._range(usually, [x.number_of_edges() for x in self.others], 0)

    def edges(self, n, own, usually, kind):
        edges = self._edges(self.graph, kind)
        if int(number(n)) != len(edges):
            return f"{n} edges are {len(edges)}"
        return self._number(lambda x: len(self._edges(x, kind)) / len(x), own, usually)

    def no_edge(self, n, total, kind):
        return self._owners(lambda x: self._edges(x, kind), n, total)

    def _has(self, graph, what):
        """How many nodes are, have or lack what is written."""
        verb, _, rest = what.partition(" ")
        rest = f"no {rest}" if verb in ("lack", "lacks") else rest
        return sum(self._category(data, rest) for data in graph.nodes.values())

    def nodes(self, own, total, percent, what, usually):
        return self._share(lambda x: (self._has(x, what), len(x)), own, total, percent, usually)

    def no_node(self, what, n, total):
        return self._owners(lambda x: self._has(x, what), n, total)

    def missing(self, name, only, own, total, part, percent, usually, kind):
        low = number(re.split(" to |, ", usually)[0]) if usually[0] in "0123456789" else None
        if low is not None and (own == "none" or only is not None) != (number(percent) < low):
            return f"{only} {own} of {total} is {percent}"

        def lacks(graph):
            data = self._edges(graph, kind) if part == "edge" else graph.nodes.values()
            return sum(x.get(name) is None for x in data), len(data)

        return self._share(lacks, own.replace("none", "0"), total, percent, usually)

    def mean(self, name, part, own, usually, kind):
        def mean(graph):
            if name == "weight":
                return None
            data = self._edges(graph, kind) if part == "edges" else graph.nodes.values()
            given = [x[name] for x in data if x.get(name) is not None]
            return np.mean(given) if given else None

        return self._number(mean, own, usually)

    def statistic(self, name, own, usually):
        return self._number(STATISTICS[name], own, usually)

    def fan(self, own, way, node, n, within, unit, share, usually):
        """The edges at one node, and either their number or their share in the others."""
        edges = self.graph.in_edges if way == "into" else self.graph.edges
        at_node = list(edges(int(node), data=True))
        others = len({pair[way != "into"] for pair in at_node})
        if (len(at_node), others) != (int(own), int(n or own)):
            return f"{own} edges {way} {node} are {len(at_node)}, at {others}"
        if others != sizes_of_shapes(self.graph)[way]:
            return f"{node} has not the most edges {way} it"
        wrong = self._within(at_node, within, unit)
        if share is None or wrong:
            return wrong or self._number(lambda x: sizes_of_shapes(x)[way], str(others), usually)
        return self._number(lambda x: sizes_of_shapes(x)[way] / n_linked(x), share, usually)

    def shape(self, what, own, way, rest, within, unit, usually, n, total, none):
        """A cycle or a chain, in its order."""
        nodes = list(map(int, way.split(" -> ")))
        steps = list(pairwise(nodes))
        if not all(self.graph.has_edge(u, v) for u, v in steps):
            return f"{way} is no way"
        is_closed = what == "cycle" and rest is None
        if len(set(nodes)) + int(rest or 0) != int(own) or (nodes[0] == nodes[-1]) != is_closed:
            return f"{way} has not {own} nodes"
        known = [sizes_of_shapes(x)[what] for x in self.others]
        if none:
            return None if not any(known) else f"others have a {what}"
        if n is not None:
            found = np.count_nonzero(known), len(known)
            return None if found == (int(n), int(total)) else f"{found} have a {what}"
        if rest is None:
            wrong = self._within([(*x, self.graph.get_edge_data(*x)) for x in steps], within, unit)
            if wrong:
                return wrong
        return self._number(lambda x: sizes_of_shapes(x)[what], own, usually)

    def bridge(self, start, end, way, n_edges, first, second, within, unit, n, total, none):
        """The only edge between two parts."""
        pair = int(start), int(end)
        if not self.graph.has_edge(*pair):
            return f"{pair} is no edge"
        both = self.graph.is_directed() and self.graph.has_edge(*pair[::-1])
        if way != ("<->" if both else "->" if self.graph.is_directed() else "-"):
            return f"{way} between {pair}"
        links = nx.Graph(self.graph)
        without = nx.restricted_view(links, [], [pair])
        parts = [len(nx.node_connected_component(without, v)) for v in pair]
        if nx.has_path(without, *pair) or parts != [int(first), int(second)]:
            return f"{pair} is between parts of {parts}"
        if min(parts) != sizes_of_shapes(self.graph)["bridge"]:
            return f"{pair} is not the bridge between the largest parts"
        edges = [x for x in self.graph.edges(data=True) if {*x[:2]} == {*pair}]
        if len(edges) != int(n_edges or 1):
            return f"{len(edges)} edges at {pair}"
        known = [sizes_of_shapes(x)["bridge"] for x in self.others]
        if none:
            return None if not any(known) else "others have a bridge"
        found = np.count_nonzero(known), len(known)
        if n is not None and found != (int(n), int(total)):
            return f"{found} have a bridge"
        return self._within(edges, within, unit)

    def _within(self, edges, within, unit):
        """In how many hours edges were."""
        if within is None:
            return None
        hours = [data["hours since start"] for *_, data in edges]
        span = (max(hours) - min(hours)) / (24 if unit == "days" else 1)
        return None if is_close(within, span) else f"{within} {unit} are {span}"

    def triangles(self, n, own, usually):
        found = sum(nx.triangles(nx.Graph(self.graph)).values()) / 3
        if found != int(n):
            return f"{n} triangles are {found}"
        return self._number(lambda x: nx.transitivity(nx.Graph(x)), own, usually)

    def ends(self, own, total, what, percent, usually):
        def count(graph):
            out, into = dict(graph.out_degree), dict(graph.in_degree)
            one, none = (out, into) if what == "outgoing" else (into, out)
            return sum(one[v] > 0 and not none[v] for v in graph), len(graph)

        return self._share(count, own, total, percent, usually)

    def neighbors(self, own, total, how, percent, usually):
        n = ("no other", "only one other", "two others").index(how)
        return self._share(lambda x: (degrees(x).count(n), len(x)), own, total, percent, usually)

    def _listed(self, names):
        """Names with their numbers: (name, n, total) each."""
        names = re.sub(r", and \d+ more$", "", names)
        return re.findall(
            r"(?:^|, )(.+?) \((?:in|unlike) (all )?(\d+)(?:(?: of (\d+))? other \w+)?\)"
            r"(, here [^,]+)?",
            names,
        )

    def _counted(self, names, has):
        """Names that the graph has, or lacks, with the numbers of others that have them."""
        owners = [self._things(x) for x in self.others]
        for name, is_all, n, total, here in self._listed(names):
            total = n if is_all else total
            base = self._own_name(name + here)
            n_owners = sum(base in x for x in owners)
            if (base in self._things(self.graph)) != has:
                return f"{base} is {'not ' if has else ''}in the graph"
            if n_owners != int(number(n)) or (total and int(number(total)) != len(self.others)):
                return f"{base} is in {n_owners} of {len(self.others)}"
        return None if self._listed(names) else "no names"

    def rare(self, how, names, n=None, kinds=None):
        listed = self._listed(names)
        if kinds and "more" not in names and not int(kinds) == len(listed) < int(n):
            return f"{n} edges of {kinds} kinds"
        told = {name for name, *_ in listed}
        count = sum(bool(told & self._edge_names(self.graph, *x)) for x in self.graph.edges)
        if n and "more" not in names and count != int(n):
            return f"{n} edges are {count}"
        is_rare = max(int(n) for _, _, n, *_ in listed) <= max(len(self.known) / 50, 1)
        if "more" not in names and (how == "rare") != is_rare:
            return f"not {how}"
        if any(here == "" and name in self._pairs(self.graph) for name, *_, here in listed):
            return "of whom?"
        return self._counted(names, True)

    def new_share(self, others, what, own, total):
        what = re.sub("^no ", "lack ", what)
        what = what if what.startswith("lack ") else f"are {what}"
        if any(self._has(x, what) for x in self.others) or int(others) != len(self.others):
            return "others have it"
        found = self._has(self.graph, what), len(self.graph)
        return None if found == (int(own), int(total)) else f"{own} of {total} are {found}"

    def lacking(self, names):
        named = "node with |node |" + ("(?!)" if self.schema.edge_categories else "edge ")
        return self._counted(re.sub(f"^(?:{named})(?:that is )?", "", names), False)

    def new(self, names, n=None, have=None, total=None, kinds=None):
        """Names of new parts; ways of several edges are as many names."""
        if total and not 0 <= int(have) < int(total) == len(self.others):
            return f"{have} of {total}"
        own = self._things(self.graph)
        others = {name for x in self.others for name in self._things(x)}
        is_all = not re.search(r", and \d+ more$", names)
        names = re.sub(r", and \d+ more$", "", names)
        all_names = re.findall(r"((?:[^,(]|\([^)]*\)|, here )+)(?:, |$)", names)
        edges, count = [], 0
        for name in all_names:
            kind, steps_ = re.fullmatch(r"(.+ edge (?=.* -> ))?(.*)", name).groups(default="")
            parts = steps_.split(" -> ")
            ways = [f"{kind}{a} -> {b}" for a, b in pairwise(parts)]
            whole = ways if len(ways) > 1 else [name]
            edges += whole
            for one in whole:
                base = self._own_name(one)
                if base not in own:
                    return f"the graph has no {base}"
                if base in others:
                    return f"{base} is known"
        if not all_names:
            return "no names"
        if n:
            for u, v in self.graph.edges:
                written = {self._edge_name(self.graph, u, v, names) for names in self.tables}
                by = self._edge_kinds(self.graph.edges[u, v])
                new = {x for x in by[: len(self.schema.edge_categories)] if x not in others}
                if written & set(edges) or (by and (new or {by[-1]}) & set(edges)):
                    count += 1
            n_kinds = len(set(edges))
            told = str(n_kinds) if 1 < n_kinds < count else None
            if is_all and (count, told) != (int(n), kinds):
                return f"{n} edges of {kinds} kinds are {count} of {n_kinds}"
        return None

    # -- surroundings ------------------------------------------------------------------------------

    def _surroundings(self, graph, radius=5):
        """The surroundings of each node up to each radius, as nested text."""
        simple, names = nx.Graph(graph), self.schema.edge_categories
        color = {
            v: str(tuple(self._value(graph.nodes[v], x) for x in self.together))
            if self.together else str(simple.degree[v])
            for v in graph
        }  # fmt: skip
        found = [color]
        for _ in range(radius):
            after = {}
            for v in graph:
                near = []
                for u, w, data in graph.edges(data=True):
                    line = str([data.get(x) for x in names])
                    line = line if line in self.lines else "?"
                    if u == v:
                        near.append(("out" if self.directed else "", line, color[w]))
                    if w == v:
                        near.append(("in" if self.directed else "", line, color[u]))
                after[v] = str(hash((color[v], tuple(sorted(near)))))
            color = after
            found.append(color)
        return found

    def _value(self, data, name):
        """A category of a node; new values are one, where not all categories count together."""
        value = str(data.get(name))
        is_part = len(self.together) < len(self.schema.node_categories)
        return "?" if is_part and value not in self.values[name] else value

    def _called(self, graph, v):
        """What a node is called by its initial color."""
        if self.together:
            return self._words(graph.nodes[v], self.together)
        n = graph.degree[v]
        return f"node linked to {n} other{'s' * (n != 1)}"

    def _of(self, graph):
        if graph not in self.surroundings:
            self.surroundings[graph] = self._surroundings(graph)
        return self.surroundings[graph]

    def _all(self, graph):
        """The surroundings of a graph, each with its radius."""
        return Counter(x for colors in self._of(graph) for x in colors.values())

    def order(self, way):
        """Steps that follow each other here, and nowhere else."""
        first, *steps = way.split(" -> ")

        def has(graph):
            words = {v: self._words(data, [self.step]) for v, data in graph.nodes.items()}
            at = {v for v in graph if words[v] == first}
            for step in steps:
                at = {w for v in at for w in graph[v] if words[w] == step}
            return at

        return None if has(self.graph) and not any(map(has, self.others)) else "no order of its own"

    def new_surroundings(self, own, total, percent, such, node, usually, within, near):
        def n_new(graph, others):
            known = {x for y in others for x in self._all(y)}
            return sum(x not in known for x in self._of(graph)[-1].values())

        found = n_new(self.graph, self.others), len(self.graph)
        if found != (int(number(own)), int(number(total))):
            return f"{own} of {total} is {found}"
        known = {x for y in self.others for x in self._all(y)}
        colors = self._of(self.graph)
        radii = {str(v): sum(x[v] in known for x in colors) for v in self.graph}
        radius, near = int(within or 1), near or ""
        if radii[node] != min(radii.values()) or max(radii[node], 1) != radius:
            return f"{node} within {within}: {radii}"
        if bool(such) != (found[0] > 1):
            return "which of them?"
        simple = nx.Graph(self.graph)
        [at] = [v for v in simple if str(v) == node]
        steps = nx.single_source_shortest_path_length(simple, at, radius)
        expected = counted(self._called(simple, v) for v in steps if v != at)
        *told, last = near.split(", and ") if re.search(r", and \d+ more$", near) else (near, "")
        if not ", ".join(expected).startswith("".join(told).removesuffix("...")):
            return f"near are {expected}"
        if not last and near != ", ".join(expected):
            return f"all near are {expected}"
        return self._among(lambda x, others: n_new(x, others) / len(x), percent, usually)

    # -- single numbers ----------------------------------------------------------------------------

    def _is_finer(self, part):
        """Whether others of the same kind have more in common than the sentence says."""
        names = {"node": self.schema.node_categories, "edge": self.together, "graph": ()}[part]
        return any(name != self.named for name in names)

    def _has_kinds(self, part, where):
        schema = self.schema
        of_nodes, of_edges = schema.node_categories, schema.edge_categories
        kinds = {"node": of_nodes, "edge": of_nodes or of_edges, "graph": where.startswith("with")}
        return bool(kinds[part])

    def _alike(self, rows, own, part, where, like):
        """The kinds that a sentence compares with, and what is false; None if only a fold knows."""
        kind, is_rare = own["kind of it"], " few " in like
        kinds, n_graphs = {kind}, len({g for x, _, g in rows if x == kind})
        has_kinds = self._has_kinds(part, where)
        if has_kinds and (is_rare or n_graphs < FEWEST[part]):
            if self.own >= 0:  # a fold is left out, of which the checker knows nothing
                return None, None
            n_of = Counter(kind for kind, _ in {(kind, g) for kind, _, g in rows})
            here = [kind for *_, kind in self._parts(self.graph, part, None)]
            kinds = {kind for kind in (*n_of, *here) if n_of[kind] < FEWEST[part]}
            if is_rare != any(n >= FEWEST[part] for n in n_of.values()) or "like it" in like:
                return None, f"{'' if is_rare else 'no '}less common kind, or none like it"
        elif like and ("like it" in like) != has_kinds:
            return None, f"compared with {like}"
        elif not like and self._is_finer(part):
            return None, "the range of which?"
        if said := re.search(r"like it(?: \(|: )([^)]*)", like):
            ends = [kind] if part == "node" else kind[:2]
            names = self.schema.node_categories if part == "node" else self.together
            texts = [self._kind_words(names, end) for end in ends]
            ways = [join.join(x) for join in (" -> ", " - ") for x in (texts, texts[::-1])]
            if not any(x == said[1] or x[: len(said[1]) - 3] + "..." == said[1] for x in ways):
                return None, f"{said[1]} is {texts}"
        return kinds, None

    def _kind_words(self, names, values):
        data = {x: None if y == "None" else y for x, y in zip(names, values, strict=True)}
        return ", ".join(said(data, name) for name in names if name != self.named)

    def extreme(self, items, where, usually=None, never=None, like="", of_kind=None, n=None):
        """Numbers out of range, or missing."""
        rows, own, part = self._place(where)
        if own is None:
            return f"there is no {where}"
        out = []
        for name, value, of_item in self._items(items):
            given = own.get(name)
            if value == "missing":
                if given is not None:
                    return f"{name} is {given}"
                is_first = "never" in (of_item or never or "")
                if is_first and any(x.get(name) is None for _, x, _ in rows):
                    return f"{name} is missing elsewhere"
                continue
            if given is None or not is_close(value, given):
                return f"{name} {value} is {given}"
            range_, _, n_like = (of_item or usually).partition(" among ")
            told = (like or n_like) + (f": {of_kind}" if of_kind else "")
            kinds, false = self._alike(rows, own, part, where, told)
            if false:
                return false
            known = [x[name] for kind, x, _ in rows if kinds and kind in kinds and x.get(name)]
            if told and kinds and int(told.split()[0]) != len(known):
                return f"{told} are {len(known)}"
            false = kinds and self._range(range_.removeprefix("usually "), known, given)
            if false:
                return false
            if not known:
                n = None
                continue
            low, high = quantiles(known)
            for place, data, kind in self._parts(self.graph, part, None):
                x = data.get(name)
                if x is not None and kind in kinds and not low <= x <= high:
                    out.append((str(place), max(low - x, x - high)))
        if n and len(dict(out)) != int(n) + 1:
            return f"{n} more out of range are {out}"
        if n and usually and max(low - given, given - high) < max(x for _, x in out):
            return f"{given} is not the furthest: {out}"
        return None

    def gap(self, items, where, low, high, below, above, like):
        """A usual number between two others."""
        rows, own, part = self._place(where)
        [(name, value, _)] = self._items(items)
        kinds, false = self._alike(rows, own, part, where, like)
        if kinds is None:
            return false
        alike = [data for kind, data, _ in rows if kind in kinds]
        known, given = [x[name] for x in alike if x.get(name) is not None], own[name]
        ends = [max(x for x in known if x <= given), min(x for x in known if x >= given)]
        if given in ends or not is_close(value, given) or int(like.split()[0]) != len(known):
            return f"{given} of {len(known)} is between {ends}"
        ends += quantiles(known).tolist()
        return None if all(map(is_close, (below, above, low, high), ends)) else f"ends {ends}"

    def together(self, where, like, near, items=None, n=None):
        """Usual numbers that no other has together."""
        rows, own, part = self._place(where)
        kinds, false = self._alike(rows, own, part, where, like)
        if kinds is None:
            return false
        alike = [data for kind, data, _ in rows if kind in kinds]
        here = re.sub(rf"(?:{NUMBER}|missing) \(here ({NUMBER})\)", r"\1", near)
        near = re.sub(r" \(here [^)]*\)", "", near)
        items, near = ([x[:2] for x in self._items(y)] for y in (items or here, near))
        for name, value in items:
            low, high = quantiles([x.get(name) for x in alike])
            if not is_close(value, own[name]) or not low <= own[name] <= high:
                return f"{name} {own[name]} is unlike {low} to {high}"
        columns = getattr(self.schema, f"{part}_columns")
        same = [x for x in alike if all(x.get(y) == own[y] for y in columns)]
        if same or (n and int(n) != len(columns)):
            return f"{n} of {columns}, or another has the same"
        given = [(name, value) for name, value in near if value != "missing"]
        found = [all(is_close(v, x.get(y) or np.nan) for y, v in given) for x in alike]
        if int(like.split()[0]) != len(alike) or len(near) != 2 or not any(found):
            return f"{sum(found)} of {len(alike)} are near"
        return None

    def _items(self, items):
        """Names and values of numbers, each with its range, if it is in parentheses."""
        schema = self.schema
        numbers = [*schema.node_columns, *schema.edge_columns, *schema.graph_columns]
        names = "|".join(map(re.escape, sorted(numbers, key=len, reverse=True)))
        return [
            (x[0], x[1], x[2] or x[3])
            for x in re.findall(
                rf"(?:^|, | and | with )({names})(?: (missing|{NUMBER}))?"
                rf"(?: \((usually [^()]*)\)| \((never so)[^)]*\))?",
                items,
            )
        ]

    def _parts(self, graph, part, of_graph):
        """Names, data and kinds of the nodes or edges of a graph, or of the graph."""
        names = self.schema.node_categories
        if part == "node":
            for v, data in graph.nodes.items():
                yield [str(v)], data, tuple(str(data.get(x)) for x in names)
        elif part == "edge":
            for u, v, data in graph.edges(data=True):
                ends = [tuple(str(graph.nodes[x].get(y)) for y in self.together) for x in (u, v)]
                ends = ends if self.directed else sorted(ends)
                lines = (str(data.get(x)) for x in self.schema.edge_categories)
                yield [str(u), str(v)], data, (*ends, *lines)
        else:
            yield [], graph.graph, (str(graph.graph.get(of_graph)),)

    def _place(self, where):
        """Kinds, data and graphs of what others have of the same sort; the data that is meant."""
        node = re.fullmatch(r"of node (\d+)(?: \((.*)\))?", where)
        edge = re.fullmatch(
            r"of (?:(.+) )?edge(?: without \w+)? (?:from|between) (\d+).* (?:to|and) (\d+).*", where
        )
        graph = re.fullmatch(r"with (?:no )?(\w+)(?:=.*)?", where)
        part = "node" if node else "edge" if edge else "graph"
        of_graph = graph and graph[1]
        rows, own = [], None
        for k, other in enumerate(self.others):
            rows += [(kind, data, k) for _, data, kind in self._parts(other, part, of_graph)]
        for place, data, kind in self._parts(self.graph, part, of_graph):
            if node:
                is_meant = place == [node[1]]
                is_meant &= node[2] is None or self._words(data, [self.named]) == node[2]
            elif edge:
                ends = [edge[2], edge[3]]
                is_meant = place == ends or (not self.directed and place[::-1] == ends)
                lines = self.schema.edge_categories
                is_meant &= edge[1] is None or edge[1] == self._words(data, lines)
            else:
                is_meant = graph is None or where == f"with {said(data, of_graph)}"
            if is_meant:
                own = data | {"kind of it": kind}
        return rows, own, part


def _usually():
    rank = r"(?:higher|lower) than in \d+ of \d+ other graphs(?: with [^;]+)?"
    return USUALLY.replace("usually (", f"(?:usually )?(?P<usually>{rank}|", 1)


LIKE = (
    r"\d+ (?:(?:node|edge|graph)s? like it(?: \([^)]*\))?|"
    r"other (?:node|edge|graph)s?"
    r"(?: whose (?:\w+ has few graphs|categories together few graphs have))?)"
)
OUT = r"(?:, and (?P<n>\d+) more out of range)?"
HAVE = (
    r"(?:; says little, as (?P<have>\d+) of (?P<total>\d+) other graphs each have such a thing "
    r"that no other has)?"
)
KINDS = r"(?: of (?P<kinds>\d+) kinds)?"
WITHIN = rf"(?:, within (?P<within>{NUMBER}) (?P<unit>hours|days))?"
OWN = rf"(?P<own>{NUMBER})"
OF = rf"{OWN} of (?P<total>{NUMBER})"
PERCENT = rf"\((?P<percent>{NUMBER})\)"
WHERE = r"(?P<where>(?:of (?:node|(?:[^;:]+ )?edge) .+?|of the graph|with .+?))"
Checker.PATTERNS = [
    (rf"{OWN} nodes?; {_usually()}", Checker.size),
    (rf"no edges at all; {_usually()}", Checker.no_edges),
    (rf"(?P<n>\d+) edges?{KIND}, {OWN} per node; {_usually()}", Checker.edges),
    (rf"no edge{KIND}; (?P<n>\d+) of (?P<total>\d+) other graphs have one", Checker.no_edge),
    (
        r"no node (?P<what>(?:is|has|lacks) .+); (?P<n>\d+) of (?P<total>\d+) other graphs have "
        "one",
        Checker.no_node,
    ),
    (
        rf"{OF} nodes? {PERCENT}: no other graph has one with the same around it"
        r"(?::|(?P<such>, e.g.)) node (?P<node>\d+)(?: \(.*?\))?"
        rf"(?:; within (?P<within>\d+) edges?: (?P<near>.+)|, linked to no other); {_usually()} "
        "of the nodes",
        Checker.new_surroundings,
    ),
    (r"(?P<way>.+ -> .+): nodes in an order that no other graph has", Checker.order),
    (
        rf"{OF} nodes? {PERCENT} (?P<what>(?:are|is|have|has|lacks?) .+); {_usually()}",
        Checker.nodes,
    ),
    (
        rf"(?P<name>.+) is missing at (?P<only>only )?(?P<own>{NUMBER}|none) of "
        rf"(?P<total>{NUMBER}) (?P<part>node|edge)s?{KIND} {PERCENT}; {_usually()}",
        Checker.missing,
    ),
    (rf"average (?P<name>.+) of (?P<part>nodes|edges){KIND}: {OWN}; {_usually()}", Checker.mean),
    (
        rf"{OF} nodes with (?P<what>outgoing|incoming) edges only {PERCENT}; {_usually()}",
        Checker.ends,
    ),
    (
        rf"{OF} nodes linked to (?P<how>no other|only one other|two others) {PERCENT}; "
        rf"{_usually()}",
        Checker.neighbors,
    ),
    (
        rf"(?P<own>\d+) edges? (?P<way>into|from|at) one node, (?P<node>\d+)"
        rf"(?:, (?:into|from|to) (?P<n>\d+) nodes?)?{WITHIN}(?:: (?P<share>{NUMBER}) of all)?; "
        rf"{_usually()}",
        Checker.fan,
    ),
    (
        r"a (?P<what>cycle|chain) of (?P<own>\d+) nodes: (?P<way>\d+(?: -> \d+)*)"
        rf"(?: -> ... \((?P<rest>\d+) more\))?{WITHIN}; "
        rf"(?:{_usually()}|(?P<n>\d+) of (?P<total>\d+) others have one|"
        r"(?P<none>no other has one))",
        Checker.shape,
    ),
    (
        r"a bridge, (?P<start>\d+) (?P<way>-|<?->) (?P<end>\d+)(?: \((?P<n_edges>\d+) edges\))?, "
        rf"between parts of (?P<first>\d+) and (?P<second>\d+) nodes{WITHIN}; "
        r"(?:(?P<n>\d+) of (?P<total>\d+) others have one, with at most \d+ nodes in the smaller "
        r"part|(?P<none>no other has one))",
        Checker.bridge,
    ),
    (rf"(?P<name>most links .+): {OWN}; {_usually()}", Checker.statistic),
    (rf"{OWN} (?P<name>parts with .+|edges beyond .+); {_usually()}", Checker.statistic),
    (rf"number of (?P<name>parts .+|edges beyond .+): {OWN}; {_usually()}", Checker.statistic),
    (
        rf"(?P<n>\d+) triangles?: {OWN} of the pairs of nodes linked to a common third are also "
        rf"linked to each other; {_usually()}",
        Checker.triangles,
    ),
    (rf"(?:(?P<n>\d+) edges{KINDS} )?(?P<how>rare|unusual): (?P<names>.+)", Checker.rare),
    (r"no (?P<names>.+ \(unlike .+\).*)", Checker.lacking),
    (
        rf"never seen in (?P<others>\d+) other graphs: (?P<what>.+) \(({OF}) nodes?\)",
        Checker.new_share,
    ),
    (rf"never seen: (?P<names>.+?){HAVE}", Checker.new),
    (rf"(?P<n>\d+) edges{KINDS} never seen: (?P<names>.+?){HAVE}", Checker.new),
    (
        rf"(?P<items>.+?) {WHERE}{OUT}; {_usually()} among (?P<like>{LIKE})",
        Checker.extreme,
    ),
    (
        rf"(?P<items>.+? missing) {WHERE}; "
        r"(?P<never>never so in [\d,]+ other graphs|usually given)",
        Checker.extreme,
    ),
    (
        rf"(?P<items>.+?) {WHERE}; usually (?P<low>{NUMBER}) to (?P<high>{NUMBER}), but none "
        rf"between (?P<below>{NUMBER}) and (?P<above>{NUMBER}) among (?P<like>{LIKE})",
        Checker.gap,
    ),
    (
        rf"(?:(?P<n>\d+) numbers|(?P<items>.+? and .+?)) {WHERE}: each is usual, but none of "
        rf"(?P<like>{LIKE}) has about (?:both|all); nearest: (?P<near>.+)",
        Checker.together,
    ),
    (rf"(?P<items>.+\)) {WHERE}{OUT}(?:; like it: (?P<of_kind>.*))?", Checker.extreme),
]
