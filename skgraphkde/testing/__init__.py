"""Checks of the scikit-learn API, for any estimator that takes lists of graphs.

:func:`check_graph_estimator` raises an error that says how an estimator deviates from the
scikit-learn API. scikit-learn's own checks pass matrices; these pass networkx graphs.
"""

from skgraphkde.testing.runner import check_graph_estimator, graph_estimator_checks

__all__ = ["check_graph_estimator", "graph_estimator_checks"]
