"""Specifications: parameters of the parts of a detector, and estimators built from them.

A specification only holds parameters. ``get_params``, ``set_params``, ``clone`` and ``repr`` work
as for any scikit-learn estimator, including nested names such as ``encoder__n_layers``. A string
can stand for a specification with its default parameters. Fitting never changes a specification.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils._param_validation import Interval, StrOptions

# Limits on parameters that are squared, inverted and exponentiated.
SMALLEST, LARGEST = 1e-10, 1e10


class ComposedEstimator(BaseEstimator):
    """Estimator whose parameters may be specifications, or strings that stand for them."""

    #: For each such parameter, a function for each string that makes its specification.
    _shorthands: dict[str, dict[str, Callable[[], Any]]] = {}
    _parameter_constraints: dict = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add the parameters of the specifications, such as ``encoder__n_layers``,
            including specifications that are given as strings.

        Returns
        -------
        dict
        """
        params = super().get_params(deep=False)
        if deep:
            for name in list(params):
                part = self._expanded(name)
                if hasattr(part, "get_params") and not isinstance(part, type):
                    params |= {f"{name}__{key}": value for key, value in part.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of specifications have names such as ``encoder__n_layers``.

        A specification whose parameter is set is replaced by a changed copy, so that other
        estimators that share the specification do not change.

        Parameters
        ----------
        **params : dict
            New values by name.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a name is not a parameter.
        """
        nested: dict[str, dict[str, Any]] = defaultdict(dict)
        for key, value in params.items():
            name, delimiter, rest = key.partition("__")
            if delimiter:
                nested[name][rest] = value
        super().set_params(**{key: value for key, value in params.items() if "__" not in key})
        known = self.get_params(deep=False)
        for name, changes in nested.items():
            if name not in known:
                super().set_params(**{name: None})  # raises scikit-learn's error with all names
            part = self._expanded(name)
            if not hasattr(part, "set_params") or isinstance(part, type):
                raise ValueError(
                    f"{name}__{next(iter(changes))} cannot be set: {name}={part!r} has no "
                    f"parameters, set {name} itself first"
                )
            try:
                changed = clone(part).set_params(**changes)
            except ValueError as error:
                raise ValueError(f"{name}__{next(iter(changes))}: {error}") from error
            setattr(self, name, changed)
        return self

    def _validate_params(self) -> None:
        for name in self._shorthands:
            value = getattr(self, name)
            if isinstance(value, type):
                raise ValueError(
                    f"The {name!r} parameter of {type(self).__name__} must be an object, and "
                    f"{value.__name__} is a class: write {name}={value.__name__}()"
                )
        super()._validate_params()

    def validate(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a parameter is out of range; the message names it and the class.
        """
        self._validate_params()
        self._validate_values()
        for name in self._shorthands:
            self.specification(name)

    def _validate_values(self) -> None:
        """Check what `_parameter_constraints` cannot express."""

    def specification(self, name: str) -> Any:
        """Validated copy of the specification that a parameter stands for.

        Parameters
        ----------
        name : str
            Name of the parameter.

        Returns
        -------
        Specification, tuple of Specification, or None
            A copy, or the parameter itself if it is not a specification.
        """
        part = self._expanded(name)
        for one in part if isinstance(part, tuple) else (part,):
            if isinstance(one, Specification):
                one.validate()
        return clone(part, safe=False)

    def _expanded(self, name: str) -> Any:
        value, shorthands = getattr(self, name), self._shorthands.get(name, {})
        if isinstance(value, str) and value in shorthands:
            return shorthands[value]()
        if isinstance(value, tuple) and shorthands:
            known = (isinstance(x, str) and x in shorthands for x in value)
            return tuple(
                shorthands[x]() if is_short else x for x, is_short in zip(value, known, strict=True)
            )
        return value


class Specification(ComposedEstimator):
    """Base class of objects that only hold parameters, which can be validated and saved."""


def shorthand_options(shorthands: dict[str, Callable[[], Any]], kind: type) -> list:
    """Constraint on a parameter that takes a specification or a string.

    Parameters
    ----------
    shorthands : dict of str -> callable
        The strings, and the functions that make their specifications.
    kind : type
        Class of the specification.

    Returns
    -------
    list
        Constraints for `_parameter_constraints`.
    """
    return [StrOptions(set(shorthands)), kind]


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
