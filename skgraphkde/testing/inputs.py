"""Checks of input: the caller's graphs stay as they are, and bad input is refused.

Each check takes an unfitted estimator and a list of graphs. It raises an AssertionError if a method
changes its input, refuses input that is valid, or accepts input that is not.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any
from unittest import SkipTest

import networkx as nx
import numpy as np

from skgraphkde.testing.common import (
    as_rows,
    assert_same,
    call_all,
    fingerprint,
    fitted,
    fresh,
    methods_of,
    must_raise,
    must_refuse,
    results_of,
    skip_unless_networkx,
)
from skgraphkde.testing.registry import register_check


@register_check()
def check_graphs_unchanged(estimator: Any, graphs: Any) -> None:
    """No method changes a graph."""
    before = [fingerprint(graph) for graph in graphs]
    call_all(fitted(estimator, graphs), graphs)
    pairs = zip(graphs, before, strict=True)
    changed = [i for i, (graph, was) in enumerate(pairs) if fingerprint(graph) != was]
    assert not changed, f"the caller's graphs {changed} are changed"


@register_check()
def check_list_unchanged(estimator: Any, graphs: Any) -> None:
    """No method changes the list that holds the graphs."""
    before = list(graphs)
    for name in ("fit", *methods_of(estimator)):
        getattr(estimator, name)(graphs)
        same = list(map(id, graphs)) == list(map(id, before))
        assert same, f"{name} changes the caller's list"


@register_check()
def check_training_graphs_are_copied(estimator: Any, graphs: Any) -> None:
    """Changing the training graphs after `fit` changes no result."""
    skip_unless_networkx(graphs)
    training = copy.deepcopy(graphs)
    expected = results_of(fitted(estimator, training), graphs)
    for graph in training:
        graph.clear()
    what = "changes when the training graphs are changed after fit"
    assert_same(results_of(estimator, graphs), expected, what)


@register_check(compares_fits=True)
def check_tuples(estimator: Any, graphs: Any) -> None:
    """A tuple of graphs gives the same results as a list."""
    expected = results_of(fitted(fresh(estimator), graphs), graphs)
    estimator.fit(tuple(graphs))
    for name, rows in expected.items():
        given = {name: as_rows(getattr(estimator, name)(tuple(graphs)))}
        assert_same(given, {name: rows}, "differs between a tuple and a list of the same graphs")


@register_check()
def check_empty_list(estimator: Any, graphs: Any) -> None:
    """An empty list is an error with a message."""
    must_refuse(estimator, graphs, [], "an empty list")


@register_check()
def check_single_graph(estimator: Any, graphs: Any) -> None:
    """A graph in place of a list of graphs is an error."""
    skip_unless_networkx(graphs)
    must_refuse(estimator, graphs, graphs[-1], "a graph in place of a list")


@register_check()
def check_no_graph(estimator: Any, graphs: Any) -> None:
    """A list with an item that is not a graph is an error."""
    must_refuse(estimator, graphs, [*graphs[:-1], None], "a list that contains None")


@register_check()
def check_nan(estimator: Any, graphs: Any) -> None:
    """A NaN in the node attribute "x" is a ValueError or has no effect: no NaN comes out."""
    spoiled = _with_nan(graphs)
    fitted(estimator, graphs)
    for name in methods_of(estimator):
        with_nan = _unless_refused(getattr(estimator, name), spoiled)
        assert not _has_nan(with_nan), f"{name} turns a NaN attribute into a NaN"
    other = fresh(estimator)
    if _unless_refused(other.fit, spoiled) is not None:
        wrong = [name for name, rows in results_of(other, graphs).items() if _has_nan(rows)]
        assert not wrong, f"{wrong} are NaN after a fit on a graph with a NaN attribute"


def _with_nan(graphs: Any) -> list[nx.Graph]:
    """The graphs, with NaN in place of the first attribute "x"."""
    skip_unless_networkx(graphs)
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
    return output is not None and bool(np.isnan(as_rows(output).astype(float)).any())


@register_check()
def check_failed_fit(estimator: Any, graphs: Any) -> None:
    """A fit that fails leaves a fitted estimator as it was."""
    expected = results_of(fitted(estimator, graphs), graphs)
    try:
        estimator.fit([*graphs[:3], None])
    except Exception:
        assert_same(results_of(estimator, graphs), expected, "changes when another fit fails")
    else:
        raise SkipTest("no fit fails, see check_no_graph")


@register_check("contamination")
def check_contamination_range(estimator: Any, graphs: Any) -> None:
    """A contamination outside [0, 1] is a ValueError in `fit`."""
    for value in (-0.5, 1.5):
        fit = fresh(estimator, contamination=value).fit
        must_raise((ValueError,), f"fit with contamination={value}", fit, list(graphs))
