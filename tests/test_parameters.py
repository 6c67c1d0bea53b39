"""Every parameter of every specification does something: a result, a file or a speed changes.

The test walks the parameters as they are declared. One that has no entry in `CHANGES`, or whose
entry changes nothing, fails.
"""

import contextlib
import inspect
import io

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
    Propagation,
    SpectralEdges,
    Split,
    Statistics,
    Tanimoto,
    Twins,
    read_graphs,
)
from skgraphkde.detectors import processes
from skgraphkde.graphs.problems import GraphError
from skgraphkde.learned import dgl_backend
from tests.conftest import densities, random_graphs, spied, with_data

NETWORK = {"encoder": GCN()}
TRAINED = {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=3, batch_size=16)}
ONE_VIEW = {"views": Density(MMD(), KDE())}
RANDOM_FEATURES = {"views": Density(MMD(method="random_features"))}
TYPED = {"schema": GraphSchema()}
SPECTRAL = {**TRAINED, "training": Contrastive(max_iter=3, twins=Twins(edges=SpectralEdges()))}
PATIENT = {**TRAINED, "training": Contrastive(max_iter=8, learning_rate=1.0)}


def beside(view, **others):
    """A view beside a density, by a name."""
    return {**others, "views": ["density", ("view", view)]}


#: For each parameter, the detector in which it is changed, its nested name there, and a new value.
#: What follows a comma says which new value it is, if there are several.
CHANGES = {
    "GraphKDEDetector.schema": ({}, "schema", GraphSchema(node_categories=None)),
    "GraphKDEDetector.features": ({}, "features", NodeFeatures("given")),
    "GraphKDEDetector.encoder": ({}, "encoder", GCN()),
    "GraphKDEDetector.views": ({}, "views", "density"),
    "GraphKDEDetector.views, an object": ({}, "views", Density(MMD((3.0,)))),
    "GraphKDEDetector.views, a list": ({}, "views", ["density", "novelty", Density(MMD((3.0,)))]),
    "GraphKDEDetector.views, a tuple of one": ({}, "views", (Density(),)),
    "GraphKDEDetector.views, no novelty": (beside(Novelty(1)), "views", "density"),
    "GraphKDEDetector.views, other kernels": (
        {"views": densities()},
        "views",
        densities(kernels=KDE(size_kernel=False)),
    ),
    "GraphKDEDetector.training": (NETWORK, "training", Contrastive(max_iter=2)),
    "GraphKDEDetector.max_references": ({}, "max_references", 12),
    "GraphKDEDetector.calibration": ({}, "calibration", "train"),
    "GraphKDEDetector.contamination": ({}, "contamination", 0.3),
    "GraphKDEDetector.n_jobs": ({}, "n_jobs", 2),
    "GraphKDEDetector.random_state": (NETWORK, "random_state", 1),
    "GraphKDEDetector.verbose": (TRAINED, "verbose", 1),
    "GraphSchema.node_categories": (TYPED, "schema__node_categories", None),
    "GraphSchema.node_numbers": (TYPED, "schema__node_numbers", None),
    "GraphSchema.edge_categories": (TYPED, "schema__edge_categories", None),
    "GraphSchema.edge_numbers": (TYPED, "schema__edge_numbers", None),
    "GraphSchema.graph_categories": (TYPED, "schema__graph_categories", "kind"),
    "GraphSchema.graph_numbers": (TYPED, "schema__graph_numbers", "total"),
    "GraphSchema.edge_weight": (TYPED, "schema__edge_weight", "w"),
    "GraphSchema.call": (TYPED, "schema__call", {"nodes": "steps"}),
    "GraphSchema.directed": (TYPED, "schema__directed", False),
    "GraphSchema.missing": (
        {"schema": GraphSchema(node_numbers="y")},
        "schema__missing",
        "indicate",
    ),
    "NodeFeatures.kinds": ({"features": NodeFeatures()}, "features__kinds", ("degree",)),
    "Propagation.n_layers": ({"encoder": Propagation()}, "encoder__n_layers", 1),
    "GCN.hidden_dim": (NETWORK, "encoder__hidden_dim", 8),
    "GCN.n_layers": (NETWORK, "encoder__n_layers", 1),
    "GCN.dropout": (TRAINED, "encoder__dropout", 0.5),
    "GCN.batch_norm": (NETWORK, "encoder__batch_norm", False),
    "GCN.out_dim": (NETWORK, "encoder__out_dim", 8),
    "GCN.last_relu": (NETWORK, "encoder__last_relu", False),
    "GCN.backend": ({"encoder": GCN(backend="torch")}, "encoder__backend", "dgl"),
    "Density.distance": (ONE_VIEW, "views__distance", MMD((3.0,))),
    "Density.kernels": (ONE_VIEW, "views__kernels", KDE([0.5])),
    "MMD.gammas": (ONE_VIEW, "views__distance__gammas", (1.0,)),
    "MMD.estimator": (ONE_VIEW, "views__distance__estimator", "biased"),
    "MMD.method": (ONE_VIEW, "views__distance__method", "random_features"),
    "MMD.n_components": (RANDOM_FEATURES, "views__distance__n_components", 64),
    "KDE.bandwidths": (ONE_VIEW, "views__kernels__bandwidths", [0.5]),
    "KDE.size_kernel": (ONE_VIEW, "views__kernels__size_kernel", False),
    "Novelty.radius": (beside(Novelty(1)), "view__radius", 0),
    "Novelty.categories": (beside(Novelty(1)), "view__categories", "degree"),
    "Novelty.edges": (beside(Novelty(), **TYPED), "view__edges", False),
    "Tanimoto.radius": (beside(Tanimoto()), "view__radius", 1),
    "Neighbors.n_neighbors": (beside(Neighbors()), "view__n_neighbors", 1),
    "Neighbors.radius": (beside(Neighbors()), "view__radius", 1),
    "Statistics.n_neighbors": (beside(Statistics()), "view__n_neighbors", 1),
    "Numbers.n_points": (beside(Numbers(), **TYPED), "view__n_points", 20),
    "Contrastive.max_iter": (TRAINED, "training__max_iter", 1),
    "Contrastive.batch_size": (TRAINED, "training__batch_size", 8),
    "Contrastive.learning_rate": (TRAINED, "training__learning_rate", 0.1),
    "Contrastive.learn_weights": (TRAINED, "training__learn_weights", False),
    "Contrastive.leave_one_out": (TRAINED, "training__leave_one_out", False),
    "Contrastive.n_twins": (TRAINED, "training__n_twins", 2),
    "Contrastive.twins": (TRAINED, "training__twins", Twins(edges=None)),
    "Contrastive.validation_fraction": (TRAINED, "training__validation_fraction", 0.4),
    "Contrastive.n_iter_no_change": (PATIENT, "training__n_iter_no_change", 1),
    "Contrastive.loss": (TRAINED, "training__loss", "log_ratio"),
    "Contrastive.schedule": (TRAINED, "training__schedule", "constant"),
    "Contrastive.weight_decay": (TRAINED, "training__weight_decay", 1.0),
    "Twins.swap_ratio": (SPECTRAL, "training__twins__swap_ratio", 0.0),
    "Twins.edges": (SPECTRAL, "training__twins__edges", None),
    "SpectralEdges.energy_thresholds": (
        SPECTRAL,
        "training__twins__edges__energy_thresholds",
        (0.2, 0.9),
    ),
    "SpectralEdges.max_ratio": (SPECTRAL, "training__twins__edges__max_ratio", 1.0),
    "SpectralEdges.self_loops": (SPECTRAL, "training__twins__edges__self_loops", True),
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
        {"calibration": Split(0.3), "contamination": 0.3},
        "calibration__fraction",
        0.4,
    ),
}
CLASSES = [GraphKDEDetector, GraphSchema, NodeFeatures, Propagation, GCN, Density, MMD, KDE]
CLASSES += [Novelty, Tanimoto, Neighbors, Statistics, Numbers, Contrastive, Twins, SpectralEdges]
CLASSES += [LeaveOneOut, Split]
PARAMETERS = {f"{c.__name__}.{name}" for c in CLASSES for name in inspect.signature(c).parameters}
PARAMETERS -= {"GCN.device"}  # which changes no result


def typed_example(n_graphs, seed):
    """Directed graphs with all kinds of data, some of it missing."""
    rng = np.random.RandomState(seed)
    nodes = {
        "label": lambda _: "CNO"[rng.randint(3)],
        "x": lambda _: rng.standard_normal(2),
        "y": lambda node: float(rng.rand()) if node % 5 else None,
    }
    edges = {
        "label": lambda _: "ab"[rng.randint(30) < 1],
        "x": lambda _: float(rng.rand()),
        "w": lambda _: float(1 + rng.rand()),
    }
    graphs = []
    for _ in range(n_graphs):
        graph = nx.gnp_random_graph(12, 0.2, seed=int(rng.randint(10**6)), directed=True)
        graph.add_edge(0, 1)
        n_edges = graph.number_of_edges()
        graphs.append(with_data(graph, nodes, edges, kind="pq"[n_edges % 2], total=n_edges**0.5))
    return graphs


TRAIN, TEST = (read_graphs(random_graphs(n, seed=n, n_attributes=2, max_nodes=16)) for n in (24, 8))
COPIES = TRAIN[[*range(24), *range(10)]]
TYPED_TRAIN, TYPED_TEST = typed_example(20, 0), typed_example(8, 1)


#: What comes of the detectors before the change.
BEFORE = {}


def outcome(detector, monkeypatch, train, test):
    """All that a parameter may change, as text: results, output, processes, and who computes."""
    errors = io.StringIO()
    threads = joblib.parallel_config(backend="threading")  # processes take seconds to start
    with monkeypatch.context() as monkeypatch, contextlib.redirect_stderr(errors), threads:
        monkeypatch.setattr(processes, "GRAPHS_PER_PART", 2)
        parallel = spied(monkeypatch, processes, "Parallel")
        convolved = spied(monkeypatch, dgl_backend, "graph_convolution")
        try:
            scores = detector.fit(train).score_samples(test)
        except GraphError as error:  # missing="error"
            return str(error)
    results = [scores, detector.predict(test), [detector.offset_], detector.calibration_scores_]
    results += [detector.history_.get("loss", []), detector.history_.get("mixture_weights", [])]
    results = [
        np.asarray(x).tolist() for x in [*results, detector.score(test), detector.schema_.words]
    ]
    return str((results, bool(parallel), bool(convolved), bool(errors.getvalue())))


def test_every_parameter_has_an_entry():
    assert sorted({name.partition(",")[0] for name in CHANGES}) == sorted(PARAMETERS)
    assert len(inspect.signature(GraphKDEDetector).parameters) <= 11


@pytest.mark.filterwarnings("ignore:not read")
@pytest.mark.parametrize("parameter", CHANGES)
def test_a_parameter_changes_something(parameter, monkeypatch):
    base, name, value = CHANGES[parameter]
    if parameter == "GCN.backend" and not dgl_backend.supports(torch.device("cpu")):
        pytest.skip("DGL has no build for this Python")
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
