"""Two piles: how often `compare` says that they differ, where they do and where they do not."""

import warnings
from itertools import product
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from scipy.spatial.distance import cdist
from sklearn.utils import Bunch

from benchmarks import typed
from benchmarks.protocol import load
from benchmarks.render import markdown
from skgraphkde.comparing import SINGLE, _energy, _exchange, compare
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.views.statistics import structure

TITLE = "Two piles of graphs"
N_PERMUTATIONS = 199
N_DRAWS = {"level": 200, "power": 100}
ABOUT = f"""\
Shares of draws in which two piles are told to differ at .05 (and at .01), by {N_PERMUTATIONS}
exchanges. In the first table both piles are of one source, so that .05 is right; in the second,
they are of two classes, and larger is better. *Sizes* is the same test of the energy distance of
the logarithms of the numbers of nodes and edges, *structure* of standardized statistics of the
structure, and *Weisfeiler-Leman* of the kernel of three iterations, normalized. *Best view* is that
of the views of `compare` that finds most, each tested alone. Changes are those of
[another table](typed.md), in a share of the graphs of the second pile. No part of the test was
chosen by this table but that the strongest of these counts as a view. Of the three cells that were
highest with 200 draws, two have 1,000 now.
"""
SETS = ("MUTAG", "PROTEINS", "ENZYMES", "DHFR", "BZR", "COX2", "IMDB-BINARY", "NCI1")
#: The lists, and the share of changed graphs of which some are found, and not all.
TYPED = {
    "edge categories shuffled": 0.6,
    "edge numbers 1.6 times as large": 0.3,
    "smooth number 1.3 times as large": 0.5,
    "two categories that go together, apart": 0.4,
}
DESIGNS = {
    "20 : 20": "20 graphs each",
    "5 : 5": "5 graphs each",
    "10 : 40": "piles of unequal sizes",
    "ties": "20 graphs each, of six distinct ones",
    "blocks": "two classes in other shares, exchanged within classes",
    "sizes": 'large graphs in one pile more often, with match="size"',
}
PARTS = ("joint", "best", "sizes", "structure", "wl")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every design under the null, in five parts; 20 and 40 graphs of each class."""
    chosen = [x for x in SETS if not datasets or x in datasets]
    found = []
    for case, design in product((*chosen, *TYPED), DESIGNS):
        if case in TYPED and design in ("blocks", "sizes"):
            continue
        found += [_cell("level", case, design, seed) for seed in range(n_folds)]
    for case, n in product((*chosen, *TYPED), (20, 40)):
        found.append(_cell("power", case, f"{n} : {n}", 0))
    return found


def _cell(what: str, case: str, design: str, seed: int) -> dict[str, Any]:
    return {"what": what, "case": case, "design": design, "seed": seed}


def estimator(what: str, case: str, design: str, seed: int) -> None:
    """None: `compare` fits its own."""


def measure(estimator: None, what: str, case: str, design: str, seed: int) -> dict[str, float]:
    """Shares of draws with a p-value of at most .05, and of at most .01."""
    rng = np.random.RandomState(seed)
    p_values = []
    for draw in range(N_DRAWS[what]):
        X, Z, options = _draw(what, case, design, rng)
        with warnings.catch_warnings(action="ignore"):
            found = compare(X, Z, **options, n_permutations=N_PERMUTATIONS, random_state=draw)
        p_of = dict(zip(found.views["view"], found.views["p_alone"], strict=True))
        p_of["joint"] = found.p_value
        if what == "power":
            p_of |= _peers(found.detector.model_.references, len(X), draw)
        p_values.append(p_of)
    table = pd.DataFrame(p_values)
    shares = (table <= 0.05 + 1e-9).mean()
    own = [name for name in table if name not in (*PARTS, SINGLE)]
    values = {"joint": shares["joint"], "joint_01": (table["joint"] <= 0.01 + 1e-9).mean()}
    values |= {
        "single": shares[SINGLE],
        "best": shares[own].max(),
        "best_view": shares[own].idxmax(),
    }
    values |= {name: shares.get(name, np.nan) for name in ("sizes", "structure", "wl")}
    return values | {"draws": N_DRAWS[what]}


def _draw(what: str, case: str, design: str, rng: np.random.RandomState) -> tuple[Any, Any, dict]:
    """Two piles, and the options of their comparison."""
    n_first, n_second = (10, 40) if design == "10 : 40" else (20, 20)
    if design in ("5 : 5", "40 : 40"):
        n_first = n_second = int(design[:2])
    if case in TYPED:
        make, schema = typed.CASES[case][:2]
        share = TYPED[case] * (what == "power")
        if design == "ties":
            six = [make(rng, False) for _ in range(6)]
            both = [six[i] for i in rng.randint(6, size=40)]
        else:
            both = [make(rng, False) for _ in range(n_first)]
            both += [make(rng, bool(rng.rand() < share)) for _ in range(n_second)]
        return both[:n_first], both[n_first:], {"schema": schema}
    data = load(case)
    by_class = [rng.permutation(np.flatnonzero(data.classes == y)) for y in np.unique(data.classes)]
    order = rng.permutation(len(by_class)) if len(by_class) > 2 else np.arange(2)
    first, second = (by_class[k] for k in order[:2])
    if what == "power":
        return data.graphs[first[:n_first]], data.graphs[second[:n_second]], {}
    if design == "blocks":
        X = np.concatenate([first[:14], second[:6]])
        Z = np.concatenate([first[14:20], second[6:20]])
        return data.graphs[X], data.graphs[Z], {"blocks": data.classes[np.concatenate([X, Z])]}
    if len(by_class) > 2 or len(first) < len(second):  # of one class with enough graphs
        first = max((first, second), key=len)
    if design == "sizes":
        return _by_size(data, first[:80], rng)
    if design == "ties":
        first = first[rng.randint(6, size=40)]
    index = first[: n_first + n_second]
    return data.graphs[index[:n_first]], data.graphs[index[n_first:]], {}


def _by_size(data: Bunch, index: np.ndarray, rng: np.random.RandomState) -> tuple[Any, Any, dict]:
    """40 graphs, in the first pile the more often the larger they are."""
    index = index[:40]
    sizes = np.log(data.graphs.n_nodes_per_graph[index])
    deviation = max(sizes.std(), 1e-9)
    chance = 1 / (1 + np.exp(-1.5 * (sizes - sizes.mean()) / deviation))
    is_first = rng.rand(len(index)) < chance
    is_first[:4] = [True, True, False, False]
    graphs = data.graphs
    return graphs[index[is_first]], graphs[index[~is_first]], {"match": "size"}


def _peers(graphs: GraphBatch, n_first: int, seed: int) -> dict[str, float]:
    """p-values of the same test by distances that others would take."""
    is_first = np.arange(len(graphs)) < n_first
    blocks = np.zeros(len(graphs), dtype=int)
    exchanged = _exchange(is_first, blocks, N_PERMUTATIONS, np.random.RandomState(seed))
    n_edges = graphs.n_edges_per_graph
    sizes = np.column_stack([np.log(graphs.n_nodes_per_graph), np.log1p(n_edges)])
    table = np.column_stack([x.values for x in structure(graphs)])
    found = {}
    for name, points in (("sizes", sizes), ("structure", table)):
        deviations = points.std(axis=0)
        points = points[:, deviations > 1e-9] / deviations[deviations > 1e-9]
        found[name] = cdist(points, points)
    found["wl"] = _weisfeiler_leman(graphs)
    p_values = {}
    for name, D in found.items():
        energies = _energy(D, exchanged)
        p_values[name] = float(np.mean(energies >= energies[0] - 1e-12))
    return p_values


def _weisfeiler_leman(graphs: GraphBatch) -> np.ndarray:
    """Squared distances in the space of the kernel, whose energy distance is twice the MMD."""
    from grakel.kernels import VertexHistogram, WeisfeilerLehman

    given = []
    labels = np.zeros(graphs.n_nodes, int) if graphs.labels is None else np.asarray(graphs.labels)
    for i, graph in enumerate(graphs):
        edges = nx.from_scipy_sparse_array(graph.underlying).edges
        of_nodes = labels[graphs.node_ptr[i] : graphs.node_ptr[i + 1]]
        links = {(u, v) for u, v in edges} | {(v, u) for u, v in edges}
        given.append((links, dict(enumerate(of_nodes.tolist()))))
    kernel = WeisfeilerLehman(n_iter=3, normalize=True, base_graph_kernel=VertexHistogram)
    return 2 - 2 * kernel.fit_transform(given)


def report(rows: pd.DataFrame) -> str:
    """Levels by design, and power beside that of peers."""
    level = rows[rows["what"] == "level"]
    by = level.groupby(["case", "design"], sort=False)
    cells = by.agg({"joint": "mean", "joint_01": "mean", "draws": "sum"})
    texts = cells.apply(lambda x: f"{_share(x['joint'])} ({_share(x['joint_01'])})", axis=1)
    levels = texts.unstack().reindex(columns=[x for x in DESIGNS if x in set(level["design"])])
    levels.index.name = "case"
    meanings = "\n".join(f"- *{name}*: {text}." for name, text in DESIGNS.items())
    power = rows[rows["what"] == "power"].set_index(["case", "design"])
    names = {
        "joint": "`compare`",
        "best": "best view",
        "sizes": "sizes",
        "structure": "structure",
        "wl": "Weisfeiler-Leman",
    }
    powers = power[list(names)].rename(columns=names).map(_share)
    ratio = (power["joint"] / power["best"]).map(lambda x: f"{x:.2f}")
    powers.insert(2, "`compare` : best", ratio)
    draws = f"{int(cells['draws'].min())} draws in each cell, or more."
    of_power = markdown(powers.reset_index(), index=False)
    return (
        f"### One source: .05 is right\n\n{meanings}\n\n{draws}\n\n{markdown(levels)}\n\n"
        f"### Two classes, or a change in some graphs\n\n{of_power}"
    )


def _share(x: float) -> str:
    return "-" if np.isnan(x) else f"{x:.3f}".lstrip("0") if x < 1 else "1"
