"""Codec: objects <-> JSON and arrays.

Encoding turns an object of a registered class into nested JSON, in which arrays are replaced by
their names, and a dict of the arrays. Decoding checks types, shapes, indices and finite numbers.
Nothing is executed or imported.
"""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np
import scipy.sparse as sp

from skgraphkde.persistence.registry import is_registered, registered_class
from skgraphkde.persistence.state import State, check

# Array types that a file may contain. NumPy has others, such as "S1000000000".
_DTYPES = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"),
    *("float32", "float64"),
)


def encode(value: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """Encode an object.

    Parameters
    ----------
    value : object
        An instance of a registered class; None, a bool, a number or a string; a list, tuple or
        dict (with string keys) of these; an array or a CSR array.

    Returns
    -------
    tree : object
        Lists, dicts and scalars that JSON can represent; arrays are replaced by their names.
    arrays : dict of ndarray
        Arrays by name.

    Raises
    ------
    ValueError
        If it contains any other object; the message names its position.
    """
    arrays: dict[str, np.ndarray] = {}
    return _encode(value, "", arrays), arrays


def _encode(value: Any, path: str, arrays: dict[str, np.ndarray]) -> Any:
    value = _simplified(value)
    # Exact types: an object of a subclass would come back as something else.
    is_plain = value is None or type(value) in (bool, int, str)
    if is_plain or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, np.ndarray) and value.dtype.name in _DTYPES:
        arrays[path] = value
        return {"array": path}
    if is_registered(type(value)):
        return {"class": type(value).__name__, "state": _encode(value.to_state(), path, arrays)}
    if type(value) in (list, tuple):
        items = [_encode(item, f"{path}.{i}", arrays) for i, item in enumerate(value)]
        return items if type(value) is list else {"tuple": items}
    if type(value) is dict and all(type(key) is str for key in value):
        prefix = f"{path}." if path else ""
        return {"dict": {k: _encode(v, f"{prefix}{k}", arrays) for k, v in value.items()}}
    if isinstance(value, sp.csr_array):
        parts = {k: getattr(value, k) for k in ("data", "indices", "indptr")}
        state = parts | {"shape": tuple(map(int, value.shape))}
        return {"csr": _encode(state, path, arrays)}
    raise ValueError(
        f"{path or 'this'} cannot be saved: {value!r} is a {type(value).__name__}. A file can "
        "contain text, finite numbers, None, lists, tuples and dicts of them, arrays, and objects "
        "of registered classes (skgraphkde.register). If it is a category of your graphs, "
        "make it text before fit, as str(value) does"
    )


def _simplified(value: Any) -> Any:
    if isinstance(value, np.random.RandomState):
        return None  # a fitted object draws no more random numbers
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value.item() if isinstance(value, np.generic) else value


def decode(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Decode an object: the inverse of :func:`encode`.

    Parameters
    ----------
    tree : object
        Tree from :func:`encode`.
    arrays : dict of ndarray
        Arrays from :func:`encode`.

    Returns
    -------
    object
        Object of the same class and state as the encoded one.

    Raises
    ------
    ValueError
        If an item is missing, unexpected, of the wrong type or out of range. Other exceptions if
        :func:`encode` cannot have returned the tree.
    """
    arrays = dict(arrays)
    value = _decode(tree, arrays)
    check(not arrays, f"the arrays {sorted(arrays)[:3]} do not belong there")
    return value


def _decode(tree: Any, arrays: dict[str, np.ndarray]) -> Any:
    if isinstance(tree, list):
        return [_decode(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    if tree.keys() == {"class", "state"}:
        cls: Any = registered_class(tree["class"])
        state = State(cls.__name__, _decode(tree["state"], arrays))
        value = cls.from_state(state)
        state.check_empty()
        return value
    check(len(tree) == 1, "an entry has an unknown form")
    ((kind, content),) = tree.items()
    if kind == "array":
        check(content in arrays, f"the array {content!r} is missing")
        return arrays.pop(content)
    if kind == "dict":
        return {key: _decode(value, arrays) for key, value in content.items()}
    check(kind in ("tuple", "csr"), f"an entry has the unknown form {kind!r}")
    items = _decode(content, arrays)
    if kind == "tuple":
        return tuple(items)
    return _csr_array(State("sparse matrix", items))


def _csr_array(state: State) -> sp.csr_array:
    """Rebuild a CSR array, and check its indices, which compiled loops do not check."""
    shape = state.take("shape", tuple)
    are_counts = len(shape) == 2 and all(type(n) is int and 0 <= n < 2**62 for n in shape)
    state.check(are_counts, "its shape is not a pair of counts")
    indptr, indices, data = (state.take(k, np.ndarray) for k in ("indptr", "indices", "data"))
    are_indices = {indptr.dtype, indices.dtype} <= {np.dtype(np.int32), np.dtype(np.int64)}
    state.check(are_indices, "its indices are not integers")
    state.check(indptr.shape == (shape[0] + 1,), "its row pointers do not fit its shape")
    state.check(indices.ndim == 1 and data.shape == indices.shape, "its entries do not fit")
    is_ascending = indptr[0] == 0 and indptr[-1] == len(indices) and (np.diff(indptr) >= 0).all()
    state.check(is_ascending, "its row pointers do not ascend")
    state.check(((indices >= 0) & (indices < shape[1])).all(), "an index is out of range")
    state.check(np.isfinite(data).all(), "an entry is not finite")
    state.check_empty()
    return sp.csr_array((data, indices, indptr), shape=shape)
