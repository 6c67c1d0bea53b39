"""The detector with PyOD's interface: higher scores are more anomalous, and 1 is an outlier."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from skgraphkde.detectors.base import BaseGraphDetector, check_single
from skgraphkde.detectors.estimator import GraphKDEDetector

try:
    from pyod.models.base import BaseDetector
except ImportError as error:
    raise ImportError("skgraphkde.pyod needs PyOD: pip install pyod") from error

__all__ = ["GraphKDE"]


class GraphKDE(BaseDetector):
    """:class:`GraphKDEDetector` as a detector of PyOD, for lists of graphs.

    Scores of the training graphs compare each with the others, and the threshold is that of the
    detector, so that about `contamination` of new normal graphs are outliers.

    Parameters
    ----------
    contamination : float, default=0.1
        Share of normal graphs above the threshold, in (0, 0.5].
    detector : BaseGraphDetector, default=None
        Unfitted, of which a copy is fitted; its `contamination` is replaced. None is a
        ``GraphKDEDetector()``.

    Attributes
    ----------
    detector_ : BaseGraphDetector
        The fitted detector, with p-values, selection and reasons.
    decision_scores_ : ndarray of shape (n_graphs,)
        Scores of the training graphs, higher for anomalies.
    threshold_ : float
    labels_ : ndarray of shape (n_graphs,), int
        1 for training graphs above the threshold, 0 for others.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde.pyod import GraphKDE
    >>> detector = GraphKDE().fit([nx.cycle_graph(n) for n in range(10, 40)])
    >>> detector.predict([nx.cycle_graph(25), nx.star_graph(25)]).tolist()
    [0, 1]
    """

    def __init__(self, contamination: float = 0.1, detector: Any = None) -> None:
        super().__init__(contamination=contamination)
        self.detector = detector

    def fit(self, X: Any, y: Any = None) -> GraphKDE:
        """Fit to graphs.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
        y : None
            Ignored, as by the detectors of PyOD.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            As for ``GraphKDEDetector.fit``, and if the calibration has no score for each graph.
        """
        given = GraphKDEDetector() if self.detector is None else self.detector
        fitted: BaseGraphDetector = clone(given).set_params(contamination=self.contamination)
        fitted.fit(X)
        if not hasattr(fitted, "training_scores_"):
            raise ValueError("calibration='split' has no score for each graph: use 'loo'")
        self._set_n_classes(None)
        self.detector_ = fitted
        self.decision_scores_ = -fitted.training_scores_
        self.threshold_ = -float(fitted.offset_)
        self.labels_ = (self.decision_scores_ > self.threshold_).astype(int)
        self._mu = float(np.mean(self.decision_scores_))  # of PyOD's probabilities
        self._sigma = float(np.std(self.decision_scores_))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of new graphs, higher for anomalies.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs,)
        """
        check_is_fitted(self, "detector_")
        return -self.detector_.score_samples(X)

    def predict_proba(self, X: Any, *args: Any, **options: Any) -> np.ndarray:
        """As PyOD has it, which asks for the shape of X.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
        *args, **options
            Those of PyOD.

        Returns
        -------
        ndarray of shape (n_graphs, 2)
        """
        if len(X) == 0:
            return np.empty((0, 2))
        check_single(X)
        column = np.empty(len(X), dtype=object)
        column[:] = list(X)
        return super().predict_proba(column, *args, **options)
