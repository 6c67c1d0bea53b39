"""Fewer references than training graphs: a sample by content; what is counted uses all graphs."""

import warnings

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphBatch, GraphKDEDetector, LeaveOneOut, read_graphs, report
from skgraphkde.datasets import load_mutag
from skgraphkde.detectors import model as model_module
from skgraphkde.detectors.groups import find_groups
from skgraphkde.explanation import explain, results
from skgraphkde.graphs.copies import sample_by_content
from tests.conftest import with_data

MOLECULES, Y = load_mutag(return_X_y=True, edge_data=True)
MOLECULES = read_graphs(MOLECULES.to_networkx())
NORMAL, ODD = MOLECULES[Y == 1][:80], MOLECULES[Y == -1]
COUNTED, COMPARED = (2,), (3, 4, 5)  # positions of the default views
pytestmark = pytest.mark.filterwarnings("ignore:.* that fit did not see")


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector(max_references=25, calibration=LeaveOneOut("apart")).fit(NORMAL)


def test_views_that_compare_know_the_references_and_views_that_count_all_graphs(detector):
    index = detector.model_.reference_index
    settings = {"calibration": LeaveOneOut("apart"), "max_references": None}
    of_all = GraphKDEDetector(**settings).fit(NORMAL)
    of_references = GraphKDEDetector(**settings).fit(NORMAL[index])
    found = detector.model_.view_scores(ODD)
    for views, other in ((COUNTED, of_all), (COMPARED, of_references)):
        expected = other.model_.view_scores(ODD)
        np.testing.assert_allclose(found[[*views]], expected[[*views]], rtol=1e-9)
    training, expected = (x.model_.training_scores for x in (detector, of_all))
    np.testing.assert_allclose(training[[*COUNTED]], expected[[*COUNTED]], rtol=1e-9)
    # A reference is left out, and compared with the others; other graphs are like new ones.
    others = np.setdiff1d(np.arange(80), index)
    expected = of_references.model_.training_scores
    np.testing.assert_allclose(training[3:, index], expected[3:], rtol=1e-9)
    expected = of_references.model_.view_scores(NORMAL[others])
    np.testing.assert_allclose(training[3:, others], expected[3:], rtol=1e-9)


def test_a_list_above_the_bound_has_fewer_references_by_itself(monkeypatch):
    assert len(GraphKDEDetector().fit(NORMAL).model_.references) == len(NORMAL)
    monkeypatch.setattr(model_module, "MOST_REFERENCES", 30)
    assert len(GraphKDEDetector().fit(NORMAL).model_.references) == 30
    assert len(GraphKDEDetector(max_references=None).fit(NORMAL).model_.references) == len(NORMAL)


def test_each_training_graph_is_judged_by_the_others(detector):
    found = results(detector)
    np.testing.assert_allclose(found["score"], detector.calibration_scores_)
    reasons = explain(detector, k=25)
    index = detector.model_.reference_index
    assert set(reasons["graph"]) == set(range(80))
    own = reasons["graph"].map({graph: i for i, graph in enumerate(index.tolist())})
    assert not any(x in near for x, near in zip(own, reasons["references"], strict=True))
    assert "compared with the others: lower is odder" in report(detector)


def test_groups_are_those_of_the_references_by_their_places_in_the_list():
    odd = [nx.complete_graph(n) for n in (12, 13, 14, 15)]
    graphs = [*[nx.gnp_random_graph(12, 0.2, seed=s) for s in range(60)], *odd]
    detector = GraphKDEDetector(max_references=50, random_state=0).fit(graphs)
    index = detector.model_.reference_index
    for group in find_groups(detector.model_):
        assert set(group.members) <= set(index)
    suggested = detector.suggest(5)
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
    assert "no edge (b); 5 of 5 sampled graphs have one" in texts


@pytest.mark.parametrize("which", [0, 100, 200, 300])
def test_a_sample_by_content_takes_its_share_of_copies(which):
    graphs = read_graphs([nx.path_graph(n) for n in range(5, 405)])
    copies = GraphBatch.concatenate([graphs, *[graphs[which]] * 400])
    chosen = sample_by_content(copies, 200)
    assert (np.diff(chosen) > 0).all()
    assert 70 < np.sum(chosen >= 400) < 130  # half of the list
    np.testing.assert_array_equal(sample_by_content(graphs, 400), np.arange(400))


def test_one_graph_less_changes_few_references():
    graphs = NORMAL[:79]
    chosen, of_others = sample_by_content(graphs, 40), sample_by_content(graphs[1:], 40) + 1
    assert len(np.setdiff1d(of_others, chosen)) <= 2
