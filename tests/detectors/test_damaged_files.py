"""Damaged and changed files: each is refused with one kind of error, or is harmless."""

import numpy as np
import pytest
from safetensors.numpy import save as to_bytes

import skgraphkde
from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
    GraphSchema,
    InvalidFileError,
    NodeFeatures,
    Novelty,
    References,
    SpectralEdges,
    Split,
    Twins,
    persistence,
)
from tests.conftest import random_graphs
from tests.detectors.forging import (
    changed,
    encoded,
    find,
    forged,
    outcome,
    replaced,
)

KINDS = {
    "defaults": {},
    "nested": {
        "features": NodeFeatures(("label", "degree")),
        "encoder": GCN(hidden_dim=4),
        "views": (
            Density(
                MMD((0.1, 1.0), method="random_features", n_components=8), KDE(size_kernel=False)
            ),
            Novelty(2),
        ),
        "training": Contrastive(max_iter=1, twins=Twins(0.5, edges=SpectralEdges((0.4, 0.7)))),
        "references": References(ratio=0.9),
        "calibration": Split(0.4),
        "contamination": 0.25,
    },
    "typed": {
        "schema": GraphSchema(node_numbers="x", edge_categories="kind", edge_numbers="flow"),
        "views": ("density", Novelty(1), "rarity", "statistics", "numbers"),
    },
}


def graphs_of(name, n_graphs):
    graphs, rng = random_graphs(n_graphs, seed=1, n_attributes=2), np.random.RandomState(0)
    for data in (data for graph in graphs for data in graph.edges.values()):
        if name == "typed":
            data.update(kind="ab"[rng.randint(2)], flow=rng.rand())
    return graphs


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    for name, parameters in KINDS.items():
        detector = GraphKDEDetector(random_state=0, **parameters)
        detector.fit(graphs_of(name, 12)).save(folder / name)
    return folder


@pytest.fixture
def path(tmp_path):
    return tmp_path / "detector.skg"


# -- damaged files ---------------------------------------------------------------------------------


def damaged(content, rng):
    """The file cut, with a flipped bit, overwritten, longer, or something else altogether."""
    for place in rng.randint(0, len(content), 30):
        yield content[:place]
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randint(8)
        yield bytes(flipped)
        yield content[:place] + bytes(rng.bytes(3)) + content[place:]
    yield content + bytes(8)
    yield rng.bytes(1000)
    yield to_bytes({}, {"skgraphkde": "[" * 100_000})
    yield to_bytes({}, {"skgraphkde": '{"values": [], "sha256": 1}'})


def test_damaged_files(folder, path):
    content = (folder / "defaults").read_bytes()
    assert outcome(path, content, graphs_of("defaults", 2)) == "harmless"
    results = [
        outcome(path, odd, graphs_of("defaults", 2))
        for odd in damaged(content, np.random.RandomState(0))
    ]
    # Of a name in the header, case may not matter to JSON's reader; nothing else may be harmless.
    assert results.count("refused") >= len(results) - 2


# -- what is wrong, in words -----------------------------------------------------------------------


def refused(path, content, message):
    path.write_bytes(content)
    with pytest.raises(InvalidFileError, match=message) as caught:
        skgraphkde.load(path)
    assert "\n" not in str(caught.value)  # such as the stack of torch's C++


def test_messages_say_what_is_wrong(folder, path):
    tree, arrays = persistence.read(folder / "defaults")
    content, items = (folder / "defaults").read_bytes(), tree["dict"]
    later = forged({"dict": {**items, "format_version": 8, "library_version": "9.1"}}, arrays)
    first = next(iter(arrays))
    for broken, message in (
        (later, "it has format 8, written by skgraphkde 9.1, and this version reads format 7"),
        (content.replace(b"loo", b"lop"), "checksum is wrong"),
        (to_bytes({"a": np.ones(3)}), "it contains something else"),
        (forged(tree, {k: v for k, v in arrays.items() if k != first}), "is missing"),
        (forged(tree, {**arrays, "more": np.zeros(3)}), r"arrays \['more'\] do not belong there"),
    ):
        refused(path, broken, message)


@pytest.mark.parametrize(
    ("name", "array", "change", "message"),
    [
        ("defaults", f"references.{array}", change, message)
        for array, change, message in (
            ("adjacency.indices", lambda a: changed(a, -1, 10**6), "index is out of range"),
            ("adjacency.indices", lambda a: changed(a, 0, a.max()), "edge between graphs"),
            ("adjacency.data", lambda a: -a, "weights that are not positive"),
            ("node_ptr", lambda a: changed(a, 1, a[2]), "does not ascend"),
            ("node_ptr", lambda a: a[[0, -1]], "fewer than two references"),
            ("labels", lambda a: a + 3, "the array labels is out of range"),
            ("attributes", lambda a: 1e300 * a, "number out of range"),
        )
    ]
    + [
        ("defaults", "weights.means", lambda a: np.hstack([a, a]), "weight means is float32"),
        ("defaults", "weights.means", lambda a: changed(a, 0, np.nan), "weight means is not fin"),
        ("defaults", "weights.scales", lambda a: 0 * a, "a scale of the encoder is not positive"),
        ("defaults", "densities.0.kde.multiples", lambda a: 0 * a, "multiples is out of range"),
        (
            "defaults",
            "densities.0.kde.multiples",
            lambda a: a[1:],
            r"logits is float32 .* expected",
        ),
        ("defaults", "densities.1.size_kernel.scale", lambda a: -a, "scale is out of range"),
        ("defaults", "densities.1.size_kernel.center", lambda a: a / 0, "center is not finite"),
        ("defaults", "training_scores", lambda a: a[:, :1], "training_scores has too few columns"),
        ("defaults", "training_scores", lambda a: a[:2], r"is float64 \(2, 12\), expected"),
        *(
            ("typed", f"views.2.fitted.parts_.known.categories.{array}", change, message)
            for array, change, message in (
                ("colors", lambda a: a.astype(np.int64), "colors is int64 .* expected uint64"),
                ("colors", lambda a: a[::-1], "colors is not ascending"),
                ("owners", lambda a: a[:-1], "the array owners is int64 .*, expected"),
                ("owners", lambda a: changed(a, 0, 12), "owners is out of range"),
                ("counts", lambda a: changed(a, 0, 0), "counts is out of range"),
                ("counts", lambda a: changed(a, 0, a[0] + 1), "counts are not of the references"),
            )
        ),
        *(
            ("typed", f"views.4.fitted.points_.edges.{array}", change, message)
            for array, change, message in (
                ("points", lambda a: a[:, :-1], "is float64 .*, expected"),
                ("means", lambda a: a[:-1], "is float64 .*, expected"),
                ("codes", lambda a: a + 10**6, "codes is out of range"),
                ("lacks", lambda a: np.append(a, False), "is float64 .*, expected"),
            )
        ),
        ("typed", "views.4.fitted.columns_", lambda a: a + 1, "out of bounds"),
        ("typed", "views.4.fitted.columns_", lambda a: a - 1, "columns_ is out of range"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_arrays_that_contradict_the_others(folder, path, name, array, change, message):
    tree, arrays = persistence.read(folder / name)
    array = f"detector.fitted.model_.{array}"
    refused(path, forged(tree, {**arrays, array: change(arrays[array])}), message)


HUGE = 10**9
DENSITIES = ("model_", "densities")
SECOND = (*DENSITIES, 1)
TABLES = ("model_", "views")
RARE = (*TABLES, 2, "fitted", "parts_")
THRESHOLDS = ("parameters", "training", "twins", "edges", "energy_thresholds")


@pytest.mark.parametrize(
    ("name", "place", "value", "message"),
    [
        ("nested", ("model_", "encoder", "hidden_dim"), HUGE, "encoder's weight weights.0 is"),
        ("defaults", ("references", "schema", "directed"), 1, "directed is missing or not of type"),
        ("defaults", ("references", "schema", "missing"), "drop", "missing is not one of"),
        ("defaults", ("edge_groups_", "has_others"), True, "the encoder's weight"),
        (
            "defaults",
            ("edge_groups_", "directed"),
            True,
            "the names of the encoder's weights|means is",
        ),
        ("defaults", ("adjacency", "shape"), {"tuple": [HUGE, HUGE]}, "do not fit its shape"),
        ("defaults", ("adjacency", "shape"), {"tuple": [3]}, "not a pair of counts"),
        ("defaults", (*SECOND, "distance", "correction"), -0.1, "correction is out of range"),
        ("defaults", (*SECOND, "kde", "scale_by"), "size", "scale_by is not one of"),
        ("defaults", (*SECOND, "size_kernel"), encoded(MMD())[0], "size_kernel is"),
        ("defaults", DENSITIES, {"tuple": []}, "not a tuple of KernelDensity"),
        (
            "defaults",
            ("model_", "views"),
            encoded((Density(), Density("mean")))[0],
            r"training_scores is float64 \(6, 12\), expected",
        ),
        (
            "defaults",
            ("model_", "views", 1),
            encoded(Novelty())[0],
            "densities are not those of the views",
        ),
        ("defaults", ("model_", "views", 2), encoded(Novelty())[0], "no attribute 'parts_'"),
        ("defaults", ("model_", "views", 2, "parameters", "radius"), -1, "'radius' parameter of"),
        ("typed", RARE, None, "parts_ is missing or of another type"),
        ("typed", (*TABLES, 4, "fitted", "vocabulary_"), None, "vocabulary_ is missing or of"),
        ("typed", (*TABLES, 4, "fitted", "of_edges_"), False, "points_ is not that of the data"),
        ("typed", (*RARE, "known"), {"dict": {}}, "known has other tables"),
        ("typed", (*RARE, "with_edges"), 1, "with_edges is missing or not of type bool"),
        ("typed", (*RARE, "vocabulary", "by_label"), False, "there are labels that are not used"),
        (
            "typed",
            (*RARE, "vocabulary", "labels"),
            {"tuple": ["C", "C"]},
            "a category occurs twice",
        ),
        (
            "typed",
            (*RARE, "vocabulary", "names"),
            {"tuple": ["label", "b"]},
            "a value of each category",
        ),
        (
            "defaults",
            ("model_", "encoder"),
            encoded(MMD())[0],
            "encoder is missing or of another type",
        ),
        ("defaults", ("model_", "encoder"), encoded(GCN())[0], "names of the encoder's weights"),
        ("defaults", ("model_", "features"), encoded(NodeFeatures())[0], "blocks_"),
        (
            "defaults",
            ("model_", "encoder", "class"),
            "Nobody",
            "class Nobody, which is not regis",
        ),
        (
            "defaults",
            ("detector",),
            encoded(KDE())[0],
            "detector is missing or of another type",
        ),
        ("defaults", ("parameters", "contamination"), -1, "'contamination' parameter of Graph"),
        ("nested", THRESHOLDS, {"tuple": [0.9, 0.1]}, "of SpectralEdges must be"),
        ("nested", ("parameters", "calibration", "fraction"), 7, "'fraction' parameter of Split"),
    ],
)
def test_items_that_are_wrong(folder, path, name, place, value, message):
    tree, arrays = persistence.read(folder / name)
    refused(path, replaced(tree, arrays, find(tree, *place), value), message)
