"""Files: a fitted detector -> one file, and back.

In comes a fitted :class:`~skgraphkde.detector.GraphKDEDetector`. Out goes a safetensors file:
arrays, and JSON in its metadata for everything else. Nothing in a file is executed or imported. A
checksum finds damage. What a file with a right checksum says is checked part by part, sizes before
anything of that size is made: whoever writes a file can write its checksum, too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
import torch
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted
from torch import nn

from skgraphkde import _files
from skgraphkde._files import Described
from skgraphkde._version import __version__
from skgraphkde.density import MultiBandwidthKDE, SizeKernel
from skgraphkde.detector import GraphKDEDetector
from skgraphkde.encoder import GCNEncoder, Propagation
from skgraphkde.features import KINDS, NodeFeatures
from skgraphkde.graphs import GraphBatch
from skgraphkde.mmd import DiscreteMeasures, Distance
from skgraphkde.model import DensityModel, EmbeddedGraphs, resolve_device

__all__ = ["Contents", "InvalidFileError", "load", "read", "save"]

FORMAT, FORMAT_VERSION = "skgraphkde.GraphKDEDetector", 1
# What an array among the constructor's parameters can consist of.
_NUMBERS = ("bool", "int32", "int64", "float32", "float64")


class InvalidFileError(ValueError):
    """A file is damaged, or is no detector that this version can read."""


class Contents(NamedTuple):
    """What a file holds."""

    detector: GraphKDEDetector
    notes: dict[str, Any]  # of whoever saved it
    library_version: str  # that wrote it


def save(
    detector: GraphKDEDetector, path: str | os.PathLike, notes: dict[str, Any] | None = None
) -> None:
    """Write a fitted detector to a file; :meth:`GraphKDEDetector.save` calls this.

    Parameters
    ----------
    detector : GraphKDEDetector
    path : str or path-like
        A file that is there is replaced in one step, or, if anything fails, left as it was.
    notes : dict, default=None
        Anything of yours that JSON can hold, such as where the graphs are from; :func:`read` gives
        it back.

    Raises
    ------
    NotFittedError
        If the detector is not fitted.
    TypeError
        If it is of another class, which :func:`load` could not give back, or JSON cannot hold the
        notes.
    ValueError
        If a parameter or a node label is nothing that JSON can hold.
    OSError
        If the file cannot be written.
    """
    if type(detector) is not GraphKDEDetector:
        raise TypeError(f"only a GraphKDEDetector can be saved, not a {type(detector).__name__}")
    check_is_fitted(detector)
    values, arrays = _describe(detector)
    _rebuild(values, arrays)  # what load would refuse is not written
    if notes:
        values["notes"] = notes
    _files.write(Path(path), values, arrays)


def load(path: str | os.PathLike) -> GraphKDEDetector:
    """Read a detector that :meth:`GraphKDEDetector.save` wrote.

    A file cannot run code, and takes memory in proportion to its size: see SECURITY.md.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    GraphKDEDetector
        Its scores are the saved one's, to the last bit on the same machine with the same packages.

    Raises
    ------
    OSError
        If there is no such file, or it cannot be opened.
    skgraphkde.persistence.InvalidFileError
        A ValueError: if the file is damaged, or is no detector that this version can read.

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
        The detector, the notes that were saved with it ({} without), and the version of skgraphkde
        that wrote the file.
    """
    path = Path(path)
    if path.exists() and not path.is_file():  # to open a pipe would wait forever
        raise OSError(f"{path} is a folder or a device: give the path of a file")
    with open(path, "rb"):  # or the usual OSError, which names the file
        pass
    try:
        values, arrays = _files.read(path)
        _check(isinstance(values, dict), "its description is no JSON object")
        notes = values.pop("notes", {})
        _check(isinstance(notes, dict), "notes is no dict")
        return Contents(_rebuild(values, arrays), notes, values["library_version"])
    except (OSError, MemoryError):  # no fault of the file
        raise
    except Exception as error:  # one type, whatever a check or a constructor has found
        raise InvalidFileError(
            f"{path} is not a detector that skgraphkde {__version__} can read: "
            f"{str(error)[:500]}. Take another copy of the file, or fit and save anew"
        ) from error


# -- detector to values and arrays -----------------------------------------------------------------


def _describe(detector: GraphKDEDetector) -> Described:
    values: dict[str, Any] = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "library_version": __version__,
        "parameters": _encode_parameters(detector),
        "mmd_method": detector.mmd_method_,
        "offset": float(detector.offset_),
        "untrained_rank_correlation": float(detector.untrained_rank_correlation_),
        "twin_seed": detector.twin_seed_,
        "history": list(detector.history_),
    }
    arrays = {f"history.{name}": np.array(x, float) for name, x in detector.history_.items()}
    arrays["calibration_scores"] = detector.calibration_scores_
    for more_values, more_arrays in (
        _describe_features(detector.node_features_),
        _describe_model(detector.model_),
        _describe_references(detector.references_),
    ):
        values |= more_values
        arrays |= more_arrays
    return values, arrays


def _describe_features(features: NodeFeatures) -> Described:
    values: dict[str, Any] = {
        "features.parameters": _encode_parameters(features),
        "features.kinds": list(features.kinds_),
    }
    arrays = {}
    if "label" in features.kinds_:
        values["features.label_names"] = _encode_labels(features.label_names_)
    if "attribute" in features.kinds_:
        values["features.n_attributes_in"] = features.n_attributes_in_
        values["features.n_samples"] = int(features.scaler_.n_samples_seen_)
        arrays["features.attributes"] = features.attributes_
        for name in ("mean", "scale", "var"):
            arrays[f"features.{name}"] = getattr(features.scaler_, f"{name}_")
    if "degree" in features.kinds_:
        values["features.n_degree_bins"] = features.n_degree_bins_
    return values, arrays


def _describe_model(model: DensityModel) -> Described:
    encoder, distance, kde = model.encoder, model.distance, model.kde
    values = {
        "encoder": "gcn" if isinstance(encoder, GCNEncoder) else "propagation",
        "distance": distance.kind,
        "distance.gammas": list(distance.gammas),
        "distance.correction": distance.correction,
        "kde.relative": kde.relative,
        "kde.scale": kde.scale,
        "leave_one_out": model.leave_one_out,
        "adaptive": model.adaptive,
    }
    if isinstance(encoder, GCNEncoder):
        values["encoder.dropout"] = float(encoder.dropout)
        values["encoder.batch_norm"] = isinstance(encoder.norms[0], nn.BatchNorm1d)
    arrays = {f"model.{name}": x.numpy(force=True) for name, x in model.state_dict().items()}
    arrays["kde.multiples"] = kde.multiples
    if distance.frequencies is not None:
        arrays["distance.frequencies"] = distance.frequencies.numpy(force=True)
    if model.size_kernel is not None:
        arrays["size_kernel.center"] = model.size_kernel.center
        arrays["size_kernel.scale"] = model.size_kernel.scale
    return values, arrays


def _describe_references(references: EmbeddedGraphs) -> Described:
    graphs, measures = references.graphs, references.measures
    arrays = {
        "graphs.node_ptr": graphs.node_ptr,
        **_describe_csr("graphs.adjacency", graphs.adjacency),
        "measures.points": measures.points.numpy(force=True),
        **_describe_csr("measures.weights", measures.weights),
    }
    if graphs.labels is not None:
        arrays["graphs.labels"] = graphs.labels
    if graphs.attributes is not None:
        arrays["graphs.attributes"] = graphs.attributes
    return {"graphs.label_names": _encode_labels(graphs.label_names)}, arrays


def _describe_csr(name: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    return {
        f"{name}.data": matrix.data.astype(np.float64, copy=False),
        f"{name}.indices": matrix.indices.astype(np.int64, copy=False),
        f"{name}.indptr": matrix.indptr.astype(np.int64, copy=False),
    }


def _encode_parameters(estimator: Any) -> dict[str, Any]:
    parameters = {}
    for name, value in estimator.get_params(deep=False).items():
        if isinstance(value, np.random.RandomState):
            value = None  # a stream of numbers, of which the fitted detector needs no more
        elif isinstance(value, torch.device):
            value = str(value)
        elif isinstance(value, os.PathLike):
            value = os.fspath(value)
        if isinstance(value, np.ndarray) and value.dtype.name in _NUMBERS:
            parameters[name] = {"array": value.tolist(), "dtype": value.dtype.name}
        else:
            parameters[name] = _encode(value, f"the parameter {name}={value!r}")
    return parameters


def _encode_labels(labels: Sequence[Any]) -> list[Any]:
    return [_encode(label, f"the node label {label!r}") for label in labels]


def _encode(value: Any, what: str) -> Any:
    """As JSON, in which a tuple is marked as one."""
    if isinstance(value, np.generic):
        value = value.item()
    if type(value) is list:
        return [_encode(item, what) for item in value]
    if type(value) is tuple:
        return {"tuple": [_encode(item, what) for item in value]}
    # Not their subclasses, which would come back as something else.
    is_plain = value is None or type(value) in (bool, int, str)
    if is_plain or (type(value) is float and math.isfinite(value)):
        return value
    raise ValueError(
        f"{what} cannot be saved: a file holds text, finite numbers, None, and tuples of them, but "
        f"not a {type(value).__name__}"
    )


# -- and back --------------------------------------------------------------------------------------


class _Parts:
    """The values and arrays of a file, each of which is checked and taken once."""

    def __init__(self, values: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        self._values, self._arrays = dict(values), dict(arrays)

    def __contains__(self, name: str) -> bool:
        return name in self._arrays

    def value(self, name: str, kind: type) -> Any:
        value = self._values.pop(name, None)
        _check(type(value) is kind, f"{name} is missing, or is no {kind.__name__}")
        return value

    def choice(self, name: str, options: Sequence[str]) -> str:
        value = self.value(name, str)
        _check(value in options, f"{name} is none of {', '.join(options)}")
        return value

    def number(self, name: str, low: float = -math.inf, high: float = math.inf) -> float:
        value = self.value(name, float)
        _check(math.isfinite(value) and low <= value <= high, f"{name} is out of range")
        return value

    def count(self, name: str) -> int:
        value = self.value(name, int)
        _check(0 <= value < 2**63, f"{name} is out of range")
        return value

    def shape(self, name: str) -> tuple[int, ...]:
        """Of an array that is still to be taken."""
        _check(name in self, f"the array {name} is missing")
        return self._arrays[name].shape

    def array(
        self, name: str, dtype: Any, shape: Sequence[int | None], finite: bool = True
    ) -> np.ndarray:
        """An array of this type and shape; None is any number."""
        there = self.shape(name)
        fits = len(there) == len(shape) and all(
            expected in (None, n) for n, expected in zip(there, shape, strict=True)
        )
        array = self._arrays.pop(name)
        expected = f"{np.dtype(dtype)} {tuple('any' if n is None else n for n in shape)}"
        _check(
            fits and array.dtype == dtype,
            f"the array {name} is {array.dtype} {there}, expected {expected}",
        )
        _check(not finite or np.isfinite(array).all(), f"the array {name} is not finite")
        return array

    def check_empty(self) -> None:
        left = sorted([*self._values, *self._arrays])
        _check(not left, f"{left[:1]} does not belong there")


def _check(condition: Any, otherwise: str) -> None:
    if not condition:
        raise ValueError(otherwise)


def _rebuild(values: dict[str, Any], arrays: dict[str, np.ndarray]) -> GraphKDEDetector:
    parts = _Parts(values, arrays)
    _check_version(parts)
    detector: GraphKDEDetector = _rebuild_estimator(GraphKDEDetector, parts, "parameters")
    detector._check_parameters(2)
    resolve_device(detector.device, fitted=True)
    detector.node_features_ = _rebuild_features(parts)
    detector.n_features_in_ = detector.node_features_.n_features_out_
    detector.model_ = model = _rebuild_model(parts, detector.n_features_in_)
    detector.references_ = _rebuild_references(parts, model.encoder.out_dim)
    detector.bias_correction_ = model.distance.correction
    detector.bandwidths_ = model.kde.bandwidths
    detector.mixture_weights_ = model.kde.mixture_weights
    detector.mmd_method_ = parts.choice("mmd_method", ("exact", "random_features"))
    exact = model.distance.frequencies is None
    _check(exact == (detector.mmd_method_ == "exact"), "mmd_method and frequencies contradict")
    detector.history_ = {
        name: parts.array(f"history.{name}", float, (None,) * rank, finite=False).tolist()
        for name in map(str, parts.value("history", list))
        for rank in [len(parts.shape(f"history.{name}"))]
    }
    detector.calibration_scores_ = parts.array("calibration_scores", float, (None,))
    _check(len(detector.calibration_scores_), "calibration_scores is empty")
    detector.offset_ = parts.number("offset")
    detector.untrained_rank_correlation_ = parts.number("untrained_rank_correlation", -1.01, 1.01)
    detector.twin_seed_ = parts.count("twin_seed")
    _check(detector.twin_seed_ < 2**32, "twin_seed is out of range")
    parts.check_empty()
    return detector


def _check_version(parts: _Parts) -> None:
    parts.choice("format", (FORMAT,))
    version, library = parts.count("format_version"), parts.value("library_version", str)
    _check(
        version == FORMAT_VERSION,
        f"it has format {version}, written by skgraphkde {library}, and this version reads format "
        f"{FORMAT_VERSION}: upgrade skgraphkde",
    )


def _rebuild_estimator(kind: type, parts: _Parts, name: str) -> Any:
    """An estimator with valid parameters; those that its version did not know have defaults."""
    parameters = parts.value(name, dict)
    estimator = kind(**{key: _decode(value) for key, value in parameters.items()})
    estimator._validate_params()
    return estimator


def _decode(value: Any) -> Any:
    """The inverse of :func:`_encode`."""
    if isinstance(value, list):
        return [_decode(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"tuple"}:
        return tuple(_decode(item) for item in value["tuple"])
    _check(value.keys() == {"array", "dtype"}, "neither a tuple nor an array")
    _check(value["dtype"] in _NUMBERS, "an array of unknown type")  # "S1000000000" would be one
    return np.array(value["array"], dtype=value["dtype"])


def _decode_labels(parts: _Parts, name: str) -> tuple:
    labels = tuple(_decode(item) for item in parts.value(name, list))
    _check(len(set(labels)) == len(labels), f"{name} has a label twice")
    return labels


def _rebuild_features(parts: _Parts) -> NodeFeatures:
    features: NodeFeatures = _rebuild_estimator(NodeFeatures, parts, "features.parameters")
    kinds = parts.value("features.kinds", list)
    features.kinds_ = tuple(kind for kind in KINDS if kind in kinds)
    _check(kinds and list(features.kinds_) == kinds, "features.kinds is no selection of features")
    n_columns = 0
    if "label" in kinds:
        features.label_names_ = _decode_labels(parts, "features.label_names")
        n_columns += len(features.label_names_)
    if "attribute" in kinds:
        features.n_attributes_in_ = parts.count("features.n_attributes_in")
        features.attributes_ = parts.array("features.attributes", np.int64, (None,))
        in_range = (features.attributes_ >= 0) & (features.attributes_ < features.n_attributes_in_)
        _check(in_range.all(), "features.attributes is out of range")
        features.scaler_ = _rebuild_scaler(parts, len(features.attributes_))
        n_columns += len(features.attributes_)
    if "degree" in kinds:
        features.n_degree_bins_ = parts.count("features.n_degree_bins")
        _check(features.n_degree_bins_, "features.n_degree_bins is out of range")
        n_columns += features.n_degree_bins_ + 1
    if "random_walk" in kinds:
        n_columns += features.n_steps - 1
    features.n_features_out_ = n_columns
    return features


def _rebuild_scaler(parts: _Parts, n_columns: int) -> StandardScaler:
    scaler = StandardScaler()
    for name in ("mean", "scale", "var"):
        setattr(scaler, f"{name}_", parts.array(f"features.{name}", float, (n_columns,)))
    _check((scaler.scale_ > 0).all(), "features.scale is not positive")
    scaler.n_features_in_ = n_columns
    scaler.n_samples_seen_ = np.int64(parts.count("features.n_samples"))
    return scaler


def _rebuild_model(parts: _Parts, n_features: int) -> DensityModel:
    model = DensityModel(
        _rebuild_encoder(parts, n_features),
        Distance("mmd", ()),
        _rebuild_kde(parts),
        None,
        leave_one_out=parts.value("leave_one_out", bool),
        adaptive=parts.value("adaptive", bool),
    )
    state = {}
    for name, tensor in model.state_dict().items():
        array = parts.array(f"model.{name}", tensor.numpy().dtype, tensor.shape)
        is_scale, is_variance = name.endswith(("scales", "total_scale")), name.endswith("var")
        _check(not is_scale or (array > 0).all(), f"the array model.{name} is not positive")
        _check(not is_variance or (array >= 0).all(), f"the array model.{name} is negative")
        state[name] = torch.tensor(array)
    model.load_state_dict(state)
    model.distance = _rebuild_distance(parts, model.encoder.out_dim)
    if "size_kernel.center" in parts:
        center, scale = (parts.array(f"size_kernel.{x}", float, (2,)) for x in ("center", "scale"))
        _check((scale > 0).all(), "size_kernel.scale is not positive")
        model.size_kernel = SizeKernel.of(center, scale)
    return model.eval()


def _rebuild_encoder(parts: _Parts, n_features: int) -> Propagation | GCNEncoder:
    """An encoder whose size is that of the arrays in the file, weights still to be loaded."""
    if parts.choice("encoder", ("propagation", "gcn")) == "propagation":
        n_rows, n_columns = parts.shape("model.encoder.means")
        _check(n_rows and n_columns == n_features > 0, "encoder and node features differ in width")
        return Propagation(n_features, n_rows - 1)
    dropout = parts.number("encoder.dropout", 0, 1)
    batch_norm = parts.value("encoder.batch_norm", bool)
    _, width = parts.shape("model.encoder.weights.0")
    n_layers = 0
    while (name := f"model.encoder.weights.{n_layers}") in parts:
        shape = (width if n_layers else n_features, width)
        _check(parts.shape(name) == shape and min(shape), f"the array {name} has a wrong shape")
        n_layers += 1
    return GCNEncoder(n_features, width, n_layers, dropout, batch_norm, torch.Generator())


def _rebuild_kde(parts: _Parts) -> MultiBandwidthKDE:
    multiples = parts.array("kde.multiples", float, (None,))
    in_range = (multiples >= 1e-10) & (multiples <= 1e10)
    _check(len(multiples) and in_range.all(), "kde.multiples is out of range")
    kde = MultiBandwidthKDE(multiples.tolist())
    kde.relative = parts.value("kde.relative", bool)
    kde.scale = parts.number("kde.scale", np.finfo(float).tiny)
    return kde


def _rebuild_distance(parts: _Parts, width: int) -> Distance:
    gammas = np.array(parts.value("distance.gammas", list), dtype=float)
    in_range = (gammas >= 1e-10) & (gammas <= 1e10)
    _check(gammas.ndim == 1 and len(gammas) and in_range.all(), "distance.gammas is out of range")
    frequencies = None
    if "distance.frequencies" in parts:
        array = parts.array("distance.frequencies", float, (width, None))
        _check(array.size, "the array distance.frequencies is empty")
        frequencies = torch.tensor(array)
    kind = parts.choice("distance", ("mmd", "mean", "sum"))
    correction = parts.number("distance.correction", 0, 1)
    return Distance(kind, tuple(gammas.tolist()), correction, frequencies)


def _rebuild_references(parts: _Parts, width: int) -> EmbeddedGraphs:
    graphs = _rebuild_graphs(parts)
    points = parts.array("measures.points", np.float32, (None, width))
    weights = _rebuild_csr(parts, "measures.weights", len(graphs), len(points))
    sums_to_one = np.abs(weights.sum(axis=1) - 1) < 1e-6
    _check((weights.data >= 0).all() and sums_to_one.all(), "measures.weights are no measures")
    measures = DiscreteMeasures(torch.tensor(points), weights, graphs.n_nodes_per_graph)
    return EmbeddedGraphs(graphs, measures)


def _rebuild_graphs(parts: _Parts) -> GraphBatch:
    """What GraphBatch takes for granted is checked here."""
    node_ptr = parts.array("graphs.node_ptr", np.int64, (None,))
    n_nodes = parts.shape("graphs.adjacency.indptr")[0] - 1
    adjacency = _rebuild_csr(parts, "graphs.adjacency", n_nodes, n_nodes)
    is_ptr = len(node_ptr) > 1 and node_ptr[0] == 0 and node_ptr[-1] == n_nodes
    _check(is_ptr and (node_ptr[1:] > node_ptr[:-1]).all(), "graphs.node_ptr is not ascending")
    graph_of_node = np.repeat(np.arange(len(node_ptr) - 1), np.diff(node_ptr))
    row = np.repeat(np.arange(n_nodes), np.diff(adjacency.indptr))
    within = graph_of_node[row] == graph_of_node[adjacency.indices]
    _check(within.all(), "graphs.adjacency has an edge between graphs")
    is_simple = (row != adjacency.indices).all() and (adjacency.data > 0).all()
    _check(is_simple and not (adjacency != adjacency.T).nnz, "graphs.adjacency is not undirected")
    names, labels, attributes = _decode_labels(parts, "graphs.label_names"), None, None
    if "graphs.labels" in parts:
        labels = parts.array("graphs.labels", np.int64, (n_nodes,))
        _check(((labels >= 0) & (labels < len(names))).all(), "graphs.labels is out of range")
    if "graphs.attributes" in parts:
        attributes = parts.array("graphs.attributes", float, (n_nodes, None))
    return GraphBatch(node_ptr, adjacency, labels, names, attributes)


def _rebuild_csr(parts: _Parts, name: str, n_rows: int, n_columns: int) -> sp.csr_array:
    """A matrix whose indices are in range, as compiled loops take for granted."""
    indptr = parts.array(f"{name}.indptr", np.int64, (n_rows + 1,))
    indices = parts.array(f"{name}.indices", np.int64, (None,))
    data = parts.array(f"{name}.data", float, (len(indices),))
    is_ptr = len(indptr) and indptr[0] == 0 and indptr[-1] == len(indices)
    _check(is_ptr and (indptr[1:] >= indptr[:-1]).all(), f"{name}.indptr is not ascending")
    _check(((indices >= 0) & (indices < n_columns)).all(), f"{name}.indices is out of range")
    return sp.csr_array((data, indices, indptr), shape=(n_rows, n_columns))
