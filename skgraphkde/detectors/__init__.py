"""Detectors: lists of graphs -> scores and verdicts, through scikit-learn's interface.

The way of a call: ``fit`` reads and checks the graphs (`base`), `ModelFitter` makes a `GraphModel`
of them (`fitting`, `model`), and its leave-one-out scores become the calibration (`base`).
``score_samples`` reads the graphs (`base`), and the model scores them in each view, turns these
scores into p-values and adds up their logarithms (`GraphModel.scores`). ``partial_fit`` and
``learn`` replace the model and the calibration by new ones (`graph_kde`, `learning`).
"""

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.files import InvalidFileError, load
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.detectors.model import GraphModel
from skgraphkde.detectors.settings import density_settings, paper_settings
from skgraphkde.detectors.verdict_detector import VerdictDetector

__all__ = [
    "BaseGraphDetector",
    "GraphKDEDetector",
    "GraphModel",
    "InvalidFileError",
    "VerdictDetector",
    "density_settings",
    "load",
    "paper_settings",
]
