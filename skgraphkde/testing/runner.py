"""Running the checks: an estimator -> the outcome of each check."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from unittest import SkipTest

from skgraphkde.testing._checks import CHECKS
from skgraphkde.testing._common import typed_graphs


class CheckResult(NamedTuple):
    """The outcome of one check.

    Attributes
    ----------
    name : str
        Name of the check.
    status : {"passed", "failed", "skipped"}
    exception : Exception or None
        Why the check failed or was skipped.
    """

    name: str
    status: str
    exception: Exception | None


def check_graph_estimator(
    estimator: Any, *, graphs: Any = None, on_fail: str | None = "raise"
) -> list[CheckResult]:
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
    graphs : sequence of graphs, "typed" or None, default=None
        At least ten graphs of growing size to fit and score, no two alike. Graphs whose
        ``graph.graph["anomaly"]`` is true must score lower than the others when only the others are
        fitted. None takes 20 small networkx graphs with the node attributes "label" and "x", four
        of them anomalies; "typed" takes 20 directed ones, whose edges have these attributes, too.
    on_fail : {"raise", None}, default="raise"
        "raise" raises the first failure; None runs all checks and returns every outcome.

    Returns
    -------
    list of CheckResult
        One per check. Each check works on an unfitted copy of the estimator, whose `random_state`
        is 0 if it has one, and on copies of the graphs.

    Raises
    ------
    AssertionError
        If a check fails and ``on_fail="raise"``. The message names the check.
    TypeError
        If `estimator` is a class.
    ValueError
        If `on_fail` is neither "raise" nor None.

    See Also
    --------
    graph_estimator_checks : The same checks, one at a time, for pytest.
    sklearn.utils.estimator_checks.check_estimator : The counterpart for estimators of matrices.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.testing import check_graph_estimator
    >>> results = check_graph_estimator(GraphKDEDetector())
    >>> [result.name for result in results if result.status == "skipped"]
    []
    """
    if on_fail not in ("raise", None):
        raise ValueError(f"on_fail must be 'raise' or None, got {on_fail!r}")
    results = []
    for _, check in graph_estimator_checks(estimator, graphs=graphs):
        result = CheckResult(check.__name__, "passed", None)
        try:
            check(estimator)
        except SkipTest as reason:
            result = CheckResult(check.__name__, "skipped", reason)
        except AssertionError as failure:
            if on_fail == "raise":
                raise
            result = CheckResult(check.__name__, "failed", failure)
        results.append(result)
    return results


def graph_estimator_checks(
    estimator: Any, *, graphs: Any = None
) -> Iterator[tuple[Any, Callable[[Any], None]]]:
    """Yield the estimator with each check, for pytest.

    Parameters
    ----------
    estimator : estimator object
    graphs : sequence of graphs, "typed" or None, default=None
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
    'check_clone'
    >>> check(estimator)
    """
    if isinstance(estimator, type):
        raise TypeError(f"expected an instance, got a class: write {estimator.__name__}()")
    if isinstance(graphs, str):
        if graphs != "typed":
            raise ValueError(f"graphs must be a list of graphs, 'typed' or None, got {graphs!r}")
        graphs = typed_graphs()
    for check in CHECKS:
        yield estimator, functools.update_wrapper(functools.partial(check, graphs=graphs), check)
