"""The writer of all files: a path -> an open file that takes its place when it is complete."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file in the same folder, which is renamed to `path` if all goes well.

    So nobody reads half of a file, and an existing one is kept if writing fails.

    Parameters
    ----------
    path : str or path-like
        If it is a symbolic link, its target is replaced.
    mode : {"w", "wb"}, default="w"
        Text in UTF-8, where a name that is not Unicode gets escapes, or bytes.

    Yields
    ------
    file
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    text: dict[str, Any] = {}
    if "b" not in mode:
        text = {"encoding": "utf-8", "errors": "backslashreplace", "newline": ""}
    try:
        with open(temporary, mode, **text) as file:
            yield file
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
