"""Checks of `fit`: what it returns, learns and forgets, and which random numbers it draws.

Each check takes an unfitted estimator and a list of graphs. It raises an AssertionError if `fit`
changes what it should leave alone, or if equal fits give different results.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import torch
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skgraphkde.testing.common import (
    assert_reproducible,
    assert_same,
    call_all,
    fingerprint,
    fitted,
    fresh,
    methods_of,
    must_raise,
    parameter_prints,
    results_of,
)
from skgraphkde.testing.registry import register_check


@register_check()
def check_fit_returns_self(estimator: Any, graphs: Any) -> None:
    """`fit` returns the estimator itself."""
    returned = estimator.fit(list(graphs))
    assert returned is estimator, f"fit returns {type(returned).__name__} instead of self"


@register_check(compares_fits=True)
def check_fit_ignores_y(estimator: Any, graphs: Any) -> None:
    """`fit` takes y, and no result depends on it."""
    expected = results_of(fitted(fresh(estimator), graphs), graphs)
    estimator.fit(list(graphs), y=np.where(np.arange(len(graphs)) % 3 == 0, -1, 1))
    assert_same(results_of(estimator, graphs), expected, "depends on the y passed to fit")


@register_check()
def check_fit_keeps_parameters(estimator: Any, graphs: Any) -> None:
    """`fit` neither replaces nor changes a parameter."""
    before = parameter_prints(estimator)
    after = parameter_prints(fitted(estimator, graphs))
    changed = [name for name in before if after.get(name) != before[name]]
    assert not changed, f"fit changes {changed}: store what fit learns under another name"


@register_check()
def check_fitted_attributes(estimator: Any, graphs: Any) -> None:
    """The names of fitted attributes end in an underscore."""
    before = set(vars(estimator))
    new = set(vars(fitted(estimator, graphs))) - before
    wrong = sorted(name for name in new if not name.startswith("_") and not name.endswith("_"))
    assert not wrong, f"fit sets {wrong}: fitted attributes end in an underscore"


@register_check()
def check_is_fitted_agrees(estimator: Any, graphs: Any) -> None:
    """scikit-learn's `check_is_fitted` raises before `fit` and passes after it."""
    must_raise((NotFittedError,), "check_is_fitted before fit", check_is_fitted, estimator)
    check_is_fitted(fitted(estimator, graphs))


@register_check()
def check_methods_need_fit(estimator: Any, graphs: Any) -> None:
    """Every method raises NotFittedError before `fit`."""
    for name in methods_of(estimator):
        method = getattr(estimator, name)
        must_raise((NotFittedError,), f"{name} before fit", method, list(graphs))


@register_check(compares_fits=True)
def check_fit_is_idempotent(estimator: Any, graphs: Any) -> None:
    """A second fit on the same graphs changes nothing."""
    expected = results_of(fitted(estimator, graphs), graphs)
    actual = results_of(fitted(estimator, graphs), graphs)
    assert_same(actual, expected, "changes with a second fit")


@register_check(compares_fits=True)
def check_fit_forgets(estimator: Any, graphs: Any) -> None:
    """A fit on other graphs leaves nothing of the first."""
    others = graphs[: len(graphs) // 2]
    expected = results_of(fitted(fresh(estimator), others), graphs)
    fitted(fitted(estimator, graphs), others)
    assert_same(results_of(estimator, graphs), expected, "depends on an earlier fit")


@register_check()
def check_fit_is_reproducible(estimator: Any, graphs: Any) -> None:
    """Two fits give the same results, with the same seed if there is a random_state."""
    assert_reproducible(estimator, graphs)


@register_check("random_state", compares_fits=True)
def check_random_state_instance(estimator: Any, graphs: Any) -> None:
    """`random_state` may be a RandomState, and two in the same state give the same results."""
    one, two = (
        fitted(fresh(estimator, random_state=np.random.RandomState(0)), graphs) for _ in range(2)
    )
    what = "differs between two fits whose random_state is RandomState(0)"
    assert_same(results_of(one, graphs), results_of(two, graphs), what)


@register_check()
def check_global_random_state(estimator: Any, graphs: Any) -> None:
    """The global generators of Python, NumPy and torch are left alone."""
    callers = _global_random_states()
    try:
        random.seed(20_011_122)  # a seed that nobody else uses: reseeding must show
        np.random.seed(20_011_122)
        torch.default_generator.manual_seed(20_011_122)
        before = _global_random_states()
        call_all(fitted(estimator, graphs), graphs)
        after = _global_random_states()
    finally:
        random.setstate(callers["random"])
        np.random.set_state(callers["numpy.random"])
        torch.set_rng_state(callers["torch"])
    used = [name for name in before if fingerprint(after[name]) != fingerprint(before[name])]
    assert not used, f"the global generators of {used} are used or seeded: use random_state"


def _global_random_states() -> dict[str, Any]:
    return {
        "random": random.getstate(),
        "numpy.random": np.random.get_state(),
        "torch": torch.get_rng_state(),
    }
