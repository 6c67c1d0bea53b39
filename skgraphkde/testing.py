"""Checks of scikit-learn's contract, for any estimator that takes lists of graphs.

In comes an estimator. Out goes what it does other than scikit-learn's tools and users expect. The
checks of scikit-learn itself hand over matrices; these hand over networkx graphs.

Each ``check_...(estimator, graphs=None)`` below can be called alone. It works on an unfitted copy
of the estimator, whose `random_state` is 0 if it has one, and on copies of the graphs. It returns
nothing, raises an AssertionError that names the check and says what is wrong, or a SkipTest where
it does not apply. Checks are about one thing each: one fault in an estimator fails one of them.
"""

from __future__ import annotations

import copy
import functools
import inspect
import io
import pickle
import random
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple
from unittest import SkipTest

import networkx as nx
import numpy as np
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from skgraphkde.readers import read_graphs

__all__ = ["CheckResult", "check_graph_estimator", "graph_estimator_checks"]

METHODS = ("score_samples", "decision_function", "predict", "transform")
BAD_INPUT = (TypeError, ValueError)

_CHECKS: list[Callable] = []


class CheckResult(NamedTuple):
    """What became of one check.

    Attributes
    ----------
    name : str
        The check's.
    status : {"passed", "failed", "skipped"}
    exception : Exception or None
        Why it failed, or was skipped.
    """

    name: str
    status: str
    exception: Exception | None


def check_graph_estimator(
    estimator: Any, *, graphs: Any = None, on_fail: str | None = "raise"
) -> list[CheckResult]:
    """Check that an unsupervised estimator of graphs keeps scikit-learn's contract.

    The checks are about parameters, cloning and pickling; about `fit`, which must forget, repeat
    and leave its input alone; about bad input; about scores that depend on the graph alone; and
    about how scores, threshold and verdicts go together. Those about a method or a parameter that
    the estimator does not have are skipped.

    Parameters
    ----------
    estimator : estimator object
        Has `fit(graphs, y=None)`, and any of `score_samples`, `decision_function`, `predict`,
        `fit_predict`, `transform` and `score`. It is not changed.
    graphs : sequence of graphs, default=None
        At least ten graphs to fit and to query, no two alike, of growing size. Those whose
        ``graph.graph["anomaly"]`` is true have to score lower than the others when these are
        fitted. None: 20 small networkx graphs with the node attributes "label" and "x", of which
        four are anomalies.
    on_fail : {"raise", None}, default="raise"
        Whether to raise the first failure, or to go on and report all.

    Returns
    -------
    list of CheckResult
        One a check.

    Raises
    ------
    AssertionError
        If a check fails and ``on_fail="raise"``; it names the check.
    TypeError
        If `estimator` is a class.
    ValueError
        If `on_fail` is neither "raise" nor None.

    See Also
    --------
    graph_estimator_checks : The same checks, one at a time, for pytest.
    sklearn.utils.estimator_checks.check_estimator : The model, for estimators of matrices.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.testing import check_graph_estimator
    >>> results = check_graph_estimator(GraphKDEDetector())
    >>> [result.name for result in results if result.status == "skipped"]
    ['check_fit_transform', 'check_feature_names_out']
    """
    if on_fail not in ("raise", None):
        raise ValueError(f"on_fail must be 'raise' or None, got {on_fail!r}")
    results = []
    for _, check in graph_estimator_checks(estimator, graphs=graphs):
        result = _outcome(check, estimator)
        if on_fail == "raise" and isinstance(result.exception, AssertionError):
            raise result.exception
        results.append(result)
    return results


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
        ``check(estimator)`` passes, raises AssertionError, or raises SkipTest, which pytest knows.

    Raises
    ------
    TypeError
        If `estimator` is a class.

    Examples
    --------
    ``@pytest.mark.parametrize(("estimator", "check"), pairs)`` makes a test of each.

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
    for check in _CHECKS:
        bound = functools.partial(check, graphs=graphs)
        yield estimator, functools.update_wrapper(bound, check)


def _outcome(check: Callable, estimator: Any) -> CheckResult:
    try:
        check(estimator)
    except SkipTest as reason:
        return CheckResult(check.__name__, "skipped", reason)
    except AssertionError as failure:
        return CheckResult(check.__name__, "failed", failure)
    return CheckResult(check.__name__, "passed", None)


def _check(*needs: str, compares_fits: bool = False) -> Callable:
    """Register a check for estimators with the methods and parameters `needs`.

    Where equal fits differ, a check that compares fits says nothing new and is skipped: one fault,
    one failure.
    """

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def check(estimator: Any, graphs: Any = None) -> None:
            lacking = [name for name in needs if not hasattr(estimator, name)]
            if lacking:
                raise SkipTest(f"{type(estimator).__name__} has no {', '.join(lacking)}")
            graphs = _example_graphs() if graphs is None else copy.deepcopy(list(graphs))
            try:
                function(_fresh(estimator), graphs)
            except SkipTest:
                raise
            except Exception as error:
                if compares_fits and not _is_reproducible(estimator, graphs):
                    raise SkipTest("equal fits differ, see check_fit_is_reproducible") from error
                name = type(estimator).__name__
                raise AssertionError(f"{function.__name__} failed for {name}: {error}") from error

        _CHECKS.append(check)
        return check

    return register


# -- construction and parameters -------------------------------------------------------------------


@_check()
def check_clone(estimator: Any, graphs: Any) -> None:
    """scikit-learn's clone is unfitted, and has the same parameters as the fitted original."""
    copied = clone(_fit(estimator, graphs))
    fitted = sorted(name for name in vars(copied) if name.endswith("_"))
    assert not fitted, f"the clone of a fitted estimator has {fitted}"
    assert type(copied) is type(estimator), f"the clone is a {type(copied).__name__}"
    same = _parameter_prints(copied) == _parameter_prints(estimator)
    assert same, "the clone has other parameters"


@_check()
def check_constructor_sets_only_parameters(estimator: Any, graphs: Any) -> None:
    """`__init__` stores its arguments and nothing else."""
    extra = sorted(set(vars(estimator)) - set(_signature(estimator)))
    assert not extra, f"__init__ sets {extra}, which are no parameters: do it in fit"


@_check()
def check_constructor_does_not_validate(estimator: Any, graphs: Any) -> None:
    """`__init__` takes anything: parameters may yet be set, so they are looked at in `fit`."""
    anything = {name: object() for name in estimator.get_params(deep=False)}
    try:
        type(estimator)(**anything)
    except Exception as error:
        raise AssertionError(f"__init__ looks at its arguments, fit should: {error}") from error


@_check()
def check_get_params(estimator: Any, graphs: Any) -> None:
    """`get_params` gives every argument of `__init__`."""
    given, expected = set(estimator.get_params(deep=False)), set(_signature(estimator))
    assert given == expected, f"get_params and __init__ differ in {sorted(given ^ expected)}"


@_check()
def check_set_params(estimator: Any, graphs: Any) -> None:
    """`set_params` returns the estimator and sets what `get_params` gives."""
    for name in estimator.get_params(deep=False):
        value = object()
        other = _fresh(estimator)
        assert other.set_params(**{name: value}) is other, "set_params does not return self"
        assert other.get_params(deep=False)[name] is value, f"set_params does not set {name}"


@_check()
def check_set_params_refuses_unknown_names(estimator: Any, graphs: Any) -> None:
    """A misspelled parameter is a ValueError."""
    _must_raise((ValueError,), "set_params with a name that is no parameter", _misspell, estimator)


def _misspell(estimator: Any) -> None:
    estimator.set_params(no_such_parameter=1)


@_check("contamination", compares_fits=True)
def check_set_params_reaches_fit(estimator: Any, graphs: Any) -> None:
    """A parameter set after a first fit is in force in the second, as grid searches assume."""
    _fit(estimator, graphs[: len(graphs) // 2])
    _fit(estimator.set_params(contamination=0.3), graphs)
    expected = _fit(_fresh(estimator, contamination=0.3), graphs)
    what = "set_params(contamination=0.3) before a second fit changes other things than 0.3 in"
    _assert_same(_results(estimator, graphs), _results(expected, graphs), f"{what} a new estimator")


@_check()
def check_repr(estimator: Any, graphs: Any) -> None:
    """`repr` works before and after fit, and names the class."""
    for instance in (_fresh(estimator), _fit(estimator, graphs)):
        text = repr(instance)
        assert type(estimator).__name__ in text, f"repr does not name the class: {text}"


@_check()
def check_tags(estimator: Any, graphs: Any) -> None:
    """scikit-learn's tags say that the input is no matrix."""
    is_matrix = get_tags(estimator).input_tags.two_d_array
    assert not is_matrix, "__sklearn_tags__().input_tags.two_d_array must be False"


# -- fit -------------------------------------------------------------------------------------------


@_check()
def check_fit_returns_self(estimator: Any, graphs: Any) -> None:
    """`fit` returns the estimator itself."""
    returned = estimator.fit(list(graphs))
    assert returned is estimator, f"fit returns {type(returned).__name__} instead of self"


@_check(compares_fits=True)
def check_fit_ignores_y(estimator: Any, graphs: Any) -> None:
    """`fit` takes y, and no result depends on it."""
    expected = _results(_fit(_fresh(estimator), graphs), graphs)
    estimator.fit(list(graphs), y=np.where(np.arange(len(graphs)) % 3 == 0, -1, 1))
    _assert_same(_results(estimator, graphs), expected, "depends on the y of fit")


@_check()
def check_fit_keeps_parameters(estimator: Any, graphs: Any) -> None:
    """`fit` neither replaces nor changes a parameter."""
    before = _parameter_prints(estimator)
    after = _parameter_prints(_fit(estimator, graphs))
    changed = [name for name in before if after.get(name) != before[name]]
    assert not changed, f"fit changes {changed}: give the fitted attribute a name of its own"


def _parameter_prints(estimator: Any) -> dict[str, Any]:
    """What is in each parameter; of an estimator among them, its parameters alone."""
    parameters = estimator.get_params(deep=False)
    return {name: _fingerprint(clone(value, safe=False)) for name, value in parameters.items()}


@_check()
def check_fitted_attributes(estimator: Any, graphs: Any) -> None:
    """What `fit` learns ends in an underscore."""
    before = set(vars(estimator))
    new = set(vars(_fit(estimator, graphs))) - before
    wrong = sorted(name for name in new if not name.startswith("_") and not name.endswith("_"))
    assert not wrong, f"fit sets {wrong}: fitted attributes end in an underscore"


@_check()
def check_is_fitted_agrees(estimator: Any, graphs: Any) -> None:
    """scikit-learn's `check_is_fitted` says no before `fit` and yes after it."""
    _must_raise((NotFittedError,), "check_is_fitted before fit", check_is_fitted, estimator)
    check_is_fitted(_fit(estimator, graphs))


@_check()
def check_methods_need_fit(estimator: Any, graphs: Any) -> None:
    """Every method raises NotFittedError before `fit`."""
    for name in _methods(estimator):
        method = getattr(estimator, name)
        _must_raise((NotFittedError,), f"{name} before fit", method, list(graphs))


@_check(compares_fits=True)
def check_fit_is_idempotent(estimator: Any, graphs: Any) -> None:
    """A second fit on the same graphs changes nothing."""
    expected = _results(_fit(estimator, graphs), graphs)
    _assert_same(_results(_fit(estimator, graphs), graphs), expected, "changes with a second fit")


@_check(compares_fits=True)
def check_fit_forgets(estimator: Any, graphs: Any) -> None:
    """A fit on other graphs leaves nothing of the first."""
    others = graphs[: len(graphs) // 2]
    expected = _results(_fit(_fresh(estimator), others), graphs)
    _fit(_fit(estimator, graphs), others)
    _assert_same(_results(estimator, graphs), expected, "depends on an earlier fit")


@_check()
def check_fit_is_reproducible(estimator: Any, graphs: Any) -> None:
    """Two fits give the same, where there is a random_state with the same seed."""
    one, two = (_results(_fit(_fresh(estimator), graphs), graphs) for _ in range(2))
    _assert_same(one, two, "differs between two fits with the same graphs and random_state")


@_check("random_state", compares_fits=True)
def check_random_state_instance(estimator: Any, graphs: Any) -> None:
    """`random_state` may be a RandomState, and two of the same state give the same."""
    one, two = (
        _fit(_fresh(estimator, random_state=np.random.RandomState(0)), graphs) for _ in range(2)
    )
    what = "differs between two fits whose random_state is RandomState(0)"
    _assert_same(_results(one, graphs), _results(two, graphs), what)


@_check()
def check_global_random_state(estimator: Any, graphs: Any) -> None:
    """The global generators of Python, NumPy and torch are left alone."""
    callers = _global_random_states()
    try:
        random.seed(20_011_122)  # nobody else's seed: who seeds again has to be seen
        np.random.seed(20_011_122)
        torch.default_generator.manual_seed(20_011_122)
        before = _global_random_states()
        _call_all(_fit(estimator, graphs), graphs)
        after = _global_random_states()
    finally:
        random.setstate(callers["random"])
        np.random.set_state(callers["numpy.random"])
        torch.set_rng_state(callers["torch"])
    used = [name for name in before if _fingerprint(after[name]) != _fingerprint(before[name])]
    assert not used, f"the global generators of {used} are used, or seeded: take random_state"


def _global_random_states() -> dict[str, Any]:
    return {
        "random": random.getstate(),
        "numpy.random": np.random.get_state(),
        "torch": torch.get_rng_state(),
    }


# -- what goes in ----------------------------------------------------------------------------------


@_check()
def check_graphs_unchanged(estimator: Any, graphs: Any) -> None:
    """No method changes a graph."""
    before = [_fingerprint(graph) for graph in graphs]
    _call_all(_fit(estimator, graphs), graphs)
    pairs = zip(graphs, before, strict=True)
    changed = [i for i, (graph, was) in enumerate(pairs) if _fingerprint(graph) != was]
    assert not changed, f"the caller's graphs {changed} are changed"


@_check()
def check_list_unchanged(estimator: Any, graphs: Any) -> None:
    """No method changes the list that holds the graphs."""
    before = list(graphs)
    for name in ("fit", *_methods(estimator)):
        getattr(estimator, name)(graphs)
        same = list(map(id, graphs)) == list(map(id, before))
        assert same, f"{name} changes the caller's list"


@_check()
def check_training_graphs_are_copied(estimator: Any, graphs: Any) -> None:
    """What becomes of the training graphs after `fit` changes no result."""
    _skip_unless_networkx(graphs)
    training = copy.deepcopy(graphs)
    expected = _results(_fit(estimator, training), graphs)
    for graph in training:
        graph.clear()
    what = "depends on what becomes of the training graphs after fit"
    _assert_same(_results(estimator, graphs), expected, what)


@_check(compares_fits=True)
def check_tuples(estimator: Any, graphs: Any) -> None:
    """A tuple of graphs does what a list does."""
    expected = _results(_fit(_fresh(estimator), graphs), graphs)
    estimator.fit(tuple(graphs))
    for name, rows in expected.items():
        given = {name: _rows(getattr(estimator, name)(tuple(graphs)))}
        _assert_same(given, {name: rows}, "differs between a tuple and a list of the same graphs")


@_check()
def check_empty_list(estimator: Any, graphs: Any) -> None:
    """An empty list is an error that says so."""
    _must_refuse(estimator, graphs, [], "an empty list")


@_check()
def check_single_graph(estimator: Any, graphs: Any) -> None:
    """A graph in place of a list of graphs is an error."""
    _skip_unless_networkx(graphs)
    _must_refuse(estimator, graphs, graphs[-1], "a graph in place of a list")


@_check()
def check_no_graph(estimator: Any, graphs: Any) -> None:
    """A list with something in it that is no graph is an error."""
    _must_refuse(estimator, graphs, [*graphs[:-1], None], "a list with None in it")


@_check()
def check_nan(estimator: Any, graphs: Any) -> None:
    """A node attribute "x" of NaN is a ValueError or without effect: no NaN comes out."""
    spoiled = _with_nan(graphs)
    _fit(estimator, graphs)
    for name in _methods(estimator):
        with_nan = _unless_refused(getattr(estimator, name), spoiled)
        assert not _has_nan(with_nan), f"{name} turns a NaN attribute into a NaN"
    other = _fresh(estimator)
    if _unless_refused(other.fit, spoiled) is not None:
        wrong = [name for name, rows in _results(other, graphs).items() if _has_nan(rows)]
        assert not wrong, f"{wrong} are NaN after a fit on a graph with a NaN attribute"


def _with_nan(graphs: Any) -> list[nx.Graph]:
    """The graphs, the first attribute "x" that is found replaced by NaN."""
    _skip_unless_networkx(graphs)
    spoiled = copy.deepcopy(graphs)
    for graph in spoiled:
        for _, data in graph.nodes(data=True):
            if "x" in data:
                data["x"] = np.full_like(np.asarray(data["x"], dtype=float), np.nan)
                return spoiled
    raise SkipTest('no node has the attribute "x"')


def _unless_refused(method: Callable, graphs: Any) -> Any:
    try:
        return method(list(graphs))
    except ValueError:
        return None


def _has_nan(output: Any) -> bool:
    return output is not None and bool(np.isnan(_rows(output).astype(float)).any())


@_check()
def check_failed_fit(estimator: Any, graphs: Any) -> None:
    """A fit that fails leaves a fitted estimator as it was."""
    expected = _results(_fit(estimator, graphs), graphs)
    try:
        estimator.fit([*graphs[:3], None])
    except Exception:
        _assert_same(_results(estimator, graphs), expected, "changes when another fit fails")
    else:
        raise SkipTest("no fit fails, see check_no_graph")


@_check("contamination")
def check_contamination_range(estimator: Any, graphs: Any) -> None:
    """A contamination that is no share is a ValueError in `fit`."""
    for value in (-0.5, 1.5):
        fit = _fresh(estimator, contamination=value).fit
        _must_raise((ValueError,), f"fit with contamination={value}", fit, list(graphs))


# -- what comes out --------------------------------------------------------------------------------


@_check("score_samples")
def check_scores(estimator: Any, graphs: Any) -> None:
    """Scores are one double a graph."""
    _fit(estimator, graphs)
    for name in [name for name in _methods(estimator) if name not in ("predict", "transform")]:
        scores = getattr(estimator, name)(list(graphs))
        _assert_array(scores, name, (len(graphs),))
        assert scores.dtype == np.float64, f"{name} gives {scores.dtype}, expected float64"


@_check("score_samples")
def check_scores_are_finite(estimator: Any, graphs: Any) -> None:
    """Every graph has a finite score, also one without edges."""
    scores = np.asarray(_fit(estimator, graphs).score_samples(list(graphs)))
    wrong = np.flatnonzero(~np.isfinite(scores)).tolist()
    assert not wrong, f"the scores of the graphs {wrong} are not finite"


@_check("score_samples", "decision_function")
def check_decision_function(estimator: Any, graphs: Any) -> None:
    """``decision_function(graphs) == score_samples(graphs) - offset_``."""
    _fit(estimator, graphs)
    decision = estimator.decision_function(list(graphs))
    scores = estimator.score_samples(list(graphs))
    what = "is not score_samples - offset_"
    _assert_same(
        {"decision_function": decision}, {"decision_function": scores - estimator.offset_}, what
    )


@_check("score_samples", "predict")
def check_predict(estimator: Any, graphs: Any) -> None:
    """Verdicts are the integers 1 and -1, one a graph."""
    verdicts = _fit(estimator, graphs).predict(list(graphs))
    _assert_array(verdicts, "predict", (len(graphs),))
    assert verdicts.dtype.kind == "i", f"predict gives {verdicts.dtype}, expected integers"
    _assert_verdicts(verdicts, "predict")


@_check("score_samples", "decision_function", "predict")
def check_predict_is_the_sign(estimator: Any, graphs: Any) -> None:
    """Graphs below 0 in `decision_function` are anomalies, graphs above it are not."""
    _fit(estimator, graphs)
    decision = estimator.decision_function(list(graphs))
    product = np.sign(decision) * np.asarray(estimator.predict(list(graphs)))
    wrong = np.flatnonzero(product < 0).tolist()
    assert not wrong, f"predict and the sign of decision_function differ for the graphs {wrong}"


@_check("score_samples", "predict", "fit_predict")
def check_fit_predict(estimator: Any, graphs: Any) -> None:
    """`fit_predict` gives a verdict a graph, and leaves a fitted estimator."""
    verdicts = estimator.fit_predict(list(graphs))
    _assert_array(verdicts, "fit_predict", (len(graphs),))
    _assert_verdicts(verdicts, "fit_predict")
    estimator.predict(list(graphs))


@_check("score_samples", "fit_predict", "contamination")
def check_contamination(estimator: Any, graphs: Any) -> None:
    """`fit_predict` finds the share `contamination` of anomalies, give or take a graph."""
    for share in (0.1, 0.3):
        verdicts = _fresh(estimator, contamination=share).fit_predict(list(graphs))
        found, expected = np.sum(np.asarray(verdicts) == -1), share * len(graphs)
        assert abs(found - expected) <= 1, (
            f"contamination={share} of {len(graphs)} graphs are {expected:g}, fit_predict finds "
            f"{found}"
        )


@_check("score_samples")
def check_anomalies_score_lower(estimator: Any, graphs: Any) -> None:
    """Higher is more normal: anomalies score lower than the graphs of `fit`, by the median."""
    _skip_unless_networkx(graphs)
    odd = [graph for graph in graphs if graph.graph.get("anomaly")]
    normal = [graph for graph in graphs if not graph.graph.get("anomaly")]
    if not odd or not normal:
        raise SkipTest('no graph is marked by graph.graph["anomaly"], or all are')
    _fit(estimator, normal)
    of_odd, of_normal = (np.median(estimator.score_samples(kind)) for kind in (odd, normal))
    assert of_odd < of_normal, (
        f"anomalies score {of_odd:g} and training graphs {of_normal:g}: scores must be higher for "
        "normal graphs"
    )


@_check("transform")
def check_transform(estimator: Any, graphs: Any) -> None:
    """`transform` gives a row of numbers a graph, or as many graphs."""
    rows = _rows(_fit(estimator, graphs).transform(list(graphs)))
    fits = rows.ndim == 2 and len(rows) == len(graphs)
    assert fits, f"transform gives the shape {rows.shape} for {len(graphs)} graphs"
    assert rows.dtype.kind in "fiu", f"transform gives the dtype {rows.dtype}, expected numbers"


@_check("transform", "fit_transform", compares_fits=True)
def check_fit_transform(estimator: Any, graphs: Any) -> None:
    """`fit_transform` does what `fit` and `transform` do."""
    expected = _rows(_fit(_fresh(estimator), graphs).transform(list(graphs)))
    given = _rows(estimator.fit_transform(list(graphs)))
    _assert_same({"fit_transform": given}, {"fit_transform": expected}, "differs from transform")


@_check("transform", "get_feature_names_out")
def check_feature_names_out(estimator: Any, graphs: Any) -> None:
    """`get_feature_names_out` names every column once."""
    output = _fit(estimator, graphs).transform(list(graphs))
    columns: Any = output if _is_array(output) else read_graphs(output).attributes
    names = list(estimator.get_feature_names_out())
    assert all(isinstance(name, str) for name in names), "a feature name is no string"
    assert len(set(names)) == len(names), "a feature name is there twice"
    width = np.shape(columns)[-1]
    assert len(names) == width, f"transform has {width} columns, of which {len(names)} have names"


@_check()
def check_n_features_in(estimator: Any, graphs: Any) -> None:
    """`n_features_in_` is an integer, or not there: a list of graphs has no columns."""
    value = getattr(_fit(estimator, graphs), "n_features_in_", 0)
    assert isinstance(value, Integral), f"n_features_in_ is {value!r}, expected an integer"


@_check()
def check_outputs_belong_to_the_caller(estimator: Any, graphs: Any) -> None:
    """Who writes into a result changes no later one."""
    results = _results(_fit(estimator, graphs), graphs)
    expected = {name: rows.copy() for name, rows in results.items()}
    for name in expected:
        output = getattr(estimator, name)(list(graphs))
        if isinstance(output, np.ndarray):
            output[...] = 0
    what = "changes when the caller writes into an earlier result"
    _assert_same(_results(estimator, graphs), expected, what)


# -- what results may depend on --------------------------------------------------------------------


@_check()
def check_subset_invariance(estimator: Any, graphs: Any) -> None:
    """A graph's result does not depend on which others are asked for."""
    together = _results(_fit(estimator, graphs), graphs)
    half = len(graphs) // 2
    for part in (slice(0, half), slice(half, None), slice(half // 2, half // 2 + 3)):
        expected = {name: rows[part] for name, rows in together.items()}
        what = "depends on the other graphs in the list"
        _assert_same(_results(estimator, graphs[part]), expected, what)


@_check()
def check_order_invariance(estimator: Any, graphs: Any) -> None:
    """Graphs in another order have their results in that order."""
    together = _results(_fit(estimator, graphs), graphs)
    order = np.random.RandomState(0).permutation(len(graphs))
    expected = {name: rows[order] for name, rows in together.items()}
    what = "depends on the order of the graphs"
    _assert_same(_results(estimator, [graphs[i] for i in order]), expected, what)


@_check()
def check_one_graph(estimator: Any, graphs: Any) -> None:
    """A list of one graph has one result."""
    _fit(estimator, graphs)
    for name in _methods(estimator):
        shape = np.shape(_rows(getattr(estimator, name)([graphs[-1]])))
        assert shape[:1] == (1,), f"{name} gives the shape {shape} for a list of one graph"


@_check()
def check_node_order(estimator: Any, graphs: Any) -> None:
    """The order in which a graph holds its nodes and edges does not matter."""
    _skip_unless_networkx(graphs)
    expected = _results(_fit(estimator, graphs), graphs)
    shuffled = [_shuffled(graph, np.random.RandomState(0)) for graph in graphs]
    _assert_same(_results(estimator, shuffled), expected, "depends on the order of the nodes")


def _shuffled(graph: nx.Graph, rng: np.random.RandomState) -> nx.Graph:
    nodes, edges = list(graph.nodes(data=True)), list(graph.edges(data=True))
    result = type(graph)()
    result.graph.update(graph.graph)
    result.add_nodes_from(nodes[i] for i in rng.permutation(len(nodes)))
    result.add_edges_from(edges[i] for i in rng.permutation(len(edges)))
    return result


@_check()
def check_node_names(estimator: Any, graphs: Any) -> None:
    """What the nodes are called does not matter."""
    _skip_unless_networkx(graphs)
    expected = _results(_fit(estimator, graphs), graphs)
    renamed = [
        nx.relabel_nodes(graph, {node: f"node {node}" for node in graph}) for graph in graphs
    ]
    _assert_same(_results(estimator, renamed), expected, "depends on the names of the nodes")


@_check()
def check_methods_keep_state(estimator: Any, graphs: Any) -> None:
    """No method but `fit` changes the estimator."""
    _fit(estimator, graphs)
    before = {name: _fingerprint(value) for name, value in vars(estimator).items()}
    for name in _methods(estimator):
        getattr(estimator, name)(list(graphs))
        after = {key: _fingerprint(value) for key, value in vars(estimator).items()}
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        assert not changed, f"{name} changes the attributes {changed}"


@_check()
def check_pickle(estimator: Any, graphs: Any) -> None:
    """A fitted estimator survives pickling."""
    expected = _results(_fit(estimator, graphs), graphs)
    loaded = pickle.loads(pickle.dumps(estimator))
    _assert_same(_results(loaded, graphs), expected, "differs after pickling")


@_check()
def check_deepcopy(estimator: Any, graphs: Any) -> None:
    """A deep copy of a fitted estimator is fitted, and gives the same."""
    expected = _results(_fit(estimator, graphs), graphs)
    _assert_same(_results(copy.deepcopy(estimator), graphs), expected, "differs in a deep copy")


# -- inside scikit-learn ---------------------------------------------------------------------------


@_check(compares_fits=True)
def check_pipeline(estimator: Any, graphs: Any) -> None:
    """The last step of a Pipeline gives what it gives alone."""
    expected = _results(_fit(_fresh(estimator), graphs), graphs)
    pipeline = make_pipeline("passthrough", estimator).fit(list(graphs))
    _assert_same(_results(pipeline, graphs), expected, "differs inside a Pipeline")


@_check("score")
def check_cross_val_score(estimator: Any, graphs: Any) -> None:
    """`cross_val_score` cuts the list and gets a number a fold from `score`."""
    try:
        clone(estimator)
    except Exception as error:
        raise SkipTest("clone does not work, see check_clone") from error
    scores = cross_val_score(estimator, list(graphs), cv=3, error_score="raise")
    assert not np.isnan(scores).any(), f"the scores of three folds are {scores}"


# -- what the checks share -------------------------------------------------------------------------


def _example_graphs() -> list[nx.Graph]:
    """Sixteen sparse graphs of 1 to 9 nodes, some without edges, and four dense anomalies."""
    rng = np.random.RandomState(0)
    sparse = [_example_graph(1 + (i + 1) // 2, 0.3, 0.0, rng) for i in range(16)]
    dense = [_example_graph(10 + i, 0.8, 2.0, rng, anomaly=True) for i in range(4)]
    return sparse + dense


def _example_graph(
    n_nodes: int, p: float, mean: float, rng: np.random.RandomState, **attributes: Any
) -> nx.Graph:
    graph = nx.gnp_random_graph(n_nodes, p, seed=rng)
    graph.graph.update(attributes)
    for node in graph:
        graph.nodes[node].update(label="ab"[node % 2], x=mean + rng.standard_normal(2))
    return graph


def _fresh(estimator: Any, **parameters: Any) -> Any:
    """An unfitted estimator with the same parameters, or with `parameters`.

    As clone, but without its complaints, which are for check_clone to raise.
    """
    own = {
        name: clone(value, safe=False) for name, value in estimator.get_params(deep=False).items()
    }
    if "random_state" in own:
        own["random_state"] = 0
    return type(estimator)(**{**own, **parameters})


def _fit(estimator: Any, graphs: Any) -> Any:
    """The estimator, fitted; what `fit` returns is for check_fit_returns_self."""
    estimator.fit(list(graphs))
    return estimator


def _methods(estimator: Any) -> list[str]:
    return [name for name in METHODS if hasattr(estimator, name)]


def _call_all(estimator: Any, graphs: Any) -> None:
    for name in _methods(estimator):
        getattr(estimator, name)(list(graphs))


def _results(estimator: Any, graphs: Any) -> dict[str, np.ndarray]:
    """The outputs by method, a row a graph; verdicts, which rounding may tip, if nothing else."""
    names = [name for name in _methods(estimator) if name != "predict"] or _methods(estimator)
    return {name: _rows(getattr(estimator, name)(list(graphs))) for name in names}


def _rows(output: Any) -> np.ndarray:
    """An output as an array with a row a graph; graphs become moments of what their nodes carry."""
    if _is_array(output):
        return output.toarray() if sp.issparse(output) else np.asarray(output)
    batch = read_graphs(output)
    nodes = batch.degrees[:, np.newaxis].astype(float)
    if batch.attributes is not None:
        nodes = np.hstack([nodes, batch.attributes])
    sums = np.add.reduceat(np.hstack([nodes, nodes**2]), batch.node_ptr[:-1], axis=0)
    return np.hstack([batch.n_nodes_per_graph[:, np.newaxis], sums])


def _is_array(output: Any) -> bool:
    return isinstance(output, Real) or sp.issparse(output) or hasattr(output, "__array__")


def _assert_same(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray], what: str) -> None:
    for name, rows in expected.items():
        np.testing.assert_allclose(
            actual[name], rows, rtol=1e-6, atol=1e-7, err_msg=f"{name} {what}"
        )


def _assert_array(output: Any, name: str, shape: tuple[int, ...]) -> None:
    assert isinstance(output, np.ndarray), f"{name} gives a {type(output).__name__}, no array"
    assert output.shape == shape, f"{name} gives the shape {output.shape}, expected {shape}"


def _assert_verdicts(verdicts: np.ndarray, name: str) -> None:
    values = sorted(set(verdicts.tolist()))
    assert set(values) <= {-1, 1}, f"{name} gives {values}, expected 1 and -1"


def _must_refuse(estimator: Any, graphs: Any, bad: Any, what: str) -> None:
    """Every method, `fit` last, must raise TypeError or ValueError for the input `bad`."""
    _fit(estimator, graphs)
    for name in (*_methods(estimator), "fit"):
        _must_raise(BAD_INPUT, f"{name} of {what}", getattr(estimator, name), bad)


def _must_raise(errors: tuple[type, ...], what: str, call: Callable, *args: Any) -> None:
    expected = " or ".join(error.__name__ for error in errors)
    try:
        call(*args)
    except Exception as error:
        got = f"{type(error).__name__} {str(error)!r}"
        if not isinstance(error, errors):
            raise AssertionError(f"{what} raises {got}, expected {expected}") from error
        if not str(error):
            raise AssertionError(f"{what} raises {got}: say what is wrong") from error
    else:
        raise AssertionError(f"{what} raises nothing, expected {expected}")


def _is_reproducible(estimator: Any, graphs: Any) -> bool:
    try:
        check_fit_is_reproducible(estimator, graphs)
    except AssertionError:
        return False
    return True


def _skip_unless_networkx(graphs: Any) -> None:
    if not all(isinstance(graph, nx.Graph) for graph in graphs):
        raise SkipTest("for networkx graphs")


def _signature(estimator: Any) -> list[str]:
    """Names of the arguments of `__init__`."""
    parameters = inspect.signature(type(estimator)).parameters.values()
    return [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


def _fingerprint(value: Any) -> Any:
    """What is in a value, as bytes; of an object that cannot be pickled, the object's identity."""
    buffer = io.BytesIO()
    try:
        _Snapshot(buffer).dump(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        return id(value)
    return buffer.getvalue()


class _Snapshot(pickle.Pickler):
    """Pickle graphs without what they cache, and tensors by their numbers."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, nx.Graph):
            parts = list(value.nodes(data=True)), list(value.edges(data=True)), value.graph
            return tuple, (parts,)
        if isinstance(value, torch.Tensor):
            return np.asarray, (value.numpy(force=True),)
        return NotImplemented
