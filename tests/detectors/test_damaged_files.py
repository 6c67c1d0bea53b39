"""Damaged and changed files: each is refused with one kind of error, or is harmless."""

import itertools
import json
import struct
from functools import partial

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
    Numbers,
    Rarity,
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
    outcomes,
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
    places = [*range(8), *rng.randint(8, n_header, 60), *rng.randint(n_header, len(content), 40)]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << rng.randint(8)
        yield "flipped", bytes(flipped)
    for place in rng.randint(0, len(content), 15):
        if any(content[place : place + 16]):  # else it is the same file
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


@pytest.mark.parametrize("name", KINDS)
def test_damaged_files(name, folder):
    rng = np.random.RandomState(0)
    files = list(damaged_bytes((folder / name).read_bytes(), rng))
    files += [("odd header", odd) for odd in odd_headers()]
    counts = outcomes(folder / "odd", name, files, graphs_of(name, 2))
    assert len(files) > 200
    assert {path.name for path in folder.iterdir()} == {*KINDS, "odd"}
    for kind in ("cut", "zeros", "shifted", "noise", "longer", "odd header"):
        assert (kind, "harmless") not in counts, kind


# -- arrays of other shapes, types and content -----------------------------------------------------


def constant(array, value):
    return np.full_like(array, np.array(value).astype(array.dtype))  # of unsigned ones, modulo 2^64


def forged_arrays(tree, arrays):
    """Each array in turn is missing, or has another shape, type or content."""
    for name, array in arrays.items():
        others = {key: value for key, value in arrays.items() if key != name}
        yield "missing array", partial(forged, tree, others)
        yield "missing array", partial(forged, tree, {**others, f"../{name}": array})
        shapes = [
            array[None],
            array.ravel()[:-1],
            np.zeros(0, array.dtype),
            np.zeros(100_000, array.dtype),
            np.concatenate([array, array]) if array.ndim else array[None],
        ]
        types = ("float16", "float32", "float64", "int8", "int64", "uint64", "bool")
        with np.errstate(over="ignore"):
            types = [np.nan_to_num(array).astype(x) for x in types if x != array.dtype]
        values = [constant(array, -1), np.flip(array)]
        kinds = [("shape", shapes), ("values", values), ("type", types)]
        if array.dtype in (np.int64, np.uint64):
            values += [constant(array, 2**62), constant(array, -(2**63))]
            values += [array + 1, array - 1]
        else:
            values += [np.full_like(array, x) for x in (np.nan, np.inf, -np.inf, 0, 1e30, 1e-30)]
            values += [-1 * array, changed(array, 0, np.nan)]
        for kind, wrong in kinds:
            for other in wrong:
                yield f"array of wrong {kind}", partial(forged, tree, {**others, name: other})
    yield "array too many", partial(forged, tree, {**arrays, "more": np.zeros(3)})


@pytest.mark.parametrize(
    ("name", "step"),
    [
        ("defaults", 11),
        pytest.param("defaults", 1, marks=pytest.mark.slow),
        pytest.param("nested", 3, marks=pytest.mark.slow),
        ("typed", 17),
        pytest.param("typed", 1, marks=pytest.mark.slow),
    ],
)
def test_changed_arrays(name, step, folder):
    tree, arrays = persistence.read(folder / name)
    files = itertools.islice(forged_arrays(tree, arrays), 0, None, step)
    counts = outcomes(folder / "odd", name, files, graphs_of(name, 2))
    n_refused = sum(n for (_, result), n in counts.items() if result == "refused")
    assert n_refused > sum(counts.values()) / 2
    for kind in ("missing array", "array too many"):
        assert not {(kind, "harmless"), (kind, "useless")} & counts.keys(), kind
    assert ("array of wrong type", "harmless") not in counts


# -- what is wrong, in words -----------------------------------------------------------------------


def refused(path, content, message):
    path.write_bytes(content)
    with pytest.raises(InvalidFileError, match=message) as caught:
        skgraphkde.load(path)
    assert "\n" not in str(caught.value)  # such as the stack of torch's C++


def test_messages_say_what_is_wrong(folder, path):
    tree, arrays = persistence.read(folder / "defaults")
    content, items = (folder / "defaults").read_bytes(), tree["dict"]
    later = forged({"dict": {**items, "format_version": 7, "library_version": "9.1"}}, arrays)
    older = forged({"dict": {**items, "format_version": 1, "library_version": "0.0"}}, arrays)
    for broken, message in (
        (later, "it has format 7, written by skgraphkde 9.1, and this version reads format 6"),
        (older, "it has format 1, written by skgraphkde 0.0, and this version reads format 6"),
        (content.replace(b'"loo\\"', b'"lop\\"'), "checksum is wrong"),
        (content.replace(b"loo", b"lop"), "checksum is wrong"),
        (to_bytes({"a": np.ones(3)}), "it contains something else"),
    ):
        assert broken != content
        refused(path, broken, message)


def contradictions(arrays):
    """Arrays that are right each by itself, and what is said of them."""
    a = {name.removeprefix("detector.fitted.model_."): array for name, array in arrays.items()}
    edges, node_ptr = a["references.adjacency.indices"], a["references.node_ptr"]
    weights, indptr = a["references.adjacency.data"], a["references.adjacency.indptr"]
    means, n_nodes, size_kernel = a["weights.means"], node_ptr[-1], "densities.1.size_kernel"
    for name, array, message in (
        ("references.adjacency.indices", changed(edges, -1, n_nodes), "index is out of range"),
        ("references.adjacency.indices", changed(edges, 0, -1), "index is out of range"),
        ("references.adjacency.indices", changed(edges, 0, n_nodes - 1), "edge between graphs"),
        ("references.adjacency.data", -weights, "weights that are not positive"),
        ("references.adjacency.data", changed(weights, 0, np.inf), "an entry is not finite"),
        ("references.adjacency.indptr", changed(indptr, 1, 10**6), "pointers do not ascend"),
        ("references.adjacency.indptr", indptr[:-1], "pointers do not fit its shape"),
        ("references.node_ptr", changed(node_ptr, 1, node_ptr[2]), "does not ascend"),
        ("references.node_ptr", changed(node_ptr, 1, 2**63 - 1), "does not ascend"),
        ("references.node_ptr", np.array([0, n_nodes]), "fewer than two references"),
        ("references.labels", a["references.labels"] + 3, "the array labels is out of range"),
        ("references.attributes", 1e300 * a["references.attributes"], "number out of range"),
        ("weights.means", np.hstack([means, means]), "weight means is float32"),
        ("weights.means", changed(means, 0, np.nan), "weight means is not finite"),
        ("weights.scales", 0 * means, "a scale of the encoder is not positive"),
        ("weights.total_scale", np.zeros((), np.float32), "a scale of the encoder is not positive"),
        ("features.fitted.blocks_.1.used", np.array([2]), "used is out of range"),
        (
            "features.fitted.blocks_.1.scale",
            -a["features.fitted.blocks_.1.scale"],
            "scale is out of range",
        ),
        ("densities.0.kde.multiples", np.zeros(3), "multiples is out of range"),
        ("densities.0.kde.multiples", np.ones(2), r"logits is float32 \(3,\), expected"),
        ("training_scores", a["training_scores"][:, :1], "training_scores has too few columns"),
        ("training_scores", a["training_scores"][:2], r"is float64 \(2, 12\), expected"),
        ("training_scores", np.full((6, 12), np.nan), "training_scores is not finite"),
        (f"{size_kernel}.scale", np.ones(1), r"scale is float64 \(1,\), expected float64 \(2,\)"),
        (f"{size_kernel}.scale", -np.ones(2), "SizeKernel: the array scale is out of range"),
        (f"{size_kernel}.center", np.array([0, np.nan]), "the array center is not finite"),
    ):
        yield {**arrays, f"detector.fitted.model_.{name}": array}, message
    yield {**arrays, "detector.fitted.calibration_.scores": np.zeros(0)}, "there are no scores"


def test_arrays_that_contradict_each_other(folder, path):
    tree, arrays = persistence.read(folder / "defaults")
    for odd, message in contradictions(arrays):
        refused(path, forged(tree, odd), message)


def damaged_tables(arrays):
    """Tables of novelty, rarity and numbers that fit to find nothing, and what is said of them."""
    start = "detector.fitted.model_.views."
    a = {name.removeprefix(start): array for name, array in arrays.items()}
    tables = [name.removesuffix(".colors") for name in a if name.endswith(".colors")]
    assert len(tables) == 4  # categories and edges, of novelty and of rarity
    for name in tables:
        colors, owners, counts = (a[f"{name}.{x}"] for x in ("colors", "owners", "counts"))
        shorter = {x: a[f"{name}.{x}"][:-1] for x in ("colors", "owners", "counts")}
        for changes, message in (
            ({"colors": colors.astype(np.int64)}, "the array colors is int64 .* expected uint64"),
            ({"colors": colors[:-1]}, "the array owners is int64 .*, expected"),
            ({"owners": owners[:-1]}, "the array owners is int64 .*, expected"),
            ({"counts": counts[:-1]}, "the array counts is int64 .*, expected"),
            ({"colors": colors[::-1]}, "colors is not ascending"),
            ({"colors": changed(colors, 1, colors[0])}, "colors is not ascending"),
            ({"owners": changed(owners, 0, -1)}, "owners is out of range"),
            ({"owners": changed(owners, 0, -3)}, "owners is out of range"),
            ({"owners": changed(owners, 0, 12)}, "owners is out of range"),
            ({"counts": changed(counts, 0, 0)}, "counts is out of range"),
            ({"counts": changed(counts, 0, counts[0] + 1)}, "counts are not of the references"),
            (shorter, "counts are not of the references"),
        ):
            yield {f"{start}{name}.{x}": array for x, array in changes.items()}, message
    for what in ("nodes", "edges"):
        start_of = f"{start}4.fitted.points_.{what}"
        parts = {x: a[f"4.fitted.points_.{what}.{x}"] for x in ("codes", "kinds", "lacks")}
        points, means = (a[f"4.fitted.points_.{what}.{x}"] for x in ("points", "means"))
        for name, array, message in (
            ("points", points[:, :-1], "is float64 .*, expected"),
            ("points", np.full_like(points, np.nan), "points is not finite"),
            ("means", means[:-1], "is float64 .*, expected"),
            ("codes", parts["codes"][:-1], "is int64 .*, expected"),
            ("codes", parts["codes"] + len(parts["kinds"]) + 1, "codes is out of range"),
            ("lacks", np.append(parts["lacks"], False), "is float64 .*, expected"),
        ):
            yield {f"{start_of}.{name}": array}, message
    columns = a["4.fitted.columns_"]
    yield {f"{start}4.fitted.columns_": columns + 1}, "out of bounds"
    yield {f"{start}4.fitted.columns_": columns - 1}, "columns_ is out of range"
    yield {f"{start}4.fitted.columns_": columns.astype(float)}, "is float64 .* expected int64"


def test_tables_that_are_damaged(folder, path):
    tree, arrays = persistence.read(folder / "typed")
    for odd, message in damaged_tables(arrays):
        refused(path, forged(tree, {**arrays, **odd}), message)


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
        ("defaults", ("n_bins",), HUGE, "n_bins is out of range"),
        ("defaults", ("n_bins",), 60, "encoder's weight means is"),
        ("defaults", ("blocks_", 3, "n_steps"), HUGE, "n_steps contradicts the walks"),
        (
            "defaults",
            ("references", "schema", "node_numbers", 0, 1),
            HUGE,
            "the array attributes is",
        ),
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
        ("defaults", (*SECOND, "distance", "gammas"), {"tuple": [-1.0]}, "gammas is out of"),
        ("defaults", (*SECOND, "distance"), encoded(MMD())[0], "distance is missing or of another"),
        ("defaults", (*SECOND, "kde"), encoded(KDE())[0], "kde is missing or of another type"),
        ("defaults", (*SECOND, "kde", "scale"), -1.0, "scale is out of range"),
        ("defaults", (*SECOND, "kde", "scale_by"), "size", "scale_by is not one of"),
        ("defaults", (*SECOND, "size_kernel"), encoded(MMD())[0], "size_kernel is"),
        ("defaults", DENSITIES, {"tuple": []}, "not a tuple of KernelDensity"),
        ("defaults", DENSITIES, encoded((MMD(),))[0], "not a tuple of KernelDensity"),
        (
            "defaults",
            ("model_", "views"),
            encoded((Density(), Density("mean")))[0],
            r"training_scores is float64 \(6, 12\), expected",
        ),
        ("defaults", ("model_", "views"), {"tuple": []}, "views is not a tuple of View objects"),
        ("defaults", ("model_", "views"), encoded((MMD(),))[0], "not a tuple of View objects"),
        (
            "defaults",
            ("model_", "views", 1),
            encoded(Novelty())[0],
            "densities are not those of the views",
        ),
        ("defaults", ("model_", "views", 2), encoded(Novelty())[0], "no attribute 'parts_'"),
        ("typed", ("model_", "views", 2), encoded(Rarity())[0], "no attribute 'parts_'"),
        ("typed", ("model_", "views", 4), encoded(Numbers())[0], "no attribute 'vocabulary_'"),
        ("defaults", ("model_", "views", 2, "parameters", "radius"), -1, "'radius' parameter of"),
        ("typed", ("model_", "views", 2, "parameters", "edges"), 3, "'edges' parameter of Rarity"),
        ("typed", (*TABLES, 1, "fitted", "parts_"), None, "parts_ is missing or of another type"),
        ("typed", RARE, None, "parts_ is missing or of another type"),
        ("typed", (*TABLES, 4, "fitted", "vocabulary_"), None, "vocabulary_ is missing or of"),
        ("typed", (*TABLES, 4, "fitted", "of_edges_"), False, "points_ is not that of the data"),
        (
            "typed",
            (*TABLES, 4, "fitted", "points_"),
            {"dict": {}},
            "points_ is not that of the data",
        ),
        ("typed", (*RARE, "known"), {"dict": {}}, "known has other tables"),
        ("typed", (*RARE, "known", "edges"), 1, "known has other tables"),
        ("typed", (*RARE, "with_gaps"), True, "known has other tables"),
        ("typed", (*RARE, "with_edges"), 1, "with_edges is missing or not of type bool"),
        ("typed", (*RARE, "vocabulary", "by_label"), False, "there are labels that are not used"),
        (
            "typed",
            (*RARE, "vocabulary", "labels"),
            {"tuple": ["C", "C"]},
            "a category occurs twice",
        ),
        ("typed", (*RARE, "vocabulary", "labels"), {"tuple": [["C"]]}, "unhashable"),
        (
            "typed",
            (*RARE, "vocabulary", "edge_labels"),
            {"tuple": ["a", "a"]},
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
        ("defaults", ("detector", "class"), "os.system", "os.system, which is not registered"),
        ("defaults", ("notes",), [1], "notes is missing or not of type dict"),
        ("defaults", ("parameters", "contamination"), -1, "'contamination' parameter of Graph"),
        ("defaults", ("parameters", "encoder"), encoded(KDE())[0], "'encoder' parameter of Graph"),
        ("defaults", ("parameters", "encoder"), encoded(GCN(-1))[0], "'hidden_dim' parameter of"),
        ("nested", ("parameters", "training"), encoded(Contrastive(0))[0], "'max_iter' parameter"),
        ("nested", THRESHOLDS, {"tuple": [0.9, 0.1]}, "of SpectralEdges must be"),
        ("nested", THRESHOLDS, HUGE, "'energy_thresholds' parameter of SpectralEdges"),
        ("nested", ("parameters", "calibration", "fraction"), 7, "'fraction' parameter of Split"),
    ],
)
def test_items_that_are_wrong(folder, path, name, place, value, message):
    tree, arrays = persistence.read(folder / name)
    refused(path, replaced(tree, arrays, find(tree, *place), value), message)
