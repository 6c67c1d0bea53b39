"""Specifications: scikit-learn's nested parameters, clear errors, and no side effects."""

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from skgraphkde import (
    GCN,
    KDE,
    MMD,
    Contrastive,
    Density,
    GraphKDEDetector,
    Neighbors,
    NodeFeatures,
    Novelty,
    Propagation,
    SpectralEdges,
    Split,
    Statistics,
    Tanimoto,
    Twins,
    paper_settings,
)
from tests.conftest import random_graphs

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
    detector.set_params(**changes, new__radius=1, density__distance=MMD((1.0,)))
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
    grid = {"encoder__n_layers": [0, 1], "density__kernels__bandwidths": [[0.1], [1.0]]}
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
