"""Learning from verdicts: what they change, what they leave, and what is refused."""

import copy

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from skgraphkde import (
    GraphBatch,
    GraphKDEDetector,
    LeaveOneOut,
    References,
    VerdictDetector,
    load,
    read_graphs,
)
from skgraphkde.datasets import load_mutag
from skgraphkde.explanation import explain, results, view_surprises
from skgraphkde.views import Confirmed
from tests.conftest import permuted, random_graphs

MOLECULES, Y = load_mutag(return_X_y=True)
ORDER = np.random.RandomState(0).permutation(len(Y))  # similar molecules follow each other
MOLECULES, Y = MOLECULES[ORDER], Y[ORDER]
NORMAL, ODD = MOLECULES[Y == 1], MOLECULES[Y == -1]
APART = LeaveOneOut(copies="apart")
pytestmark = pytest.mark.filterwarnings("ignore:node labels that fit did not see")


@pytest.fixture(scope="module")
def fitted():
    return GraphKDEDetector().fit(NORMAL[:90])


@pytest.fixture
def detector(fitted):
    return copy.copy(fitted)


def auroc(detector, normal=NORMAL[90:], odd=ODD[20:]):
    scores = detector.score_samples(GraphBatch.concatenate([normal, odd]))
    return roc_auc_score(np.repeat([1, -1], [len(normal), len(odd)]), scores)


def test_known_anomalies_help_to_find_others(detector):
    before = auroc(detector)
    assert auroc(detector.learn(ODD[:20], [-1] * 20)) > before + 0.02
    surprises = view_surprises(detector, ODD)
    assert list(surprises)[-1] == "nearness to confirmed anomalies"
    np.testing.assert_allclose(surprises.sum(axis=1), -detector.score_samples(ODD))


def test_verdicts_are_numbers_or_words(detector):
    expected = copy.copy(detector).learn(ODD[:3], [-1, -1, 1])
    detector.learn(ODD[:3], pd.Series(["anomaly", "anomaly", "normal"], index=[7, 8, 9]))
    np.testing.assert_array_equal(detector.score_samples(ODD), expected.score_samples(ODD))


def test_verdicts_add_up_in_any_order(detector):
    together = copy.copy(detector).learn(ODD[:6], [-1] * 6)
    detector.learn(ODD[:2], [-1, -1]).learn(ODD[2:6], [-1] * 4)
    np.testing.assert_array_equal(detector.score_samples(ODD), together.score_samples(ODD))
    together.learn(ODD[:6][::-1], [-1] * 6)
    np.testing.assert_allclose(detector.score_samples(ODD), together.score_samples(ODD), rtol=1e-2)


def test_the_latest_verdict_on_a_graph_counts(detector):
    graph = nx.relabel_nodes(nx.cycle_graph(9), lambda node: 8 - node)
    nx.set_node_attributes(graph, "C", "label")
    other = nx.cycle_graph(9)
    nx.set_node_attributes(other, "C", "label")
    expected = copy.copy(detector).learn([*ODD[:5], graph], [-1] * 5 + [1])
    detector.learn([*ODD[:5], other], [-1] * 6).learn([graph], [1])
    np.testing.assert_array_equal(detector.score_samples(ODD), expected.score_samples(ODD))
    assert detector.model_.first(Confirmed).verdicts_.tolist() == [-1] * 5 + [1]


def test_without_anomalies_nothing_is_learned(detector):
    scores, calibration = detector.score_samples(ODD), detector.calibration_scores_
    detector.learn(ODD[:2], [-1, 1]).learn(ODD[:1], [1])
    np.testing.assert_array_equal(detector.score_samples(ODD), scores)
    np.testing.assert_array_equal(detector.calibration_scores_, calibration)
    one = GraphKDEDetector(views="density").fit(NORMAL[:90])
    scores = one.score_samples(ODD)
    one.learn(ODD[:1], [-1]).learn(ODD[:1], [1])
    np.testing.assert_array_equal(one.score_samples(ODD), scores)


def test_equal_graphs_with_different_verdicts_are_refused(detector):
    with pytest.raises(ValueError, match="graphs 0 and 2 are equal, and one verdict is 'anomaly'"):
        detector.learn([ODD[3], ODD[4], ODD[3]], [-1, -1, 1])
    named = read_graphs([ODD[3], ODD[3]]).replace(names=["one", "two"])
    with pytest.raises(ValueError, match="graphs 'one' and 'two' are equal"):
        detector.learn(named, [-1, 1])


def test_one_wrong_verdict_does_little(detector):
    before = auroc(detector)
    for graph in NORMAL[90:100]:
        assert auroc(copy.copy(detector).learn([graph], [-1])) > before - 0.1


def test_p_values_of_new_normal_graphs_stay_valid():
    """At most .1 + three standard errors of 20 times 60 graphs, which share references."""
    flagged = []
    for seed in range(20):
        known, new = random_graphs(60, seed), random_graphs(60, seed + 1000)
        stars = [nx.star_graph(n) for n in range(3, 8)]
        for star in stars:
            nx.set_node_attributes(star, "C", "label")
        detector = GraphKDEDetector(calibration=APART).fit(known).learn(stars, [-1] * 5)
        flagged.append((detector.p_values(new) <= 0.1).mean())
    assert np.mean(flagged) < 0.13


def test_a_training_graph_that_is_an_anomaly_is_removed(detector):
    expected = GraphKDEDetector().fit(NORMAL[5:90])
    known = NORMAL[:5]
    detector.learn(known, [-1] * 5)
    assert len(detector.model_.references) < 90
    expected = GraphKDEDetector().fit(detector.model_.references).learn(known, [-1] * 5)
    np.testing.assert_array_equal(detector.score_samples(ODD), expected.score_samples(ODD))


def test_a_training_graph_marked_by_mistake_comes_back():
    known = NORMAL[:60]
    detector = GraphKDEDetector(calibration=APART).fit(known)
    detector.learn(known[5], [-1]).learn(ODD[0], [-1])
    n_removed = 60 - len(detector.model_.references)  # with its copies
    assert n_removed > 0
    detector.learn(known[5], [1])
    assert len(detector.model_.references) == 61 - n_removed
    assert (detector.predict(known[5]), detector.predict(ODD[0])) == (1, -1)
    expected = GraphKDEDetector(calibration=APART).fit(detector.model_.references)
    detector.learn(ODD[0], [1])
    np.testing.assert_allclose(detector.score_samples(ODD), expected.score_samples(ODD))


def test_a_confirmed_anomaly_is_flagged_however_usual_it_looks(detector, tmp_path):
    usual = NORMAL[90:][np.argsort(-detector.score_samples(NORMAL[90:]))[:3]]
    usual = usual.replace(names=["a", "b", "c"])
    assert (detector.predict(usual) == 1).all()
    detector.learn(usual, [-1, -1, 1])
    shuffled = permuted(usual, 0)
    assert detector.predict(shuffled).tolist() == [-1, -1, 1]
    frame = results(detector, shuffled)
    assert frame["reason"][:2].tolist() == ["confirmed as an anomaly"] * 2
    other = results(detector, shuffled[:1].replace(names=["d"]))
    assert other["reason"][0] == "the same as 'a', a confirmed anomaly"
    np.testing.assert_allclose(frame["score"], detector.score_samples(shuffled))
    detector.save(tmp_path / "model.skg")
    assert load(tmp_path / "model.skg").predict(usual).tolist() == [-1, -1, 1]
    assert detector.learn(usual[:1], [1]).predict(usual).tolist() == [1, -1, 1]


def test_nodes_keep_their_ids_if_a_training_graph_is_removed():
    graphs = [nx.cycle_graph([f"{n}.{i}" for i in range(n)]) for n in range(5, 30)]
    detector = GraphKDEDetector(calibration=APART).fit(graphs).learn(graphs[3:4], [-1])
    assert detector.reference_node_ids == [list(x) for x in graphs[:3] + graphs[4:]]


def test_a_verdict_that_a_training_graph_is_normal_changes_nothing(detector):
    expected = copy.copy(detector).learn(ODD[:5], [-1] * 5)
    graphs = GraphBatch.concatenate([ODD[:5], NORMAL[:3]])
    detector.learn(graphs, [-1] * 5 + [1] * 3)
    np.testing.assert_array_equal(detector.score_samples(ODD), expected.score_samples(ODD))


def test_a_file_keeps_what_was_learned(detector, tmp_path):
    detector.learn(ODD[:5], [-1] * 5)
    detector.save(tmp_path / "model.skg")
    loaded = load(tmp_path / "model.skg")
    np.testing.assert_array_equal(loaded.score_samples(ODD), detector.score_samples(ODD))
    np.testing.assert_array_equal(loaded.calibration_scores_, detector.calibration_scores_)
    graphs = GraphBatch.concatenate([ODD[5:7], NORMAL[90:91]])
    for x in (loaded, detector):
        x.learn(graphs, [-1, -1, 1])
    np.testing.assert_array_equal(loaded.score_samples(ODD), detector.score_samples(ODD))


@pytest.mark.parametrize("references", [None, References("window", max_references=95)])
def test_updates_keep_what_was_learned(references):
    detector = GraphKDEDetector(references=references, calibration=APART).fit(NORMAL[:90])
    weights = detector.learn(ODD[:5], [-1] * 5).model_.view_weights
    detector.partial_fit(NORMAL[90:110])
    np.testing.assert_array_equal(detector.model_.view_weights, weights)
    n = len(detector.model_.references)
    assert n == (110 if references is None else 95)
    assert detector.model_.learned_weights.training.shape == (7, n)
    assert len(detector.calibration_scores_) == n
    assert auroc(detector, NORMAL[110:]) > 0.8
    detector.learn(ODD[5:7], [-1, -1])
    assert len(detector.model_.first(Confirmed).graphs_) == 7


def test_one_view_learns_too():
    detector = GraphKDEDetector(views="density").fit(NORMAL[:90]).learn(ODD[:20], [-1] * 20)
    assert len(detector.model_.views) == 2
    assert auroc(detector) > 0.85
    assert (detector.calibration_scores_ <= 0).all()  # sums of log p-values


def test_reasons_and_results_know_the_anomalies(detector):
    odd = ODD[:5].replace(names=[f"case {i}" for i in range(5)])
    reasons = explain(detector.learn(odd, [-1] * 5), ODD[:5])
    found = reasons[reasons["kind"] == "confirmed"]
    assert set(found["graph"]) == set(range(5))
    assert found["reason"].str.match(r"(like|the same as) 'case \d', a confirmed anomaly").all()
    frame = results(detector)  # the training graphs, each weighted without itself
    np.testing.assert_array_equal(frame["score"], detector.calibration_scores_)


def test_suggestions_are_the_most_anomalous_graphs_without_a_verdict(detector):
    scores = detector.score_samples(ODD)
    assert detector.suggest(ODD, 4).tolist() == np.argsort(scores, kind="stable")[:4].tolist()
    asked = detector.suggest(ODD, 4)
    detector.learn(ODD[asked], [-1, 1, -1, 1])
    following = detector.suggest(ODD, len(ODD))
    assert not set(asked.tolist()) & set(following.tolist())
    assert (np.diff(detector.score_samples(ODD)[following]) >= 0).all()
    repeated = GraphBatch.concatenate([ODD[following[:1]]] * 3 + [ODD[following[1:2]]])
    assert detector.suggest(repeated, 3).tolist() == [0, 3]
    with pytest.raises(ValueError, match="n must be an integer of at least 1, got 0"):
        detector.suggest(ODD, 0)


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        ([-1, 0], "that of graph 1 is 0"),
        ([-1, np.nan], "that of graph 1 is nan"),
        ([-1], "one value for each of 2 graphs, and have 1"),
        (["anomaly", 0], "that of graph 1 is 0"),
        (["anomaly", "odd"], "that of graph 1 is 'odd'"),
        ([True, False], "that of graph 0 is True"),
        ([1, 1], "no verdict is 'anomaly', or -1"),
    ],
)
def test_wrong_verdicts_leave_the_detector_as_it_was(detector, verdicts, message):
    model, calibration = detector.model_, detector.calibration_
    with pytest.raises(ValueError, match=message):
        detector.learn(ODD[:2], verdicts)
    assert detector.model_ is model
    assert detector.calibration_ is calibration


@pytest.mark.parametrize(
    "parameters",
    [{"calibration": "split"}, {"references": References("uniform", ratio=0.5)}],
)
def test_a_detector_without_its_training_graphs_cannot_learn(parameters):
    detector = GraphKDEDetector(random_state=0, **parameters).fit(NORMAL)
    with pytest.raises(ValueError, match="fit it with calibration='loo' and references=None"):
        detector.learn(ODD[:2], [-1, -1])


def test_a_refit_that_would_drop_training_graphs_is_refused(fitted):
    detector = copy.copy(fitted).set_params(references=References("window", max_references=40))
    with pytest.raises(ValueError, match="or a window that holds all graphs of fit"):
        detector.learn(NORMAL[:2], [-1, -1])
    assert detector.model_ is fitted.model_


def test_only_a_fitted_detector_learns():
    with pytest.raises(NotFittedError):
        GraphKDEDetector().learn(ODD[:2], [-1, -1])


def test_the_target_of_fit_has_the_verdicts():
    detector = VerdictDetector().fit(MOLECULES[:120], Y[:120])
    y = Y[:120]
    expected = GraphKDEDetector().fit(MOLECULES[:120][y == 1])
    expected.learn(MOLECULES[:120][y == -1], [-1] * int((y == -1).sum()))
    np.testing.assert_array_equal(detector.score_samples(ODD), expected.score_samples(ODD))
    plain = VerdictDetector().fit(NORMAL)
    np.testing.assert_array_equal(
        plain.score_samples(ODD), GraphKDEDetector().fit(NORMAL).score_samples(ODD)
    )
    assert detector.fit_predict(MOLECULES[:120], y).shape == (120,)
    with pytest.raises(ValueError, match="that of graph 0 is 0"):
        detector.fit(MOLECULES[:3], [0, 1, 1])


def test_updates_take_verdicts_from_the_target():
    detector = VerdictDetector(calibration=APART).fit(MOLECULES[:100], Y[:100])
    more, y = MOLECULES[100:130], Y[100:130]
    detector.partial_fit(more, y)
    assert len(detector.model_.references) == int((Y[:130] == 1).sum())
    n_anomalies = len(detector.model_.first(Confirmed).anomalies)  # equal ones count once
    assert 0 < n_anomalies <= (Y[:130] == -1).sum()
    with pytest.raises(ValueError, match="equals a confirmed anomaly, and cannot become a normal"):
        detector.partial_fit(more[y == -1][:1])
    with pytest.raises(ValueError, match="y has no normal graph"):
        VerdictDetector().fit(ODD[:3], [-1] * 3)


def test_a_grid_search_over_folds_with_anomalies():
    search = GridSearchCV(
        VerdictDetector(),
        {"views": ["density", "auto"]},
        scoring="roc_auc",
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
        error_score="raise",
    )
    assert search.fit(MOLECULES, Y).best_score_ > 0.8
