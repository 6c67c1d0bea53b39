"""Registry: the classes whose objects a file may contain.

A registered class has ``to_state(self)``, which returns a dict of values that :mod:`~.codec` can
encode, and ``from_state(cls, state)``, which checks a :class:`~.state.State` and returns the
object.
"""

from __future__ import annotations

from typing import TypeVar

Class = TypeVar("Class", bound=type)

_classes: dict[str, type] = {}


def register(cls: Class) -> Class:
    """Class decorator that allows objects of a class in files, under the name of the class.

    Parameters
    ----------
    cls : type
        A class with the methods `to_state` and `from_state`, which base classes such as
        :class:`~skgraphkde.Encoder` provide.

    Returns
    -------
    cls : type
        The same class.

    Raises
    ------
    TypeError
        If the class lacks `to_state` or `from_state`.
    ValueError
        If a class of another module has the same name.
    """
    for method in ("to_state", "from_state"):
        if not hasattr(cls, method):
            raise TypeError(f"{cls.__name__} cannot be registered: it has no {method}")
    known = _classes.setdefault(cls.__name__, cls)
    if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
        raise ValueError(
            f"{cls.__module__}.{cls.__qualname__} cannot be registered: files use the name "
            f"{cls.__name__} for {known.__module__}.{known.__qualname__}, choose another name"
        )
    _classes[cls.__name__] = cls  # a notebook cell that runs again defines the class anew
    return cls


def is_registered(cls: type) -> bool:
    """True if files may contain objects of exactly this class; a subclass needs its own entry."""
    return _classes.get(cls.__name__) is cls


def registered_class(name: str) -> type:
    """Registered class with the given name.

    Parameters
    ----------
    name : str

    Returns
    -------
    type

    Raises
    ------
    ValueError
        If no class of this name is registered.
    """
    if name not in _classes:
        raise ValueError(
            f"it contains an object of the class {name}, which is not registered: import the "
            "module that defines it first"
        )
    return _classes[name]
