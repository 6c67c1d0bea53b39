"""The container: JSON and arrays in one safetensors file, with a checksum, written in one step.

Nothing in a file is executed or imported.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

# The only key of the metadata: with more than one, safetensors writes them in any order.
_KEY = "skgraphkde"


def check_regular(path: str | os.PathLike) -> os.stat_result | None:
    """Check what is at `path`: a file, whose owner and mode are returned, or nothing.

    Raises
    ------
    OSError
        If there is something else, such as a pipe, at which a reader would wait forever, or a
        device, which a new file must not replace.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{os.fspath(path)} is a folder or a device: give the path of a file")
    return found


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike, mode: str = "b", **options: Any) -> Iterator[IO]:
    """A new file that replaces `path` once it is complete: no reader sees half of it.

    Parameters
    ----------
    path : str or path-like
        A file that exists stays as it is if anything fails, and the new one has its owner and its
        mode. Where it is a symbolic link, the file to which it leads is replaced.
    mode : {"b", "t"}, default="b"
        Binary or text.
    **options : dict
        For :func:`open`.

    Yields
    ------
    file
    """
    old = check_regular(path)
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".{secrets.token_hex(8)}.tmp"

    def private(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if old is None else 0o600)

    try:
        try:
            opened = open(temporary, f"x{mode}", opener=private, **options)  # noqa: SIM115
        except OSError as error:  # about the path that the caller knows
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from error
        with opened as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if old is not None:
            with contextlib.suppress(AttributeError, PermissionError):  # Windows; not root
                os.chown(temporary, old.st_uid, old.st_gid)
            os.chmod(temporary, stat.S_IMODE(old.st_mode))
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def write(path: str | os.PathLike, tree: Any, arrays: dict[str, np.ndarray]) -> None:
    """Write a file.

    Parameters
    ----------
    path : str or path-like
        A file that exists is replaced in one step.
    tree : object that JSON can hold
    arrays : dict of ndarray
    """
    # safetensors takes for granted that rows are contiguous.
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = json.dumps({"sha256": digest(tree, arrays), "values": tree}, allow_nan=False)
    with atomic_file(path) as file:
        file.write(save(arrays, {_KEY: content}))


def read(path: str | os.PathLike) -> tuple[Any, dict[str, np.ndarray]]:
    """Read the tree and the arrays of a file; any exception if it is damaged or something else."""
    check_regular(path)
    with safe_open(os.fspath(path), framework="numpy") as file:
        metadata = file.metadata() or {}
        if _KEY not in metadata:
            raise ValueError("it contains something else")
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    content = json.loads(metadata[_KEY])
    tree = content["values"]
    if content["sha256"] != digest(tree, arrays):
        raise ValueError("its checksum is wrong, the file is damaged")
    return tree, arrays


def digest(tree: Any, arrays: dict[str, np.ndarray]) -> str:
    """SHA-256 of everything."""
    sha256 = hashlib.sha256(json.dumps(tree, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        sha256.update(f"{name!r} {array.dtype.str} {array.shape}".encode())
        sha256.update(array.data)
    return sha256.hexdigest()
