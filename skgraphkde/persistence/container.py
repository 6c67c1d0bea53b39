"""Container: JSON and arrays in one safetensors file, with a checksum, written in one step.

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

# The metadata have a single key, because safetensors writes several keys in any order.
_KEY = "skgraphkde"


def check_regular(path: str | os.PathLike) -> os.stat_result | None:
    """Check that `path` is a regular file or does not exist.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    os.stat_result or None
        The status of the file, with its owner and mode; None if there is no file.

    Raises
    ------
    OSError
        If `path` is a folder, a pipe or a device: a reader would wait for a pipe forever, and a
        new file must not replace a device.
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
    """Open a new file that replaces `path` when it is complete, so that no reader sees half of it.

    Parameters
    ----------
    path : str or path-like
        An existing file is kept if writing fails; the new file gets its owner and mode. If `path`
        is a symbolic link, its target is replaced.
    mode : {"b", "t"}, default="b"
        Binary or text.
    **options : dict
        Options of :func:`open`.

    Yields
    ------
    file
        The open file; it replaces `path` when the context ends without an error.
    """
    old = check_regular(path)
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".{secrets.token_hex(8)}.tmp"

    def private(name: str, flags: int) -> int:
        return os.open(name, flags, 0o666 if old is None else 0o600)

    try:
        try:
            opened = open(temporary, f"x{mode}", opener=private, **options)  # noqa: SIM115
        except OSError as error:  # name the caller's path, not the temporary one
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
        An existing file is replaced in one step.
    tree : object
        Tree from :func:`~.codec.encode`.
    arrays : dict of ndarray
        Arrays from :func:`~.codec.encode`.
    """
    # safetensors assumes C order.
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    content = json.dumps({"sha256": digest(tree, arrays), "values": tree}, allow_nan=False)
    with atomic_file(path) as file:
        file.write(save(arrays, {_KEY: content}))


def read(path: str | os.PathLike) -> tuple[Any, dict[str, np.ndarray]]:
    """Read the tree and the arrays of a file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    tree : object
    arrays : dict of ndarray

    Raises
    ------
    Exception
        Of any type, if the file is damaged or was not written by :func:`write`.
    """
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
    """SHA-256 checksum of a tree and its arrays, in hexadecimal.

    Parameters
    ----------
    tree : object
        Lists, dicts and scalars that JSON can represent.
    arrays : dict of ndarray

    Returns
    -------
    str
    """
    sha256 = hashlib.sha256(json.dumps(tree, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.asarray(arrays[name], order="C")
        sha256.update(f"{name!r} {array.dtype.str} {array.shape}".encode())
        sha256.update(array.data)
    return sha256.hexdigest()
