"""Files of fitted detectors: what is saved comes back, and files that are none are refused."""

import contextlib
import copy
import datetime
import errno
import importlib
import io
import json
import os
import pickle
import zipfile
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from uuid import UUID, SafeUUID
from zoneinfo import ZoneInfo

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.base import clone

import skgraphkde
from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Density,
    GraphKDEDetector,
    GraphSchema,
    InvalidFileError,
    NodeFeatures,
    Numbers,
    Split,
    saving,
)
from skgraphkde.explanation import explain
from skgraphkde.monitoring import DriftMonitor
from tests.conftest import random_graphs, with_data
from tests.core.views.common import DegreeEntropy
from tests.detectors.common import EdgeCount
from tests.golden import TABLE_SCHEMA, cases, trace

PLAIN = [random_graphs(n, seed=n, n_attributes=2) for n in (16, 5)]
TIME = datetime.datetime(2026, 1, 31, tzinfo=datetime.UTC)


class Kind(str, Enum):  # noqa: UP042 - a StrEnum has other texts
    A = "a"


VALUES = [TIME, TIME.date(), TIME.time(), TIME - TIME, Decimal("1.50"), UUID(int=1)]
EQUAL = [TIME.astimezone(ZoneInfo("Europe/Berlin")), pd.Timestamp("2020-05-01"), Kind.A]
LABELS = [3, 2.5, True, "C", "Å", ("C", (1, None)), 10**30, *VALUES, *EQUAL]
NAMED = [random_graphs(30, seed=seed, labels=LABELS) for seed in (1, 2)]
CASES = {
    "defaults": (PLAIN, {}),
    "no data": ([[nx.cycle_graph(n) for n in range(3, 20)], [nx.star_graph(5)]], {}),
    "categories and numbers of nodes, edges and graphs": (
        [[trace(seed) for seed in range(start, start + 20)] for start in (0, 20)],
        {"schema": "all"},
    ),
    "missing numbers": (
        [cases()[:20], cases()[20:40]],
        {"views": ("density", "novelty", Numbers(20)), "schema": TABLE_SCHEMA},
    ),
    "labels of every kind": (NAMED, {}),
    "a second category that follows from the first": (
        [
            [with_data(graph, {"a": lambda v: "xy"[v % 2], "b": "k"}) for graph in graphs]
            for graphs in (random_graphs(16, seed=16), random_graphs(5, seed=5))
        ],
        {"schema": GraphSchema(node_categories=("a", "b"))},
    ),
    "network": (PLAIN, {"encoder": GCN(hidden_dim=8)}),
    "split": (PLAIN, {"calibration": Split(0.4), "contamination": 0.25}),
    "few references": (PLAIN, {"max_references": 8, "contamination": "auto"}),
    "random features": (PLAIN, {"views": Density(MMD(method="random_features", n_components=32))}),
    "lists and arrays": (
        PLAIN,
        {
            "views": [("density", Density(MMD([1, 10.0]), KDE(np.array([0.2, 1]))))],
            "encoder": GCN(hidden_dim=np.int64(4), dropout=np.float32(0.1)),
            "features": NodeFeatures(["degree", "label"]),
        },
    ),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "detector.skg"


@pytest.fixture(scope="module")
def fitted():
    return GraphKDEDetector(random_state=0).fit(PLAIN[0])


def assert_same(loaded, detector, new):
    for method in ("score_samples", "predict", "pairwise_distances", "transform"):
        actual, expected = getattr(loaded, method)(new), getattr(detector, method)(new)
        np.testing.assert_array_equal(actual, expected, err_msg=method)
    for name in ("calibration_scores_", "calibration_graphs_", "offset_", "verdicts_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(detector, name))
    assert loaded.get_params().keys() == detector.get_params().keys()
    assert explain(loaded, new).equals(explain(detector, new))


# -- there and back --------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_files_and_pickles_equal_the_detector_to_the_last_bit(path, case):
    (train, new), parameters = CASES[case]
    detector = GraphKDEDetector(**{"random_state": 0, **parameters}).fit(train)
    detector.save(path)
    for copied in (skgraphkde.load(path), pickle.loads(pickle.dumps(detector))):
        assert_same(copied, detector, new)


def test_verdicts_are_saved_and_more_can_be_learned(fitted, path):
    train, new = PLAIN
    detector = clone(fitted).fit(train).learn([*new[:2], train[0]], [-1, -1, -1])
    detector.save(str(path))  # a str will do
    loaded = skgraphkde.load(str(path))
    assert_same(loaded, detector, new)
    for one in (loaded, detector):
        one.learn(new[2:4], [-1, 1])
    assert_same(loaded, detector, new)


def test_a_loaded_detector_is_an_estimator_like_any_other(fitted, path):
    fitted.save(path)
    loaded = skgraphkde.load(path)
    assert clone(loaded).get_params(deep=False) == fitted.get_params(deep=False)
    assert_same(loaded.fit(PLAIN[0]), fitted, PLAIN[1])
    detectors = [clone(fitted).set_params(encoder=GCN(hidden_dim=4)) for _ in range(2)]
    for i in range(2):  # the generator goes on where it was
        detectors[i].set_params(random_state=np.random.RandomState(0)).fit(PLAIN[0])
        detectors[i].save(path)
    detectors[1] = skgraphkde.load(path)
    assert_same(detectors[1].fit(PLAIN[0]), detectors[0].fit(PLAIN[0]), PLAIN[1])


def test_own_classes_are_loaded_by_those_who_trust_them(path):
    graphs = [nx.path_graph(n) for n in range(10, 30)]
    for detector, name in (
        (EdgeCount(contamination=0.2), "tests.detectors.common.EdgeCount"),
        (
            GraphKDEDetector(views=("density", DegreeEntropy())),
            "tests.core.views.common.DegreeEntropy",
        ),
    ):
        detector.fit(graphs).save(path)
        with pytest.raises(InvalidFileError, match=f"contains {name}, which .* trusted="):
            skgraphkde.load(path)
        loaded = skgraphkde.load(path, trusted=[name])
        assert type(loaded) is type(detector)
        np.testing.assert_array_equal(loaded.score_samples(graphs), detector.score_samples(graphs))


@pytest.mark.parametrize(
    "values",
    [pd.to_datetime([1, 2]), list(SafeUUID), [range(1), range(2)], [1j, 2j]],
    ids=["time", "enum", "range", "complex"],
)
def test_what_cannot_be_read_back_is_not_written(path, values):
    graphs = [with_data(nx.path_graph(4), {"label": [*values, *values]}) for _ in range(5)]
    detector = GraphKDEDetector(schema=GraphSchema(node_categories="label")).fit(graphs)
    name = type(values[0]).__name__
    with pytest.raises(ValueError, match=f"{name}.*: make categories text before fit"):
        detector.save(path)
    assert not path.exists()


class Arrays(pickle.Pickler):
    """Lists the arrays of what it pickles."""

    def persistent_id(self, x):
        if isinstance(x, np.ndarray):
            self.found.append(x)


def test_fitted_arrays_are_read_only(path):
    graphs = [trace(seed) for seed in range(20)]
    detector = GraphKDEDetector(schema="all").fit(graphs, verdicts=[-1, 1] + [0] * 18)
    detector.save(path)
    for one in (detector, skgraphkde.load(path), pickle.loads(pickle.dumps(detector))):
        arrays = Arrays(io.BytesIO())
        arrays.found = []
        arrays.dump([one, one.model_.clouds])
        assert len(arrays.found) > 100
        assert not any(x.flags.writeable for x in arrays.found)


def test_a_file_of_another_version_warns_of_both(fitted, path, monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(saving, "__version__", "0.1.7")
        fitted.save(path)
    with pytest.warns(UserWarning, match=r"skgraphkde 0\.1\.7 wrote .*, and this is .* again"):
        assert_same(skgraphkde.load(path), fitted, PLAIN[1])


def test_trusted_classes_exist():
    for name in saving.TRUSTED:
        module, _, cls = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), cls), type)


# -- what is refused -------------------------------------------------------------------------------


ZIP = io.BytesIO()
with zipfile.ZipFile(ZIP, "w") as file:
    file.writestr("a.txt", "text")
OTHERS = {
    "empty": (b"", "is not a file .* fit and save again"),
    "text": (b"some text", "is not a file .* fit and save again"),
    "safetensors": (
        b"\x40\x00\x00\x00\x00\x00\x00\x00" + b'{"skgraphkde": "0.2"}' * 9,
        "is not a file .* fit and save again",
    ),
    "zip": (ZIP.getvalue(), "damaged, of another version"),
    "number": (skops.io.dumps(3), "contains no detector"),
    "list": (skops.io.dumps({"detector": [1]}), "contains no detector"),
    "features": (skops.io.dumps({"other": NodeFeatures()}), "contains no detector"),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_files_without_a_detector_are_refused(path, kind):
    contents, message = OTHERS[kind]
    path.write_bytes(contents)
    with pytest.raises(InvalidFileError, match=message):
        skgraphkde.load(path)


@contextlib.contextmanager
def changed(path):
    """The tree of objects of a file, which can be changed."""
    with zipfile.ZipFile(path) as file:
        contents = {name: file.read(name) for name in file.namelist()}
    state = json.loads(contents["schema.json"])
    yield state
    with zipfile.ZipFile(path, "w") as file:
        for member, content in (contents | {"schema.json": json.dumps(state)}).items():
            file.writestr(member, content)


@pytest.mark.parametrize("name", ["schema", "verbose", "schema_", "verdicts_", "calibration_"])
def test_a_file_that_lacks_a_field_is_refused(fitted, path, name):
    fitted.save(path)
    with changed(path) as state:
        del state["content"]["detector"]["content"]["content"][name]
    with pytest.raises(InvalidFileError, match=f"{name}.*: use another copy"):
        skgraphkde.load(path)


def test_damaged_files_are_refused(fitted, path):
    fitted.save(path)
    contents = path.read_bytes()
    damaged = [contents[:-1], contents[:100], contents[: len(contents) // 2], contents[100:]]
    rng = np.random.RandomState(0)
    for _ in range(60):
        changed = bytearray(contents)
        changed[rng.randint(len(contents))] ^= 1 << rng.randint(8)
        damaged.append(bytes(changed))
    for one in damaged:
        path.write_bytes(one)
        try:
            loaded = skgraphkde.load(path)
        except InvalidFileError:
            continue
        np.testing.assert_array_equal(  # what was changed is no content
            loaded.score_samples(PLAIN[1]), fitted.score_samples(PLAIN[1])
        )


def test_a_file_of_a_newer_skops_says_so(fitted, path):
    fitted.save(path)
    with changed(path) as state:
        state |= {"protocol": 99, "_skops_version": "7.8"}
    message = f"skops 7.8 wrote .*detector.skg in version 99 .* this is skops {skops.__version__},"
    with pytest.raises(InvalidFileError, match=f"^{message}.* up to .*pip install"):
        skgraphkde.load(path)


def test_a_file_calls_no_method(fitted, path):
    """As of any object could be had with skops 0.11, and from there, code could run."""
    fitted.save(path)
    with changed(path) as state:
        content = state["content"]["detector"]["content"]["content"]
        own = content["model_"]["content"]["content"]["embedding"]["content"]["content"]["features"]
        content["other"] = {
            **{name: own[name] for name in ("__class__", "__module__")},
            **{"__loader__": "MethodNode", "content": {"obj": own, "func": "validate"}},
        }
        keys = state["content"]["detector"]["content"]["key_types"]["content"]
        keys.append(keys[0])
    with pytest.raises(
        InvalidFileError, match=r"contains skgraphkde\.core\.points\.features\..*\.validate"
    ):
        skgraphkde.load(path)


class Spy:
    """Calls are counted, of any method."""

    n_calls = 0

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        Spy.n_calls += 1
        return self


@pytest.mark.parametrize(
    ("owner", "name"),
    [
        ("", "embedding"),
        ("", "references"),
        ("", "categories"),
        ("embedding", "features"),
        ("embedding", "encoder"),
        ("views.0", "distance_"),
    ],
)
def test_what_is_called_is_of_its_class(path, owner, name):
    detector = GraphKDEDetector(views=["density"], encoder=GCN(hidden_dim=4)).fit(PLAIN[0])
    of = detector.model_
    for part in owner.split("."):
        of = of[int(part)] if part.isdigit() else getattr(of, part) if part else of
    setattr(of, name, Spy())
    detector.save(path)
    Spy.n_calls = 0
    with pytest.raises(InvalidFileError, match="a Spy in place of a "):
        skgraphkde.load(path, trusted=["tests.test_saving.Spy"])
    assert Spy.n_calls == 0


def test_an_encoder_is_built_by_its_class():
    detector = GraphKDEDetector(views=["density"], encoder=GCN(hidden_dim=4)).fit(PLAIN[0])
    detector.model_.encoder.specification = Spy()
    pickled, Spy.n_calls = pickle.dumps(detector), 0
    with pytest.raises(TypeError, match="a Spy in place of a TorchEncoder"):
        pickle.loads(pickled)
    assert Spy.n_calls == 0


@pytest.mark.parametrize("wrong", [-7, 2**31 - 2])
def test_a_damaged_file_is_refused_before_loops_read_where_it_says(path, wrong):
    detector = GraphKDEDetector(views=["density", "tanimoto"]).fit(PLAIN[0])
    views = detector.model_.views
    for matrix in (detector.training_graphs_.adjacency, views[1].counts_.counts):
        copied, right = copy.deepcopy(detector), matrix.indices
        matrix.indices = np.where(np.arange(len(right)) % 5, right, wrong).astype(right.dtype)
        detector.save(path)
        matrix.indices = right
        with pytest.raises(InvalidFileError, match=r"damaged.*\(indices of \w+\): use another"):
            skgraphkde.load(path)
        assert_same(detector, copied, PLAIN[1])


def test_not_a_file_is_an_os_error(tmp_path, fitted):
    with pytest.raises(FileNotFoundError):
        skgraphkde.load(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        for function in (skgraphkde.load, fitted.save):
            with pytest.raises(OSError, match="a folder or a device"):
                function(path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(OSError, match="loop is a symbolic link to itself: give"):
        fitted.save(tmp_path / "loop")


def write_half(path):
    with saving.atomic_file(path) as file:
        file.write(b"half")
        raise RuntimeError("the disk is full")


def test_a_file_is_replaced_in_one_step(fitted, path, monkeypatch):
    link = path.with_name("link.skg")
    os.symlink(path, link)
    fitted.save(path)
    before = path.read_bytes()
    with pytest.raises(RuntimeError, match="disk is full"):
        write_half(path)
    replaced = []
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", lambda *paths: replaced.append(paths))
        fitted.save(link)
    [(temporary, target)] = replaced
    assert target == path
    assert temporary.parent == path.parent
    assert path.read_bytes() == before
    assert sorted(os.listdir(path.parent)) == sorted([path.name, link.name])
    clone(fitted).fit(PLAIN[0][:9]).save(link)
    assert len(skgraphkde.load(path).training_graphs_) == 9
    assert link.is_symlink()


def test_a_file_has_no_ids_of_nodes(path):
    graphs = [nx.relabel_nodes(graph, lambda i: Fraction(i, 7)) for graph in PLAIN[0]]
    fitted = GraphKDEDetector(views="density").fit(graphs)
    fitted.save(path)
    assert skgraphkde.load(path).training_graphs_.node_ids is None
    for copied in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        np.testing.assert_array_equal(
            copied.training_graphs_.node_ids, fitted.training_graphs_.node_ids
        )


def test_errors_name_the_file_that_was_given(tmp_path):
    path = tmp_path / "missing" / "model.skg"
    with pytest.raises(OSError, match=r"\.skg'$") as caught, saving.atomic_file(path):
        pass
    assert caught.value.filename == str(path)
    path, others = tmp_path / "model.skg", [errno.EACCES, "Permission denied", "other.html"]
    for given, named in (([errno.ENOSPC, "No space left"], str(path)), (others, "other.html")):
        with pytest.raises(OSError, match=rf"{given[1]}.*'{named}'$"), saving.atomic_file(path):
            raise OSError(*given)
    assert list(tmp_path.iterdir()) == []


# -- files that are no paths, and monitors ---------------------------------------------------------


@pytest.mark.parametrize("kind", ["bytes", "bytearray", "memoryview", "BytesIO", "file"])
def test_bytes_and_open_files_are_files_as_well(fitted, path, kind):
    stream = io.BytesIO()
    fitted.save(stream)
    contents = stream.getvalue()
    fitted.save(path)
    given = {
        "bytes": contents,
        "bytearray": bytearray(contents),
        "memoryview": memoryview(contents),
        "BytesIO": io.BytesIO(contents),
    }
    with open(path, "rb") as file:
        loaded = skgraphkde.load(given.get(kind, file))
    assert loaded.info() == fitted.info()
    np.testing.assert_array_equal(loaded.score_samples(PLAIN[1]), fitted.score_samples(PLAIN[1]))


def test_what_is_wrong_with_bytes_is_an_error(fitted, path):
    stream = io.BytesIO()
    fitted.save(stream)
    with pytest.raises(InvalidFileError, match="this is damaged"):
        skgraphkde.load(stream.getvalue().replace(b"schema.json", b"schema.jso_"))
    with pytest.raises(InvalidFileError, match="this is not a file that skgraphkde"):
        skgraphkde.load(b"no zip")
    with pytest.raises(InvalidFileError, match="the file is not a file that"):
        skgraphkde.load(io.BytesIO(b""))
    fitted.save(path)
    with open(path, encoding="latin-1") as file, pytest.raises(TypeError, match="mode 'rb'"):
        skgraphkde.load(file)


def test_a_model_says_what_it_is(fitted, path):
    known = fitted.info()
    assert known["n_graphs"] == len(PLAIN[0])
    assert known["versions"]["skgraphkde"] == skgraphkde.__version__
    assert known["versions"]["numpy"] == np.__version__
    assert known["offset"] == fitted.offset_
    json.dumps(known)  # of plain types
    again = clone(fitted).fit(PLAIN[0])
    assert again.info()["checksum"] == known["checksum"]
    assert clone(fitted).fit(PLAIN[0][1:]).info()["checksum"] != known["checksum"]
    other = [graph.copy() for graph in PLAIN[0]]
    other[3].nodes[0]["x"] = np.add(other[3].nodes[0]["x"], 1e-9)
    assert clone(fitted).fit(other).info()["checksum"] != known["checksum"]


def test_a_monitor_goes_on_from_its_file(path):
    graphs = [nx.connected_watts_strogatz_graph(14, 4, 0.2, seed=k) for k in range(120)]
    detector = GraphKDEDetector(random_state=0).fit(graphs[:60])
    monitor = DriftMonitor(detector, false_alarm_rate=0.1, random_state=1)
    with contextlib.suppress(UserWarning):
        monitor.update([*graphs[60:80], *[nx.star_graph(n) for n in range(12, 30)]])
    assert monitor.alarms_
    monitor.save(path)
    loaded = skgraphkde.load(path)
    assert loaded.alarms_ == monitor.alarms_
    assert type(loaded.alarms_[0]) is type(monitor.alarms_[0])
    pd.testing.assert_frame_equal(loaded.update(graphs[80:]), monitor.update(graphs[80:]))


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x._p_values._sorted.reverse(),
        lambda x: x._p_values._sorted.clear(),
        lambda x: setattr(x, "threshold_", 3.0),
        lambda x: setattr(x, "_were_known", np.zeros(99, dtype=bool)),
        lambda x: setattr(x._evidence, "_capital", np.zeros(2)),
        lambda x: setattr(x._evidence, "_best", np.full(24, np.nan)),
        lambda x: setattr(x._evidence, "n_steps", -1),
        lambda x: setattr(x._p_values, "_random", 3),
        lambda x: setattr(x, "_evidence", None),
    ],
)
def test_a_damaged_monitor_is_refused(path, change):
    detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(5, 30)])
    monitor = DriftMonitor(detector, random_state=1)
    change(monitor)
    monitor.save(path)
    with pytest.raises(InvalidFileError, match="is damaged"):
        skgraphkde.load(path)
