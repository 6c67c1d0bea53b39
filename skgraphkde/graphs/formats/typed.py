"""Heterogeneous graphs: data by type -> one column for all nodes, or all edges."""

from __future__ import annotations

from typing import Any

import numpy as np

from skgraphkde.graphs.formats.common import Columns, plain

#: A type, how many nodes or edges are of it, and their data by name.
OfType = tuple[str, int, dict[str, Any]]


def joined_types(types: list[OfType], type_name: str) -> Columns:
    """Columns of all types, end to end; the column `type_name` holds the types.

    Types without a column have missing values there.
    """
    names = dict.fromkeys([type_name, *(name for *_, data in types for name in data)])

    def get(name: str) -> Any:
        if name not in names:
            return None
        if name == type_name:
            return [kind for kind, n, _ in types for _ in range(n)]
        columns = [plain(data.get(name)) for *_, data in types]
        are_arrays = all(isinstance(column, np.ndarray) for column in columns)
        if are_arrays and len({column.shape[1:] for column in columns}) == 1:
            return np.concatenate(columns)
        values: list = []
        for column, (_, n, _) in zip(columns, types, strict=True):
            values += [None] * n if column is None else list(column)
        return values

    return Columns(lambda: list(names), get)
