"""Lists as they come: empty ones, graphs with errors, unseen categories, thresholds that move."""

import logging
from collections import deque

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skgraphkde import (
    GraphKDEDetector,
    GraphSchema,
    Split,
    UnseenCategoryWarning,
    read_graphs,
    report,
)
from skgraphkde.explanation import (
    explain,
    nearest_references,
    novel_nodes,
    results,
    view_surprises,
)
from skgraphkde.monitoring import DriftMonitor, OnlineSelection
from tests.conftest import random_graphs, with_data

KNOWN = random_graphs(40, seed=1)
NEW = random_graphs(6, seed=2)


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector(random_state=0).fit(KNOWN)


@pytest.mark.parametrize("empty", [[], (), pd.Series([], dtype=object), read_graphs(KNOWN)[:0]])
def test_of_no_graphs_all_is_empty(detector, empty):
    for method in ("score_samples", "decision_function", "predict", "p_values", "select"):
        assert getattr(detector, method)(empty).shape == (0,)
    width = detector.model_.encoder.out_dim
    assert detector.transform(empty).shape == (0, width)
    assert detector.pairwise_distances(empty).shape == (0, 0)
    assert detector.pairwise_distances(NEW, empty).shape == (6, 0)
    assert detector.kneighbors(empty, 3)[0].shape == (0, 3)
    assert nearest_references(detector, empty)[1].shape == (0, 5)
    assert novel_nodes(detector, empty) == []
    for errors in ("raise", "nan"):
        assert len(results(detector, empty, errors=errors)) == 0
    assert len(explain(detector, empty)) == len(view_surprises(detector, empty)) == 0
    assert len(OnlineSelection(detector).update(empty)) == 0
    monitor = DriftMonitor(detector)
    assert list(monitor.update(empty)) == ["score", "p_value", "statistic", "alarm"]
    assert monitor.n_graphs_ == 0
    scores = detector.training_scores_
    assert detector.partial_fit(empty).training_scores_ is scores
    assert detector.learn(empty, []).training_scores_ is scores
    with pytest.raises(ValueError, match="empty: give at least one graph"):
        GraphKDEDetector().fit(empty)


def test_a_page_needs_a_graph(detector):
    with pytest.raises(ValueError, match="a page needs a graph"):
        report(detector, [])


def test_of_no_graphs_with_data_all_is_empty():
    typed = [with_data(graph.copy(), {}, {"label": "ab"[i % 2]}) for i, graph in enumerate(KNOWN)]
    fitted = GraphKDEDetector().fit(typed)
    assert len(explain(fitted, [])) == len(results(fitted, [])) == len(fitted.predict([])) == 0


def test_empty_updates_change_nothing(detector):
    one, other = DriftMonitor(detector, random_state=0), DriftMonitor(detector, random_state=0)
    tables = [other.update([]), other.update(NEW[:2]), other.update([]), other.update(NEW[2:])]
    pd.testing.assert_frame_equal(one.update(NEW), pd.concat(tables).infer_objects())


# -- graphs with errors ----------------------------------------------------------------------------

HUGE = with_data(nx.path_graph(4), {"label": "C", "x": 1e300})
BAD = {
    "no nodes": nx.Graph(),
    "no label": nx.path_graph(3),
    "None": None,
    "a text": "CCO",
    "edges": list(nx.path_graph(3).edges),
}


@pytest.mark.parametrize(
    "as_list", [list, tuple, lambda x: pd.Series(x, index=range(9, 9 - len(x), -1))]
)
def test_the_others_are_judged_as_without_bad_graphs(detector, as_list):
    graphs = [NEW[0], *BAD.values(), *NEW[1:4], nx.Graph(), NEW[4]]
    is_good = np.isin(np.arange(len(graphs)), [0, 6, 7, 8, 10])
    expected = results(detector, [NEW[0], *NEW[1:5]], reasons="flagged")
    found = results(detector, as_list(graphs), reasons="flagged", errors="nan")
    good = found[is_good].drop(columns=["error", "name"]).reset_index(drop=True)
    pd.testing.assert_frame_equal(good, expected.drop(columns="name"), check_dtype=False)
    assert found["name"].tolist() == list(range(11))
    assert found["error"].isna().tolist() == is_good.tolist()
    numbers = ["score", "decision", "verdict", "p_value", "selected", "n_unseen"]
    assert found.loc[~is_good, numbers].isna().all(axis=None)
    for i in np.flatnonzero(~is_good).tolist():
        assert found["error"][i].startswith(f"graph {i} "), found["error"][i]
    with pytest.raises((TypeError, ValueError), match="graph 1 has no nodes"):
        results(detector, as_list(graphs))


def test_rows_are_those_of_the_list_whatever_is_in_it(detector):
    batch = read_graphs(NEW)
    found = results(detector, [batch[:2], None, batch[2], batch[:0]], errors="nan")
    assert found["score"].notna().tolist() == [False, False, True, False]
    assert found["error"][0] == "graph 0 is a batch of 2 graphs: give them one by one"
    in_a_queue = results(detector, deque(NEW), errors="nan").drop(columns="error")
    pd.testing.assert_frame_equal(in_a_queue, results(detector, NEW), check_dtype=False)


def test_graphs_have_their_own_names_or_their_positions(detector):
    named = [graph.copy() for graph in NEW[:3]]
    for name, graph in zip("abc", named, strict=True):
        graph.graph["name"] = name
    found = results(detector, [named[0], None, *named[1:]], errors="nan")
    assert found["name"].tolist() == ["a", 1, "b", "c"]
    del named[1].graph["name"]
    found = results(detector, [named[0], None, *named[1:]], errors="nan")
    assert found["name"].tolist() == [0, 1, 2, 3]


def test_a_warning_names_the_position_in_the_whole_list():
    fitted = GraphKDEDetector(random_state=0).fit(KNOWN)
    odd = with_data(nx.cycle_graph(5), {"label": "Xe"})
    with pytest.warns(UnseenCategoryWarning, match="Xe of 'label', first in graph 3"):
        results(fitted, [nx.Graph(), *NEW[:2], odd, NEW[2]], errors="nan")


def test_a_graph_that_has_no_score_is_an_error_of_its_own():
    graphs = [
        with_data(nx.cycle_graph(n), {"x": lambda i, n=n: float(i % n)}) for n in range(5, 30)
    ]
    detector = GraphKDEDetector(schema=GraphSchema(node_numbers="x")).fit(graphs)
    found = results(detector, [graphs[3], HUGE, graphs[4]], names=["a", "b", "c"], errors="nan")
    assert found["score"].notna().tolist() == [True, False, True]
    assert found["error"][1].startswith("graph 'b', node 0: the node attribute 'x' is 1e+300")
    assert found["name"].tolist() == ["a", "b", "c"]


def test_what_is_no_list_or_no_option_is_refused(detector):
    with pytest.raises(TypeError, match="expected a list of graphs, got a dict"):
        results(detector, {0: NEW[0]}, errors="nan")
    with pytest.raises(TypeError, match=r"got one graph: write \[graph\]"):
        results(detector, NEW[0], errors="nan")
    with pytest.raises(ValueError, match="one name for each of 6 graphs"):
        results(detector, NEW, names=["a"], errors="nan")
    with pytest.raises(ValueError, match="errors must be 'raise' or 'nan', got 'ignore'"):
        results(detector, NEW, errors="ignore")
    with pytest.raises(ValueError, match="reasons must be"):
        results(detector, NEW, reasons="all")
    assert results(detector, errors="nan")["error"].isna().all()


# -- unseen categories -----------------------------------------------------------------------------


def test_an_unseen_category_is_told_once_and_counted(detector, recwarn):
    fitted = GraphKDEDetector(random_state=0).fit(KNOWN)
    odd = nx.cycle_graph(5)
    nx.set_node_attributes(odd, dict(enumerate(["C", "Xe", "Xe", "Kr", "C"])), "label")
    with pytest.warns(UnseenCategoryWarning, match="Kr, Xe of 'label', first in graph 1"):
        found = results(fitted, [NEW[0], odd])
    assert found["n_unseen"].tolist() == [0, 2]
    recwarn.clear()
    assert fitted.predict([odd]).tolist() == [-1]
    assert not recwarn.list
    nx.set_node_attributes(odd, {0: "Ar"}, "label")
    with pytest.warns(UnseenCategoryWarning, match="did not see: Ar of 'label'"):
        fitted.predict([odd])
    with pytest.warns(UnseenCategoryWarning, match="Ar, Kr, Xe"):  # another model
        GraphKDEDetector(random_state=1).fit(KNOWN).predict([odd])
    assert results(fitted)["n_unseen"].tolist() == [0] * len(KNOWN)


def test_unseen_values_of_edges_and_graphs_count():
    def graph(k, bond="single", site="a"):
        found = nx.cycle_graph(4 + k % 7)
        nx.set_edge_attributes(found, bond, "bond")
        found.graph["site"] = site
        return found

    schema = GraphSchema(edge_categories="bond", graph_categories="site")
    fitted = GraphKDEDetector(schema=schema, random_state=0)
    fitted.fit([graph(k, ["single", "double"][k % 2], "ab"[k % 2]) for k in range(40)])
    with pytest.warns(UnseenCategoryWarning):
        found = results(fitted, [graph(1), graph(2, "triple"), graph(3, "triple", "c")])
    assert found["n_unseen"].tolist() == [0, 1, 2]


# -- thresholds ------------------------------------------------------------------------------------


@pytest.mark.parametrize("calibration", ["loo", Split(0.5), "train"])
@pytest.mark.parametrize("contamination", [0.05, 0.3, "auto"])
def test_a_threshold_moves_to_where_a_fit_would_have_set_it(calibration, contamination):
    options = {"calibration": calibration, "random_state": 0}
    moved = GraphKDEDetector(contamination=0.2, **options).fit(KNOWN)
    scores = moved.score_samples(NEW)
    moved.set_contamination(contamination)
    fitted = GraphKDEDetector(contamination=contamination, **options).fit(KNOWN)
    assert moved.offset_ == fitted.offset_
    assert moved.contamination == contamination
    np.testing.assert_array_equal(moved.predict(NEW), fitted.predict(NEW))
    np.testing.assert_array_equal(moved.score_samples(NEW), scores)


def test_a_bad_threshold_changes_nothing():
    fitted = GraphKDEDetector(random_state=0).fit(KNOWN)
    offset = fitted.offset_
    for bad in (0.0, 0.7, "few", None):
        with pytest.raises(ValueError, match="'contamination' parameter"):
            fitted.set_contamination(bad)
    assert (fitted.offset_, fitted.contamination) == (offset, 0.1)
    with pytest.warns(UserWarning, match="40 training graphs cannot place a threshold"):
        fitted.set_contamination(0.01)
    with pytest.warns(UserWarning, match="counts from the next fit on"):
        fitted.set_params(contamination=0.3)
    assert fitted.offset_ < offset


# -- the rest --------------------------------------------------------------------------------------


def test_a_target_has_one_value_for_each_graph():
    with pytest.raises(ValueError, match="y has 39 values for 40 graphs"):
        GraphKDEDetector().fit(KNOWN, [1] * 39)


def test_stages_are_logged(caplog):
    caplog.set_level(logging.DEBUG, logger="skgraphkde")
    fitted = GraphKDEDetector().fit(KNOWN)
    assert [x.levelname for x in caplog.records if "Fitting 40 graphs: " in x.message] == ["INFO"]
    caplog.clear()
    fitted.predict(NEW)
    assert {x.levelname for x in caplog.records} == {"DEBUG"}


def test_pairs_of_nodes_are_no_matrix():
    pairs = np.array([[0, 1], [1, 2], [2, 3]])
    for given, edges in ((pairs, "A"), (pairs.T, "A.T")):
        with pytest.raises(ValueError, match=rf'pairs of nodes, give {{"edges": {edges}}}'):
            read_graphs([given])
    assert read_graphs([{"edges": pairs}]).n_edges_per_graph.tolist() == [3]
    with pytest.raises(TypeError, match=r"graph 1 is a list of pairs, such as \(0, 1\): if these"):
        read_graphs([nx.path_graph(3), list(nx.path_graph(3).edges)])


def test_a_loader_has_a_list():
    data = pytest.importorskip("torch.utils.data")
    with pytest.raises(TypeError, match=r"got a DataLoader: write list\(loader.dataset\)"):
        read_graphs(data.DataLoader([1, 2]))


# -- similar graphs --------------------------------------------------------------------------------


@pytest.mark.parametrize("view", [None, 0, "density", "tanimoto", "neighbors", "statistics"])
def test_neighbors_are_those_of_the_distance(detector, view):
    distances, indices = detector.kneighbors([*KNOWN[3:5], *NEW], 4, view=view)
    assert indices[:2, 0].tolist() == [3, 4] or view == "neighbors"
    np.testing.assert_allclose(distances[:2, 0], 0, atol=1e-6)
    assert (np.diff(distances, axis=1) >= -1e-12).all()
    if view in (None, 0, "density"):
        D = detector.pairwise_distances(NEW, KNOWN)
        np.testing.assert_allclose(distances[2:], np.sort(D, axis=1)[:, :4], atol=1e-6)
    alone = detector.kneighbors(NEW[:1], 4, return_distance=False, view=view)
    np.testing.assert_array_equal(alone, indices[2:3])


def test_no_training_graph_is_a_neighbor_of_itself(detector):
    indices = detector.kneighbors(n_neighbors=39, return_distance=False)
    for i, row in enumerate(indices):
        assert sorted([i, *row]) == list(range(40))


@pytest.mark.parametrize("calibration", ["loo", Split(0.4)])
def test_neighbors_are_positions_in_the_list_of_fit(calibration):
    verdicts = [-1, 0, 0, -1, *[0] * 36]
    fitted = GraphKDEDetector(calibration=calibration, max_references=15, random_state=0)
    fitted.fit(KNOWN, verdicts=verdicts)
    distances, indices = fitted.kneighbors(KNOWN, 1)
    is_itself = indices[:, 0] == np.arange(40)
    np.testing.assert_allclose(distances[is_itself], 0, atol=1e-6)
    assert 12 <= is_itself.sum() <= 15  # of copies, the first
    assert not is_itself[[0, 3]].any()


def test_bad_questions_about_neighbors(detector):
    for k in (41, 40):
        known = None if k == 40 else NEW
        with pytest.raises(ValueError, match=f"n_neighbors is {k}, of {k - 1} graphs: lower it"):
            detector.kneighbors(known, k)
    for view in ("novelty", 2, "x", 99):
        with pytest.raises(ValueError, match=r"view must be one of .* got"):
            detector.kneighbors(NEW, view=view)


# -- names of columns ------------------------------------------------------------------------------


def test_columns_of_transform_say_what_they_are(detector):
    table = GraphKDEDetector().set_output(transform="pandas").fit(KNOWN).transform(NEW)
    names = detector.get_feature_names_out()
    assert table.columns.tolist() == names.tolist()
    assert len(names) == detector.model_.encoder.out_dim == len(set(names))
    features = detector.model_.features.get_feature_names_out().tolist()
    assert names[: len(features)].tolist() == features
    assert f"round 2: {features[0]}" in names
    same = [with_data(nx.cycle_graph(4 + k), {"label": [1, "1"][k % 2]}) for k in range(30)]
    with pytest.warns(UserWarning, match="'1' is a str and 1 a int|1 is a int and '1' a str"):
        names = GraphKDEDetector().fit(same).get_feature_names_out().tolist()
    assert {"label=1", "label=1 (2)"} < set(names)
    typed = [with_data(graph.copy(), {}, {"label": "ab"[i % 2]}) for i, graph in enumerate(KNOWN)]
    of_relations = GraphKDEDetector().fit(typed)
    assert len(of_relations.get_feature_names_out()) == of_relations.transform(typed[:1]).shape[1]
