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
    LGKDE,
    MMD,
    Density,
    GraphKDEDetector,
    GraphSchema,
    LeaveOneOut,
    Namesakes,
    Neighbors,
    NodeFeatures,
    Novelty,
    Numbers,
    Propagation,
    Split,
    Statistics,
    Tanimoto,
    read_graphs,
)
from skgraphkde.core.graphs.problems import GraphError
from skgraphkde.detectors import processes
from skgraphkde.detectors.estimator import VIEWS
from skgraphkde.learned import dgl_backend
from tests.conftest import densities, random_graphs, spied, with_data

NETWORK = {"encoder": GCN()}
ONE_VIEW = {"views": Density(MMD(), KDE())}
TYPED = {"schema": GraphSchema()}


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
    "GraphKDEDetector.max_references": ({}, "max_references", 12),
    "GraphKDEDetector.calibration": ({}, "calibration", "train"),
    "GraphKDEDetector.contamination": ({}, "contamination", 0.3),
    "GraphKDEDetector.n_jobs": ({}, "n_jobs", 2),
    "GraphKDEDetector.random_state": (NETWORK, "random_state", 1),
    "GraphKDEDetector.verbose": ({}, "verbose", 1),
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
    "GCN.batch_norm": (NETWORK, "encoder__batch_norm", False),
    "GCN.out_dim": (NETWORK, "encoder__out_dim", 8),
    "GCN.last_relu": (NETWORK, "encoder__last_relu", False),
    "GCN.scale_points": (NETWORK, "encoder__scale_points", True),
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
    "KDE.weights": (ONE_VIEW, "views__kernels__weights", "equal"),
    "KDE.size_kernel": (ONE_VIEW, "views__kernels__size_kernel", False),
    "Novelty.radius": (beside(Novelty(1)), "view__radius", 0),
    "Novelty.categories": (beside(Novelty(1)), "view__categories", "degree"),
    "Novelty.edges": (beside(Novelty(), **TYPED), "view__edges", False),
    "Tanimoto.radius": (beside(Tanimoto()), "view__radius", 1),
    "Neighbors.n_neighbors": (beside(Neighbors()), "view__n_neighbors", 1),
    "Neighbors.radius": (beside(Neighbors()), "view__radius", 1),
    "Statistics.n_neighbors": (beside(Statistics()), "view__n_neighbors", 1),
    "Namesakes.of": (beside(Namesakes()), "view__of", "graph"),
    "Namesakes.n_names": (beside(Namesakes()), "view__n_names", 4),
    "Numbers.n_points": (beside(Numbers(), **TYPED), "view__n_points", 20),
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
#: New values of the parameters of LGKDE, with the network trained or not.
OF_LGKDE = {
    "hidden_dim": 4,
    "n_layers": 1,
    "gammas": (1.0,),
    "bandwidths": [0.5, 1.0],
    "size_kernel": False,
    "scale_points": False,
    "swap": 0.0,
    "energies": None,
    "self_loops": False,
    "p_pert": 0.1,
    "loss": "log_ratio",
    "leave_one_out": False,
    "learn_encoder": True,
    "max_iter": 1,
    "weights_learning_rate": 1.0,
    "schedule": "cosine",
    "weight_decay": 1.0,
    "early_stopping": True,
    "out_dim": 4,
    "last_relu": False,
    "features": NodeFeatures(("degree",)),
    "max_references": 12,
    "calibration": Split(0.4),
    "contamination": 0.3,
    "n_jobs": 2,
    "random_state": 1,
    "verbose": 1,
}
OF_TRAINED_LGKDE = {"dropout": 0.5, "n_twins": 1, "batch_size": 8, "learning_rate": 0.1}
SMALL = {"hidden_dim": 8, "max_iter": 3, "contamination": 0.25}
SMALL_TRAINED = {**SMALL, "learn_encoder": True}
CHANGES |= {f"LGKDE.{name}": (SMALL, name, value) for name, value in OF_LGKDE.items()}
CHANGES |= {
    f"LGKDE.{name}": (SMALL_TRAINED, name, value) for name, value in OF_TRAINED_LGKDE.items()
}
CHANGES["LGKDE.schema"] = ({**SMALL, **TYPED}, "schema", GraphSchema(node_categories=None))
CHANGES["LGKDE.backend"] = ({**SMALL, "backend": "torch"}, "backend", "dgl")
CLASSES = [GraphKDEDetector, GraphSchema, NodeFeatures, Propagation, GCN, MMD, KDE]
CLASSES += [LeaveOneOut, Split, LGKDE, *VIEWS.values()]
PARAMETERS = {f"{c.__name__}.{name}" for c in CLASSES for name in inspect.signature(c).parameters}
# A device changes no result, nor does dropout where nothing is trained.
PARAMETERS -= {"GCN.device", "LGKDE.device", "GCN.dropout"}


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


def named_example(n_graphs, seed):
    """The same path of names in each graph, and a link more."""
    rng = np.random.RandomState(seed)
    graphs = []
    for _ in range(n_graphs):
        graph = nx.path_graph(10)
        graph.add_edge(*rng.choice(10, 2, replace=False).tolist())
        graphs.append(nx.relabel_nodes(graph, dict(enumerate("abcdefghij"))))
    return graphs


NAMED = named_example(20, 0), named_example(8, 1)


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
    if isinstance(detector, LGKDE):
        results += [detector.history_["loss"], detector.history_["mixture_weights"]]
    results = [np.asarray(x).tolist() for x in [*results, detector.schema_.words]]
    return str((results, bool(parallel), bool(convolved), bool(errors.getvalue())))


def test_every_parameter_has_an_entry():
    assert sorted({name.partition(",")[0] for name in CHANGES}) == sorted(PARAMETERS)
    assert len(inspect.signature(GraphKDEDetector).parameters) <= 10


@pytest.mark.filterwarnings("ignore:not read", "ignore:.* would count for nothing")
@pytest.mark.parametrize("parameter", CHANGES)
def test_a_parameter_changes_something(parameter, monkeypatch):
    base, name, value = CHANGES[parameter]
    if parameter.endswith(".backend") and not dgl_backend.supports(torch.device("cpu")):
        pytest.skip("DGL has no build for this Python")
    make = LGKDE if parameter.startswith("LGKDE") else GraphKDEDetector
    detector = make(**{"random_state": 0, **base})
    changed = clone(detector).set_params(**{name: value})
    assert changed.get_params()[name] is not detector.get_params()[name]
    graphs = (TYPED_TRAIN, TYPED_TEST) if "schema" in base else (TRAIN, TEST)
    if parameter.startswith("Namesakes"):
        graphs = NAMED
    if name.endswith("copies"):
        graphs = TRAIN[[*range(24), *range(10)]], TEST
    key = repr(detector)
    if key not in BEFORE:
        BEFORE[key], again = (outcome(clone(detector), monkeypatch, *graphs) for _ in range(2))
        assert again == BEFORE[key]  # what differs below does so by the parameter
    assert outcome(changed, monkeypatch, *graphs) != BEFORE[key]


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
        (KDE(weights="trained"), "'weights' parameter of KDE must be"),
        *[
            (LGKDE(**{name: value}), f"'{name}' parameter of LGKDE must be")
            for name, value in {
                "hidden_dim": 0,
                "dropout": 1.0,
                "gammas": (1.0, -1.0),
                "bandwidths": [],
                "n_twins": 0,
                "swap": 1.1,
                "energies": (0.8, 0.5),
                "p_pert": 0,
                "loss": "log",
                "leave_one_out": None,
                "learn_encoder": "yes",
                "max_iter": 0,
                "batch_size": 1,
                "learning_rate": 0,
                "weights_learning_rate": 0,
                "schedule": None,
                "weight_decay": -1,
                "early_stopping": 2,
                "backend": "jax",
                "features": "all",
            }.items()
        ],
        (LGKDE(energies=(0.5, "x")), "must be None or .tau_1, tau_2. with"),
        (LGKDE(energies=0.5), "'energies' parameter of LGKDE must be"),
        (LGKDE(swap=0, energies=None), "twins are copies of the graphs: raise swap"),
        (LGKDE(device="cuda:9"), "torch does not find device='cuda:9'"),
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
    detector = GraphKDEDetector(views=named, encoder=GCN())
    expected = {"encoder__n_layers": 2, "new__radius": 3}
    assert expected.items() <= detector.get_params().items()
    assert not [name for name in detector.get_params(deep=False) if "__" in name]
    changes = {"encoder__n_layers": 1, "contamination": 0.2}
    detector.set_params(**changes, new=Novelty(2), new__radius=1, density__distance=MMD((1.0,)))
    assert changes.items() <= detector.get_params().items()
    assert joblib.hash(detector.views) == joblib.hash(
        [("density", Density(MMD((1.0,)))), ("new", Novelty(1)), "statistics"]
    )
    detector.fit(graphs)
    assert detector.model_.views[1].radius == 1
    detector.set_params(views=Novelty(3), views__radius=2)
    assert detector.views.radius == 2


def mean_score(detector, graphs, y=None):
    return float(detector.score_samples(graphs).mean())


def test_grid_search_over_nested_parameters(graphs):
    folds, views = KFold(2, shuffle=True, random_state=0), [("density", Density(kernels=KDE()))]
    detector = GraphKDEDetector(encoder=Propagation(), views=views)
    grid = {"encoder__n_layers": [0, 1], "density": [Density(kernels=KDE([x])) for x in (0.1, 1.0)]}
    search = GridSearchCV(detector, grid, cv=folds, scoring=mean_score)
    found = search.fit(graphs).cv_results_
    assert len(np.unique(found["mean_test_score"])) == 4
    for params, score in zip(found["params"], found["mean_test_score"], strict=True):
        alone = clone(detector).set_params(**params)
        scores = cross_val_score(alone, graphs, cv=folds, scoring=mean_score)
        assert score == pytest.approx(scores.mean(), rel=1e-9)
    assert detector.encoder.n_layers == 2


# -- fits ------------------------------------------------------------------------------------------


def everything():
    return GraphKDEDetector(
        features=NodeFeatures(["label", "degree"]),
        encoder=GCN(4),
        views=[Density(MMD(np.array([0.1, 1.0])), KDE(np.array([0.2, 1.0]))), ("new", Novelty(2))],
        max_references=12,
        calibration=Split(0.4),
        contamination=0.2,
        random_state=0,
    )


def test_a_specification_changed_after_fit_does_not_change_the_fit(graphs):
    detector = everything().fit(graphs)
    scores = detector.decision_function(graphs)
    detector.encoder.n_layers, detector.encoder.hidden_dim = 5, 9
    detector.views[0].distance.gammas[:] = 7.0
    detector.views[0].kernels.bandwidths[:] = 9.0
    detector.set_params(new__radius=0)
    detector.features.kinds.clear()
    with pytest.warns(UserWarning, match="from the next fit on: to move the threshold now, call"):
        detector.set_params(schema="all", contamination=0.4, calibration="train", max_references=3)
    np.testing.assert_array_equal(detector.decision_function(graphs), scores)
    assert detector.p_values(graphs).max() <= 1


@pytest.mark.parametrize("detector", [everything(), GraphKDEDetector()], ids=["all", "defaults"])
def test_fit_never_changes_a_specification(detector, graphs):
    parts = detector.get_params(deep=False)
    before = {name: joblib.hash(part) for name, part in parts.items()}
    detector.fit(graphs).score_samples(graphs)
    assert {
        name: joblib.hash(part) for name, part in detector.get_params(deep=False).items()
    } == before
    assert all(getattr(detector, name) is part for name, part in parts.items())
