"""Names of the methods in the tables -> functions from a seed to an unfitted estimator."""

import importlib
from collections.abc import Callable
from typing import Any

from skgraphkde import (
    GCN,
    KDE,
    LGKDE,
    MMD,
    Density,
    Distance,
    GraphKDEDetector,
    NodeFeatures,
    Propagation,
)
from skgraphkde.core.distances.mmd import FIVE_DECADES


def published(**changes: Any) -> Callable[[int], LGKDE]:
    """A function from a seed to LGKDE with the choices of the paper, except for `changes`."""
    return lambda seed: LGKDE.published(random_state=seed, **changes)


def untrained(
    gammas: tuple[float, ...] = FIVE_DECADES, distance: Distance | None = None
) -> Callable[[int], GraphKDEDetector]:
    """A function from a seed to that detector without training, with equal weights."""
    distance = MMD(gammas, estimator="biased") if distance is None else distance
    view = Density(distance, KDE(FIVE_DECADES, weights="equal", size_kernel=False))
    return lambda seed: GraphKDEDetector(
        features=NodeFeatures("given"),
        encoder=GCN(),
        views=view,
        calibration="train",
        random_state=seed,
    )


def peer(module: str, name: str, **parameters: Any) -> Callable[[int], Any]:
    """A function from a seed to a detector of `benchmarks.peers`, whose packages it needs."""

    def make(seed: int) -> Any:
        detector = getattr(importlib.import_module(f"benchmarks.peers.{module}"), name)
        return detector(**parameters, random_state=seed)

    return make


def _floor(seed: int) -> GraphKDEDetector:
    view = Density(MMD(estimator="biased"))
    return GraphKDEDetector(encoder=Propagation(n_layers=0), views=view, random_state=seed)


#: The sizes of GLocalKD and SIGNET in their papers, and the patience.
GLOCALKD = {"max_iter": 150, "hidden_dim": 512, "n_layers": 3}
GLOCALKD |= {"learning_rate": 1e-4, "batch_size": 300, "patience": 20}
SIGNET = {"max_iter": 1000, "hidden_dim": 16, "n_layers": 5}
#: Deep detectors from their papers' equations, with a stopping rule that sees no label.
DEEP = ("OCGIN", "OCGTL", "GLocalKD", "SIGNET")
#: Our own rows first.
METHODS: dict[str, Callable[[int], Any]] = {
    "defaults": lambda seed: GraphKDEDetector(random_state=seed),
    "one view": lambda seed: GraphKDEDetector(views="density", random_state=seed),
    "floor": _floor,
    "paper settings": published(),
    "paper settings, untrained": untrained(),
    "size only": peer("vectors", "SizeKDE"),
    "PK-SVM": peer("graph_kernel", "GraphKernelDetector", kernel="propagation", detector="svm"),
    "PK-iF": peer("graph_kernel", "GraphKernelDetector", kernel="propagation", detector="forest"),
    "WL-SVM": peer("graph_kernel", "GraphKernelDetector", detector="svm"),
    "WL-iF": peer("graph_kernel", "GraphKernelDetector", detector="forest"),
    "NetLSD+iF": peer("descriptors", "NetLSDForest"),
    "statistics+ECOD": peer("descriptors", "StatisticsECOD"),
    "OCGIN": peer("ocgin", "OCGIN"),
    "OCGTL": peer("ocgtl", "OCGTL"),
    "GLocalKD": peer("glocalkd", "GLocalKD", **GLOCALKD),
    "SIGNET": peer("signet", "SIGNET", **SIGNET),
}


def seeded(methods: dict[str, Callable[[int], Any]], name: str = "method") -> Callable[..., Any]:
    """The `estimator` of a table: the method that `name` is in a cell, seeded with the fold."""
    return lambda **cell: methods[cell[name]](cell["seed"] if "seed" in cell else cell["fold"])


def defaults(**cell: Any) -> GraphKDEDetector:
    """The `estimator` of a table that measures the defaults alone."""
    return GraphKDEDetector(random_state=0)


#: What the paper calls the methods for which it has figures.
PAPER_NAMES = {"paper settings": "LGKDE"}
PAPER_NAMES |= {x: x for x in ("PK-SVM", "PK-iF", "WL-SVM", "WL-iF", *DEEP)}
