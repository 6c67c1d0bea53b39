import json
import os
import pickle
import re
import stat
import struct
import subprocess
import sys
from contextlib import contextmanager
from enum import IntEnum
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.numpy import save as to_bytes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import skgraphkde
from skgraphkde import PAPER, GraphKDEDetector, _files, persistence, read_graphs
from skgraphkde.datasets import load_mutag, make_barabasi_albert
from skgraphkde.persistence import InvalidFileError
from tests.conftest import random_graphs

DATA = Path(__file__).parent / "data"
KEPT = {
    "detector-v1.skg": {"encoder": "gcn", "hidden_dim": 8, "max_iter": 2},
    "detector-v1-defaults.skg": {},
}


@pytest.fixture(scope="module")
def fitted():
    return GraphKDEDetector(random_state=0).fit(random_graphs(12, seed=1))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "detector.skg"


# -- there and back --------------------------------------------------------------------------------

GCN = {"encoder": "gcn", "hidden_dim": 8, "max_iter": 2}
PARAMETERS = {
    "defaults": {},
    "no layers": {"n_layers": 0},
    "gcn": GCN,
    "gcn of one layer": {**GCN, "n_layers": 1, "dropout": 0},
    "no batch norm": {**GCN, "batch_norm": False, "learn_weights": False},
    "paper": {**PAPER, "hidden_dim": 8, "max_iter": 1},
    "trained weights": {"max_iter": 2, "perturbation": "features", "n_perturbations": 2},
    "mean": {"distance": "mean"},
    "sum": {"distance": "sum", "size_kernel": False},
    "biased": {"mmd_estimator": "biased"},
    "unbiased": {"mmd_estimator": "unbiased", "size_kernel": False},
    "random features": {"mmd_method": "random_features", "n_components": 32},
    "gcn with random features": {**GCN, "mmd_method": "random_features", "n_components": 32},
    "split": {"threshold": "split", "validation_fraction": 0.4, "contamination": 0.25},
    "train": {"threshold": "train", "contamination": 0.25},
    "fewer references": {"reference_sampling": "importance", "reference_ratio": 0.5},
    "lists": {"mmd_gammas": [1, 10.0], "bandwidths": [0.2, 1], "energy_thresholds": [0.4, 0.7]},
    "arrays": {"mmd_gammas": np.array([0.1, 3], dtype=np.float32), "bandwidths": np.array([1, 2])},
    "numpy scalars": {"mmd_gammas": (np.float64(0.3),), "dropout": np.float32(0.1)},
    "walks": {"node_features": ("random_walk",)},
    "list of features": {"node_features": ["degree", "label"]},
    "given": {"node_features": "given"},
}


def test_every_parameter_set_makes_a_round_trip(path):
    train, new = random_graphs(12, seed=1, n_attributes=2), random_graphs(4, seed=2, n_attributes=2)
    for name, parameters in PARAMETERS.items():
        detector = GraphKDEDetector(random_state=0, **parameters).fit(train)
        assert_same_after_round_trip(detector, new, path, name)


@pytest.mark.parametrize("labels", [None, "CNO"])
@pytest.mark.parametrize("n_attributes", [0, 3])
def test_graphs_with_and_without_labels_and_attributes(path, labels, n_attributes):
    graphs = random_graphs(12, seed=1, labels=labels, n_attributes=n_attributes)
    assert_same_after_round_trip(GraphKDEDetector(random_state=0).fit(graphs), graphs[:4], path)


def assert_same_after_round_trip(detector, new, path, name=""):
    detector.save(path)
    loaded = skgraphkde.load(path)
    assert_equal(loaded.get_params(), detector.get_params(), name)
    for method in ("decision_function", "predict", "pairwise_distances", "transform", "score"):
        ours, theirs = getattr(loaded, method)(new), getattr(detector, method)(new)
        np.testing.assert_array_equal(ours, theirs, err_msg=f"{name}: {method}")
    assert_equal(attributes(loaded), attributes(detector), name)
    return loaded


def attributes(fitted):
    """Fitted attributes as plain values; of objects their own, one level down."""
    whole = {name: value for name, value in vars(fitted).items() if name.endswith("_")}
    features, references = whole.pop("node_features_"), whole.pop("references_")
    model = whole.pop("model_")
    scaler = getattr(features, "scaler_", None)
    inner = {name: value for name, value in vars(features).items() if name != "scaler_"}
    graphs, measures = references.graphs, references.measures
    kernel = model.size_kernel
    return {
        **whole,
        "features": inner,
        "scaler": None if scaler is None else vars(scaler),
        "state": {name: x.numpy() for name, x in model.state_dict().items()},
        "encoder": (type(model.encoder), model.encoder.n_layers, model.encoder.out_dim),
        "dropout": getattr(model.encoder, "dropout", None),
        "distance": (model.distance.kind, model.distance.gammas, model.distance.correction),
        "frequencies": getattr(model.distance.frequencies, "numpy", lambda: None)(),
        "kde": (model.kde.relative, model.kde.scale, model.kde.multiples),
        "model": (model.leave_one_out, model.adaptive),
        "size_kernel": None if kernel is None else vars(kernel),
        "graphs": (graphs.node_ptr, graphs.labels, graphs.label_names, graphs.attributes),
        "adjacency": graphs.adjacency.toarray(),
        "measures": (measures.points.numpy(), measures.weights.toarray(), measures.sizes),
    }


def assert_equal(a, b, name):
    """Of like types (a NumPy scalar is one of Python's) and equal, NaN to NaN."""
    if isinstance(a, dict):
        assert sorted(a) == sorted(b), name
        for key in a:
            assert_equal(a[key], b[key], f"{name}: {key}")
    elif isinstance(a, tuple | list):
        assert (type(a), len(a)) == (type(b), len(b)), name
        for x, y in zip(a, b, strict=True):
            assert_equal(x, y, name)
    else:
        assert getattr(a, "dtype", None) == getattr(b, "dtype", None) or isinstance(b, np.generic)
        np.testing.assert_array_equal(a, b, err_msg=name)


def test_weighted_pairs_and_data_sets(path):
    rng = np.random.RandomState(0)
    halves = [np.triu(rng.rand(5, 5) * (rng.rand(5, 5) < 0.5), 1) for _ in range(8)]
    pairs = [(half + half.T, rng.rand(5, 3)) for half in halves]
    drawn, molecules = make_barabasi_albert(10, random_state=0), load_mutag()
    for graphs in (pairs, drawn["graphs"], molecules["graphs"][:10]):
        assert_same_after_round_trip(GraphKDEDetector(random_state=0).fit(graphs), graphs, path)


def test_notes_come_back(fitted, path):
    fitted.save(path)
    assert persistence.read(path).notes == {}
    plain = path.read_bytes()
    persistence.save(fitted, path, notes := {"from": ["a", None, {"b": 1.5}]})
    detector, back, version = persistence.read(path)
    assert (back, version) == (notes, skgraphkde.__version__)
    detector.save(path)
    assert path.read_bytes() == plain
    with pytest.raises(TypeError, match="not JSON"):
        persistence.save(fitted, path, {"from": {1, 2}})
    assert path.read_bytes() == plain


def test_notes_that_are_none(fitted, path):
    fitted.save(path)
    values, arrays = _files.read(path)
    _files.write(path, values | {"notes": [1]}, arrays)
    with pytest.raises(InvalidFileError, match="notes is no dict"):
        skgraphkde.load(path)


def test_a_loaded_detector_is_an_estimator_like_any_other(fitted, path):
    fitted.save(str(path))  # a str will do
    loaded = skgraphkde.load(str(path))
    assert clone(loaded).get_params() == fitted.get_params()
    new = random_graphs(5, seed=3)
    scores = fitted.score_samples(new)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).score_samples(new), scores)
    first = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == first  # one detector, one file
    refitted = loaded.fit(random_graphs(12, seed=1))
    np.testing.assert_array_equal(refitted.score_samples(new), scores)


def test_parameters_set_after_fit_do_not_change_what_was_fitted(path):
    train, new = random_graphs(12, seed=1), random_graphs(5, seed=2)
    detector = GraphKDEDetector(random_state=0).fit(train)
    scores = detector.score_samples(new)
    detector.set_params(encoder="gcn", n_layers=4, distance="sum", size_kernel=False)
    np.testing.assert_array_equal(
        assert_same_after_round_trip(detector, new, path).score_samples(new), scores
    )
    with pytest.raises(ValueError, match="dropout"):
        detector.set_params(dropout=2).save(path)


def test_random_streams_and_devices(fitted, path):
    detector = GraphKDEDetector(random_state=np.random.RandomState(0), device=torch.device("cpu"))
    detector.fit(random_graphs(5)).save(path)
    loaded = skgraphkde.load(path)
    assert (loaded.random_state, loaded.device) == (None, "cpu")
    new = random_graphs(5, seed=2)
    np.testing.assert_array_equal(loaded.score_samples(new), detector.score_samples(new))
    elsewhere = pickle.loads(pickle.dumps(fitted)).set_params(device="cuda:7")
    elsewhere.save(path)
    loaded = skgraphkde.load(path)
    assert loaded.device == "cuda:7"
    if torch.cuda.device_count() < 8:
        np.testing.assert_array_equal(loaded.score_samples(new), elsewhere.score_samples(new))


class Element(IntEnum):
    C = 6


LABELS = [3, 2.5, True, "C", "Å\ud800", ("C", (1, None)), np.int64(7), np.str_("N"), 10**30]


def test_labels_of_every_kind(path):
    graphs = random_graphs(9, seed=1, labels=LABELS)
    detector = GraphKDEDetector(random_state=0).fit(graphs)
    loaded = assert_same_after_round_trip(detector, graphs, path)
    names = loaded.node_features_.label_names_
    assert set(names) <= set(LABELS)
    assert {type(name) for name in names} <= {int, float, bool, str, tuple}


@pytest.mark.parametrize(
    "label", [Fraction(1, 2), b"C", frozenset("C"), float("inf"), ("C", 1j), Element.C]
)
def test_other_labels_are_refused_by_name(label, path):
    detector = GraphKDEDetector().fit(random_graphs(6, labels=[label, "N"]))
    with pytest.raises(ValueError, match=re.escape(f"the node label {label!r} cannot be saved")):
        detector.save(path)
    assert not path.exists()


def test_only_fitted_detectors_are_saved(path):
    with pytest.raises(NotFittedError):
        GraphKDEDetector().save(path)

    class Mine(GraphKDEDetector):
        pass

    with pytest.raises(TypeError, match="Mine"):
        Mine().fit(random_graphs(4)).save(path)
    detector = GraphKDEDetector(mmd_gammas=range(1, 3)).fit(random_graphs(4))
    with pytest.raises(ValueError, match=r"mmd_gammas=range\(1, 3\) cannot be saved"):
        detector.save(path)
    assert not path.exists()


# -- elsewhere -------------------------------------------------------------------------------------

LOADER = """
import pickle, sys
import torch
import skgraphkde
from tests.conftest import random_graphs

def refuse(*args, **kwargs):
    raise AssertionError("a file was unpickled")

real = pickle.load, pickle.loads, pickle.Unpickler, torch.load
pickle.load = pickle.loads = pickle.Unpickler = pickle._Unpickler = torch.load = refuse
detector = skgraphkde.load(sys.argv[1])
pickle.load, pickle.loads, pickle.Unpickler, torch.load = real  # numba's cache is pickled
print(detector.score_samples(random_graphs(5, seed=2)).tobytes().hex())
"""


def test_loads_in_another_process_without_pickle_and_gpu(path):
    detector = GraphKDEDetector(**GCN, random_state=0).fit(random_graphs(12, seed=1))
    detector.save(path)
    root = Path(__file__).parents[1]
    environment = {**os.environ, "CUDA_VISIBLE_DEVICES": "", "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", LOADER, str(path)]
    run = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    scores = np.frombuffer(bytes.fromhex(run.stdout.strip()))
    new = random_graphs(5, seed=2)
    if not torch.cuda.is_available():
        np.testing.assert_array_equal(scores, detector.score_samples(new))
    np.testing.assert_allclose(scores, detector.score_samples(new), rtol=1e-6)


def known_graphs():
    """Graphs that nobody draws, with labels and attributes."""
    graphs = [
        make(n) for make in (nx.path_graph, nx.cycle_graph, nx.star_graph) for n in range(3, 9)
    ]
    for graph in graphs:
        for node in graph:
            graph.nodes[node]["label"] = "CNO"[node % 3]
            graph.nodes[node]["x"] = [node * node % 5, len(graph) / 4]
    return graphs


def make_kept_files():
    """Write tests/data. Only for a new format version: files of the old ones stay as they are."""
    graphs, expected = known_graphs(), {}
    for name, parameters in KEPT.items():
        detector = GraphKDEDetector(random_state=0, **parameters).fit(graphs[::2])
        detector.save(DATA / name)
        expected[name] = {
            "scores": detector.score_samples(graphs).tolist(),
            "offset": detector.offset_,
            "contrast": detector.score(graphs),
        }
    (DATA / "detector-v1.json").write_text(json.dumps(expected, indent=1) + "\n")


@pytest.mark.parametrize("name", KEPT)
def test_files_of_version_1_are_read(name):
    expected = json.loads((DATA / "detector-v1.json").read_text())[name]
    detector, graphs = skgraphkde.load(DATA / name), known_graphs()
    np.testing.assert_allclose(detector.score_samples(graphs), expected["scores"], rtol=1e-6)
    assert detector.offset_ == expected["offset"]
    assert detector.score(graphs) == pytest.approx(expected["contrast"], abs=1e-6)
    parameters = {**detector.get_params(), "random_state": 0, **KEPT[name]}
    assert detector.get_params() == parameters
    references = read_graphs(graphs[::2])
    np.testing.assert_array_equal(detector.references_.graphs.labels, references.labels)
    np.testing.assert_array_equal(detector.references_.graphs.attributes, references.attributes)


# -- writing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(fitted, path, monkeypatch, step):
    path.write_bytes(b"old")

    def fail(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        fitted.save(path)
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_written_whole_before_it_has_its_name(fitted, path, monkeypatch):
    replace, seen = os.replace, []

    def watch(source, target):
        assert Path(source).parent == path.parent  # one file system, one step
        assert not path.exists()
        seen.append(Path(source).read_bytes())
        replace(source, target)

    monkeypatch.setattr(os, "replace", watch)
    fitted.save(path)
    assert seen == [path.read_bytes()]
    plain = path.with_name("plain")
    plain.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_folders_that_are_not_there_or_read_only(fitted, tmp_path):
    with pytest.raises(FileNotFoundError):
        fitted.save(tmp_path / "nowhere" / "detector.skg")
    folder = tmp_path / "read_only"
    folder.mkdir(mode=0o500)
    if os.access(folder, os.W_OK):
        pytest.skip("this user may write everywhere")
    with pytest.raises(PermissionError):
        fitted.save(folder / "detector.skg")
    assert not list(folder.iterdir())


def test_what_is_no_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        skgraphkde.load(tmp_path / "nothing")
    with pytest.raises(OSError, match="a folder or a device"):
        skgraphkde.load(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="a folder or a device"):
            skgraphkde.load(tmp_path / "pipe")


# -- damaged and forged files ----------------------------------------------------------------------


def unpacked(path):
    with safe_open(path, framework="numpy") as file:
        names = file.keys()
        arrays = {name: file.get_tensor(name) for name in names}
        return json.loads(file.metadata()["skgraphkde"])["values"], arrays


def forged(values, arrays):
    """A file that says this, its checksum right."""
    arrays = {name: np.asarray(array, order="C") for name, array in arrays.items()}
    digest = _files.digest(json.loads(json.dumps(values)), arrays)
    return to_bytes(arrays, {"skgraphkde": json.dumps({"sha256": digest, "values": values})})


def raw(header, data=b""):
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(header)) + header + data


def damaged_bytes(content, rng):
    """Files cut, flipped, overwritten, shifted; some of each in the header and in the data."""
    n_header = 8 + struct.unpack("<Q", content[:8])[0]
    for place in [
        *range(12),
        *rng.randint(12, n_header, 15),
        *rng.randint(n_header, len(content), 15),
    ]:
        yield "cut", content[:place]
    places = [*range(8), *rng.randint(8, n_header, 50), *rng.randint(n_header, len(content), 40)]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randint(8)
        yield "flipped", bytes(flipped)
    for place in rng.randint(0, len(content), 15):
        yield "zeros", content[:place] + bytes(16) + content[place + 16 :]
        yield "shifted", content[:place] + bytes(rng.bytes(3)) + content[place:]
    yield "longer", content + bytes(8)
    yield "noise", rng.bytes(1000)


def odd_headers():
    """What the container itself can claim: huge, overlapping, nested, unknown."""
    for length in (2**63, 2**64 - 1, 10**8 - 1, 10**12):
        yield struct.pack("<Q", length) + b"{}"
    one = {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}
    for change in (
        {"shape": [2**40], "data_offsets": [0, 2**43]},
        {"shape": [2**33, 2**33]},
        {"shape": [0, 2**62], "data_offsets": [0, 0]},
        {"shape": [-1]},
        {"shape": [1] * 70},
        {"data_offsets": [8, 0]},
        {"data_offsets": [0, 2**64]},
        {"dtype": "O"},
        {"dtype": "BF16", "shape": [4]},
    ):
        yield raw({"a": {**one, **change}}, bytes(8))
    yield raw({"a": one, "b": one}, bytes(8))
    yield raw({"../../etc/passwd": one}, bytes(8))
    yield raw(b'{"a":' * 100_000)
    for content in (
        "",
        "null",
        "[]",
        "{}",
        "[" * 100_000,
        "1" * 10_000,
        '{"values": [], "sha256": 1}',
    ):
        yield raw({"__metadata__": {"skgraphkde": content}})
    for metadata in ("a", {"skgraphkde": 1}, {"format": "pt"}):
        yield raw({"__metadata__": metadata})


def forged_values(values, arrays):
    deep = 1
    for _ in range(400):
        deep = [deep]
    wrong = (None, True, -1, 10**30, -1e300, float("nan"), "../../etc/passwd", [[]], {"a": 1}, deep)
    for name in values:
        yield forged({key: value for key, value in values.items() if key != name}, arrays)
        for value in wrong:
            yield forged({**values, name: value}, arrays)
    for name in ("parameters", "features.parameters"):
        for value in (
            {"array": ["a"], "dtype": "S1000000000"},
            {"array": [1, [2]], "dtype": "float64"},
            {"tuple": 3},
            {"tuple": [10**400]},
        ):
            for key in list(values[name])[::4]:
                yield forged({**values, name: {**values[name], key: value}}, arrays)
        yield forged({**values, name: {**values[name], "system": "rm"}}, arrays)
    yield forged({**values, "more": 1}, arrays)


def forged_arrays(values, arrays):
    for name, array in arrays.items():
        others = {key: value for key, value in arrays.items() if key != name}
        yield forged(values, others)
        yield forged(values, {**others, f"../{name}": array})
        wrong = [
            array.astype(np.float16),
            array[None],
            array.ravel()[:-1],
            np.zeros((0, 2**40), array.dtype) if array.ndim == 2 else np.zeros(0, array.dtype),
            np.zeros(100_000, array.dtype),
            np.concatenate([array, array]) if array.ndim else array[None],
            np.full_like(array, -1),
        ]
        if array.dtype == np.int64:
            wrong += [np.full_like(array, 2**62), np.full_like(array, -(2**63)), np.flip(array)]
        elif not name.startswith("history"):
            wrong += [np.full_like(array, np.nan), np.full_like(array, -np.inf)]
        for other in wrong:
            yield forged(values, {**others, name: other})
    yield forged(values, {**arrays, "more": np.zeros(3)})
    if (name := "model.encoder.weights.0") in arrays:  # the next would be square: 40 GB
        yield forged(values, {**arrays, name: np.zeros((len(arrays[name]), 100_000), np.float32)})


def test_messages_say_what_is_wrong(fitted, path):
    fitted.save(path)
    values, arrays = unpacked(path)
    content = path.read_bytes()
    later = forged({**values, "format_version": 2, "library_version": "9.1"}, arrays)
    narrow = forged(values, {**arrays, "size_kernel.scale": np.ones(1)})
    for broken, message in (
        (later, "it has format 2, written by skgraphkde 9.1, and this version reads format 1"),
        (content.replace(b"loo", b"lop"), "checksum is wrong"),
        (to_bytes({"a": np.ones(3)}), "it holds something else"),
        (narrow, r"size_kernel.scale is float64 \(1,\), expected float64 \(2,\)"),
    ):
        path.write_bytes(broken)
        with pytest.raises(InvalidFileError, match=message):
            skgraphkde.load(path)


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


def contradictions(arrays):
    """Arrays that are right each by itself, and what is said of them."""
    weights, edges = (arrays[f"{x}.indices"] for x in ("measures.weights", "graphs.adjacency"))
    n_points, n_nodes = len(arrays["measures.points"]), arrays["graphs.node_ptr"][-1]
    means, node_ptr = arrays["model.encoder.means"], arrays["graphs.node_ptr"]
    for name, array, message in (
        ("measures.weights.indices", changed(weights, -1, n_points), "out of range"),
        ("measures.weights.indices", changed(weights, 0, -1), "out of range"),
        ("measures.weights.data", np.ones(len(weights)), "no measures"),
        ("graphs.adjacency.indices", changed(edges, -1, n_nodes), "out of range"),
        ("graphs.adjacency.indices", changed(edges, 0, n_nodes - 1), "between graphs"),
        ("graphs.adjacency.indices", changed(edges, 0, 0), "not undirected"),
        ("graphs.adjacency.data", changed(arrays["graphs.adjacency.data"], 0, 2), "not undirected"),
        ("graphs.node_ptr", changed(node_ptr, 1, node_ptr[2]), "not ascending"),
        ("graphs.node_ptr", changed(node_ptr, 1, 2**63 - 1), "not ascending"),
        ("model.encoder.means", np.hstack([means, means]), "differ in width"),
        ("model.encoder.scales", 0 * means, "not positive"),
        ("features.attributes", np.array([2]), "out of range"),
        ("kde.multiples", np.zeros(3), "out of range"),
    ):
        yield {**arrays, name: array}, message


def test_arrays_that_contradict_each_other(path):
    values, arrays = unpacked(DATA / "detector-v1-defaults.skg")
    for odd, message in contradictions(arrays):
        path.write_bytes(forged(values, odd))
        with pytest.raises(InvalidFileError, match=message):
            skgraphkde.load(path)


@contextmanager
def limited_memory(n_bytes):
    """Allocating more than this fails, where the system can be told so."""
    try:
        import resource

        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def outcome(path, content, graphs):
    """Whether a file is "refused" or "harmless", that is, gives finite scores."""
    path.write_bytes(content)
    try:
        detector = skgraphkde.load(path)
    except InvalidFileError as error:
        message = str(error)
        assert str(path) in message
        assert "fit and save anew" in message
        assert "alloc" not in message
        assert len(message) < 1500
        return "refused"
    assert np.isfinite(detector.score_samples(graphs)).all()
    return "harmless"


@pytest.mark.parametrize("name", KEPT)
def test_damaged_and_forged_files(name, path, capsys):
    rng = np.random.RandomState(0)
    values, arrays = unpacked(DATA / name)
    graphs, content = known_graphs()[:2], (DATA / name).read_bytes()
    assert outcome(path, content, graphs) == outcome(path, forged(values, arrays), graphs)
    files = list(damaged_bytes(content, rng))
    files += [("odd header", odd) for odd in odd_headers()]
    files += [("forged value", odd) for odd in forged_values(values, arrays)]
    files += [("forged array", odd) for odd in forged_arrays(values, arrays)]
    counts = {}
    with limited_memory(2**29):
        for kind, odd in files:
            key = kind, outcome(path, odd, graphs)
            counts[key] = counts.get(key, 0) + 1
    with capsys.disabled():
        lines = (f"  {kind}: {n} {result}" for (kind, result), n in counts.items())
        print(f"\n{len(files)} files made of {name}", *lines, sep="\n")
    assert len(files) > 200
    assert list(path.parent.iterdir()) == [path]
    for kind in ("cut", "zeros", "shifted", "noise", "longer", "odd header"):
        assert (kind, "harmless") not in counts, kind
