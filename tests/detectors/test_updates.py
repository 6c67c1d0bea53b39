"""Updates: new graphs become references, all that was adapted stays, p-values stay valid."""

import pickle
import threading

import networkx as nx
import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone

import skgraphkde
from skgraphkde import (
    GCN,
    MMD,
    Density,
    GraphKDEDetector,
    LeaveOneOut,
    Novelty,
    References,
    Split,
    persistence,
    read_graphs,
)
from skgraphkde.calibration import conformal_p_values, offset
from skgraphkde.detectors.model import GraphModel
from skgraphkde.views.p_values import LogPValues, view_weights
from tests.conftest import densities, random_graphs
from tests.detectors.conftest import ONE_VIEW

GRAPHS = read_graphs(random_graphs(80, seed=1))
NEW = read_graphs(random_graphs(12, seed=2))
PART = 8


def made(references=None, **params):
    return GraphKDEDetector(references=references, random_state=0, **params)


def window(n):
    return References("window", max_references=n)


def updated(detector, n_fit, graphs=GRAPHS, part=PART):
    """Fitted to the first graphs, then updated with the others, a part at a time."""
    detector.fit(graphs[:n_fit])
    for start in range(n_fit, len(graphs), part):
        detector.partial_fit(graphs[start : start + part])
    return detector


def numbers_of(references):
    """Which of GRAPHS these are, by their first index in order; equal graphs are told by place."""
    return [
        (x.n_nodes, x.adjacency.nnz, tuple(x.label_names[i] for i in x.labels))
        for x in (references[i] for i in range(len(references)))
    ]


# -- what changes, and what does not ---------------------------------------------------------------

SETTINGS = {
    "defaults": {},
    "one view": ONE_VIEW,
    "readout and random features": {
        "views": (
            Novelty(2),
            *densities("mean", MMD(method="random_features", n_components=16)),
            "rarity",
        ),
    },
    "network": {"encoder": GCN(hidden_dim=4)},
}


@pytest.mark.parametrize("params", SETTINGS.values(), ids=SETTINGS)
def test_an_updated_density_is_that_of_its_references(params):
    """The oracle embeds them all anew, and learns the other views from them."""
    detector = updated(made(window(30), **params), 40)
    model = detector.model_
    assert numbers_of(model.references) == numbers_of(GRAPHS[-30:])
    views = [x if i in model.densities else clone(x) for i, x in enumerate(model.views)]
    for i in set(range(len(views))) - set(model.densities):
        views[i].fit(GRAPHS[-30:])
    anew = GraphModel(model.features, model._density, GRAPHS[-30:], views, model.training_scores)
    np.testing.assert_allclose(model.view_scores(NEW), anew.view_scores(NEW), rtol=1e-8)
    n_points, n_anew = (len(x._references.measures[0].points) for x in (model, anew))
    assert n_points <= 1.05 * n_anew  # no pile of equal points


@pytest.mark.parametrize("params", SETTINGS.values(), ids=SETTINGS)
def test_scores_of_graphs_before_they_join_calibrate(params):
    detector = made(window(30), **params).fit(GRAPHS[:30])
    views = detector.model_.training_scores
    for start in range(30, 80, PART):
        new = detector.model_.view_scores(GRAPHS[start : start + PART])
        views = np.hstack([views, new])[:, -30:]
        detector.partial_fit(GRAPHS[start : start + PART])
    np.testing.assert_allclose(detector.model_.training_scores, views, rtol=1e-12)
    log_p = np.array([LogPValues(of_view).leave_one_out() for of_view in views])
    expected = view_weights(log_p) @ log_p if len(views) > 1 else views[0]
    np.testing.assert_allclose(detector.calibration_scores_, expected, rtol=1e-12)
    assert detector.offset_ == offset(detector.calibration_scores_, 0.1)
    assert detector.calibration_graphs_.tolist() == list(range(50, 80))
    assert detector.n_graphs_seen_ == 80


def test_a_split_sets_new_graphs_aside():
    detector = made(window(30), calibration=Split(0.4)).fit(GRAPHS[:50])
    for start in range(50, 80, PART):
        detector.partial_fit(GRAPHS[start : start + PART])
    new = detector.calibration_graphs_[detector.calibration_graphs_ >= 50]
    assert 4 < len(new) < 20
    joined = np.setdiff1d(np.arange(50, 80), new)
    references = detector.model_.references[-len(joined) :]
    assert numbers_of(references) == numbers_of(GRAPHS[joined])
    views = detector.model_.as_log_p_values(detector.calibration_.views)
    np.testing.assert_array_equal(detector.calibration_scores_, views.sum(axis=0))


def test_what_was_adapted_to_the_graphs_of_fit_stays():
    def kept(detector):
        model = detector.model_
        state = model.to_state()
        names = ("features", "encoder", "weights", "densities")
        tree, arrays = persistence.encode({name: state[name] for name in names})
        values = {name: array.tolist() for name, array in arrays.items()}
        return repr((tree, values, detector.schema_, detector.twin_seed_, model.view_names))

    detector = made(window(30), encoder=GCN(hidden_dim=4)).fit(GRAPHS[:40])
    before = kept(detector)
    assert kept(detector.partial_fit(GRAPHS[40:])) == before


def test_an_unfitted_detector_is_fitted():
    fitted, first = made().fit(GRAPHS[:20]), made().partial_fit(GRAPHS[:20])
    np.testing.assert_array_equal(fitted.score_samples(NEW), first.score_samples(NEW))


@pytest.mark.parametrize("sampling", ["window", "reservoir"])
def test_it_does_not_matter_how_graphs_are_parted(sampling):
    """... for which of them are references: what is drawn for a graph is its own."""
    detectors = [
        updated(made(References(sampling, max_references=25)), 30, part=part) for part in (7, 50)
    ]
    kept = [numbers_of(x.model_.references) for x in detectors]
    assert kept[0] == kept[1]
    assert (kept[0] == numbers_of(GRAPHS[-25:])) == (sampling == "window")


def test_a_reservoir_keeps_each_graph_with_the_same_probability():
    references, n_kept = References("reservoir", max_references=6), np.zeros(20)
    for seed in range(300):
        known = references.choose(np.zeros(9), np.random.RandomState(seed))
        rngs = {i: np.random.default_rng([seed, i]) for i in range(9, 20)}
        positions = references.after(6, rngs)
        n_kept[np.append(known, np.arange(9, 20))[positions]] += 1
    np.testing.assert_allclose(n_kept / 300, 0.3, atol=4 * np.sqrt(0.21 / 300))


def test_copies_do_not_count_for_a_reservoir():
    """Acceptance depends on how many graphs counted, not on how often they came."""
    n_seeds = 10
    paths = [nx.path_graph(n) for n in range(3, 63)]
    references = References("reservoir", max_references=10)
    n_kept = np.zeros(63)
    for seed in range(n_seeds):
        detector = GraphKDEDetector(
            views=Density("mean"),
            references=references,
            calibration=LeaveOneOut("together"),
            random_state=seed,
        ).fit(paths[:20] * 3)
        for start in (20, 40):
            detector.partial_fit(paths[start : start + 20])
        n_kept[detector.model_.references.n_nodes_per_graph] += 1
    shares = n_kept[3:].reshape(3, 20).mean(axis=1) / n_seeds
    np.testing.assert_allclose(shares, 1 / 6, atol=4 * np.sqrt(5 / 36 / 20 / n_seeds))
    assert (detector.n_graphs_seen_, detector.calibration_.n_counted) == (100, 60)


def test_the_contamination_of_fit_places_the_threshold(tmp_path):
    detector, expected = (made(window(30)).fit(GRAPHS[:30]) for _ in range(2))
    detector.set_params(contamination=0.4)
    detector.save(tmp_path / "a.skg")
    for updated_detector in (detector, skgraphkde.load(tmp_path / "a.skg")):
        updated_detector.partial_fit(NEW)
    expected.partial_fit(NEW)
    np.testing.assert_allclose(updated_detector.offset_, expected.offset_)
    assert detector.offset_ == expected.offset_
    assert detector.fit(GRAPHS[:30]).calibration_.contamination == 0.4


@pytest.mark.parametrize("params", [{}, ONE_VIEW], ids=["defaults", "one view"])
def test_while_references_grow_they_are_compared_with_all_others(params):
    """Eight new graphs are enough for all of 80: scores as if the model were calibrated anew."""
    model = updated(made(**params), 40).model_
    assert numbers_of(model.references) == numbers_of(GRAPHS)
    expected = model.view_scores(GRAPHS, own=np.arange(80))
    np.testing.assert_allclose(model.training_scores, expected, rtol=1e-8)


def test_held_out_graphs_of_few_references_do_not_count():
    detector = updated(made(calibration=Split(0.4)), 30)
    graphs = detector.calibration_graphs_
    assert len(graphs) == 12  # as many as after fit
    assert graphs[0] >= 30


# -- what is promised ------------------------------------------------------------------------------


def drawn(rng, n):
    graphs = random_graphs(n, seed=rng.randint(2**31), max_nodes=12)
    return read_graphs(graphs)


@pytest.mark.parametrize("calibration", ["loo", Split(0.4)])
def test_p_values_stay_valid(calibration):
    """P(p <= a) <= a, up to two standard errors; fresh graphs of each repetition are dependent."""
    levels, rates = np.array([0.1, 0.2, 0.4]), []
    for seed in range(9):
        rng = np.random.RandomState(seed)
        detector = made(window(15), calibration=calibration, contamination=0.2, **ONE_VIEW)
        detector = updated(detector, 25, drawn(rng, 55), part=15)
        p = detector.p_values(drawn(rng, 30))
        rates.append((p[:, np.newaxis] <= levels).mean(axis=0))
    error = np.std(rates, axis=0, ddof=1) / 9**0.5
    assert (np.mean(rates, axis=0) <= levels + 2 * error).all()
    assert (np.mean(rates, axis=0) >= levels - 0.15).all()


@pytest.mark.slow
@pytest.mark.parametrize("calibration", [LeaveOneOut("apart"), Split(0.4, copies="apart")], ids=str)
def test_p_values_of_a_source_of_forty_kinds(calibration):
    """After 50 updates that keep all references; none was below 0.1 with scores of the arrival."""
    rates = []
    for seed in range(4):
        rng = np.random.RandomState(seed)
        kinds = read_graphs(random_graphs(40, seed=seed, max_nodes=14))
        detector = made(calibration=calibration)
        detector = updated(detector, 50, kinds[rng.randint(40, size=200)], part=3)
        rates.append((detector.p_values(kinds[rng.randint(40, size=400)]) <= 0.1).mean())
    assert 0.03 <= np.mean(rates) <= 0.14


def test_ten_updates_agree_with_a_refit():
    """Scores of fresh graphs have a rank correlation of 0.9 or more, and verdicts agree on 85%."""
    rng = np.random.RandomState(0)
    graphs, fresh = drawn(rng, 100), drawn(rng, 60)
    ten = updated(made(window(100)), 50, graphs, part=5)
    refit = made(window(100)).fit(graphs)
    assert spearmanr(ten.score_samples(fresh), refit.score_samples(fresh)).statistic > 0.9
    assert (ten.predict(fresh) == refit.predict(fresh)).mean() >= 0.85


def test_the_state_does_not_grow(tmp_path):
    """Not even with categories that come and go."""
    graphs = [nx.cycle_graph(n) for n in range(3, 23)]
    for graph in graphs:
        nx.set_node_attributes(graph, "C", "label")
    detector, sizes = made(window(12), **ONE_VIEW).fit(graphs), []
    for day in range(31):
        graph = nx.cycle_graph(10)
        nx.set_node_attributes(graph, dict.fromkeys(graph, f"label {day:02d}"), "label")
        with pytest.warns(UserWarning, match=f"node labels that fit did not see: label {day:02d}"):
            detector.partial_fit([graph])
        if day % 9 == 3:
            detector.save(tmp_path / "model.skg")
            sizes.append((tmp_path / "model.skg").stat().st_size)
    assert max(sizes[2:]) <= sizes[1] * 1.02
    assert len(detector.model_.references.label_names) == 12
    assert len(detector.calibration_scores_) == 20
    assert len(detector.model_._references.measures[0].points) <= 12 * 10


def test_another_thread_sees_the_old_detector_or_the_new_one():
    detector = made(window(30)).fit(GRAPHS[:30])

    def update():
        thread = threading.Thread(target=detector.partial_fit, args=(GRAPHS[30:60],))
        thread.start()
        thread.join()

    for method in ("decision_function", "p_values", "predict", "select", "score_samples"):
        detector = made(window(30)).fit(GRAPHS[:30])
        expected = getattr(detector, method)(NEW)
        assert expected.tolist() == _while_scoring(detector, method, update).tolist(), method
        assert detector.n_graphs_seen_ == 60


def _while_scoring(detector, method, update):
    """What a method returns if an update comes when the graphs have been read, and scored."""
    cls, scores_of = type(detector), type(detector)._score_batch

    class Interrupted(cls):
        def _score_batch(self, graphs):
            scores = scores_of(self, graphs)
            if detector.n_graphs_seen_ == 30:
                update()
            return scores

    detector.__class__ = Interrupted
    try:
        return getattr(detector, method)(NEW)
    finally:
        detector.__class__ = cls


# -- what is refused, and what is reported ---------------------------------------------------------


def unchanged(detector, message, graphs=NEW):
    before = pickle.dumps(detector)
    with pytest.raises((ValueError, TypeError), match=message):
        detector.partial_fit(graphs)
    assert pickle.dumps(detector) == before


def test_a_failed_update_changes_nothing(monkeypatch):
    detector = made(window(30)).fit(GRAPHS[:30])
    unchanged(detector, "graph 1", [nx.path_graph(3), nx.Graph()])
    with monkeypatch.context() as patched:
        patched.setattr(GraphModel, "leave_one_out", lambda self: np.full(30, np.nan))
        unchanged(detector, "is not a finite number")
    detector.partial_fit(NEW)
    assert detector.n_graphs_seen_ == 42


@pytest.mark.parametrize(
    ("params", "changes", "message"),
    [
        ({"calibration": "train"}, {}, "calibration='train' .*: fit with calibration='loo'"),
        ({"references": "uniform"}, {}, "references='uniform' keeps a share .* 'reservoir'"),
        ({}, {"references": window(20)}, "has 30 references, and max_references=20"),
        ({}, {"calibration": Split(0.5)}, "was not fitted with calibration=Split"),
    ],
)
def test_detectors_that_cannot_be_updated(params, changes, message):
    detector = GraphKDEDetector(random_state=0, **params).fit(GRAPHS[:30])
    unchanged(detector.set_params(**changes), message)


def test_copies_of_references_are_left_out():
    detector = made(window(60)).fit(GRAPHS[:60])
    before = detector.calibration_scores_
    with pytest.warns(UserWarning, match="copies of others, more than chance explains"):
        detector.partial_fit(GRAPHS[:60])
    np.testing.assert_array_equal(detector.calibration_scores_, before)
    assert detector.n_graphs_seen_ == 120


def test_updates_go_on_from_a_file(tmp_path):
    for params in ({"calibration": Split(0.4)}, ONE_VIEW):
        one = updated(made(window(40), **params), 40, GRAPHS[:60])
        one.save(tmp_path / "model.skg")
        other = skgraphkde.load(tmp_path / "model.skg")
        for detector in (one, other):
            detector.partial_fit(GRAPHS[60:])
        np.testing.assert_allclose(one.score_samples(NEW), other.score_samples(NEW), rtol=1e-8)
        np.testing.assert_array_equal(one.calibration_graphs_, other.calibration_graphs_)
        p_values = conformal_p_values(other.score_samples(NEW), other.calibration_scores_)
        np.testing.assert_array_equal(one.p_values(NEW), p_values)
