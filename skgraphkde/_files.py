"""One file of arrays and JSON: values and arrays -> safetensors, and back.

Files are written in one step, and carry a checksum. Nothing in a file is executed or imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

# What JSON can hold, and what it cannot.
Described = tuple[dict[str, Any], dict[str, np.ndarray]]

# The one key of the metadata: with more than one, safetensors writes them in any order.
_KEY = "skgraphkde"


def write(path: Path, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Write beside `path`, then put it in its place: no reader sees half of it."""
    # In memory row by row, which safetensors takes for granted.
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = json.dumps({"sha256": digest(values, arrays), "values": values}, allow_nan=False)
    temporary = path.parent / f".{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb") as file:
            file.write(save(arrays, {_KEY: content}))
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path) -> Described:
    """The values and arrays of a file, as they were written; any error if it is none or damaged."""
    with safe_open(os.fspath(path), framework="numpy") as file:
        metadata = file.metadata() or {}
        if _KEY not in metadata:
            raise ValueError("it holds something else")
        names = file.keys()
        arrays = {name: file.get_tensor(name) for name in names}
    content = json.loads(metadata[_KEY])
    values = content["values"]
    if content["sha256"] != digest(values, arrays):  # first: a damaged version is no version
        raise ValueError("its checksum is wrong, it is damaged")
    return values, arrays


def digest(values: dict[str, Any], arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 of everything; the same in all versions."""
    sha256 = hashlib.sha256(json.dumps(values, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        sha256.update(f"{name!r} {array.dtype.str} {array.shape}".encode())
        sha256.update(array.data)
    return sha256.hexdigest()
