"""Saving: a fitted detector -> a file that cannot run code, and back."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import platform
import secrets
import sys
from collections.abc import Iterator, Sequence
from contextvars import ContextVar
from importlib import metadata
from operator import attrgetter
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, is_zipfile

import numpy as np

from skgraphkde._torch import INSTALL
from skgraphkde._utils import warn
from skgraphkde._version import __version__

__all__ = ["InvalidFileError", "load"]

# Classes that a file may contain, by module. A file can create them, and nothing else.
_CLASSES = {
    "core.scoring.calibration": ["FittedCalibration", "LeaveOneOut", "Split"],
    "core.scoring.combination": ["LearnedWeights", "LogPValues"],
    "detectors.estimator": ["GraphKDEDetector"],
    "core.scoring.model": ["GraphModel"],
    "core.distances.mmd": ["FittedMMD", "MMD"],
    "core.points.features": [
        "ConstantBlock",
        "DegreeBlock",
        "EdgeBlock",
        "LabelBlock",
        "NodeFeatures",
        "NumberBlock",
        "RawNumberBlock",
        "WalkBlock",
    ],
    "core.graphs.batch": ["GraphBatch"],
    "core.graphs.problems": ["Ignored"],
    "core.graphs.refinement": ["EdgeGroups"],
    "core.graphs.schema": ["FittedSchema", "GraphSchema"],
    "learned.gcn": ["GCN", "FittedGCN"],
    "learned.gpu": ["FittedTorchMMD", "TorchMMD"],
    "learned.lgkde": ["LGKDE"],
    "core.points.propagation": ["FittedPropagation", "Propagation"],
    "core.views.confirmed": ["Confirmed"],
    "core.views.namesakes": ["Namesakes"],
    "core.views.numbers": ["NumberPoints", "Numbers"],
    "core.views.categories": ["CategoryCounts", "ReferenceTable", "Table", "Vocabulary"],
    "core.views.density": ["Density"],
    "core.views.embedding": ["Embedding"],
    "core.views.kernels": ["KDE"],
    "core.views.neighborhoods": [
        "NeighborhoodCounts",
        "Neighborhoods",
        "Neighbors",
        "Novelty",
        "Tanimoto",
    ],
    "core.views.rows": ["Whitening"],
    "core.views.statistics": ["Statistics"],
    "monitoring": ["DriftMonitor", "OnlinePValues", "ShiryaevRoberts"],
}
# Files hold no ids of nodes: these may be names of people, and of any class. Copies do.
leaves_ids_out = ContextVar("leaves_ids_out", default=False)
TRUSTED = frozenset(
    f"skgraphkde.{module}.{name}" for module, names in _CLASSES.items() for name in names
) | {
    "scipy.sparse._csr.csr_array",
    # Values of categories, which do nothing when they are made.
    *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"),
    *("datetime.timezone", "decimal.Decimal", "uuid.UUID", "zoneinfo.ZoneInfo"),
}


class InvalidFileError(ValueError):
    """Error for a file that is damaged, or is not a detector that this version can read."""


def save(detector: Any, path: Any, monitor: Any = None) -> None:
    """Save a fitted detector to a file; the implementation of :meth:`BaseGraphDetector.save`.

    Parameters
    ----------
    detector : BaseGraphDetector
    path : str, path-like, or binary file
        An existing file is replaced in one step. An open file is written to.
    monitor : DriftMonitor, default=None
        Of the detector, which is loaded in its place.

    Raises
    ------
    OSError
        If the file cannot be written.
    ValueError
        If a value in it could not be read back, such as a category that is an Enum.
    """
    if hasattr(path, "write"):
        path.write(dumped(detector, monitor))
        return
    with atomic_file(path) as file:
        file.write(dumped(detector, monitor))


def versions() -> dict[str, str]:
    """Versions of this package, of Python, and of the packages on which scores depend."""
    found = {"skgraphkde": __version__, "python": platform.python_version()}
    for package in ("numpy", "scipy", "scikit-learn", "numba", "torch"):
        if package != "torch" or "torch" in sys.modules:
            found[package] = metadata.version(package)
    return found


def checksum(graphs: Any) -> str:
    """SHA-256 of the structure and the data of a GraphBatch, which files hold; not of node ids."""
    schema = graphs.schema
    arcs = graphs.adjacency
    texts: list[Any] = [graphs.directed, graphs.names]
    arrays = [graphs.node_ptr, arcs.indptr, arcs.indices, arcs.data]
    for part in ("node", "edge", "graph"):
        data = graphs.data(part)
        texts += [data.names, getattr(schema, f"{part}_categories")]
        texts.append(getattr(schema, f"{part}_columns"))
        arrays += [data.labels, data.numbers]
    digest = hashlib.sha256(repr(texts).encode(errors="surrogatepass"))
    for x in arrays:
        digest.update(repr(np.shape(x)).encode())
        if x is not None:
            digest.update(np.asarray(x, dtype="<f8").tobytes())
    return digest.hexdigest()


def dumped(detector: Any, monitor: Any = None) -> bytes:
    """The contents of the file of a fitted detector, which can be read back."""
    import skops.io

    held = {"skgraphkde": __version__, "detector": detector}
    if monitor is not None:
        held["monitor"] = monitor

    token = leaves_ids_out.set(True)
    of_all = attrgetter("label_names", "edge_label_names", "graph_label_names")
    try:
        contents = skops.io.dumps(held, compression=ZIP_DEFLATED, compresslevel=1)
        # Categories are of no class that only who trusts it can read.
        skops.io.loads(skops.io.dumps(of_all(detector.training_graphs_)), trusted=[*TRUSTED])
        others = sorted({*skops.io.get_untrusted_types(data=contents)} - TRUSTED)
        if others:
            skops.io.loads(contents, trusted=[*TRUSTED, *others])
    except Exception as error:  # of whatever class
        raise ValueError(
            f"a file cannot hold what was fitted ({error}): make categories text before fit, as "
            "str(value) does"
        ) from error
    finally:
        leaves_ids_out.reset(token)
    return contents


def load(path: Any, trusted: Sequence[str] = ()) -> Any:
    """Load a detector that :meth:`BaseGraphDetector.save` wrote, or a monitor.

    A file of `skops <https://skops.readthedocs.io>`_ cannot run code: it creates only classes of
    this package, of NumPy, SciPy and scikit-learn, dates, decimals and UUIDs, and those that you
    trust. A warning names the version that wrote the file if it is another one.

    Parameters
    ----------
    path : str, path-like, bytes or binary file
        Of a file, or its contents, such as those that a store of models returns.
    trusted : sequence of str, default=()
        Your own classes that the file may contain, such as ``"mine.EdgeCount"``.

    Returns
    -------
    BaseGraphDetector or DriftMonitor
        Its scores equal those of the saved detector, to the last bit on the same machine with the
        same packages.

    Raises
    ------
    OSError
        If the file does not exist or cannot be opened.
    ImportError
        If the encoder needs torch, which is not installed.
    skgraphkde.InvalidFileError
        If the file is damaged, is not a detector, was written by a newer skops, or contains a class
        that is not trusted. It is a ValueError.

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
    # This imports all of scikit-learn, and torch where it is installed.
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    path, contents = _contents(path)
    if not is_zipfile(io.BytesIO(contents)):
        raise InvalidFileError(
            f"{path} is not a file that skgraphkde {__version__} wrote. Files of versions before "
            "0.2 have another format: fit and save again"
        )
    try:
        loaded = skops.io.loads(contents, trusted=[*TRUSTED, *trusted])
        detector = loaded["detector"]
        detector.get_params()
        attrgetter("schema_", "training_graphs_", "verdicts_", "offset_")(detector)
        detector.check_loaded()
        if "monitor" in loaded:
            loaded["monitor"].check_loaded(detector)
    except UntrustedTypesFoundException as error:
        found = skops.io.get_untrusted_types(data=contents)
        unknown = sorted({*found} - TRUSTED - {*trusted})
        raise InvalidFileError(
            f"{path} contains {', '.join(unknown)}, which skgraphkde {__version__} does not "
            f"know. If you trust the file, use load(path, trusted={unknown}), or --detector MODULE "
            "in the shell"
        ) from error
    except ModuleNotFoundError as error:
        raise ImportError(
            f"{path} needs {error.name}, which is not installed: {INSTALL}"
        ) from error
    except Exception as error:  # of the zip, of skops, or of a class: whatever the damage makes
        _check_protocol(path, contents)
        raise InvalidFileError(
            f"{path} is damaged, of another version, or contains no detector ({error}): use "
            "another copy of the file, or fit and save again"
        ) from error
    written_by = loaded.get("skgraphkde")
    if written_by != __version__:
        warn(
            f"skgraphkde {written_by} wrote {path}, and this is {__version__}: scores, verdicts "
            "and reasons may differ, or fail; fit and save again, or install "
            f"skgraphkde=={written_by}"
        )
    return loaded.get("monitor", detector)


def _contents(source: Any) -> tuple[str, bytes]:
    """What errors call a file, and what it contains."""
    if isinstance(source, bytes | bytearray | memoryview):
        return "this", bytes(source)
    if hasattr(source, "read"):
        contents = source.read()
        if not isinstance(contents, bytes):
            raise TypeError("the file is open as text: open it with mode 'rb'")
        return str(getattr(source, "name", "the file")), contents
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist: give the path of a saved detector")
    if not path.is_file():  # opening a pipe would wait forever
        raise OSError(f"{path} is a folder or a device: give the path of a file")
    return str(path), path.read_bytes()


def _check_protocol(path: str, contents: bytes) -> None:
    """Raise an InvalidFileError if a newer skops wrote the file, in a format that this lacks."""
    import skops
    from skops.io._protocol import PROTOCOL

    try:
        with ZipFile(io.BytesIO(contents)) as file:
            schema = json.loads(file.read("schema.json"))
        protocol = schema["protocol"]
        writer = schema["_skops_version"]
        is_newer = protocol > PROTOCOL
    except Exception:  # it is damaged
        return
    if is_newer:
        raise InvalidFileError(
            f"skops {writer} wrote {path} in version {protocol} of its format, and this is skops "
            f"{skops.__version__}, which reads versions up to {PROTOCOL}: pip install -U skops"
        )


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike, mode: str = "b", **options: Any) -> Iterator[IO]:
    """Open a new file that replaces `path` when it is complete, so that no reader sees half of it.

    Parameters
    ----------
    path : str or path-like
        An existing file is kept if writing fails. Of a symbolic link, the target is replaced.
    mode : {"b", "t"}, default="b"
        Binary or text.
    **options : dict
        Options of :func:`open`.

    Yields
    ------
    file
        The open file; it replaces `path` when the context ends without an error.
    """
    target = file_behind(path)
    temporary = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with named_in_errors(path, temporary):
            with open(temporary, f"x{mode}", **options) as file:
                yield file
            os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def file_behind(path: str | os.PathLike) -> Path:
    """The file that is written if a path is given: of a symbolic link, the target.

    Raises
    ------
    OSError
        If there is something else.
    """
    target = Path(os.path.realpath(path))
    if target.is_symlink():
        raise OSError(f"{path} is a symbolic link to itself: give the path of a file")
    if target.exists() and not target.is_file():
        raise OSError(f"{path} is a folder or a device: give the path of a file")
    return target


@contextlib.contextmanager
def named_in_errors(path: str | os.PathLike, temporary: Path | None = None) -> Iterator[None]:
    """Name what is written in errors that name no file, as of a full disk, or the temporary one."""
    try:
        yield
    except OSError as error:
        if error.errno is None or error.filename not in (None, temporary, str(temporary)):
            raise
        cure = "make it possible to write there, or give another path"
        raise OSError(error.errno, f"{error.strerror} ({cure})", os.fspath(path)) from error
