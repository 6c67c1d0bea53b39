"""fit with verdicts, partial_fit and learn: fits of one list; and fewer references than graphs."""

import copy
import warnings

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from skgraphkde import (
    GCN,
    GraphBatch,
    GraphKDEDetector,
    GraphSchema,
    LeaveOneOut,
    Split,
    UnseenCategoryWarning,
    read_graphs,
    report,
)
from skgraphkde.core.graphs.copies import sample_by_content
from skgraphkde.core.scoring import model as model_module
from skgraphkde.core.scoring.groups import find_groups
from skgraphkde.core.scoring.model import LOG_P_OF_CONFIRMED
from skgraphkde.core.views.confirmed import Confirmed
from skgraphkde.datasets import load_mutag
from skgraphkde.explanation import explain, results, view_surprises
from tests.conftest import permuted, random_graphs, with_data

MOLECULES, Y = load_mutag(return_X_y=True, edge_data=True)
ORDER = np.random.RandomState(0).permutation(len(Y))  # similar molecules follow each other
MOLECULES, Y = read_graphs(MOLECULES[ORDER].to_networkx()), Y[ORDER]
NORMAL, ODD = MOLECULES[Y == 1], MOLECULES[Y == -1]
APART = LeaveOneOut(copies="apart")
pytestmark = pytest.mark.filterwarnings("ignore:.* that fit did not see")


def together(*graphs):
    return GraphBatch.concatenate(list(graphs))


def assert_same(detector, expected):
    """To the last bit."""
    np.testing.assert_array_equal(detector.score_samples(ODD), expected.score_samples(ODD))
    for name in ("calibration_scores_", "calibration_graphs_", "offset_", "verdicts_"):
        np.testing.assert_array_equal(getattr(detector, name), getattr(expected, name))


def auroc(detector):
    normal, odd = NORMAL[90:], ODD[20:]
    scores = detector.score_samples(together(normal, odd))
    return roc_auc_score(np.repeat([1, -1], [len(normal), len(odd)]), scores)


SETTINGS = {
    "defaults": {},
    "copies": {"calibration": LeaveOneOut(copies="together")},
    "split": {"calibration": Split(0.3)},
    "train": {"calibration": "train"},
    "network": {"encoder": GCN(hidden_dim=4), "views": "density"},
    "few references": {"max_references": 30},
}


@pytest.fixture(params=SETTINGS)
def detector(request):
    return GraphKDEDetector(random_state=0, **SETTINGS[request.param])


@pytest.fixture(scope="module")
def _fitted():
    return GraphKDEDetector().fit(NORMAL[:90])


@pytest.fixture
def fitted(_fitted):
    """A copy that a test may fit again."""
    return copy.copy(_fitted)


# -- one list --------------------------------------------------------------------------------------


def test_partial_fit_is_a_fit_to_all_graphs(detector):
    graphs = NORMAL[:70].to_networkx()
    expected = clone(detector).fit(graphs)
    detector.partial_fit(graphs[:45]).partial_fit(graphs[45:60]).partial_fit(graphs[60:])
    assert_same(detector, expected)
    assert len(detector.training_graphs_) == 70


def test_learn_is_a_fit_with_verdicts(detector):
    graphs = together(ODD[:4], NORMAL[60:62], NORMAL[:1], ODD[4:6])
    expected = clone(detector).fit(
        together(NORMAL[:60], ODD[:4], NORMAL[60:62]),
        verdicts=[1, *[0] * 59, *[-1] * 4, 1, 1],
    )
    detector.fit(NORMAL[:60]).learn(graphs, [-1, -1, -1, -1, 1, 1, 1, 0, None])
    assert_same(detector, expected)
    detector.partial_fit(NORMAL[62:66])
    verdicts = np.append(expected.verdicts_, [0] * 4)
    expected.fit(together(expected.training_graphs_, NORMAL[62:66]), verdicts=verdicts)
    assert_same(detector, expected)


def test_the_latest_verdict_on_a_graph_counts(fitted):
    graphs = together(ODD[:5], NORMAL[:1])
    expected = clone(fitted).fit(
        together(NORMAL[:90], ODD[:5]), verdicts=[1, *[0] * 89, *[-1] * 4, 1]
    )
    fitted.learn(graphs, [-1] * 6)
    assert fitted.predict(graphs[[4, 5]]).tolist() == [-1, -1]
    fitted.learn(permuted(graphs[[4, 5]], 0), [1, 1]).learn(graphs, [0] * 6)
    positions = np.flatnonzero(fitted.verdicts_[:90])
    copies = expected.verdicts_.copy()
    copies[positions] = 1  # those of the first graph
    assert_same(fitted, expected.fit(expected.training_graphs_, verdicts=copies))


def test_without_anomalies_nothing_is_learned(fitted):
    expected = fitted.score_samples(ODD)
    for verdicts in (None, [0] * 90, ["normal", *[""] * 89], [None] * 90):
        detector = GraphKDEDetector().fit(NORMAL[:90], verdicts=verdicts)
        np.testing.assert_array_equal(detector.score_samples(ODD), expected)
        assert detector.model_.first(Confirmed) is None


def test_verdicts_are_numbers_or_words(fitted):
    expected = clone(fitted).fit(NORMAL[:20]).learn(ODD[:4], [-1, -1, 1, 0])
    words = pd.Series(["anomaly", "anomaly", "normal", ""], index=[7, 8, 9, 10])
    assert_same(fitted.fit(NORMAL[:20]).learn(ODD[:4], words), expected)


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        ([-1, np.inf], "that of graph 1 is inf"),
        ([-1], "one value for each of 2 graphs, and have 1"),
        (["anomaly", "odd"], "that of graph 1 is 'odd'"),
        ([True, False], "that of graph 0 is True"),
        (np.array([True, False]), "that of graph 0 is True"),
        ([-1, 2], "that of graph 1 is 2"),
        *[(x, "must be a list") for x in ("anomaly", {1, -1}, {0: 1, 1: -1}, -1, [[1], [-1]])],
    ],
)
def test_wrong_verdicts_are_refused(fitted, verdicts, message):
    before = dict(vars(fitted))
    with pytest.raises(ValueError, match=message):
        fitted.learn(ODD[:2], verdicts)
    with pytest.raises(ValueError, match=message):
        fitted.fit(ODD[:2], verdicts=verdicts)
    assert vars(fitted) == before


def test_equal_graphs_with_different_verdicts_are_refused_by_name(fitted):
    graphs = together(permuted(ODD[[3]], 0), ODD[[4, 3]])
    for method in (fitted.learn, lambda graphs, verdicts: fitted.fit(graphs, verdicts=verdicts)):
        with pytest.raises(
            ValueError, match="graph 0 and graph 2 are equal, and one verdict is 'ano"
        ):
            method(graphs, [-1, -1, 1])
        with pytest.raises(ValueError, match="graph 'one' and graph 'three' are equal"):
            method(graphs.replace(names=["one", "two", "three"]), [-1, 0, 1])


def test_a_failed_refit_changes_nothing(fitted, monkeypatch):
    scores, before = fitted.score_samples(ODD), dict(vars(fitted))

    def assert_unchanged(message, method, *arguments):
        with pytest.raises(ValueError, match=message):
            method(*arguments)
        assert vars(fitted) == before
        np.testing.assert_array_equal(fitted.score_samples(ODD), scores)

    unlabeled = random_graphs(2, labels="")
    assert_unchanged("attribute 'label', which earlier", fitted.partial_fit, unlabeled)
    assert_unchanged("attribute 'label', which earlier", fitted.learn, unlabeled, [-1, 1])
    assert_unchanged(
        "2 distinct graphs that are no confirmed anomalies, got 0", fitted.learn, NORMAL, [-1] * 125
    )
    monkeypatch.setattr(Confirmed, "scores_of_anomalies", lambda self: np.full(2, -np.inf))
    assert_unchanged("not a finite number", fitted.learn, ODD[:2], [-1, -1])


# -- confirmed anomalies ---------------------------------------------------------------------------


@pytest.mark.slow
def test_known_anomalies_help_to_find_others(fitted):
    before = auroc(fitted)
    for graph in NORMAL[90:95]:  # one wrong verdict does little
        assert auroc(GraphKDEDetector().fit(NORMAL[:90]).learn([graph], [-1])) > before - 0.1
    assert auroc(fitted.learn(ODD[:20], [-1] * 20)) > before + 0.02
    surprises = view_surprises(fitted, ODD)
    assert list(surprises)[-1] == "confirmed: statistics"
    np.testing.assert_allclose(surprises.sum(axis=1), -fitted.score_samples(ODD))


def test_one_view_learns_too():
    detector = GraphKDEDetector(views="density").fit(NORMAL[:90]).learn(ODD[:20], [-1] * 20)
    assert len(detector.model_.views) == 2
    assert auroc(detector) > 0.84
    assert (detector.calibration_scores_ <= 0).all()  # sums of log p-values


@pytest.mark.parametrize("calibration", [APART, Split(0.3), "train"], ids=str)
def test_confirmed_anomalies_do_not_calibrate_and_are_flagged(fitted, calibration):
    """However usual they look, and their copies, too, of which one has no verdict."""
    usual = np.argsort(-fitted.calibration_scores_)[:2]
    assert (fitted.predict(NORMAL[usual]) == 1).all()
    copies = permuted(NORMAL[usual], 0)
    detector = GraphKDEDetector(calibration=calibration, random_state=0)
    verdicts = np.zeros(92)
    verdicts[usual] = -1
    detector.fit(together(NORMAL[:90], copies), verdicts=verdicts)
    removed = np.flatnonzero(detector.verdicts_ == -1)
    assert {*usual, 90, 91} <= set(removed)
    assert not set(removed) & set(detector.calibration_graphs_)
    assert len(detector.model_.references) <= 92 - len(removed)
    assert (detector.predict(copies) == -1).all()
    model = detector.model_
    log_p_values = model.as_log_p_values(model.view_scores(copies))
    assert (log_p_values[6:] == LOG_P_OF_CONFIRMED).all()  # whatever the weight of the view
    expected = clone(detector).fit(NORMAL[np.setdiff1d(np.arange(90), removed)])
    np.testing.assert_allclose(model.training_scores[:6], expected.model_.training_scores)


def test_reasons_and_results_know_the_anomalies(fitted):
    odd = ODD[:5].replace(names=[f"case {i}" for i in range(5)])
    reasons = explain(fitted.learn(odd, [-1] * 5), ODD[:5])
    found = reasons[reasons["kind"] == "confirmed"]
    assert set(found["graph"]) == set(range(5))
    assert found["reason"].str.match(r"the same as 'case \d', a confirmed anomaly").all()
    again = results(fitted, permuted(odd, 0))["reason"]
    assert (again == "confirmed as an anomaly").all()
    frame = results(fitted)  # the training graphs, each weighted without itself
    np.testing.assert_allclose(frame["score"], fitted.training_scores_, rtol=1e-12)
    confirmed = np.flatnonzero(fitted.verdicts_ < 0)
    assert set(frame["score"].nsmallest(len(confirmed)).index) == set(confirmed)
    is_like = frame["reason"].str.startswith("like ", na=False)  # which says what both share
    assert frame["reason"][is_like].str.contains(", in what hardly any other graph has: ").all()


# -- one list, again -------------------------------------------------------------------------------


@pytest.mark.parametrize("schema", [None, "all"])
def test_refits_equal_a_fit_where_numbers_are_read_by_convention(schema):
    graphs = random_graphs(60, n_attributes=1, max_nodes=16)
    new = random_graphs(30, seed=1, n_attributes=1, max_nodes=16)
    whole = GraphKDEDetector(schema=schema).fit(graphs)
    in_two = GraphKDEDetector(schema=schema).fit(graphs[:40]).partial_fit(graphs[40:])
    nothing_new = copy.deepcopy(whole).learn(graphs[:1], [0])
    expected = whole.score_samples(new)
    np.testing.assert_array_equal(in_two.score_samples(new), expected)
    np.testing.assert_array_equal(nothing_new.score_samples(new), expected)
    assert in_two.schema_ == nothing_new.schema_ == whole.schema_


@pytest.mark.slow
@pytest.mark.parametrize(
    "refit", [lambda x, new: x.partial_fit(new), lambda x, new: x.learn(new, [1] * 60)]
)
def test_refits_read_what_the_first_fit_read(refit):
    hosts = [lambda node: f"h{node}"] * 20 + [lambda node, i=i: f"{i}-{node}" for i in range(60)]
    graphs = [with_data(nx.cycle_graph(10 + i), {"host": x}) for i, x in enumerate(hosts)]
    detector = GraphKDEDetector(schema="all").fit(graphs[:20])
    with warnings.catch_warnings(action="ignore"):
        refit(detector, graphs[20:])
    assert detector.schema_.node_categories == ("host",)  # though it hardly repeats any longer


def test_a_graph_that_somebody_judged_normal_is_none_of_the_anomalies():
    graphs = [nx.cycle_graph(n) for n in range(10, 50)]
    graphs += [nx.star_graph(30), nx.complete_graph(12), nx.star_graph(31)]
    detector = GraphKDEDetector(contamination=0.2).fit(graphs)
    assert results(detector)["verdict"][40:].tolist() == [-1, -1, -1]
    again = results(detector.fit(graphs, verdicts=[0] * 40 + [1, -1, np.nan]))
    assert again["verdict"][40:].tolist() == [1, -1, -1]
    assert again["reason"][40] == "judged normal by you"


def test_verdicts_and_p_values_of_training_graphs_agree():
    frame = results(GraphKDEDetector().fit(NORMAL[:100]))
    np.testing.assert_array_equal(frame["verdict"] == -1, frame["p_value"] <= 0.1)


# -- fewer references than training graphs: a sample by content ------------------------------------

EIGHTY, COUNTED, COMPARED = NORMAL[:80], (2,), (3, 4, 5)  # positions of the default views


@pytest.fixture(scope="module")
def sampled():
    return GraphKDEDetector(max_references=25, calibration=LeaveOneOut("apart")).fit(EIGHTY)


def test_views_that_compare_know_the_references_and_views_that_count_all_graphs(sampled):
    index = sampled.model_.reference_index
    settings = {"calibration": LeaveOneOut("apart"), "max_references": None}
    of_all = GraphKDEDetector(**settings).fit(EIGHTY)
    of_references = GraphKDEDetector(**settings).fit(EIGHTY[index])
    found = sampled.model_.view_scores(ODD)
    for views, other in ((COUNTED, of_all), (COMPARED, of_references)):
        expected = other.model_.view_scores(ODD)
        np.testing.assert_allclose(found[[*views]], expected[[*views]], rtol=1e-9)
    training, expected = (x.model_.training_scores for x in (sampled, of_all))
    np.testing.assert_allclose(training[[*COUNTED]], expected[[*COUNTED]], rtol=1e-9)
    # A reference is left out, and compared with the others; other graphs are like new ones.
    others = np.setdiff1d(np.arange(80), index)
    expected = of_references.model_.training_scores
    np.testing.assert_allclose(training[3:, index], expected[3:], rtol=1e-9)
    expected = of_references.model_.view_scores(EIGHTY[others])
    np.testing.assert_allclose(training[3:, others], expected[3:], rtol=1e-9)


def test_a_list_above_the_bound_has_fewer_references_by_itself(monkeypatch):
    assert len(GraphKDEDetector().fit(EIGHTY).model_.references) == len(EIGHTY)
    monkeypatch.setattr(model_module, "MOST_REFERENCES", 30)
    assert len(GraphKDEDetector().fit(EIGHTY).model_.references) == 30
    assert len(GraphKDEDetector(max_references=None).fit(EIGHTY).model_.references) == len(EIGHTY)


def test_each_training_graph_is_judged_by_the_others(sampled):
    found = results(sampled)
    np.testing.assert_allclose(found["score"], sampled.calibration_scores_)
    reasons = explain(sampled, k=25)
    index = sampled.model_.reference_index
    assert set(reasons["graph"]) == set(range(80))
    own = reasons["graph"].map({graph: i for i, graph in enumerate(index.tolist())})
    assert not any(x in near for x, near in zip(own, reasons["references"], strict=True))
    assert "compared with the others: lower is odder" in report(sampled)


def test_copies_have_one_score_whether_they_are_references_or_not():
    graphs = [nx.gnm_random_graph(10 + i % 4, 15 + i % 5, seed=i) for i in range(30)]
    detector = GraphKDEDetector(max_references=10, calibration=LeaveOneOut("apart"))
    scores = detector.fit([*graphs, *graphs]).training_scores_
    np.testing.assert_array_equal(scores[:30], scores[30:])


def test_groups_are_those_of_the_references_by_their_places_in_the_list():
    odd = [nx.complete_graph(n) for n in (12, 13, 14, 15)]
    graphs = [*[nx.gnp_random_graph(12, 0.2, seed=s) for s in range(60)], *odd]
    detector = GraphKDEDetector(max_references=50, random_state=0).fit(graphs)
    index = detector.model_.reference_index
    for group in find_groups(detector.model_):
        assert set(group.members) <= set(index)
    suggested = detector.set_params(calibration="split").suggest(5)  # of what was fitted
    assert set(suggested) & {60, 61, 62, 63}


def test_a_reason_counts_all_training_graphs():
    common = [with_data(nx.cycle_graph(n), {"label": "C"}) for n in range(10, 50)]
    rare = {"label": lambda v: "C" if v else "N"}
    *known, new = (with_data(nx.cycle_graph(n), rare) for n in (10, 11, 30))
    detector = GraphKDEDetector(max_references=5).fit([*common, *known])
    texts = explain(detector, [new], n_reasons=9)["reason"].tolist()
    assert any("in 2 of 42 other graphs" in text for text in texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        detector.predict([new])


def test_a_reason_says_that_it_counts_a_sample():
    in_turn = {"label": lambda edge: "ab"[min(edge) % 2]}
    known = [with_data(nx.cycle_graph(n), None, in_turn) for n in range(10, 50)]
    detector = GraphKDEDetector(max_references=5).fit(known)
    new = with_data(nx.cycle_graph(20), None, {"label": "a"})
    texts = explain(detector, [new], n_reasons=9)["reason"].tolist()
    assert "no edge ('b'); 5 of 5 sampled graphs have one" in texts


@pytest.mark.parametrize("which", [0, 100, 200, 300])
def test_a_sample_by_content_takes_its_share_of_copies(which):
    graphs = read_graphs([nx.path_graph(n) for n in range(5, 405)])
    copies = GraphBatch.concatenate([graphs, *[graphs[which]] * 400])
    chosen = sample_by_content(copies, 200)
    assert (np.diff(chosen) > 0).all()
    assert 70 < np.sum(chosen >= 400) < 130  # half of the list
    np.testing.assert_array_equal(sample_by_content(graphs, 400), np.arange(400))


def test_one_graph_less_changes_few_references():
    graphs = EIGHTY[:79]
    chosen, of_others = sample_by_content(graphs, 40), sample_by_content(graphs[1:], 40) + 1
    assert len(np.setdiff1d(of_others, chosen)) <= 2


@pytest.mark.parametrize("learned", [True, False])
def test_of_copies_that_count_apart_one_is_suggested(learned):
    star = nx.star_graph(30)
    graphs = [*[nx.cycle_graph(n) for n in range(15, 65)], star, star.copy()]
    detector = GraphKDEDetector().fit(graphs)
    assert len({*detector.suggest(3)} & {50, 51}) == 1
    if learned:
        detector.learn([star], ["normal"])
    else:
        detector.fit(graphs, verdicts=[*[""] * 50, "normal", ""])
    assert {*detector.suggest(3)}.isdisjoint({50, 51})


def test_a_warning_names_the_position_in_the_list_of_the_user():
    graphs = [with_data(nx.cycle_graph(4 + i % 9), {"label": lambda _: "C"}) for i in range(60)]
    held_out = GraphKDEDetector(calibration=Split(0.3), random_state=10).fit(graphs)
    i = int(held_out.calibration_graphs_[-1])
    graphs[i].nodes[0]["label"] = "Xx"
    with pytest.warns(UnseenCategoryWarning, match=f"Xx of 'label', first in graph {i}$"):
        GraphKDEDetector(calibration=Split(0.3), random_state=10).fit(graphs)


def test_weights_that_no_file_holds_are_refused():
    graphs = [nx.cycle_graph(4 + i) for i in range(8)]
    for graph in graphs:
        nx.set_edge_attributes(graph, 1e-310, "weight")
    with pytest.raises(ValueError, match=r"graph 0, edge .* has the weight 1e-310: weights must"):
        GraphKDEDetector(schema=GraphSchema(edge_weight="weight")).fit(graphs)
