"""Every parameter of every specification does something: a result, a file or a speed changes.

The test walks the parameters as they are declared. One that has no entry in `CHANGES`, or whose
entry changes nothing, fails.
"""

import contextlib
import copy
import inspect
import io
from pathlib import Path

import joblib
import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
    GraphSchema,
    LeaveOneOut,
    Neighbors,
    NodeFeatures,
    Novelty,
    Numbers,
    Rarity,
    References,
    Split,
    Statistics,
    Tanimoto,
    Twins,
    read_graphs,
)
from skgraphkde.detectors import processes
from skgraphkde.inspection import explain, nearest_references, view_surprises
from skgraphkde.learned import RandomEdges, SpectralEdges, dgl_backend
from tests.conftest import densities

TRAINED = {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=3, batch_size=16)}
ONE_VIEW = {"views": "density"}
RANDOM_FEATURES = {"views": Density(MMD(method="random_features"))}
TYPED = {"schema": GraphSchema()}
NUMBERS = {**TYPED, "views": "density"}
NOVELTY = {"views": ("density", Novelty(radius=1))}
RARITY = {"views": ("density", "rarity")}
SPECTRAL = {**TRAINED, "training": Contrastive(max_iter=3, twins=Twins(edges=SpectralEdges()))}
RANDOM_EDGES = {**TRAINED, "training": Contrastive(max_iter=3, twins=Twins(edges=RandomEdges()))}


def others(view):
    return {"views": ("density", view)}


#: For each parameter, the detector in which it is changed, its nested name there, and a new value.
#: What follows a comma says which new value it is, if there are several.
CHANGES = {
    "GraphKDEDetector.schema": ({}, "schema", GraphSchema(node_categories=None)),
    "GraphKDEDetector.features": ({}, "features", "given"),
    "GraphKDEDetector.encoder": ({}, "encoder", "gcn"),
    "GraphKDEDetector.views": ({}, "views", "density"),
    "GraphKDEDetector.views, an object": ({}, "views", Density("mean")),
    "GraphKDEDetector.views, a tuple": ({}, "views", ("density", "novelty", Density("sum"))),
    "GraphKDEDetector.views, a tuple of one": ({}, "views", (Density(),)),
    "GraphKDEDetector.views, no novelty": (NOVELTY, "views", "density"),
    "GraphKDEDetector.views, rarity": (NOVELTY, "views", ("density", Novelty(1), "rarity")),
    "GraphKDEDetector.views, other kernels": (
        {"views": densities()},
        "views",
        densities(kernels=KDE(size_kernel=False)),
    ),
    "GraphKDEDetector.training": ({"encoder": "gcn"}, "training", Contrastive(max_iter=2)),
    "GraphKDEDetector.references": ({}, "references", "uniform"),
    "GraphKDEDetector.calibration": ({}, "calibration", "train"),
    "GraphKDEDetector.contamination": ({}, "contamination", 0.3),
    "GraphKDEDetector.n_jobs": ({}, "n_jobs", 2),
    "GraphKDEDetector.device": ({}, "device", "cuda:99"),
    "GraphKDEDetector.random_state": ({"encoder": "gcn"}, "random_state", 1),
    "GraphKDEDetector.verbose": (TRAINED, "verbose", 1),
    "GraphSchema.node_categories": (TYPED, "schema__node_categories", None),
    "GraphSchema.node_numbers": (TYPED, "schema__node_numbers", None),
    "GraphSchema.edge_categories": (TYPED, "schema__edge_categories", None),
    "GraphSchema.edge_numbers": (TYPED, "schema__edge_numbers", None),
    "GraphSchema.graph_categories": (TYPED, "schema__graph_categories", "kind"),
    "GraphSchema.graph_numbers": (TYPED, "schema__graph_numbers", "total"),
    "GraphSchema.edge_weight": (TYPED, "schema__edge_weight", "w"),
    "GraphSchema.directed": (TYPED, "schema__directed", False),
    "GraphSchema.missing": (
        {"schema": GraphSchema(node_numbers="y")},
        "schema__missing",
        "indicate",
    ),
    "NodeFeatures.kinds": ({"features": NodeFeatures()}, "features__kinds", ("degree",)),
    "Propagation.n_layers": ({}, "encoder__n_layers", 1),
    "GCN.hidden_dim": ({"encoder": "gcn"}, "encoder__hidden_dim", 8),
    "GCN.n_layers": ({"encoder": "gcn"}, "encoder__n_layers", 1),
    "GCN.dropout": (TRAINED, "encoder__dropout", 0.5),
    "GCN.batch_norm": ({"encoder": "gcn"}, "encoder__batch_norm", False),
    "GCN.out_dim": ({"encoder": "gcn"}, "encoder__out_dim", 8),
    "GCN.last_relu": ({"encoder": "gcn"}, "encoder__last_relu", False),
    "GCN.backend": ({"encoder": GCN(backend="torch")}, "encoder__backend", "dgl"),
    "Density.distance": (ONE_VIEW, "views__distance", "mean"),
    "Density.kernels": (ONE_VIEW, "views__kernels", KDE([0.5])),
    "MMD.gammas": (ONE_VIEW, "views__distance__gammas", (1.0,)),
    "MMD.estimator": (ONE_VIEW, "views__distance__estimator", "biased"),
    "MMD.method": (ONE_VIEW, "views__distance__method", "random_features"),
    "MMD.n_components": (RANDOM_FEATURES, "views__distance__n_components", 64),
    "Readout.readout": ({"views": Density("mean")}, "views__distance__readout", "sum"),
    "KDE.bandwidths": (ONE_VIEW, "views__kernels__bandwidths", [0.5]),
    "KDE.size_kernel": (ONE_VIEW, "views__kernels__size_kernel", False),
    "Novelty.radius": (NOVELTY, "views", ("density", Novelty(0))),
    "Novelty.categories": (NOVELTY, "views", ("density", Novelty(1, "degree"))),
    "Novelty.edges": (
        {**TYPED, "views": ("density", "novelty")},
        "views",
        ("density", Novelty(edges=False)),
    ),
    "Rarity.edges": (RARITY, "views", ("density", Rarity(edges=True))),
    "Tanimoto.radius": (others("tanimoto"), "views", ("density", Tanimoto(1))),
    "Neighbors.n_neighbors": (others("neighbors"), "views", ("density", Neighbors(1))),
    "Neighbors.radius": (others("neighbors"), "views", ("density", Neighbors(radius=1))),
    "Statistics.n_neighbors": (others("statistics"), "views", ("density", Statistics(1))),
    "Numbers.n_points": ({**TYPED, **others("numbers")}, "views", ("density", Numbers(20))),
    "Contrastive.max_iter": (TRAINED, "training__max_iter", 1),
    "Contrastive.batch_size": (TRAINED, "training__batch_size", 8),
    "Contrastive.learning_rate": (TRAINED, "training__learning_rate", 0.1),
    "Contrastive.learn_weights": (TRAINED, "training__learn_weights", False),
    "Contrastive.leave_one_out": (TRAINED, "training__leave_one_out", False),
    "Contrastive.n_twins": (TRAINED, "training__n_twins", 2),
    "Contrastive.twins": (TRAINED, "training__twins", "features"),
    "Contrastive.validation_fraction": (TRAINED, "training__validation_fraction", 0.4),
    "Contrastive.n_iter_no_change": (
        {**TRAINED, "training": Contrastive(max_iter=8, learning_rate=1.0)},
        "training__n_iter_no_change",
        1,
    ),
    "Contrastive.loss": (TRAINED, "training__loss", "log_ratio"),
    "Contrastive.schedule": (TRAINED, "training__schedule", "constant"),
    "Contrastive.weight_decay": (TRAINED, "training__weight_decay", 1.0),
    "Contrastive.checkpoint": (TRAINED, "training__checkpoint", "checkpoint"),
    "Twins.swap_ratio": (TRAINED, "training__twins__swap_ratio", 0.0),
    "Twins.edges": (TRAINED, "training__twins__edges", None),
    "SpectralEdges.energy_thresholds": (
        SPECTRAL,
        "training__twins__edges__energy_thresholds",
        (0.2, 0.9),
    ),
    "SpectralEdges.max_ratio": (SPECTRAL, "training__twins__edges__max_ratio", 1.0),
    "SpectralEdges.self_loops": (SPECTRAL, "training__twins__edges__self_loops", True),
    "RandomEdges.ratio": (RANDOM_EDGES, "training__twins__edges__ratio", 0.5),
    "References.sampling": (
        {"references": References("stratified", 0.5)},
        "references__sampling",
        "uniform",
    ),
    "References.max_references": (
        {"references": "window"},
        "references__max_references",
        10,
    ),
    "References.ratio": ({"references": References("uniform", 0.5)}, "references__ratio", 0.25),
    "LeaveOneOut.copies": (
        {"calibration": LeaveOneOut("apart")},
        "calibration__copies",
        "together",
    ),
    "Split.copies": (
        {"calibration": Split(0.4, copies="apart"), "contamination": 0.3},
        "calibration__copies",
        "together",
    ),
    "Split.fraction": (
        {"calibration": "split", "contamination": 0.3},
        "calibration__fraction",
        0.4,
    ),
}


def classes():
    """The detector, and all specifications that its parameters are short for, nested ones too."""
    found, todo = [], [GraphKDEDetector]
    while todo:
        cls = todo.pop()
        if cls not in found:
            found.append(cls)
            makers = [make for of_name in cls._shorthands.values() for make in of_name.values()]
            for made in (make() for make in makers):
                todo += [type(part) for part in (made if isinstance(made, tuple) else (made,))]
    return found


PARAMETERS = [f"{c.__name__}.{name}" for c in classes() for name in inspect.signature(c).parameters]


def example(n_graphs, seed):
    """Random graphs with labels and attributes."""
    rng = np.random.RandomState(seed)
    graphs = []
    for _ in range(n_graphs):
        graph = nx.gnp_random_graph(rng.randint(10, 16), 0.3, seed=int(rng.randint(10**6)))
        for node in graph:
            graph.nodes[node].update(label="CNO"[rng.randint(3)], x=rng.standard_normal(2))
        graphs.append(graph)
    return read_graphs(graphs)


def typed_example(n_graphs, seed):
    """Directed graphs with all kinds of data, some of it missing."""
    rng = np.random.RandomState(seed)
    graphs = []
    for _ in range(n_graphs):
        graph = nx.gnp_random_graph(12, 0.2, seed=int(rng.randint(10**6)), directed=True)
        graph.add_edge(0, 1)
        graph.graph.update(kind="pq"[int(graph.number_of_edges() % 2)], total=graph.size() ** 0.5)
        for node, data in graph.nodes.items():
            data.update(label="CNO"[rng.randint(3)], x=rng.standard_normal(2))
            if node % 5:
                data["y"] = float(rng.rand())
        for data in graph.edges.values():
            data.update(
                label="ab"[rng.randint(30) < 1], x=float(rng.rand()), w=float(1 + rng.rand())
            )
        graphs.append(graph)
    return graphs


TRAIN, TEST = example(24, 0), example(8, 1)
COPIES = TRAIN[[*range(24), *range(10)]]
TYPED_TRAIN, TYPED_TEST = typed_example(20, 0), typed_example(8, 1)


#: What comes of the detectors before the change.
BEFORE = {}


def outcome(detector, monkeypatch, train=TRAIN, test=TEST):
    """All that a parameter may change, as text: results, files, output, processes, who computes."""
    seen = set()

    def note(module, name):
        function = getattr(module, name)

        def noting(*args, **kwargs):
            seen.add((name, *(a for a in args if isinstance(a, int | str | Path))))
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, noting)

    errors = io.StringIO()
    threads = joblib.parallel_config(backend="threading")  # processes take seconds to start
    with monkeypatch.context() as monkeypatch, contextlib.redirect_stderr(errors), threads:
        monkeypatch.setattr(processes, "GRAPHS_PER_PART", 2)
        note(processes, "Parallel")
        note(dgl_backend, "graph_convolution")
        note(Path, "unlink")
        try:
            scores = detector.fit(train).score_samples(test)
        except ValueError as error:
            return str(error)
    results = [scores, detector.predict(test), [detector.offset_], detector.calibration_scores_]
    results += [detector.history_.get("loss", []), detector.history_.get("mixture_weights", [])]
    results = [np.asarray(x).tolist() for x in [*results, detector.score(test)]]
    return str((results, sorted(map(str, seen)), bool(errors.getvalue())))


def test_every_parameter_has_an_entry():
    assert sorted({name.partition(",")[0] for name in CHANGES}) == sorted(PARAMETERS)
    assert len(inspect.signature(GraphKDEDetector).parameters) <= 15


@pytest.mark.filterwarnings("ignore:not read")
@pytest.mark.parametrize("parameter", CHANGES)
def test_a_parameter_changes_something(parameter, monkeypatch, tmp_path):
    base, name, value = CHANGES[parameter]
    if parameter == "GCN.backend" and not dgl_backend.supports(torch.device("cpu")):
        pytest.skip("DGL has no build for this Python")
    monkeypatch.chdir(tmp_path)
    detector = GraphKDEDetector(**{"random_state": 0, **base})
    changed = clone(detector).set_params(**{name: value})
    assert changed.get_params()[name] is not detector.get_params()[name]
    graphs = (TYPED_TRAIN, TYPED_TEST) if "schema" in base else (TRAIN, TEST)
    if name.endswith("copies"):
        graphs = COPIES, TEST
    if repr(base) not in BEFORE:
        BEFORE[repr(base)], again = (
            outcome(clone(detector), monkeypatch, *graphs) for _ in range(2)
        )
        assert again == BEFORE[repr(base)]  # what differs below does so by the parameter
    assert outcome(changed, monkeypatch, *graphs) != BEFORE[repr(base)]


def answers(detector, graphs):
    """What a fitted detector says of graphs."""
    asked = [
        detector.score_samples,
        detector.decision_function,
        detector.predict,
        detector.p_values,
        detector.select,
        detector.score,
        detector.transform,
        detector.pairwise_distances,
        lambda graphs: nearest_references(detector, graphs),
        lambda graphs: view_surprises(detector, graphs),
        lambda graphs: explain(detector, graphs[:2]).to_dict(),
    ]
    return [str(np.asarray(ask(graphs)).tolist()) for ask in asked]


@pytest.mark.parametrize("name", [x for x in CHANGES if x.startswith("GraphKDEDetector.")])
def test_after_fit_parameters_change_no_answer(name, fitted_and_answers):
    """Nor where the answers are computed: a device that is not there is not asked for."""
    fitted, expected = fitted_and_answers
    _, parameter, value = CHANGES[name]
    if parameter == "device":
        value = "cpu"
    changed = copy.copy(fitted).set_params(**{parameter: value})
    assert answers(changed, TEST) == expected


@pytest.fixture(scope="module")
def fitted_and_answers():
    fitted = GraphKDEDetector(random_state=0).fit(TRAIN)
    return fitted, answers(fitted, TEST)


def test_after_fit_twins_stay_those_of_fit():
    detector = GraphKDEDetector(**TRAINED, random_state=0).fit(TRAIN)
    before = detector.score(TEST)
    assert detector.set_params(training__twins__swap_ratio=1.0).score(TEST) == before
    assert detector.set_params(training=None).score(TEST) == before
