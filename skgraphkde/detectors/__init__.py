"""Detectors: lists of graphs -> scores and verdicts, through scikit-learn's interface.

The way of a call: ``fit`` reads and checks the graphs (`base`), `fit_model` makes a `GraphModel` of
them (`core.scoring.model`), and its leave-one-out scores become the calibration (`base`).
``score_samples`` reads the graphs (`base`), and the model scores them in each view, turns these
scores into p-values and adds up their logarithms (`GraphModel.scores`). ``partial_fit`` and
``learn`` put a longer list together and call ``fit``.
"""

from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.estimator import GraphKDEDetector

__all__ = ["BaseGraphDetector", "GraphKDEDetector"]
