"""Running the checks of an estimator: all at once, or one at a time for pytest."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any
from unittest import SkipTest

from skgraphkde.testing._checks import CHECKS


def check_graph_estimator(estimator: Any, *, graphs: Any = None) -> None:
    """Check that an unsupervised graph estimator follows the scikit-learn API.

    The checks cover parameters, cloning and pickling; `fit`, which must forget earlier fits, be
    reproducible and leave its input alone; bad input; scores, which must depend on nothing but the
    graph; and how scores, threshold and verdicts fit together. A check of a method or parameter
    that the estimator does not have is skipped.

    Parameters
    ----------
    estimator : estimator object
        Has `fit(graphs, y=None)`, and any of `score_samples`, `decision_function`, `predict`,
        `fit_predict`, `transform` and `score`. It is not changed.
    graphs : sequence of graphs, default=None
        At least ten graphs of growing size to fit and score, no two alike. Graphs whose
        ``graph.graph["anomaly"]`` is true must score lower than the others when only the others are
        fitted. None takes 20 small networkx graphs with the node attributes "label" and "x", four
        of them anomalies.

    Raises
    ------
    AssertionError
        The first check that fails. The message names the check.
    TypeError
        If `estimator` is a class.

    See Also
    --------
    graph_estimator_checks : The same checks, one at a time, for pytest.
    sklearn.utils.estimator_checks.check_estimator : The counterpart for estimators of matrices.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.testing import check_graph_estimator
    >>> check_graph_estimator(GraphKDEDetector())
    """
    for _, check in graph_estimator_checks(estimator, graphs=graphs):
        with suppress(SkipTest):
            check(estimator)


def graph_estimator_checks(
    estimator: Any, *, graphs: Any = None
) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Yield the estimator with each check, for pytest.

    Parameters
    ----------
    estimator : estimator object
    graphs : sequence of graphs, default=None
        See :func:`check_graph_estimator`.

    Yields
    ------
    estimator : estimator object
    check : callable
        ``check(estimator)`` passes, raises AssertionError, or raises SkipTest, which pytest reports
        as skipped.

    Raises
    ------
    TypeError
        If `estimator` is a class.

    Examples
    --------
    ``@pytest.mark.parametrize(("estimator", "check"), pairs)`` turns each pair into a test.

    >>> from skgraphkde import NodeFeatures
    >>> from skgraphkde.testing import graph_estimator_checks
    >>> pairs = list(graph_estimator_checks(NodeFeatures()))
    >>> estimator, check = pairs[0]
    >>> check.__name__
    'check_parameters'
    >>> check(estimator)
    """
    if isinstance(estimator, type):
        raise TypeError(f"expected an instance, got a class: write {estimator.__name__}()")
    for check in CHECKS:
        yield estimator, functools.update_wrapper(functools.partial(check, graphs=graphs), check)
