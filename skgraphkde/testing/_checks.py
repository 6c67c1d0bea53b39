"""The checks: an unfitted estimator and a list of graphs -> nothing, AssertionError or SkipTest.

The message of an AssertionError says what is wrong. A check may assume what earlier ones assert, so
the first failure names the fault.
"""

from __future__ import annotations

import copy
import functools
import pickle
import random
import sys
from collections.abc import Callable
from contextlib import suppress
from numbers import Integral
from typing import Any
from unittest import SkipTest

import networkx as nx
import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_estimator_cloneable,
    check_estimator_repr,
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)
from sklearn.utils.validation import check_is_fitted

from skgraphkde.graphs.readers import read_graphs
from skgraphkde.testing._common import (
    as_rows,
    assert_same,
    example_graphs,
    fingerprint,
    fitted,
    fresh,
    is_array,
    methods_of,
    must_raise,
    parameter_prints,
    results_of,
    skip_unless_networkx,
)

#: scikit-learn's checks that need no data.
OF_PARAMETERS = (
    check_estimator_cloneable,
    check_estimator_repr,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_get_params_invariance,
    check_set_params,
)
#: All checks, in the order in which they run: ``check(estimator, graphs=None)``.
CHECKS: list[Callable] = []


def register(*needs: str) -> Callable:
    """Register a check, for estimators that have the methods and parameters `needs`.

    Parameters
    ----------
    *needs : str
        Names of methods and parameters. The check is skipped if the estimator lacks one of them.

    Returns
    -------
    callable
        A decorator. It gives the function a fresh estimator and copies of the graphs, and turns its
        errors into an AssertionError that names the check and the estimator.
    """

    def decorate(function: Callable) -> Callable:
        @functools.wraps(function)
        def check(estimator: Any, graphs: Any = None) -> None:
            lacking = [name for name in needs if not hasattr(estimator, name)]
            if lacking:
                raise SkipTest(f"{type(estimator).__name__} has no {', '.join(lacking)}")
            graphs = example_graphs() if graphs is None else copy.deepcopy(list(graphs))
            try:
                function(fresh(estimator), graphs)
            except SkipTest:
                raise
            except Exception as error:
                name = type(estimator).__name__
                raise AssertionError(f"{function.__name__} failed for {name}: {error}") from error

        CHECKS.append(check)
        return check

    return decorate


# -- parameters ------------------------------------------------------------------------------------


@register()
def check_parameters(estimator: Any, graphs: Any) -> None:
    """`__init__` only stores its arguments, and scikit-learn's own checks of parameters pass."""
    for check in OF_PARAMETERS:
        check(type(estimator).__name__, estimator)
    anything = {name: object() for name in estimator.get_params(deep=False)}
    try:
        type(estimator)(**anything)
    except Exception as error:
        raise AssertionError(f"__init__ validates its arguments, fit should: {error}") from error
    is_matrix = get_tags(estimator).input_tags.two_d_array
    assert not is_matrix, "__sklearn_tags__().input_tags.two_d_array must be False"


@register()
def check_fit_is_reproducible(estimator: Any, graphs: Any) -> None:
    """Two fits with the same seed, or with equal RandomStates, give the same results."""
    one, two = (results_of(fitted(fresh(estimator), graphs), graphs) for _ in range(2))
    assert_same(one, two, "differs between two fits with the same graphs and random_state")
    if "random_state" in estimator.get_params(deep=False):
        states = [np.random.RandomState(0) for _ in range(2)]
        one, two = (
            results_of(fitted(fresh(estimator, random_state=x), graphs), graphs) for x in states
        )
        assert_same(one, two, "differs between two fits whose random_state is RandomState(0)")


@register("contamination")
def check_set_params_reaches_fit(estimator: Any, graphs: Any) -> None:
    """A parameter set after a first fit takes effect in the second, as grid searches assume."""
    fitted(estimator, graphs[: len(graphs) // 2])
    fitted(estimator.set_params(contamination=0.3), graphs)
    expected = fitted(fresh(estimator, contamination=0.3), graphs)
    what = "after set_params(contamination=0.3) and a second fit differs from that of"
    assert_same(
        results_of(estimator, graphs),
        results_of(expected, graphs),
        f"{what} a new estimator with contamination=0.3",
    )


# -- fit -------------------------------------------------------------------------------------------


@register()
def check_fit(estimator: Any, graphs: Any) -> None:
    """`fit` returns self, keeps the parameters, and learns attributes that end in underscores."""
    parameters, before = parameter_prints(estimator), set(vars(estimator))
    returned = estimator.fit(list(graphs))
    assert returned is estimator, f"fit returns {type(returned).__name__} instead of self"
    after = parameter_prints(estimator)
    changed = [name for name in parameters if after.get(name) != parameters[name]]
    assert not changed, f"fit changes {changed}: store what fit learns under another name"
    new = set(vars(estimator)) - before
    wrong = sorted(name for name in new if not name.startswith("_") and not name.endswith("_"))
    assert not wrong, f"fit sets {wrong}: fitted attributes end in an underscore"
    n_features = getattr(estimator, "n_features_in_", 0)
    is_number = isinstance(n_features, Integral)
    assert is_number, f"n_features_in_ is {n_features!r}, expected an integer"


@register()
def check_fit_ignores_y(estimator: Any, graphs: Any) -> None:
    """`fit` takes y, and no result depends on it."""
    expected = results_of(fitted(fresh(estimator), graphs), graphs)
    estimator.fit(list(graphs), y=np.where(np.arange(len(graphs)) % 3 == 0, -1, 1))
    assert_same(results_of(estimator, graphs), expected, "depends on the y passed to fit")


@register()
def check_is_fitted_agrees(estimator: Any, graphs: Any) -> None:
    """Before `fit`, every method and scikit-learn's `check_is_fitted` raise NotFittedError."""
    must_raise((NotFittedError,), "check_is_fitted before fit", check_is_fitted, estimator)
    for name in methods_of(estimator):
        method = getattr(estimator, name)
        must_raise((NotFittedError,), f"{name} before fit", method, list(graphs))
    check_is_fitted(fitted(estimator, graphs))


@register()
def check_fit_forgets(estimator: Any, graphs: Any) -> None:
    """A second fit, on the same or on other graphs, gives the same results as a first one."""
    expected = results_of(fitted(estimator, graphs), graphs)
    again = results_of(fitted(estimator, graphs), graphs)
    assert_same(again, expected, "changes with a second fit")
    others = graphs[: len(graphs) // 2]
    expected = results_of(fitted(fresh(estimator), others), graphs)
    assert_same(results_of(fitted(estimator, others), graphs), expected, "depends on earlier fits")


@register()
def check_global_random_state(estimator: Any, graphs: Any) -> None:
    """The global generators of Python, NumPy and torch are left alone."""
    generators: dict[str, tuple[Callable, Callable, Callable]] = {
        "random": (random.getstate, random.setstate, random.seed),
        "numpy.random": (np.random.get_state, np.random.set_state, np.random.seed),
    }
    if torch := sys.modules.get("torch"):  # without it, nobody can draw from its generator
        seed_torch = torch.default_generator.manual_seed
        generators["torch"] = (torch.get_rng_state, torch.set_rng_state, seed_torch)
    callers = {name: get_state() for name, (get_state, _, _) in generators.items()}
    try:
        for _, _, seed in generators.values():
            seed(20_011_122)  # nobody else uses this seed: reseeding must show
        before = {name: fingerprint(get_state()) for name, (get_state, _, _) in generators.items()}
        for name in ("fit", *methods_of(estimator)):
            getattr(estimator, name)(list(graphs))
        states = {name: fingerprint(get_state()) for name, (get_state, _, _) in generators.items()}
    finally:
        for name, (_, set_state, _) in generators.items():
            set_state(callers[name])
    used = [name for name in generators if states[name] != before[name]]
    assert not used, f"the global generators of {used} are used or seeded: use random_state"


# -- input -----------------------------------------------------------------------------------------


@register()
def check_input_unchanged(estimator: Any, graphs: Any) -> None:
    """No method changes a graph, or the list that holds the graphs."""
    before, prints = list(graphs), [fingerprint(graph) for graph in graphs]
    for name in ("fit", *methods_of(estimator)):
        getattr(estimator, name)(graphs)
        same = list(map(id, graphs)) == list(map(id, before))
        assert same, f"{name} changes the caller's list"
    pairs = zip(graphs, prints, strict=True)
    changed = [i for i, (graph, was) in enumerate(pairs) if fingerprint(graph) != was]
    assert not changed, f"the caller's graphs {changed} are changed"


@register()
def check_training_graphs_are_copied(estimator: Any, graphs: Any) -> None:
    """Changing the training graphs after `fit` changes no result."""
    skip_unless_networkx(graphs)
    training = copy.deepcopy(graphs)
    expected = results_of(fitted(estimator, training), graphs)
    for graph in training:
        graph.clear()
    what = "changes when the training graphs are changed after fit"
    assert_same(results_of(estimator, graphs), expected, what)


@register()
def check_tuples(estimator: Any, graphs: Any) -> None:
    """A tuple of graphs gives the same results as a list."""
    expected = results_of(fitted(fresh(estimator), graphs), graphs)
    estimator.fit(tuple(graphs))
    given = {name: as_rows(getattr(estimator, name)(tuple(graphs))) for name in expected}
    assert_same(given, expected, "differs between a tuple and a list of the same graphs")


@register()
def check_bad_input(estimator: Any, graphs: Any) -> None:
    """An empty list, a single graph, and a list with an item that is not a graph are errors."""
    cases = {"an empty list": [], "a list that contains None": [*graphs[:-1], None]}
    if isinstance(graphs[-1], nx.Graph):
        cases["a graph in place of a list"] = graphs[-1]
    for what, bad in cases.items():
        fitted(estimator, graphs)
        for name in (*methods_of(estimator), "fit"):
            call = getattr(estimator, name)
            must_raise((TypeError, ValueError), f"{name} of {what}", call, bad)


@register()
def check_nan(estimator: Any, graphs: Any) -> None:
    """A NaN in the node attribute "x" is a ValueError or has no effect: no NaN comes out."""
    skip_unless_networkx(graphs)
    spoiled = copy.deepcopy(graphs)
    nodes = [data for graph in spoiled for data in graph.nodes.values() if "x" in data]
    if not nodes:
        raise SkipTest('no node has the attribute "x"')
    nodes[0]["x"] = np.full_like(np.asarray(nodes[0]["x"], dtype=float), np.nan)
    fitted(estimator, graphs)
    for name in methods_of(estimator):
        with suppress(ValueError):
            output = getattr(estimator, name)(list(spoiled))
            assert not _has_nan(output), f"{name} turns a NaN attribute into a NaN"
    other = fresh(estimator)
    try:
        other.fit(list(spoiled))
    except ValueError:
        return
    wrong = [name for name, rows in results_of(other, graphs).items() if _has_nan(rows)]
    assert not wrong, f"{wrong} are NaN after a fit on a graph with a NaN attribute"


def _has_nan(output: Any) -> bool:
    return bool(np.isnan(as_rows(output).astype(float)).any())


@register()
def check_failed_fit(estimator: Any, graphs: Any) -> None:
    """A fit that fails leaves a fitted estimator as it was."""
    expected = results_of(fitted(estimator, graphs), graphs)
    with suppress(Exception):
        estimator.fit([*graphs[:3], None])
    assert_same(results_of(estimator, graphs), expected, "changes when another fit fails")


# -- output ----------------------------------------------------------------------------------------


@register("score_samples")
def check_scores(estimator: Any, graphs: Any) -> None:
    """Scores are one finite double per graph, even for a graph without edges."""
    fitted(estimator, graphs)
    for name in [name for name in methods_of(estimator) if name not in ("predict", "transform")]:
        scores = getattr(estimator, name)(list(graphs))
        _assert_one_each(scores, name, graphs)
        assert scores.dtype == np.float64, f"{name} gives {scores.dtype}, expected float64"
        wrong = np.flatnonzero(~np.isfinite(scores)).tolist()
        assert not wrong, f"{name} of the graphs {wrong} is not finite"


@register("score_samples", "decision_function")
def check_decision_function(estimator: Any, graphs: Any) -> None:
    """``decision_function(graphs) == score_samples(graphs) - offset_``."""
    decision = fitted(estimator, graphs).decision_function(list(graphs))
    expected = estimator.score_samples(list(graphs)) - estimator.offset_
    what = "is not score_samples - offset_"
    assert_same({"decision_function": decision}, {"decision_function": expected}, what)


@register("score_samples", "decision_function", "predict")
def check_predict(estimator: Any, graphs: Any) -> None:
    """Verdicts are the integers 1 and -1, with the sign of `decision_function`."""
    verdicts = fitted(estimator, graphs).predict(list(graphs))
    _assert_verdicts(verdicts, "predict", graphs)
    assert verdicts.dtype.kind == "i", f"predict gives {verdicts.dtype}, expected integers"
    wrong = np.flatnonzero(np.sign(estimator.decision_function(list(graphs))) * verdicts < 0)
    assert not len(wrong), f"predict and decision_function differ in sign for {wrong.tolist()}"


@register("score_samples", "predict", "fit_predict")
def check_fit_predict(estimator: Any, graphs: Any) -> None:
    """`fit_predict` returns one verdict per graph, and leaves the estimator fitted."""
    _assert_verdicts(estimator.fit_predict(list(graphs)), "fit_predict", graphs)
    estimator.predict(list(graphs))


def _assert_verdicts(verdicts: Any, name: str, graphs: Any) -> None:
    _assert_one_each(verdicts, name, graphs)
    values = sorted(set(verdicts.tolist()))
    assert set(values) <= {-1, 1}, f"{name} gives {values}, expected 1 and -1"


def _assert_one_each(output: Any, name: str, graphs: Any) -> None:
    assert isinstance(output, np.ndarray), f"{name} gives a {type(output).__name__}, not an array"
    expected = (len(graphs),)
    assert output.shape == expected, f"{name} gives the shape {output.shape}, expected {expected}"


@register("score_samples", "fit_predict", "contamination")
def check_contamination(estimator: Any, graphs: Any) -> None:
    """`fit_predict` flags the share `contamination`, give or take one graph; a share is below 1."""
    for share in (0.1, 0.3):
        verdicts = fresh(estimator, contamination=share).fit_predict(list(graphs))
        found, expected = np.sum(np.asarray(verdicts) == -1), share * len(graphs)
        assert abs(found - expected) <= 1, (
            f"contamination={share} of {len(graphs)} graphs is {expected:g}, but fit_predict flags "
            f"{found}"
        )
    for value in (-0.5, 1.5):
        fit = fresh(estimator, contamination=value).fit
        must_raise((ValueError,), f"fit with contamination={value}", fit, list(graphs))


@register("score_samples")
def check_anomalies_score_lower(estimator: Any, graphs: Any) -> None:
    """Higher is more normal: the median anomaly scores lower than the median training graph."""
    skip_unless_networkx(graphs)
    odd = [graph for graph in graphs if graph.graph.get("anomaly")]
    normal = [graph for graph in graphs if not graph.graph.get("anomaly")]
    if not odd or not normal:
        raise SkipTest('graph.graph["anomaly"] marks none of the graphs, or all of them')
    fitted(estimator, normal)
    of_odd, of_normal = (np.median(estimator.score_samples(kind)) for kind in (odd, normal))
    assert of_odd < of_normal, (
        f"anomalies score {of_odd:g} and training graphs {of_normal:g}: scores must be higher for "
        "normal graphs"
    )


@register("transform")
def check_transform(estimator: Any, graphs: Any) -> None:
    """`transform` returns one row of numbers per graph, or as many graphs."""
    rows = as_rows(fitted(estimator, graphs).transform(list(graphs)))
    fits = rows.ndim == 2 and len(rows) == len(graphs)
    assert fits, f"transform gives the shape {rows.shape} for {len(graphs)} graphs"
    assert rows.dtype.kind in "fiu", f"transform gives the dtype {rows.dtype}, expected numbers"


@register("transform", "fit_transform")
def check_fit_transform(estimator: Any, graphs: Any) -> None:
    """`fit_transform` gives the same result as `fit` followed by `transform`."""
    expected = as_rows(fitted(fresh(estimator), graphs).transform(list(graphs)))
    given = as_rows(estimator.fit_transform(list(graphs)))
    assert_same({"fit_transform": given}, {"fit_transform": expected}, "differs from transform")


@register("transform", "get_feature_names_out")
def check_feature_names_out(estimator: Any, graphs: Any) -> None:
    """`get_feature_names_out` gives each column a name, and no name twice."""
    output = fitted(estimator, graphs).transform(list(graphs))
    columns: Any = output if is_array(output) else read_graphs(output).attributes
    names = list(estimator.get_feature_names_out())
    assert all(isinstance(name, str) for name in names), "a feature name is not a string"
    assert len(set(names)) == len(names), "a feature name occurs twice"
    width = np.shape(columns)[-1]
    assert len(names) == width, f"transform gives {width} columns, but {len(names)} have names"


@register()
def check_outputs_belong_to_the_caller(estimator: Any, graphs: Any) -> None:
    """Writing into a result does not change a later one."""
    results = results_of(fitted(estimator, graphs), graphs)
    expected = {name: rows.copy() for name, rows in results.items()}
    for name in expected:
        output = getattr(estimator, name)(list(graphs))
        if isinstance(output, np.ndarray):
            output[...] = 0
    what = "changes when the caller writes into an earlier result"
    assert_same(results_of(estimator, graphs), expected, what)


# -- a result depends on its graph alone -----------------------------------------------------------


@register()
def check_other_graphs(estimator: Any, graphs: Any) -> None:
    """A result does not depend on the other graphs of the list, their order and their number."""
    together = results_of(fitted(estimator, graphs), graphs)
    for name in methods_of(estimator):
        shape = np.shape(as_rows(getattr(estimator, name)([graphs[-1]])))
        assert shape[:1] == (1,), f"{name} gives the shape {shape} for a list of one graph"
    n = len(graphs)
    order = np.random.RandomState(0).permutation(n)
    parts = {
        "depends on the order of the graphs": [order],
        "depends on the other graphs in the list": np.split(np.arange(n), [n // 4, n // 2]),
    }
    for what, indices in parts.items():
        for index in indices:
            expected = {name: rows[index] for name, rows in together.items()}
            assert_same(results_of(estimator, [graphs[i] for i in index]), expected, what)


@register()
def check_nodes(estimator: Any, graphs: Any) -> None:
    """The names of a graph's nodes do not matter, nor the order of its nodes and edges."""
    skip_unless_networkx(graphs)
    expected = results_of(fitted(estimator, graphs), graphs)
    shuffled = [_shuffled(graph, np.random.RandomState(0)) for graph in graphs]
    assert_same(results_of(estimator, shuffled), expected, "depends on the order of the nodes")
    renamed = [nx.relabel_nodes(graph, lambda node: f"node {node}") for graph in graphs]
    assert_same(results_of(estimator, renamed), expected, "depends on the names of the nodes")


def _shuffled(graph: nx.Graph, rng: np.random.RandomState) -> nx.Graph:
    nodes, edges = list(graph.nodes(data=True)), list(graph.edges(data=True))
    result = type(graph)()
    result.graph.update(graph.graph)
    result.add_nodes_from(nodes[i] for i in rng.permutation(len(nodes)))
    result.add_edges_from(edges[i] for i in rng.permutation(len(edges)))
    return result


# -- fitted state ----------------------------------------------------------------------------------


@register()
def check_methods_keep_state(estimator: Any, graphs: Any) -> None:
    """No method except `fit` changes the estimator."""
    fitted(estimator, graphs)
    before = {name: fingerprint(value) for name, value in vars(estimator).items()}
    for name in methods_of(estimator):
        getattr(estimator, name)(list(graphs))
        after = {key: fingerprint(value) for key, value in vars(estimator).items()}
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        assert not changed, f"{name} changes the attributes {changed}"


@register()
def check_copies(estimator: Any, graphs: Any) -> None:
    """A fitted estimator that is pickled or copied is fitted, and gives the same results."""
    expected = results_of(fitted(estimator, graphs), graphs)
    loaded = pickle.loads(pickle.dumps(estimator))
    assert_same(results_of(loaded, graphs), expected, "differs after pickling")
    assert_same(results_of(copy.deepcopy(estimator), graphs), expected, "differs in a deep copy")


# -- scikit-learn's tools --------------------------------------------------------------------------


@register()
def check_pipeline(estimator: Any, graphs: Any) -> None:
    """The last step of a Pipeline gives the same results as the estimator alone."""
    expected = results_of(fitted(fresh(estimator), graphs), graphs)
    pipeline = make_pipeline("passthrough", estimator).fit(list(graphs))
    assert_same(results_of(pipeline, graphs), expected, "differs inside a Pipeline")


@register("score")
def check_cross_val_score(estimator: Any, graphs: Any) -> None:
    """`cross_val_score` splits the list and gets one number per fold from `score`."""
    scores = cross_val_score(estimator, list(graphs), cv=3, error_score="raise")
    assert not np.isnan(scores).any(), f"the scores of three folds are {scores}"
