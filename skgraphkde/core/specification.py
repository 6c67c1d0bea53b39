"""Specification: an object that only holds parameters, as scikit-learn's kernels do.

``get_params``, ``set_params``, ``clone`` and ``repr`` are scikit-learn's, nested names such as
``encoder__n_layers`` included. Fitting never changes a specification that a user gave.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

__all__ = [
    "Interval",
    "Specification",
    "StrOptions",
    "at_least",
    "positive_numbers",
    "validate_params",
]

# Limits on parameters that are squared, inverted and exponentiated.
SMALLEST = 1e-10
LARGEST = 1e10


class Specification(BaseEstimator):
    """Base class of objects that only hold parameters."""

    _parameter_constraints: dict = {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # what is fitted takes graphs
        return tags

    def set_params(self, **params: Any) -> Self:
        """Set parameters, also nested ones such as ``encoder__n_layers``.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        values = self.get_params() | params
        for key in params:
            name, _, rest = key.partition("__")
            if rest and name in values and not hasattr(values[name], "set_params"):
                raise ValueError(
                    f"{key} cannot be set: {name}={values[name]!r} has no parameters, set {name} "
                    "to an object first"
                )
        return super().set_params(**params)

    def validate(self) -> None:
        """Check the parameters, and those of the specifications among them.

        Raises
        ------
        ValueError
            If a parameter is out of range; the message names it and the class.
        """
        self._validate_params()
        self._validate_values()
        for value in self.get_params(deep=False).values():
            if isinstance(value, Specification):
                value.validate()

    def _validate_values(self) -> None:
        """Check what `_parameter_constraints` cannot express."""


def at_least(low: float, kind: type) -> Interval:
    """Constraint on a number with a lower bound.

    Parameters
    ----------
    low : float
        Smallest allowed value.
    kind : type
        ``numbers.Integral`` or ``numbers.Real``.

    Returns
    -------
    Interval
    """
    return Interval(kind, low, None, closed="left")


def positive_numbers(owner: Any, name: str) -> tuple[float, ...]:
    """Check a parameter that is a list of positive numbers.

    Parameters
    ----------
    owner : object
        The object that has the parameter.
    name : str
        Name of the parameter.

    Returns
    -------
    tuple of float

    Raises
    ------
    ValueError
        If it is not a non-empty flat list of numbers between 1e-10 and 1e10.
    """
    value = getattr(owner, name)
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    usable = (numbers >= SMALLEST) & (numbers <= LARGEST)
    if numbers.ndim != 1 or not len(numbers) or not usable.all():
        raise ValueError(
            f"The {name!r} parameter of {type(owner).__name__} must be a list of numbers between "
            f"{SMALLEST:g} and {LARGEST:g}. Got {value!r} instead."
        )
    return tuple(numbers.tolist())
