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
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

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
    paper_settings,
    read_graphs,
)
from skgraphkde.detectors import processes
from skgraphkde.graphs.problems import GraphError
from skgraphkde.learned import dgl_backend
from tests.conftest import densities, random_graphs, spied, with_data

NETWORK = {"encoder": GCN()}
TRAINED = {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=3, batch_size=16)}
ONE_VIEW = {"views": Density(MMD(), KDE())}
TYPED = {"schema": GraphSchema()}
SPECTRAL = {**TRAINED, "training": Contrastive(max_iter=3, twins=Twins(edges=SpectralEdges()))}


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
    "MMD.n_components": (
        {"views": Density(MMD(method="random_features"))},
        "views__distance__n_components",
        64,
    ),
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
    "Contrastive.n_iter_no_change": (
        {**TRAINED, "training": Contrastive(max_iter=8, learning_rate=1.0)},
        "training__n_iter_no_change",
        1,
    ),
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
        graphs = TRAIN[[*range(24), *range(10)]], TEST
    if repr(base) not in BEFORE:
        BEFORE[repr(base)], again = (
            outcome(clone(detector), monkeypatch, *graphs) for _ in range(2)
        )
        assert again == BEFORE[repr(base)]  # what differs below does so by the parameter
    assert outcome(changed, monkeypatch, *graphs) != BEFORE[repr(base)]


# -- specifications: nested parameters, clear errors, and no side effects --------------------------

SPECIFICATIONS = [
    NodeFeatures(("random_walk",)),
    Propagation(1),
    GCN(hidden_dim=4),
    MMD((1.0, 2.0)),
    KDE([0.5]),
    Density(MMD((1.0,)), KDE([0.5])),
    Novelty(3, "degree"),
    Neighbors(3),
    Tanimoto(3),
    Statistics(3),
    Contrastive(3, twins=Twins(0.5, edges=SpectralEdges((0.4, 0.6)))),
    Twins(edges=SpectralEdges((0.4, 0.6))),
    SpectralEdges(max_ratio=2.0),
    Split(0.25),
]
each = pytest.mark.parametrize("specification", SPECIFICATIONS, ids=lambda x: type(x).__name__)


@pytest.fixture(scope="module")
def graphs():
    return random_graphs(24, seed=1)


# -- any specification -----------------------------------------------------------------------------


@each
def test_get_and_set_params_clone_and_repr(specification):
    params, cls = specification.get_params(deep=False), type(specification)
    assert params == vars(specification)
    names = {type(x).__name__: type(x) for x in SPECIFICATIONS}
    others = cls().set_params(**params), clone(specification), eval(repr(specification), {}, names)
    for other in others:
        assert other is not specification
        assert joblib.hash(other) == joblib.hash(specification)
    assert repr(cls()) == f"{cls.__name__}()"
    with pytest.raises(ValueError, match=f"Invalid parameter 'depth' for .*{cls.__name__}"):
        specification.set_params(depth=1)


@each
def test_nothing_is_checked_before_validate(specification):
    specification.validate()
    name = next(iter(specification.get_params(deep=False)))
    wrong = clone(specification).set_params(**{name: object})
    assert getattr(wrong, name) is object
    with pytest.raises(ValueError, match=f"'{name}' parameter of {type(specification).__name__}"):
        wrong.validate()


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        (Propagation(-1), "'n_layers' parameter of Propagation"),
        (GCN(n_layers=0), "'n_layers' parameter of GCN"),
        (GCN(dropout=1.0), "'dropout' parameter of GCN"),
        *[
            (MMD(gammas=x), "'gammas' parameter of MMD must be a list of numbers between")
            for x in ((), (1.0, -1.0), (1.0, np.nan), (1e11,), [[1.0]])
        ],
        (MMD(gammas="wide"), "'gammas' parameter of MMD"),
        (MMD(estimator="best"), "'estimator' parameter of MMD must be"),
        (MMD(method="fast"), "'method' parameter of MMD must be"),
        (MMD(n_components=0), "'n_components' parameter of MMD must be"),
        (MMD(n_components=7), "n_components must be even, .* Got 7 instead"),
        (MMD(method="random_features", n_components=7), "n_components must be even"),
        (MMD(method="exact", n_components=8), "method='exact' has none: omit it, or use"),
        (Novelty(-1), "'radius' parameter of Novelty"),
        (Novelty(2.5), "'radius' parameter of Novelty"),
        (Novelty(categories="element"), "'categories' parameter of Novelty"),
        (Novelty(edges="all"), "'edges' parameter of Novelty"),
        (Density("mmd"), "'distance' parameter of Density"),
        (Density(kernels=[0.5]), "'kernels' parameter of Density"),
        (Density(MMD(gammas=())), "'gammas' parameter of MMD"),
        *[
            (KDE(bandwidths=x), "'bandwidths' parameter of KDE must be a list of numbers between 1")
            for x in ([], [0.0], [1.0, -1.0], [np.inf], [1e-11], [[1.0]], ["a"])
        ],
        (KDE("likelihood"), "'bandwidths' parameter of KDE"),
        (KDE(size_kernel=2), "'size_kernel' parameter of KDE"),
        *[
            (Contrastive(**{name: value}), f"'{name}' parameter of Contrastive must be")
            for name, value in {
                "max_iter": 0,
                "batch_size": 1,
                "learning_rate": 0,
                "learn_weights": "yes",
                "leave_one_out": None,
                "n_twins": 0,
                "twins": "spectral",
                "validation_fraction": 1.0,
                "n_iter_no_change": 0,
                "loss": "log",
                "schedule": None,
                "weight_decay": -1,
            }.items()
        ],
        (Contrastive(validation_fraction=0), "'validation_fraction' parameter of Contrastive"),
        (Contrastive(twins=Twins(2)), "'swap_ratio' parameter of Twins"),
        (Twins(edges="some"), "'edges' parameter of Twins"),
        (Twins(swap_ratio=1.1), "'swap_ratio' parameter of Twins must be"),
        (Twins(edges=SpectralEdges((0.5,))), "must be .tau_1, tau_2. with"),
        (SpectralEdges((0.5, "x")), "must be .tau_1, tau_2. with"),
        (SpectralEdges(0.5), "'energy_thresholds' parameter of SpectralEdges must be"),
        (SpectralEdges(max_ratio=0.5), "'max_ratio' parameter of SpectralEdges"),
        (SpectralEdges((0.8, 0.5)), r"0 < tau_1 <= tau_2 <= 1. Got \(0.8, 0.5\)"),
        (NodeFeatures("all"), "'kinds' parameter of NodeFeatures"),
    ],
    ids=str,
)
def test_errors_name_parameter_and_class(specification, message):
    with pytest.raises(ValueError, match=message):
        specification.validate()


# -- nested parameters -----------------------------------------------------------------------------


def test_nested_parameters_of_a_detector(graphs):
    named = [("density", Density()), ("new", Novelty(3)), "statistics"]
    training = Contrastive(twins=Twins(0.5))
    detector = GraphKDEDetector(views=named, encoder=GCN(), training=training)
    expected = {"encoder__n_layers": 2, "new__radius": 3, "training__twins__swap_ratio": 0.5}
    assert expected.items() <= detector.get_params().items()
    assert not [name for name in detector.get_params(deep=False) if "__" in name]
    changes = {"encoder__n_layers": 1, "training__twins__swap_ratio": 0.1, "contamination": 0.2}
    detector.set_params(**changes, new=Novelty(2), new__radius=1, density__distance=MMD((1.0,)))
    assert changes.items() <= detector.get_params().items()
    assert joblib.hash(detector.views) == joblib.hash(
        [("density", Density(MMD((1.0,)))), ("new", Novelty(1)), "statistics"]
    )
    detector.set_params(training=None).fit(graphs)
    assert detector.model_.views[1].radius == 1
    detector.set_params(views=Novelty(3), views__radius=2)
    assert detector.views.radius == 2


def test_grid_search_over_nested_parameters(graphs):
    folds, views = KFold(2, shuffle=True, random_state=0), [("density", Density(kernels=KDE()))]
    detector = GraphKDEDetector(encoder=Propagation(), views=views)
    grid = {"encoder__n_layers": [0, 1], "density": [Density(kernels=KDE([x])) for x in (0.1, 1.0)]}
    found = GridSearchCV(detector, grid, cv=folds).fit(graphs).cv_results_
    assert len(np.unique(found["mean_test_score"])) == 4
    for params, score in zip(found["params"], found["mean_test_score"], strict=True):
        alone = cross_val_score(clone(detector).set_params(**params), graphs, cv=folds)
        assert score == pytest.approx(alone.mean(), rel=1e-9)
    assert detector.encoder.n_layers == 2


# -- fits ------------------------------------------------------------------------------------------


def everything():
    return GraphKDEDetector(
        features=NodeFeatures(["label", "degree"]),
        encoder=GCN(4),
        views=[Density(MMD(np.array([0.1, 1.0])), KDE(np.array([0.2, 1.0]))), ("new", Novelty(2))],
        training=Contrastive(2, twins=Twins(0.5, edges=SpectralEdges())),
        max_references=12,
        calibration=Split(0.4),
        contamination=0.2,
        random_state=0,
    )


def test_a_specification_changed_after_fit_does_not_change_the_fit(graphs):
    detector = everything().fit(graphs)
    scores, contrast = detector.decision_function(graphs), detector.score(graphs)
    detector.encoder.n_layers, detector.encoder.hidden_dim = 5, 9
    detector.views[0].distance.gammas[:] = 7.0
    detector.views[0].kernels.bandwidths[:] = 9.0
    detector.set_params(new__radius=0, training__twins__swap_ratio=1.0)
    detector.features.kinds.clear()
    detector.set_params(schema="all", contamination=0.4, calibration="train", max_references=3)
    np.testing.assert_array_equal(detector.decision_function(graphs), scores)
    assert detector.score(graphs) == contrast
    assert detector.p_values(graphs).max() <= 1


def test_paper_settings_name_every_choice_of_the_paper(graphs):
    paper_settings()["encoder"].hidden_dim = 3  # of an object that nobody else has
    assert paper_settings()["encoder"].hidden_dim == 128
    settings = paper_settings(training=Contrastive(max_iter=1, leave_one_out=False))
    assert settings["calibration"] == "train"
    model = GraphKDEDetector(**settings, random_state=0).fit(graphs).model_
    assert model.features.kinds_ == ("label",)
    [density] = model.views
    np.testing.assert_allclose(density.bandwidths_, [1e-2, 1e-1, 1, 1e1, 1e2])
    released = paper_settings(code="released", contamination=0.3)
    assert (released["encoder"].out_dim, released["contamination"]) == (16, 0.3)


@pytest.mark.parametrize("detector", [everything(), GraphKDEDetector()], ids=["all", "defaults"])
def test_fit_never_changes_a_specification(detector, graphs):
    parts = detector.get_params(deep=False)
    before = {name: joblib.hash(part) for name, part in parts.items()}
    detector.fit(graphs).score(graphs)
    assert {
        name: joblib.hash(part) for name, part in detector.get_params(deep=False).items()
    } == before
    assert all(getattr(detector, name) is part for name, part in parts.items())
