"""Helpers of all checks: example graphs, and functions that fit, call, compare and assert.

The helpers take an estimator and a list of graphs, as a check gets them. They return fitted
estimators and arrays with one row per graph, or raise an AssertionError that says what is wrong.
"""

from __future__ import annotations

import io
import pickle
import sys
from collections.abc import Callable
from numbers import Real
from typing import Any
from unittest import SkipTest

import networkx as nx
import numpy as np
import scipy.sparse as sp
from sklearn.base import clone

from skgraphkde.graphs.readers import read_graphs

METHODS = ("score_samples", "decision_function", "predict", "transform")


# -- graphs ----------------------------------------------------------------------------------------


def example_graphs() -> list[nx.Graph]:
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


def skip_unless_networkx(graphs: Any) -> None:
    """Raise SkipTest unless all graphs are networkx graphs."""
    if not all(isinstance(graph, nx.Graph) for graph in graphs):
        raise SkipTest("applies to networkx graphs only")


# -- estimators ------------------------------------------------------------------------------------


def fresh(estimator: Any, **parameters: Any) -> Any:
    """An unfitted estimator with the same parameters, except for those in `parameters`."""
    copied = clone(estimator)
    if "random_state" in copied.get_params(deep=False):
        parameters = {"random_state": 0, **parameters}
    return copied.set_params(**parameters)


def fitted(estimator: Any, graphs: Any) -> Any:
    """The estimator, fitted; check_fit tests the value that `fit` returns."""
    estimator.fit(list(graphs))
    return estimator


def parameter_prints(estimator: Any) -> dict[str, Any]:
    """A fingerprint of each parameter; for a nested estimator, of its parameters only."""
    parameters = estimator.get_params(deep=False)
    return {name: fingerprint(clone(value, safe=False)) for name, value in parameters.items()}


# -- results ---------------------------------------------------------------------------------------


def methods_of(estimator: Any) -> list[str]:
    """The methods that the estimator has and that take graphs."""
    return [name for name in METHODS if hasattr(estimator, name)]


def results_of(estimator: Any, graphs: Any) -> dict[str, np.ndarray]:
    """The outputs by method, one row per graph.

    Verdicts, which rounding may change, are omitted unless the estimator returns nothing else.
    """
    names = [name for name in methods_of(estimator) if name != "predict"] or methods_of(estimator)
    return {name: as_rows(getattr(estimator, name)(list(graphs))) for name in names}


def as_rows(output: Any) -> np.ndarray:
    """An output as an array with one row per graph.

    A graph becomes one row: moments of the degrees and attributes of its nodes.
    """
    if is_array(output):
        return output.toarray() if sp.issparse(output) else np.asarray(output)
    batch = read_graphs(output)
    nodes = batch.degrees[:, np.newaxis].astype(float)
    if batch.attributes is not None:
        nodes = np.hstack([nodes, batch.attributes])
    sums = np.add.reduceat(np.hstack([nodes, nodes**2]), batch.node_ptr[:-1], axis=0)
    return np.hstack([batch.n_nodes_per_graph[:, np.newaxis], sums])


def is_array(output: Any) -> bool:
    """True for an output of numbers, False for graphs."""
    return isinstance(output, Real) or sp.issparse(output) or hasattr(output, "__array__")


def fingerprint(value: Any) -> Any:
    """The content of a value as bytes; if it cannot be pickled, the identity of the object."""
    buffer = io.BytesIO()
    try:
        _Snapshot(buffer).dump(value)
    except (pickle.PicklingError, AttributeError, TypeError):
        return id(value)
    return buffer.getvalue()


class _Snapshot(pickle.Pickler):
    """Pickles graphs without their caches, and tensors by their numbers."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, nx.Graph):
            parts = list(value.nodes(data=True)), list(value.edges(data=True)), value.graph
            return tuple, (parts,)
        torch = sys.modules.get("torch")
        if torch and isinstance(value, torch.Tensor):
            return np.asarray, (value.numpy(force=True),)
        return NotImplemented


# -- assertions ------------------------------------------------------------------------------------


def assert_same(actual: dict[str, np.ndarray], expected: dict[str, np.ndarray], what: str) -> None:
    """Assert equality up to rounding; `what` ends the sentence that begins with a method."""
    for name, rows in expected.items():
        np.testing.assert_allclose(
            actual[name], rows, rtol=1e-6, atol=1e-7, err_msg=f"{name} {what}"
        )


def must_raise(errors: tuple[type[Exception], ...], what: str, call: Callable, *args: Any) -> None:
    """Assert that the call raises one of the errors, with a message."""
    expected = " or ".join(error.__name__ for error in errors)
    try:
        call(*args)
    except errors as error:
        if not str(error):
            raise AssertionError(f"{what} raises {expected}: say what is wrong") from error
    except Exception as error:
        got = f"{type(error).__name__} {str(error)!r}"
        raise AssertionError(f"{what} raises {got}, expected {expected}") from error
    else:
        raise AssertionError(f"{what} raises nothing, expected {expected}")
