"""Checks of the fitted state: methods leave it alone, and copies of it give the same results.

Each check takes an unfitted estimator and a list of graphs. It raises an AssertionError if a method
other than `fit` changes an attribute, or if pickling or copying changes a result.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

from skgraphkde.testing.common import assert_same, fingerprint, fitted, methods_of, results_of
from skgraphkde.testing.registry import register_check


@register_check()
def check_methods_keep_state(estimator: Any, graphs: Any) -> None:
    """No method except `fit` changes the estimator."""
    fitted(estimator, graphs)
    before = {name: fingerprint(value) for name, value in vars(estimator).items()}
    for name in methods_of(estimator):
        getattr(estimator, name)(list(graphs))
        after = {key: fingerprint(value) for key, value in vars(estimator).items()}
        changed = [key for key in {**before, **after} if before.get(key) != after.get(key)]
        assert not changed, f"{name} changes the attributes {changed}"


@register_check()
def check_pickle(estimator: Any, graphs: Any) -> None:
    """A fitted estimator gives the same results after pickling."""
    expected = results_of(fitted(estimator, graphs), graphs)
    loaded = pickle.loads(pickle.dumps(estimator))
    assert_same(results_of(loaded, graphs), expected, "differs after pickling")


@register_check()
def check_deepcopy(estimator: Any, graphs: Any) -> None:
    """A deep copy of a fitted estimator is fitted, and gives the same results."""
    expected = results_of(fitted(estimator, graphs), graphs)
    assert_same(results_of(copy.deepcopy(estimator), graphs), expected, "differs in a deep copy")
