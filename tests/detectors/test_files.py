"""Files of fitted detectors: what is saved comes back, elsewhere and later, too."""

import os
import pickle
import re
from enum import IntEnum
from fractions import Fraction

import numpy as np
import pytest
import torch
from skgraphkde.density.model import DensityModel
from sklearn.base import clone

import skgraphkde
from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
    NodeFeatures,
    Propagation,
    Rarity,
    References,
    SpectralEdges,
    Split,
    Twins,
    paper_settings,
    persistence,
)
from skgraphkde.datasets import load_mutag
from skgraphkde.detectors import files
from tests.conftest import densities, random_graphs
from tests.detectors.conftest import ONE_VIEW
from tests.detectors.forging import forged


@pytest.fixture(scope="module")
def fitted():
    return GraphKDEDetector(random_state=0).fit(random_graphs(12, seed=1))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "detector.skg"


# -- there and back --------------------------------------------------------------------------------

TRAINED = {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=2)}
RANDOM_FEATURES = MMD(method="random_features", n_components=32)
PARAMETERS = {
    "defaults": {},
    "one view": ONE_VIEW,
    "many distances": {
        "views": (*densities("mean", MMD([0.5, 2]), "sum", MMD(estimator="unbiased")), "novelty"),
    },
    "random features of several": {
        "views": (
            *densities(MMD(method="random_features", n_components=32), RANDOM_FEATURES, "mean"),
            "novelty",
        ),
    },
    "gcn": TRAINED,
    "paper": paper_settings(
        encoder=GCN(hidden_dim=8), training=Contrastive(max_iter=1, leave_one_out=False)
    ),
    "split": {"calibration": Split(0.4), "contamination": 0.25},
    "fewer references": {"references": References("importance", ratio=0.5)},
    "lists": {
        "views": Density(MMD([1, 10.0]), KDE([0.2, 1])),
        "training": Contrastive(max_iter=1, twins=Twins(edges=SpectralEdges([0.4, 0.7]))),
    },
    "arrays and NumPy scalars": {
        "views": (Density(MMD(np.array([0.1, 3], dtype=np.float32))), Rarity(edges=True)),
        "encoder": GCN(hidden_dim=np.int64(4), dropout=np.float32(0.1)),
        "features": NodeFeatures(["degree", "label"]),
    },
    "walks": {"features": NodeFeatures(("random_walk",)), "encoder": Propagation(0)},
}


@pytest.mark.parametrize("parameters", PARAMETERS.values(), ids=PARAMETERS)
def test_every_parameter_set_makes_a_round_trip(path, parameters):
    train, new = random_graphs(12, seed=1, n_attributes=2), random_graphs(4, seed=2, n_attributes=2)
    detector = GraphKDEDetector(random_state=0, **parameters).fit(train)
    assert_same_after_round_trip(detector, new, path)


@pytest.mark.parametrize(
    "graphs",
    [
        random_graphs(12, seed=1, labels=None),
        random_graphs(12, seed=1, labels=None, n_attributes=3),
        random_graphs(12, seed=1, n_attributes=3),
        [
            (0.5 * (np.ones((n, n)) - np.eye(n)), np.arange(3.0 * n).reshape(n, 3))
            for n in range(3, 11)
        ],
        load_mutag().graphs[:10],
    ],
    ids=["plain", "attributes", "labels and attributes", "weighted pairs", "sizes", "molecules"],
)
def test_graphs_of_every_kind(path, graphs):
    assert_same_after_round_trip(GraphKDEDetector(random_state=0).fit(graphs), graphs[:4], path)


def assert_same_after_round_trip(detector, new, path):
    detector.save(path)
    loaded = skgraphkde.load(path)
    for method in ("decision_function", "predict", "pairwise_distances", "transform", "score"):
        ours, theirs = getattr(loaded, method)(new), getattr(detector, method)(new)
        np.testing.assert_array_equal(ours, theirs, err_msg=method)
    assert_same(loaded, detector)
    return loaded


def assert_same(a, b):
    """Saved, both give the same text and the same arrays."""
    in_memory = {"_node_ids"}
    assert vars(a).keys() | in_memory == vars(b).keys() | in_memory
    assert vars(a.model_).keys() | {"_references"} == vars(b.model_).keys() | {"_references"}
    (tree, arrays), (other_tree, other_arrays) = persistence.encode(a), persistence.encode(b)
    assert tree == other_tree
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name, strict=True)


def test_notes_come_back(fitted, path):
    fitted.save(path)
    assert files.read(path).notes == {}
    plain = path.read_bytes()
    fitted.save(path, notes := {"from": ["a", None, {"b": 1.5}]})
    detector, back, version = files.read(path)
    assert (back, version) == (notes, skgraphkde.__version__)
    detector.save(path)
    assert path.read_bytes() == plain
    for wrong, message in (
        ({"from": {1, 2}}, r"notes\.from cannot be saved: \{1, 2\} is a set"),
        ([1], "notes is missing or not of type dict"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.save(path, wrong)
    assert path.read_bytes() == plain


def test_a_loaded_detector_is_an_estimator_like_any_other(fitted, path):
    fitted.save(str(path))  # a str will do
    loaded = skgraphkde.load(str(path))
    assert clone(loaded).get_params(deep=False) == fitted.get_params(deep=False)
    new = random_graphs(5, seed=3)
    scores = fitted.score_samples(new)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).score_samples(new), scores)
    first = path.read_bytes()
    loaded.save(path)
    assert path.read_bytes() == first  # one detector, one file
    refitted = loaded.fit(random_graphs(12, seed=1))
    np.testing.assert_array_equal(refitted.score_samples(new), scores)


OF_MACHINE = {"n_jobs": 12, "device": "cuda:7", "verbose": 1, "training__checkpoint": "/tmp/state"}


def test_random_streams_are_not_kept(path):
    detector = GraphKDEDetector(random_state=np.random.RandomState(0))
    detector.fit(random_graphs(5)).save(path)
    loaded = skgraphkde.load(path)
    assert loaded.random_state is None
    new = random_graphs(5, seed=2)
    np.testing.assert_array_equal(loaded.score_samples(new), detector.score_samples(new))


def test_what_concerns_the_machine_is_not_kept(fitted, path):
    detector = pickle.loads(pickle.dumps(fitted))
    detector.set_params(training="contrastive").set_params(**OF_MACHINE).save(path)
    loaded = skgraphkde.load(path).get_params()
    defaults = GraphKDEDetector(training="contrastive").get_params()
    assert {name: loaded[name] for name in OF_MACHINE} == {n: defaults[n] for n in OF_MACHINE}
    assert not [word for word in (b"n_jobs", b"cuda", b"/tmp/state") if word in path.read_bytes()]


def test_what_concerns_the_machine_is_not_taken_from_a_file(fitted, path):
    detector = pickle.loads(pickle.dumps(fitted)).set_params(training="contrastive")
    detector.set_params(training=detector.specification("training")).save(path)
    tree, arrays = persistence.read(path)
    parameters = tree["dict"]["detector"]["state"]["dict"]["parameters"]["dict"]
    parameters |= {name: value for name, value in OF_MACHINE.items() if "__" not in name}
    parameters["training"]["state"]["dict"]["checkpoint"] = OF_MACHINE["training__checkpoint"]
    path.write_bytes(forged(tree, arrays))
    loaded = skgraphkde.load(path).get_params()
    defaults = detector.get_params()
    assert {name: loaded[name] for name in OF_MACHINE} == {n: defaults[n] for n in OF_MACHINE}


def test_references_are_embedded_once_and_not_by_load(fitted, path, monkeypatch):
    fitted.save(path)
    embedded, embed = [], DensityModel.embed

    def count(model, graphs, *args):
        embedded.append(len(graphs))
        return embed(model, graphs, *args)

    monkeypatch.setattr(DensityModel, "embed", count)
    loaded, new = skgraphkde.load(path), random_graphs(3, seed=2)
    assert embedded == []
    for _ in range(2):
        loaded.score_samples(new)
    assert sorted(embedded) == [3, 3, 12]
    worker = pickle.loads(pickle.dumps(skgraphkde.load(path)))  # with what it needs
    worker.score_samples(new)
    assert sorted(embedded) == [3, 3, 3, 12, 12]


class Element(IntEnum):
    C = 6


LABELS = [3, 2.5, True, "C", "Å\ud800", ("C", (1, None)), np.int64(7), np.str_("N"), 10**30]


def test_labels_of_every_kind(path):
    graphs = random_graphs(9, seed=1, labels=LABELS)
    detector = GraphKDEDetector(random_state=0).fit(graphs)
    loaded = assert_same_after_round_trip(detector, graphs, path)
    (names,) = loaded.model_.features.block("label").vocabularies
    assert set(names) <= set(LABELS)
    assert {type(name) for name in names} <= {int, float, bool, str, tuple}


@pytest.mark.parametrize(
    ("label", "part"),
    [
        *((x, x) for x in (Fraction(1, 2), b"C", frozenset("C"), float("inf"), Element.C)),
        (("C", 1j), 1j),
    ],
)
def test_other_labels_are_refused_by_name(label, part, path):
    detector = GraphKDEDetector().fit(random_graphs(6, labels=[label, "N"]))
    message = f"cannot be saved: {part!r} is a {type(part).__name__}."
    with pytest.raises(ValueError, match=r"\.vocabularies\.0\.[01].* " + re.escape(message)):
        detector.save(path)
    assert not path.exists()


def test_not_a_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        skgraphkde.load(tmp_path / "nothing")
    with pytest.raises(OSError, match="a folder or a device"):
        skgraphkde.load(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(OSError, match="a folder or a device"):
            skgraphkde.load(tmp_path / "pipe")


def test_loading_unpickles_nothing(fitted, path, monkeypatch):
    fitted.save(path)
    with monkeypatch.context() as patched:
        for name in ("load", "loads", "Unpickler", "_Unpickler"):
            patched.setattr(pickle, name, None)
        patched.setattr(torch, "load", None)
        loaded = skgraphkde.load(path)
    new = random_graphs(5, seed=2)
    np.testing.assert_array_equal(loaded.score_samples(new), fitted.score_samples(new))
