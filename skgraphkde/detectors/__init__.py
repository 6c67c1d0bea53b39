"""Detectors: lists of graphs -> scores and verdicts, through scikit-learn's interface."""

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
