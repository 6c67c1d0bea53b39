"""Names of the methods in the tables -> functions from a seed to an unfitted estimator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.peers.descriptors import DescriptorDetector
from benchmarks.peers.glocalkd import GLocalKD
from benchmarks.peers.graph_autoencoder import GraphAutoencoderKDE
from benchmarks.peers.graph_kernel import GraphKernelDetector
from benchmarks.peers.infograph import InfoGraphKDE
from benchmarks.peers.ocgin import OCGIN
from benchmarks.peers.ocgtl import OCGTL
from benchmarks.peers.signet import SIGNET
from benchmarks.peers.size import SizeKDE
from skgraphkde import MMD, Density, GraphKDEDetector, Propagation, density_settings, paper_settings


def paper_detector(**changes: Any) -> Callable[[int], GraphKDEDetector]:
    """A function from a seed to a detector with the settings of the paper, except for `changes`.

    The names of changes may be nested, such as ``encoder__n_layers``.
    """
    return lambda seed: GraphKDEDetector(**paper_settings(), random_state=seed).set_params(
        **changes
    )


def density_detector(seed: int) -> GraphKDEDetector:
    """The settings under which the score is a density."""
    return GraphKDEDetector(**density_settings(), random_state=seed)


def _kernel(kernel: str, detector: str) -> Callable[[int], GraphKernelDetector]:
    return lambda seed: GraphKernelDetector(kernel, detector, random_state=seed)


def _floor(seed: int) -> GraphKDEDetector:
    return GraphKDEDetector(
        encoder=Propagation(n_layers=0),
        views=Density(MMD(estimator="biased")),
        random_state=seed,
    )


#: Deep detectors from their papers' equations, with a stopping rule that sees no label.
DEEP = ("OCGIN", "OCGTL", "GLocalKD", "SIGNET")
#: Our own rows first.
METHODS: dict[str, Callable[[int], Any]] = {
    "defaults": lambda seed: GraphKDEDetector(random_state=seed),
    "one view": lambda seed: GraphKDEDetector(views="density", random_state=seed),
    "floor": _floor,
    "paper settings": paper_detector(),
    "paper settings, untrained": paper_detector(training=None),
    "size only": lambda seed: SizeKDE(),
    "PK-SVM": _kernel("propagation", "one_class_svm"),
    "PK-iF": _kernel("propagation", "isolation_forest"),
    "WL-SVM": _kernel("weisfeiler_lehman", "one_class_svm"),
    "WL-iF": _kernel("weisfeiler_lehman", "isolation_forest"),
    "NetLSD+iF": lambda seed: DescriptorDetector("netlsd", random_state=seed),
    "statistics+ECOD": lambda seed: DescriptorDetector("statistics"),
    "GAE+KDE": lambda seed: GraphAutoencoderKDE(random_state=seed),
    "InfoGraph+KDE": lambda seed: InfoGraphKDE(random_state=seed),
    "OCGIN": lambda seed: OCGIN(keep_epochs=True, random_state=seed),
    "OCGTL": lambda seed: OCGTL(keep_epochs=True, random_state=seed),
    "GLocalKD": lambda seed: GLocalKD(keep_epochs=True, random_state=seed),
    "SIGNET": lambda seed: SIGNET(keep_epochs=True, random_state=seed),
}

#: What the paper calls the methods for which it has figures.
PAPER_NAMES = {
    "paper settings": "LGKDE",
    "PK-SVM": "PK-SVM",
    "PK-iF": "PK-iF",
    "WL-SVM": "WL-SVM",
    "WL-iF": "WL-iF",
    "GAE+KDE": "GAE+KDE",
    "InfoGraph+KDE": "InfoGraph+KDE",
    "OCGIN": "OCGIN",
    "OCGTL": "OCGTL",
    "GLocalKD": "GLocalKD",
    "SIGNET": "SIGNET",
}
