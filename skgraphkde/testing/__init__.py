"""Checks of the scikit-learn API, for any estimator that takes lists of graphs.

:func:`check_graph_estimator` takes an estimator and reports how it deviates from the scikit-learn
API. scikit-learn's own checks pass matrices; these pass networkx graphs.
"""

from skgraphkde.testing.runner import CheckResult, check_graph_estimator, graph_estimator_checks

__all__ = ["CheckResult", "check_graph_estimator", "graph_estimator_checks"]
