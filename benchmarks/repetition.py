"""Repetition: false alarms where graphs repeat, are nearly copies, or say who they are."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from benchmarks.render import markdown
from skgraphkde import GraphBatch, GraphKDEDetector, Split, read_graphs
from skgraphkde.monitoring import DriftMonitor

TITLE = "False alarms where graphs repeat"
N_TRAINING, N_WATCHED, N_DRAWS = 200, 500, 20
N_SMALL, N_FRESH, N_SMALL_DRAWS = 60, 50, 60
RATE, UPDATES = 0.001, 10
ABOUT = f"""\
*Sources that repeat graphs.* The defaults are fitted to {N_TRAINING} graphs of a source, and watch
{N_WATCHED} more of the same; {N_DRAWS} draws. Some sources repeat one graph, a part of the time;
otherwise they are small worlds of 8 to 16 nodes, all different. Alarms are those of a
`DriftMonitor` with its defaults, both tests together, per 1,000 graphs: at most {1000 * RATE:g} is
promised. P(p <= 0.1) is the share of new graphs with such a p-value, in percent: 10 is promised,
and less where scores are equal. Both as mean and 95% interval of the mean (1.96 standard errors).
"split" sets a third aside, "one view" is `views="density"`, and "updates" fits to a quarter and
gets the rest in {UPDATES} updates, all of which become references.
"""
ABOUT_COPIES = f"""\
*Copies in single precision.* Fitted to {N_SMALL} graphs with three numbers on each node, each of
them given twice, the second time in single precision and another order of the nodes. Found are the
pairs that `copies="auto"` counts once, in percent; flagged, the fresh graphs at contamination 0.1,
of {N_FRESH} in each of {N_DRAWS} draws.
"""
ABOUT_SMALL = f"""\
*Few training graphs that differ in everything.* Small worlds of ten nodes, whose categories or
numbers nearly say which graph it is; flagged, in percent of {N_FRESH} fresh graphs in each of
{N_SMALL_DRAWS} draws, at contamination 0.1. "split" sets half of the training graphs aside.
"""


def _world(rng: np.random.RandomState, n_nodes: int | None = None) -> nx.Graph:
    n = int(rng.randint(8, 17)) if n_nodes is None else n_nodes
    return nx.connected_watts_strogatz_graph(n, 4, 0.3, seed=int(rng.randint(2**31)))


def _numbered(rng: np.random.RandomState, n_nodes: int | None = None, n_numbers: int = 3) -> Any:
    """A small world with lognormal numbers."""
    return _with(_world(rng, n_nodes), lambda n: rng.lognormal(size=(n, n_numbers)))


def _with(graph: nx.Graph, numbers: Callable[[int], np.ndarray]) -> nx.Graph:
    for node, row in enumerate(numbers(len(graph))):
        graph.nodes[node].update({f"number {i}": float(x) for i, x in enumerate(row)})
    return graph


def _repeats(share: float, fresh: Callable = _world) -> Callable:
    """One graph again and again, a part of the time."""

    def draw(n: int, rng: np.random.RandomState) -> list[nx.Graph]:
        repeated = fresh(rng)
        return [repeated if rng.rand() < share else fresh(rng) for _ in range(n)]

    return draw


def _kinds(n: int, rng: np.random.RandomState) -> list[nx.Graph]:
    kinds = [_world(rng) for _ in range(40)]
    return [kinds[i] for i in rng.randint(40, size=n)]


def _tiny(n: int, rng: np.random.RandomState) -> list[nx.Graph]:
    return [
        nx.gnp_random_graph(int(rng.randint(1, 5)), 0.5, seed=int(rng.randint(2**31)))
        for _ in range(n)
    ]


def _labeled(draw: Callable[[np.random.RandomState], Any]) -> Callable:
    """Small worlds of ten nodes; `draw` makes the labels of one."""

    def graphs(n: int, rng: np.random.RandomState) -> list[nx.Graph]:
        worlds = [_world(rng, 10) for _ in range(n)]
        for graph in worlds:
            nx.set_node_attributes(graph, dict(enumerate(map(str, draw(rng)))), "label")
        return worlds

    return graphs


def _topics(rng: np.random.RandomState) -> np.ndarray:
    return 5 * rng.randint(20) + rng.randint(5, size=10)


def _of_numbers(draw: Callable[[np.random.RandomState, int], np.ndarray]) -> Callable:
    def graphs(n: int, rng: np.random.RandomState) -> list[nx.Graph]:
        return [_with(_world(rng, 10), lambda size: draw(rng, size)) for _ in range(n)]

    return graphs


ZIPF = 1 / np.arange(1, 2001) / (1 / np.arange(1, 2001)).sum()
STREAMS: dict[str, Callable] = {
    "all different": _repeats(0),
    **{f"one graph, {share}%": _repeats(share / 100) for share in (30, 50, 70, 95)},
    "one graph with numbers, 50%": _repeats(0.5, _numbered),
    "40 kinds": _kinds,
    "one to four nodes": _tiny,
}
COPIES = {f"{n_nodes} nodes, single precision": n_nodes for n_nodes in (12, 40)}
SMALL: dict[str, tuple[int, Callable]] = {
    "20 topics of 5 words": (40, _labeled(_topics)),
    "300 labels": (20, _labeled(lambda rng: rng.randint(300, size=10))),
    "2,000 labels, of Zipf": (100, _labeled(lambda rng: rng.choice(2000, size=10, p=ZIPF))),
    "20 Cauchy columns": (30, _of_numbers(lambda rng, n: rng.standard_cauchy((n, 20)))),
    "30 lognormal columns": (40, _of_numbers(lambda rng, n: rng.lognormal(size=(n, 30)))),
}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every source with every calibration."""
    return [
        *(
            {"source": source, "calibration": calibration}
            for source in STREAMS
            for calibration in ("loo", "split", "one view", "updates")
        ),
        *({"source": source, "calibration": "loo"} for source in COPIES),
        *({"source": source, "calibration": x} for source in SMALL for x in ("loo", "split")),
    ]


def estimator(source: str, calibration: str) -> GraphKDEDetector:
    """The defaults; "split" sets enough graphs aside."""
    fraction = 0.5 if source in SMALL else 1 / 3
    return GraphKDEDetector(
        schema="all",
        views="density" if calibration == "one view" else "auto",
        calibration=Split(fraction) if calibration == "split" else "loo",
        random_state=0,
    )


def measure(estimator: GraphKDEDetector, source: str, calibration: str) -> dict[str, float]:
    """Means over draws, with their standard errors."""
    of_draw, n_draws = _watched, N_DRAWS
    if source in COPIES:
        of_draw = _of_copies
    elif source in SMALL:
        of_draw, n_draws = _of_few, N_SMALL_DRAWS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        draws = [of_draw(estimator, source, calibration, seed) for seed in range(n_draws)]
    values = {}
    for name, column in zip(("first", "second"), np.transpose(draws), strict=True):
        values[name] = round(float(np.mean(column)), 5)
        values[f"{name}_error"] = round(float(np.std(column, ddof=1) / n_draws**0.5), 5)
    return values


def _watched(
    detector: GraphKDEDetector, source: str, calibration: str, seed: int
) -> tuple[float, float]:
    """Alarms per 1,000 graphs, and the share of p-values of at most 0.1."""
    drawn = STREAMS[source](N_TRAINING + N_WATCHED, np.random.RandomState(seed))
    graphs = read_graphs(drawn, schema="all")
    n_fitted = N_TRAINING // 4 if calibration == "updates" else N_TRAINING
    detector.fit(graphs[:n_fitted])
    if calibration == "updates":
        for part in np.array_split(np.arange(n_fitted, N_TRAINING), UPDATES):
            detector.partial_fit(graphs[part])
    monitor = DriftMonitor(detector, false_alarm_rate=RATE, random_state=seed)
    new = graphs[N_TRAINING:]
    monitor.update(new)
    alarms = 1000 * len(monitor.alarms_) / N_WATCHED
    return alarms, 100 * float((detector.p_values(new) <= 0.1).mean())


def _of_copies(
    detector: GraphKDEDetector, source: str, calibration: str, seed: int
) -> tuple[float, float]:
    """Percent of the pairs that are found, and of the fresh graphs that are flagged."""
    rng = np.random.RandomState(seed)
    graphs = [_numbered(rng, COPIES[source]) for _ in range(N_SMALL + N_FRESH)]
    copies = [_copied(graph, rng) for graph in graphs[:N_SMALL]]
    detector.fit(graphs[:N_SMALL] + copies)
    flagged = detector.predict(graphs[N_SMALL:]) == -1
    n_found = 2 * N_SMALL - len(detector.calibration_scores_)
    return 100 * n_found / N_SMALL, 100 * float(flagged.mean())


def _copied(graph: nx.Graph, rng: np.random.RandomState) -> nx.Graph:
    """A copy in single precision, its nodes in another order."""
    copy = nx.Graph()
    order = rng.permutation(len(graph)).tolist()
    for node in order:
        numbers = graph.nodes[node].items()
        copy.add_node(node, **{name: float(np.float32(x)) for name, x in numbers})
    copy.add_edges_from(graph.edges)
    return copy


def _of_few(
    detector: GraphKDEDetector, source: str, calibration: str, seed: int
) -> tuple[float, float]:
    """Percent of the fresh graphs that are flagged, and of p-values of at most 0.1."""
    n, draw = SMALL[source]
    graphs: GraphBatch = read_graphs(draw(n + N_FRESH, np.random.RandomState(seed)), schema="all")
    detector.fit(graphs[:n])
    flagged, p = detector.predict(graphs[n:]) == -1, detector.p_values(graphs[n:])
    return 100 * float(flagged.mean()), 100 * float((p <= 0.1).mean())


def report(rows: pd.DataFrame) -> str:
    """A table of sources that repeat graphs, one of copies, and one of few training graphs."""
    streams = rows[rows["source"].isin(STREAMS)]
    copies = rows[rows["source"].isin(COPIES)]
    small = rows[rows["source"].isin(SMALL)].assign(
        source=lambda x: [f"{name}, {SMALL[name][0]} graphs" for name in x["source"]]
    )
    parts = [
        (ABOUT, streams, ("alarms per 1,000", "P(p <= 0.1)")),
        (ABOUT_COPIES, copies, ("found", "flagged")),
        (ABOUT_SMALL, small, ("flagged", "P(p <= 0.1)")),
    ]
    return "\n\n".join(f"{about}\n\n{_table(of_part, names)}" for about, of_part, names in parts)


def _table(rows: pd.DataFrame, names: tuple[str, str]) -> str:
    lines = []
    for row in rows.to_dict("records"):
        line = {"source": row["source"], "calibration": row["calibration"]}
        for name, column in zip(names, ("first", "second"), strict=True):
            n_digits = 2 if name.startswith("alarms") else 1
            mean, margin = row[column], 1.96 * row[f"{column}_error"]
            line[name] = f"{mean:.{n_digits}f} ± {margin:.{n_digits}f}"
        lines.append(line)
    return markdown(pd.DataFrame(lines), index=False)
