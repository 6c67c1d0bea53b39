"""Names of the methods in the tables -> unfitted estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.descriptors import DescriptorDetector
from benchmarks.peers.graph_autoencoder import GraphAutoencoderKDE
from benchmarks.peers.graph_kernel import GraphKernelDetector
from benchmarks.peers.infograph import InfoGraphKDE
from benchmarks.peers.size import SizeKDE
from skgraphkde import PAPER, GraphKDEDetector


def paper_settings(**changes: Any) -> Callable[[int], GraphKDEDetector]:
    """Makes a detector with the paper's settings, but for `changes`, from a seed."""
    return lambda seed: GraphKDEDetector(**{**PAPER, **changes}, random_state=seed)


def _kernel(kernel: str, detector: str) -> Callable[[int], GraphKernelDetector]:
    return lambda seed: GraphKernelDetector(kernel, detector, random_state=seed)


#: Our own rows first.
METHODS: dict[str, Callable[[int], Any]] = {
    "defaults": lambda seed: GraphKDEDetector(random_state=seed),
    "floor": lambda seed: GraphKDEDetector(n_layers=0, mmd_estimator="biased", random_state=seed),
    "paper settings": paper_settings(),
    "paper settings, untrained": paper_settings(max_iter=0),
    "size only": lambda seed: SizeKDE(),
    "PK-SVM": _kernel("propagation", "one_class_svm"),
    "PK-iF": _kernel("propagation", "isolation_forest"),
    "WL-SVM": _kernel("weisfeiler_lehman", "one_class_svm"),
    "WL-iF": _kernel("weisfeiler_lehman", "isolation_forest"),
    "NetLSD+iF": lambda seed: DescriptorDetector("netlsd", random_state=seed),
    "statistics+ECOD": lambda seed: DescriptorDetector("statistics"),
    "GAE+KDE": lambda seed: GraphAutoencoderKDE(random_state=seed),
    "InfoGraph+KDE": lambda seed: InfoGraphKDE(random_state=seed),
}

#: What the paper calls the methods that it has figures of.
PAPER_NAMES = {
    "paper settings": "LGKDE",
    "PK-SVM": "PK-SVM",
    "PK-iF": "PK-iF",
    "WL-SVM": "WL-SVM",
    "WL-iF": "WL-iF",
    "GAE+KDE": "GAE+KDE",
    "InfoGraph+KDE": "InfoGraph+KDE",
}
