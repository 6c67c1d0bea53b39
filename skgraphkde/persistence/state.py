"""State: what a file says about one object, taken item by item, each one checked."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


def check(condition: Any, otherwise: str) -> None:
    """Raise a ValueError with the message `otherwise` unless the condition holds."""
    if not condition:
        raise ValueError(otherwise)


def check_distinct(values: Sequence[Hashable], otherwise: str) -> None:
    """Raise a ValueError with the message `otherwise` if a value comes twice."""
    check(len(set(values)) == len(values), otherwise)


class State:
    """The decoded items of an object's state. Each is taken once, and all must be taken.

    Parameters
    ----------
    owner : str
        Name of the object's class, for messages.
    items : dict
    """

    def __init__(self, owner: str, items: dict[str, Any]) -> None:
        self.owner, self._items = owner, dict(items)

    def __contains__(self, name: str) -> bool:
        return name in self._items

    def take(self, name: str, kind: type[T] | tuple[type, ...]) -> T:
        """The item `name`, of exactly this type, or of one of these types."""
        kinds = kind if isinstance(kind, tuple) else (kind,)
        value = self._items.pop(name, None)
        names = " or ".join(kind.__name__ for kind in kinds)
        self.check(type(value) in kinds, f"{name} is missing or not of type {names}")
        return value  # type: ignore[return-value]

    def take_instance(self, name: str, kind: type[T]) -> T:
        """The item `name`, an object of this class or of a subclass."""
        value = self._items.pop(name, None)
        what = f"{name} is missing or of another type than {kind.__name__}"
        self.check(isinstance(value, kind), what)
        return value  # type: ignore[return-value]

    def take_optional(self, name: str, kind: type[T]) -> T | None:
        """The item `name`, which may be None."""
        if self._items.get(name, self) is None:
            return self._items.pop(name)
        return self.take_instance(name, kind)

    def take_choice(self, name: str, options: Sequence[str]) -> str:
        """The item `name`, one of some strings."""
        value = self.take(name, str)
        self.check(value in options, f"{name} is not one of {', '.join(options)}")
        return value

    def take_number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        """The item `name`, a finite float in [low, high]."""
        value = self.take(name, float)
        self.check(math.isfinite(value) and low <= value <= high, f"{name} is out of range")
        return value

    def take_count(self, name: str, high: int = 2**63 - 1) -> int:
        """The item `name`, an integer in [0, high]."""
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
        """The item `name`, an array of this type and shape (None is any length) in [low, high]."""
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

    def take_all(self) -> dict[str, Any]:
        """All remaining items, unchecked."""
        items, self._items = self._items, {}
        return items

    def check(self, condition: Any, otherwise: str) -> None:
        """Raise a ValueError that names the class unless the condition holds."""
        check(condition, f"{self.owner}: {otherwise}")

    def check_empty(self) -> None:
        """Raise a ValueError if an item has not been taken."""
        self.check(not self._items, f"{next(iter(self._items), None)!r} does not belong there")
