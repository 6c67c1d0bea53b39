"""State: the saved items of one object, each of which is checked when it is taken."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def check(condition: Any, otherwise: str) -> None:
    """Raise a ValueError unless a condition holds.

    Parameters
    ----------
    condition : bool
    otherwise : str
        Message of the error.
    """
    if not condition:
        raise ValueError(otherwise)


class State:
    """Decoded items of an object's state. Each item is taken once, and all must be taken.

    The methods `take` and ``take_*`` remove an item and return it. They raise a ValueError that
    names the class and the item if the item is missing, has another type, or is out of range.

    Parameters
    ----------
    owner : str
        Name of the object's class, for messages.
    items : dict
        Decoded values by name.
    """

    def __init__(self, owner: str, items: dict[str, Any]) -> None:
        self.owner, self._items = owner, dict(items)

    def __contains__(self, name: str) -> bool:
        return name in self._items

    def take(self, name: str, kind: type[T] | tuple[type, ...]) -> T:
        """Take an item of an exact type.

        Parameters
        ----------
        name : str
        kind : type or tuple of types
            Allowed types; subclasses are refused.
        """
        kinds = kind if isinstance(kind, tuple) else (kind,)
        value = self._items.pop(name, None)
        names = " or ".join(kind.__name__ for kind in kinds)
        self.check(type(value) in kinds, f"{name} is missing or not of type {names}")
        return value  # type: ignore[return-value]

    def take_instance(self, name: str, kind: type[T]) -> T:
        """Take an item that is an instance of a class.

        Parameters
        ----------
        name : str
        kind : type
            Class of the item; subclasses are allowed.
        """
        value = self._items.pop(name, None)
        what = f"{name} is missing or of another type than {kind.__name__}"
        self.check(isinstance(value, kind), what)
        return value  # type: ignore[return-value]

    def take_optional(self, name: str, kind: type[T]) -> T | None:
        """Take an item that is None or an instance of a class.

        Parameters
        ----------
        name : str
        kind : type
            Class of the item; subclasses are allowed.
        """
        if self._items.get(name, self) is None:
            return self._items.pop(name)
        return self.take_instance(name, kind)

    def take_choice(self, name: str, options: Sequence[str]) -> str:
        """Take a string.

        Parameters
        ----------
        name : str
        options : sequence of str
            Allowed values.
        """
        value = self.take(name, str)
        self.check(value in options, f"{name} is not one of {', '.join(options)}")
        return value

    def take_number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """Take a finite float.

        Parameters
        ----------
        name : str
        low, high : float
            Bounds; both are allowed values.
        """
        value = self.take(name, float)
        self.check(math.isfinite(value) and low <= value <= high, f"{name} is out of range")
        return value

    def take_count(self, name: str, high: int = 2**63 - 1) -> int:
        """Take a non-negative integer.

        Parameters
        ----------
        name : str
        high : int
            Largest allowed value.
        """
        value = self.take(name, int)
        self.check(0 <= value <= high, f"{name} is out of range")
        return value

    def take_array(
        self,
        name: str,
        dtype: Any,
        shape: Sequence[int | None],
        *,
        low: float = -math.inf,
        high: float = math.inf,
        finite: bool = True,
    ) -> np.ndarray:
        """Take an array.

        Parameters
        ----------
        name : str
        dtype : dtype
            Exact type of the elements.
        shape : sequence of int or None
            Length of each axis; None allows any length.
        low, high : float
            Bounds on the elements; both are allowed values.
        finite : bool, default=True
            Whether to refuse NaN and infinity. If False, the bounds are not checked.
        """
        array = self.take(name, np.ndarray)
        fits = array.ndim == len(shape) and all(
            expected in (None, n) for n, expected in zip(array.shape, shape, strict=True)
        )
        expected = f"{np.dtype(dtype)} {tuple('any' if n is None else n for n in shape)}"
        self.check(
            fits and array.dtype == dtype,
            f"the array {name} is {array.dtype} {array.shape}, expected {expected}",
        )
        self.check(not finite or np.isfinite(array).all(), f"the array {name} is not finite")
        in_range = (array >= low) & (array <= high) if finite else np.True_
        self.check(np.all(in_range), f"the array {name} is out of range")
        return array

    def take_optional_array(
        self, name: str, dtype: Any, shape: Sequence[int | None]
    ) -> np.ndarray | None:
        """Take None, or an array of finite numbers as :meth:`take_array` does.

        Parameters
        ----------
        name : str
        dtype : dtype
        shape : sequence of int or None
        """
        if self._items.get(name, self) is None:
            return self._items.pop(name)
        return self.take_array(name, dtype, shape)

    def set_fitted(self, owner: Any) -> None:
        """Set all remaining items, unchecked, as fitted attributes of an object."""
        for name, value in self.take_all().items():
            is_fitted = name.endswith("_") and not name.endswith("__")
            self.check(is_fitted, f"{name} is not a fitted attribute")
            setattr(owner, name, value)

    def take_all(self) -> dict[str, Any]:
        """Take all remaining items, unchecked, as a dict."""
        items, self._items = self._items, {}
        return items

    def check(self, condition: Any, otherwise: str) -> None:
        """Raise a ValueError that names the class unless a condition holds.

        Parameters
        ----------
        condition : bool
        otherwise : str
            Message of the error, after the name of the class.
        """
        check(condition, f"{self.owner}: {otherwise}")

    def check_empty(self) -> None:
        """Raise a ValueError if an item has not been taken."""
        self.check(not self._items, f"{next(iter(self._items), None)!r} does not belong there")
