"""Checks of construction and parameters: `__init__`, `get_params`, `set_params`, `clone`, `repr`.

Each check takes an unfitted estimator and a list of graphs. It raises an AssertionError if
`__init__` does more than store its arguments, or if scikit-learn's tools cannot read, set or copy
the parameters.
"""

from __future__ import annotations

from typing import Any

from sklearn.base import clone
from sklearn.utils import get_tags

from skgraphkde.testing.common import (
    assert_same,
    fitted,
    fresh,
    must_raise,
    parameter_prints,
    results_of,
    signature,
)
from skgraphkde.testing.registry import register_check


@register_check()
def check_clone(estimator: Any, graphs: Any) -> None:
    """A clone of a fitted estimator is unfitted, and has the same parameters."""
    copied = clone(fitted(estimator, graphs))
    learned = sorted(name for name in vars(copied) if name.endswith("_"))
    assert not learned, f"the clone of a fitted estimator has {learned}"
    assert type(copied) is type(estimator), f"the clone is a {type(copied).__name__}"
    same = parameter_prints(copied) == parameter_prints(estimator)
    assert same, "the clone has different parameters"


@register_check()
def check_constructor_sets_only_parameters(estimator: Any, graphs: Any) -> None:
    """`__init__` stores its arguments and nothing else."""
    extra = sorted(set(vars(estimator)) - set(signature(estimator)))
    assert not extra, f"__init__ sets {extra}, which are not parameters: set them in fit"


@register_check()
def check_constructor_does_not_validate(estimator: Any, graphs: Any) -> None:
    """`__init__` accepts anything: `set_params` may still change it, so `fit` validates."""
    anything = {name: object() for name in estimator.get_params(deep=False)}
    try:
        type(estimator)(**anything)
    except Exception as error:
        raise AssertionError(f"__init__ validates its arguments, fit should: {error}") from error


@register_check()
def check_get_params(estimator: Any, graphs: Any) -> None:
    """`get_params` returns every argument of `__init__`."""
    given, expected = set(estimator.get_params(deep=False)), set(signature(estimator))
    assert given == expected, f"get_params and __init__ differ in {sorted(given ^ expected)}"


@register_check()
def check_set_params(estimator: Any, graphs: Any) -> None:
    """`set_params` returns the estimator and sets what `get_params` returns."""
    for name in estimator.get_params(deep=False):
        value = object()
        other = fresh(estimator)
        assert other.set_params(**{name: value}) is other, "set_params does not return self"
        assert other.get_params(deep=False)[name] is value, f"set_params does not set {name}"


@register_check()
def check_set_params_refuses_unknown_names(estimator: Any, graphs: Any) -> None:
    """A misspelled parameter is a ValueError."""
    must_raise((ValueError,), "set_params with an unknown parameter", _misspell, estimator)


def _misspell(estimator: Any) -> None:
    estimator.set_params(no_such_parameter=1)


@register_check("contamination", compares_fits=True)
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


@register_check()
def check_repr(estimator: Any, graphs: Any) -> None:
    """`repr` works before and after fit, and names the class."""
    for instance in (fresh(estimator), fitted(estimator, graphs)):
        text = repr(instance)
        assert type(estimator).__name__ in text, f"repr does not name the class: {text}"


@register_check()
def check_tags(estimator: Any, graphs: Any) -> None:
    """scikit-learn's tags say that the input is not a matrix."""
    is_matrix = get_tags(estimator).input_tags.two_d_array
    assert not is_matrix, "__sklearn_tags__().input_tags.two_d_array must be False"
