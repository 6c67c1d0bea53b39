"""Files of fitted detectors: save and load a detector with its notes and version."""

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

FORMAT, FORMAT_VERSION = "skgraphkde", 7


class InvalidFileError(ValueError):
    """Error for a file that is damaged, or is not a detector that this version can read."""


class Contents(NamedTuple):
    """Contents of a file: the detector, the user's notes, and the version that wrote the file."""

    detector: Any
    notes: dict[str, Any]
    library_version: str


def save(detector: Any, path: str | os.PathLike, notes: dict[str, Any] | None = None) -> None:
    """Save a fitted detector to a file; the implementation of :meth:`BaseGraphDetector.save`.

    Parameters
    ----------
    detector : BaseGraphDetector
        A fitted detector of a registered class.
    path : str or path-like
        An existing file is replaced in one step.
    notes : dict, default=None
        The user's values of JSON's types.

    Raises
    ------
    TypeError
        If the class of the detector is not registered.
    ValueError
        If a parameter or a fitted attribute has a type that a file cannot contain.
    OSError
        If the file cannot be written.
    """
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
    restored = _contents(tree, arrays).detector  # checks that load can read the file
    detector.check_restored(restored)
    persistence.write(path, tree, arrays)


def load(path: str | os.PathLike) -> Any:
    """Load a detector that :meth:`BaseGraphDetector.save` wrote.

    A file cannot run code. Its classes must be registered: first import the modules that define
    your own detector, encoder or distance. SECURITY.md describes the risks of files from others.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    BaseGraphDetector
        Its scores equal those of the saved detector, to the last bit on the same machine with the
        same packages.

    Raises
    ------
    OSError
        If the file does not exist or cannot be opened.
    ImportError
        If the encoder needs torch, which is not installed.
    skgraphkde.InvalidFileError
        If the file is damaged, or is not a detector that this version can read. It is a ValueError.

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
    """Load a detector with its notes and the version of the package that wrote the file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    Contents
        The named fields `detector`, `notes` ({} if there are none) and `library_version`.

    Raises
    ------
    OSError, ImportError, skgraphkde.InvalidFileError
        As for :func:`load`.
    """
    path = Path(path)
    persistence.check_regular(path)  # opening a pipe would wait forever
    with open(path, "rb"):  # raises the usual OSError, which names the file
        pass
    try:
        return _contents(*persistence.read(path))
    except (OSError, MemoryError, ImportError):  # not the file's fault
        raise
    except Exception as error:  # any error of a check or a constructor
        raise InvalidFileError(
            f"{path} is not a detector that skgraphkde {__version__} can read: "
            f"{shown(str(error).partition(chr(10))[0], 500)}. Use another copy of the file, or "
            "fit and save again"
        ) from error


def _contents(tree: Any, arrays: dict[str, Any]) -> Contents:
    # Before decoding, as another version may encode differently.
    version, library = (tree["dict"].get(name) for name in ("format_version", "library_version"))
    check(
        version == FORMAT_VERSION,
        f"it has format {version}, written by skgraphkde {library}, and this version reads format "
        f"{FORMAT_VERSION}: use the version that wrote it",
    )
    state = State("file", persistence.decode(tree, arrays))
    state.take_choice("format", (FORMAT,))
    state.take_count("format_version")
    notes, library = state.take("notes", dict), state.take("library_version", str)
    detector = state.take_instance("detector", OutlierMixin)
    state.check_empty()
    return Contents(detector, notes, library)
