"""Specifications: nested parameters, strings that are short for them, and no side effects."""

import itertools

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, KFold

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
    Numbers,
    Propagation,
    RandomEdges,
    Rarity,
    Readout,
    References,
    SpectralEdges,
    Split,
    Statistics,
    Tanimoto,
    Twins,
    paper_settings,
)
from skgraphkde.specification import ComposedEstimator, Specification
from tests.conftest import densities, random_graphs

SPECIFICATIONS = [
    NodeFeatures(("random_walk",)),
    Propagation(1),
    GCN(hidden_dim=4),
    MMD((1.0, 2.0)),
    Readout("sum"),
    Novelty(3, "degree"),
    Rarity(True),
    KDE([0.5]),
    Density(Readout("sum"), KDE([0.5])),
    Contrastive(3, twins=Twins(0.5, edges=RandomEdges(0.3))),
    Twins(edges=SpectralEdges((0.4, 0.6))),
    SpectralEdges(max_ratio=2.0),
    RandomEdges(0.1),
    References("uniform"),
    Split(0.25),
]
each = pytest.mark.parametrize(
    "specification", SPECIFICATIONS, ids=[type(x).__name__ for x in SPECIFICATIONS]
)


@pytest.fixture(scope="module")
def graphs():
    return random_graphs(24, seed=1)


def deep(value):
    """All that an object consists of, as plain values."""
    if isinstance(value, BaseEstimator):
        return type(value), {name: deep(x) for name, x in vars(value).items()}
    if isinstance(value, np.ndarray):
        return value.dtype, value.tolist()
    if isinstance(value, list | tuple):
        return type(value), [deep(x) for x in value]
    return value


# -- any specification -----------------------------------------------------------------------------


@each
def test_get_and_set_params(specification):
    params = specification.get_params(deep=False)
    assert params == vars(specification)
    other = type(specification)()
    assert other.set_params(**params) is other
    assert deep(other) == deep(specification)
    with pytest.raises(ValueError, match=f"Invalid parameter 'depth' for .*{type(other).__name__}"):
        other.set_params(depth=1)
    with pytest.raises(ValueError, match="Invalid parameter 'depth'"):
        other.set_params(depth__width=1)
    assert deep(other) == deep(specification)


@each
def test_clone_and_repr(specification):
    copied = clone(specification)
    assert copied is not specification
    assert deep(copied) == deep(specification)
    names = {type(x).__name__: type(x) for x in SPECIFICATIONS}
    assert deep(eval(repr(specification), {}, names)) == deep(specification)
    assert repr(type(specification)()) == f"{type(specification).__name__}()"


@each
def test_nothing_is_checked_before_validate(specification):
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
        (MMD(gammas=[1e11]), "'gammas' parameter of MMD"),
        (Novelty(-1), "'radius' parameter of Novelty"),
        (Novelty(categories="element"), "'categories' parameter of Novelty"),
        (Novelty(edges="all"), "'edges' parameter of Novelty"),
        (Rarity(edges="all"), "'edges' parameter of Rarity"),
        (Density("max"), "'distance' parameter of Density"),
        (Density(kernels=[0.5]), "'kernels' parameter of Density"),
        (Density(MMD(gammas="wide")), "'gammas' parameter of MMD"),
        (KDE(bandwidths=[]), "'bandwidths' parameter of KDE"),
        (Contrastive(batch_size=1), "'batch_size' parameter of Contrastive"),
        (Contrastive(twins="none"), "'twins' parameter of Contrastive"),
        (Contrastive(twins=Twins(2)), "'swap_ratio' parameter of Twins"),
        (Contrastive(twins=Twins(edges=RandomEdges(-1))), "'ratio' parameter of RandomEdges"),
        (Twins(edges="some"), "'edges' parameter of Twins"),
        (SpectralEdges(max_ratio=0.5), "'max_ratio' parameter of SpectralEdges"),
        (SpectralEdges((0.9, 0.1)), "'energy_thresholds' parameter of SpectralEdges"),
        (NodeFeatures("all"), "'kinds' parameter of NodeFeatures"),
    ],
    ids=str,
)
def test_errors_name_parameter_and_class(specification, message):
    with pytest.raises(ValueError, match=message):
        specification.validate()


def test_fit_validates_nested_specifications(graphs):
    nested = {
        "features": NodeFeatures("all"),
        "encoder": Propagation(-1),
        "views": ("density", Density(MMD(gammas="wide"))),
        "training": Contrastive(twins=Twins(edges=RandomEdges(-1))),
        "references": References("random"),
        "calibration": Split(0),
    }
    for name, part in nested.items():
        with pytest.raises(ValueError, match="' parameter of "):
            GraphKDEDetector(**{name: part}).fit(graphs)


# -- nested parameters -----------------------------------------------------------------------------


def test_nested_parameters_of_a_detector():
    detector = GraphKDEDetector(views="density", training=Contrastive(twins=Twins(0.5)))
    params = detector.get_params()
    expected = {
        "encoder": "propagation",
        "encoder__n_layers": 2,
        "views": "density",
        "views__distance": "mmd",
        "views__distance__estimator": "adaptive",
        "training__twins__swap_ratio": 0.5,
        "training__twins__edges": "spectrum",
        "training__twins__edges__max_ratio": 10.0,
    }
    assert expected.items() <= params.items()
    assert not [name for name in params if name.startswith("references__")]
    for views in ("auto", ("density", "novelty")):
        several = GraphKDEDetector(views=views).get_params()
        assert several["views"] == views
        assert not [name for name in several if name.startswith("views__")]
    assert GraphKDEDetector(views=Novelty(3)).get_params()["views__radius"] == 3
    shallow = GraphKDEDetector().get_params(deep=False)
    assert not [name for name in shallow if "__" in name]


def test_set_params_of_what_is_still_a_string():
    detector = GraphKDEDetector(views="density", training="contrastive", references="importance")
    detector.set_params(
        encoder__n_layers=1,
        features__kinds=("degree",),
        views__kernels__bandwidths=[1.0],
        training__twins__edges__max_ratio=3.0,
        references__ratio=0.5,
    )
    assert deep(detector.encoder) == deep(Propagation(1))
    assert deep(detector.features) == deep(NodeFeatures(("degree",)))
    assert deep(detector.views) == deep(Density(kernels=KDE([1.0])))
    assert deep(detector.training) == deep(
        Contrastive(twins=Twins(edges=SpectralEdges(max_ratio=3.0)))
    )
    assert deep(detector.references) == deep(References("importance", ratio=0.5))
    detector.set_params(views__distance="sum")
    assert detector.views.distance == "sum"
    detector.set_params(views__distance__readout="mean")
    assert deep(detector.views) == deep(Density(Readout("mean"), KDE([1.0])))


def test_a_specification_and_its_parameters_at_once():
    for names in itertools.permutations(["encoder", "encoder__n_layers", "encoder__hidden_dim"]):
        values = {"encoder": "gcn", "encoder__n_layers": 3, "encoder__hidden_dim": 5}
        detector = GraphKDEDetector().set_params(**{name: values[name] for name in names})
        assert deep(detector.encoder) == deep(GCN(5, 3))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_layers": 1}, "Invalid parameter 'n_layers' for estimator GraphKDEDetector"),
        ({"encodr__n_layers": 1}, "Invalid parameter 'encodr' for estimator GraphKDEDetector"),
        ({"encoder__depth": 1}, "Invalid parameter 'depth' for estimator Propagation"),
        ({"encoder__hidden_dim": 1}, "Invalid parameter 'hidden_dim' for estimator Propagation"),
        ({"training__max_iter": 1}, "training__max_iter cannot be set: training=None has no par"),
        ({"references__ratio": 0.5}, "references=None has no parameters, set references"),
        ({"encoder": "lstm", "encoder__n_layers": 1}, "encoder='lstm' has no parameters"),
        ({"contamination__a": 1}, "contamination=0.1 has no parameters"),
        ({"views__kernels": "kde"}, r"views=\(Density\(.* has no parameters, set views itself"),
        ({"views": "novelty", "views__gammas": [1.0]}, "Invalid parameter 'gammas' for .* Novelty"),
        ({"views": ("density",), "views__distance": "sum"}, r"views=\(Density\(\),\) has no par"),
        ({"encoder__": 3}, "encoder"),
        ({"foo__": 3}, "foo"),
    ],
    ids=str,
)
def test_names_that_are_wrong(params, message):
    with pytest.raises(ValueError, match=message):
        GraphKDEDetector().set_params(**params)


def test_set_params_never_changes_a_shared_specification():
    shared, twins = GCN(hidden_dim=4), Twins(edges=SpectralEdges())
    training = Contrastive(twins=twins)
    one = GraphKDEDetector(encoder=shared, training=training)
    two = GraphKDEDetector(encoder=shared, training=training)
    before = deep([shared, training, twins])
    one.set_params(encoder__hidden_dim=8, training__max_iter=1)
    one.set_params(training__twins__edges__max_ratio=2.0)
    assert deep([shared, training, twins]) == before
    assert two.encoder is shared
    assert two.training is training
    assert (one.encoder.hidden_dim, one.training.max_iter) == (8, 1)
    assert one.training.twins.edges.max_ratio == 2.0


def test_specification_is_a_validated_copy():
    detector = GraphKDEDetector(encoder=GCN(4), training=None)
    assert deep(detector.specification("encoder")) == deep(GCN(4))
    assert detector.specification("training") is None
    biased = MMD(gammas=(10.0,), estimator="biased")
    defaults = Density(biased), Density(MMD(gammas=(1.0,), estimator="unbiased"))
    assert deep(detector.specification("views")) == deep(
        (*defaults, Novelty(), Tanimoto(), Neighbors(), Statistics(), Numbers())
    )
    parts = Density(MMD(gammas=[1.0])), Novelty(2)
    copies = detector.set_params(views=(*parts, "rarity")).specification("views")
    assert deep(copies) == deep((*parts, Rarity()))
    assert copies[0] is not parts[0]
    assert copies[0].distance.gammas is not parts[0].distance.gammas
    with pytest.raises(ValueError, match="'hidden_dim' parameter of GCN"):
        detector.set_params(encoder__hidden_dim=0).specification("encoder")


def test_own_estimators_compose_like_the_detectors():
    class Leaf(Specification):
        def __init__(self, width=1):
            self.width = width

    class Tree(ComposedEstimator):
        _shorthands = {"leaf": {"thin": Leaf, "wide": lambda: Leaf(9)}}

        def __init__(self, leaf="thin"):
            self.leaf = leaf

    assert Tree().get_params() == {"leaf": "thin", "leaf__width": 1}
    assert Tree("wide").set_params(leaf__width=5).leaf.width == 5
    assert Tree(Leaf).get_params() == {"leaf": Leaf}  # a class is no specification
    with pytest.raises(ValueError, match="has no parameters, set leaf itself first"):
        Tree(Leaf).set_params(leaf__width=5)


# -- searches and fits -----------------------------------------------------------------------------

FOLDS = KFold(2, shuffle=True, random_state=0)


def test_grid_search_over_a_parameter_of_the_default_string(graphs):
    search = GridSearchCV(
        GraphKDEDetector(random_state=0), {"encoder__n_layers": [0, 1, 3]}, cv=FOLDS
    )
    search.fit(graphs)
    scores = search.cv_results_["mean_test_score"]
    assert len(np.unique(scores)) == 3
    best = search.best_params_["encoder__n_layers"]
    assert deep(search.best_estimator_.encoder) == deep(Propagation(best))
    assert search.estimator.encoder == "propagation"
    for n_layers, score in zip([0, 1, 3], scores, strict=True):
        detector = GraphKDEDetector(encoder=Propagation(n_layers), random_state=0)
        by_hand = [
            detector.fit([graphs[i] for i in a]).score([graphs[i] for i in b])
            for a, b in FOLDS.split(graphs)
        ]
        assert score == pytest.approx(np.mean(by_hand), rel=1e-9)


def everything():
    return GraphKDEDetector(
        features=NodeFeatures(["label", "degree"]),
        encoder=GCN(4),
        views=(
            *densities(MMD(np.array([0.1, 1.0])), Readout(), kernels=KDE([0.2, 1.0])),
            Novelty(2),
            Rarity(),
        ),
        training=Contrastive(2, twins=Twins(0.5, edges=RandomEdges())),
        references=References(ratio=0.5),
        calibration=Split(0.4),
        contamination=0.2,
        random_state=0,
    )


@pytest.mark.parametrize("detector", [everything(), GraphKDEDetector()], ids=["all", "defaults"])
def test_fit_never_changes_a_specification(detector, graphs):
    parts = detector.get_params(deep=False)
    before = {name: deep(part) for name, part in parts.items()}
    detector.fit(graphs).predict(graphs)
    if detector.training is not None:
        detector.score(graphs)
    assert {name: deep(part) for name, part in detector.get_params(deep=False).items()} == before
    assert all(getattr(detector, name) is part for name, part in parts.items())


def test_a_specification_changed_after_fit_does_not_change_the_fit(graphs):
    detector = everything().fit(graphs)
    scores = detector.score_samples(graphs)
    detector.encoder.n_layers, detector.encoder.hidden_dim = 5, 9
    mmd, mean, novelty, rarity = detector.views
    mmd.distance.gammas[:] = 7.0
    mean.distance.readout = "sum"
    novelty.radius = 0
    rarity.edges = True
    mmd.kernels.bandwidths[:] = [9.0, 9.0]
    detector.features.kinds.clear()
    np.testing.assert_array_equal(detector.score_samples(graphs), scores)


def test_paper_settings_are_fresh_objects():
    paper_settings()["encoder"].hidden_dim = 3
    assert paper_settings()["encoder"].hidden_dim == 128
    released = paper_settings(code="released")
    assert released["encoder"].out_dim == 16
    assert released["training"].specification("twins").edges.self_loops
    with pytest.raises(ValueError, match=r"code must be 'text' or 'released'\. Got 'mine'"):
        paper_settings(code="mine")
    changed = paper_settings(training=None, contamination=0.3)
    assert changed["training"] is None
    assert (changed["contamination"], changed["calibration"]) == (0.3, "train")
    with pytest.raises(TypeError, match="unexpected keyword argument 'trainin'"):
        GraphKDEDetector(**paper_settings(trainin=None))
