"""Checks of output: scores, threshold, verdicts, embeddings, and the names of their columns.

Each check takes an unfitted estimator and a list of graphs. It raises an AssertionError if an
output has the wrong type, shape or sign, or if two outputs contradict each other.
"""

from __future__ import annotations

from numbers import Integral
from typing import Any
from unittest import SkipTest

import numpy as np

from skgraphkde.graphs.readers import read_graphs
from skgraphkde.testing.common import (
    as_rows,
    assert_array,
    assert_same,
    assert_verdicts,
    fitted,
    fresh,
    is_array,
    methods_of,
    results_of,
    skip_unless_networkx,
)
from skgraphkde.testing.registry import register_check


@register_check("score_samples")
def check_scores(estimator: Any, graphs: Any) -> None:
    """Scores are one double per graph."""
    fitted(estimator, graphs)
    for name in [name for name in methods_of(estimator) if name not in ("predict", "transform")]:
        scores = getattr(estimator, name)(list(graphs))
        assert_array(scores, name, (len(graphs),))
        assert scores.dtype == np.float64, f"{name} gives {scores.dtype}, expected float64"


@register_check("score_samples")
def check_scores_are_finite(estimator: Any, graphs: Any) -> None:
    """Every graph has a finite score, even one without edges."""
    scores = np.asarray(fitted(estimator, graphs).score_samples(list(graphs)))
    wrong = np.flatnonzero(~np.isfinite(scores)).tolist()
    assert not wrong, f"the scores of the graphs {wrong} are not finite"


@register_check("score_samples", "decision_function")
def check_decision_function(estimator: Any, graphs: Any) -> None:
    """``decision_function(graphs) == score_samples(graphs) - offset_``."""
    fitted(estimator, graphs)
    decision = estimator.decision_function(list(graphs))
    scores = estimator.score_samples(list(graphs))
    what = "is not score_samples - offset_"
    assert_same(
        {"decision_function": decision}, {"decision_function": scores - estimator.offset_}, what
    )


@register_check("score_samples", "predict")
def check_predict(estimator: Any, graphs: Any) -> None:
    """Verdicts are the integers 1 and -1, one per graph."""
    verdicts = fitted(estimator, graphs).predict(list(graphs))
    assert_array(verdicts, "predict", (len(graphs),))
    assert verdicts.dtype.kind == "i", f"predict gives {verdicts.dtype}, expected integers"
    assert_verdicts(verdicts, "predict")


@register_check("score_samples", "decision_function", "predict")
def check_predict_is_the_sign(estimator: Any, graphs: Any) -> None:
    """Graphs with a negative `decision_function` are anomalies, graphs with a positive one not."""
    fitted(estimator, graphs)
    decision = estimator.decision_function(list(graphs))
    product = np.sign(decision) * np.asarray(estimator.predict(list(graphs)))
    wrong = np.flatnonzero(product < 0).tolist()
    assert not wrong, f"predict and the sign of decision_function differ for the graphs {wrong}"


@register_check("score_samples", "predict", "fit_predict")
def check_fit_predict(estimator: Any, graphs: Any) -> None:
    """`fit_predict` returns one verdict per graph, and leaves the estimator fitted."""
    verdicts = estimator.fit_predict(list(graphs))
    assert_array(verdicts, "fit_predict", (len(graphs),))
    assert_verdicts(verdicts, "fit_predict")
    estimator.predict(list(graphs))


@register_check("score_samples", "fit_predict", "contamination")
def check_contamination(estimator: Any, graphs: Any) -> None:
    """`fit_predict` flags the share `contamination` of the graphs, give or take one graph."""
    for share in (0.1, 0.3):
        verdicts = fresh(estimator, contamination=share).fit_predict(list(graphs))
        found, expected = np.sum(np.asarray(verdicts) == -1), share * len(graphs)
        assert abs(found - expected) <= 1, (
            f"contamination={share} of {len(graphs)} graphs is {expected:g}, but fit_predict flags "
            f"{found}"
        )


@register_check("score_samples")
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


@register_check("transform")
def check_transform(estimator: Any, graphs: Any) -> None:
    """`transform` returns one row of numbers per graph, or as many graphs."""
    rows = as_rows(fitted(estimator, graphs).transform(list(graphs)))
    fits = rows.ndim == 2 and len(rows) == len(graphs)
    assert fits, f"transform gives the shape {rows.shape} for {len(graphs)} graphs"
    assert rows.dtype.kind in "fiu", f"transform gives the dtype {rows.dtype}, expected numbers"


@register_check("transform", "fit_transform", compares_fits=True)
def check_fit_transform(estimator: Any, graphs: Any) -> None:
    """`fit_transform` gives the same result as `fit` followed by `transform`."""
    expected = as_rows(fitted(fresh(estimator), graphs).transform(list(graphs)))
    given = as_rows(estimator.fit_transform(list(graphs)))
    assert_same({"fit_transform": given}, {"fit_transform": expected}, "differs from transform")


@register_check("transform", "get_feature_names_out")
def check_feature_names_out(estimator: Any, graphs: Any) -> None:
    """`get_feature_names_out` gives each column a name, and no name twice."""
    output = fitted(estimator, graphs).transform(list(graphs))
    columns: Any = output if is_array(output) else read_graphs(output).attributes
    names = list(estimator.get_feature_names_out())
    assert all(isinstance(name, str) for name in names), "a feature name is not a string"
    assert len(set(names)) == len(names), "a feature name occurs twice"
    width = np.shape(columns)[-1]
    assert len(names) == width, f"transform gives {width} columns, but {len(names)} have names"


@register_check()
def check_n_features_in(estimator: Any, graphs: Any) -> None:
    """`n_features_in_`, which an estimator of graphs need not have, is an integer."""
    fitted(estimator, graphs)
    if not hasattr(estimator, "n_features_in_"):
        raise SkipTest(f"{type(estimator).__name__} has no n_features_in_")
    value = estimator.n_features_in_
    assert isinstance(value, Integral), f"n_features_in_ is {value!r}, expected an integer"


@register_check()
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
