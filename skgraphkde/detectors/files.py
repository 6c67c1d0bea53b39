"""Files of fitted detectors: save, load, and what else is in a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

from sklearn.base import OutlierMixin

from skgraphkde import persistence
from skgraphkde._version import __version__
from skgraphkde.graphs.naming import shown
from skgraphkde.persistence import State, check
from skgraphkde.persistence.registry import is_registered

__all__ = ["Contents", "InvalidFileError", "load", "read", "save"]

FORMAT, FORMAT_VERSION = "skgraphkde", 5


class InvalidFileError(ValueError):
    """A file is damaged, or is not a detector that this version can read."""


class Contents(NamedTuple):
    """What a file contains."""

    detector: Any
    notes: dict[str, Any]  # of whoever saved it
    library_version: str  # that wrote it


def save(detector: Any, path: str | os.PathLike, notes: dict[str, Any] | None = None) -> None:
    """Write a fitted detector to a file: :meth:`BaseGraphDetector.save`, which documents it."""
    if not is_registered(type(detector)):
        raise TypeError(
            f"{type(detector).__name__} cannot be saved, as load could not read it: decorate the "
            "class with skgraphkde.register"
        )
    contents = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "notes": notes or {},
        "detector": detector,
    }
    tree, arrays = persistence.encode(contents)
    restored = _contents(tree, arrays).detector  # nothing is written that load would refuse
    detector.check_restored(restored)
    persistence.write(path, tree, arrays)


def load(path: str | os.PathLike) -> Any:
    """Read a detector that :meth:`BaseGraphDetector.save` wrote.

    A file cannot run code, and its classes must be registered: import the module of a detector,
    encoder or distance of your own first. See SECURITY.md for what a file can do.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    BaseGraphDetector
        Its scores are those of the saved one, to the last bit on the same machine with the same
        packages.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be opened.
    skgraphkde.InvalidFileError
        A ValueError: if the file is damaged, or is not a detector that this version can read.

    Examples
    --------
    >>> import os, tempfile
    >>> import skgraphkde
    >>> from skgraphkde.datasets import load_mutag
    >>> molecules = load_mutag()["graphs"]
    >>> detector = skgraphkde.GraphKDEDetector().fit(molecules[:50])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "molecules.skg")
    ...     detector.save(path)
    ...     loaded = skgraphkde.load(path)
    >>> bool((loaded.score_samples(molecules) == detector.score_samples(molecules)).all())
    True
    """
    return read(path).detector


def read(path: str | os.PathLike) -> Contents:
    """Read all that is in a file, as :func:`load` does.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Contents
        The detector, the notes that were saved with it ({} if there were none), and the version of
        skgraphkde that wrote the file.
    """
    path = Path(path)
    persistence.check_regular(path)  # opening a pipe would wait forever
    with open(path, "rb"):  # or the usual OSError, which names the file
        pass
    try:
        return _contents(*persistence.read(path))
    except (OSError, MemoryError):  # not the file's fault
        raise
    except Exception as error:  # one type, whatever a check or a constructor finds
        raise InvalidFileError(
            f"{path} is not a detector that skgraphkde {__version__} can read: "
            f"{shown(str(error).partition(chr(10))[0], 500)}. Use another copy of the file, or "
            "fit and save again"
        ) from error


def _contents(tree: Any, arrays: dict[str, Any]) -> Contents:
    _check_version(tree)  # before anything is made of what another version wrote
    state = State("file", persistence.decode(tree, arrays))
    state.take_choice("format", (FORMAT,))
    state.take_count("format_version")
    notes, library = state.take("notes", dict), state.take("library_version", str)
    detector = state.take_instance("detector", OutlierMixin)
    state.check_empty()
    return Contents(detector, notes, library)


def _check_version(tree: Any) -> None:
    items = tree.get("dict", {}) if isinstance(tree, dict) else {}
    check(isinstance(items, dict), "it contains something else")
    check(items.get("format") == FORMAT, "it contains something else")
    version, library = items.get("format_version"), items.get("library_version")
    check(
        version == FORMAT_VERSION,
        f"it has format {version}, written by skgraphkde {library}, and this version reads format "
        f"{FORMAT_VERSION}: use the version that wrote it",
    )
