"""Groups of graphs that are alike and unlike the others, and what to look at next."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn import set_config
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skgraphkde import GraphKDEDetector, GraphSchema
from skgraphkde.core.scoring.groups import APART, _sharing, _things, find_groups
from skgraphkde.explanation import results
from skgraphkde.explanation.of_groups import _say_neighborhood, say_group
from tests.core.scoring.common import cases


def fitted(graphs, numbers=False, **options):
    names = ("wait", "amount") if numbers else None
    schema = GraphSchema(node_categories="step", node_numbers=names)
    return GraphKDEDetector(schema=schema, contamination="auto", **options).fit(graphs)


@pytest.mark.parametrize(
    ("planted", "k"),
    [*product(["category", "structure", "number"], [3, 12]), ("structure", 24), ("extreme", 24)],
)
def test_planted_graphs_are_one_group(planted, k):
    detector = fitted(cases(250, k, planted), numbers=planted in ("number", "extreme"))
    groups = find_groups(detector.model_)
    expected = set(range(250, 250 + k))
    found = next(x for x in groups if set(x.members) >= expected)
    assert len(found.members) <= k + 1
    said = {"category": "Pay -> Post", "structure": "->", "number": "amount of nodes: 99"}
    said["extreme"] = "amount of nodes: 30000"
    assert said[planted] in " ".join(say_group(detector.model_, found))
    assert found.is_only == (planted in ("category", "structure"))
    assert groups.index(found) < 5


def test_surroundings_in_words():
    model = fitted(cases(12, 0, "")).model_
    *_, first, second = (_say_neighborhood(model, x, 0) for x in list(_things(model))[1:4])
    assert first == "Remind with exactly these neighbors: before it Post; after it Pay"
    assert second.startswith("Pay with exactly these nodes up to 2 edges away: ")


@given(st.lists(st.sets(st.integers(0, 59), max_size=8), min_size=1, max_size=20))
def test_groups_that_share_a_thing_are_counted_one_by_one(owners):
    """Against loops over things and graphs; 60 graphs."""
    table = np.zeros((len(owners), 60), dtype=int)
    for i, some in enumerate(owners):
        table[i, list(some)] = 1
    expected = []
    for some in owners:
        alike = {graph for others in owners if 2 <= len(others) <= len(some) for graph in others}
        if len(some) >= 3 and len(alike) / 60 <= APART:
            expected.append((len(alike) / 60, sorted(some)))
    found = [(share, sorted(x.tolist())) for share, x in _sharing(sp.csr_array(table), 20)]
    assert sorted(found) == sorted(expected)


def test_few_graphs_and_few_views_have_fewer_groups():
    graphs = cases(12, 0, "")
    assert find_groups(fitted(graphs, views="density").model_) == []
    find_groups(fitted(graphs).model_)
    find_groups(GraphKDEDetector().fit([nx.path_graph(n) for n in range(2, 40)]).model_)


# -- all graphs of the list ------------------------------------------------------------------------


def test_copies_have_scores_and_confirmed_anomalies_the_lowest():
    graphs = cases(60, 3, "category")
    graphs += [graphs[0].copy(), graphs[5].copy(), graphs[60].copy()]
    detector = fitted(graphs)
    scores = detector.training_scores_
    assert scores.shape == (66,)
    np.testing.assert_allclose(scores[63:], scores[[0, 5, 60]], rtol=0.05)
    np.testing.assert_array_equal(
        scores[detector.calibration_graphs_], detector.calibration_scores_
    )
    verdicts = ["anomaly" if i == 60 else "normal" if i == 3 else None for i in range(66)]
    detector.fit(graphs, verdicts=verdicts)
    scores, confirmed = detector.training_scores_, [60, 65]  # and its copy
    assert scores[confirmed].max() <= np.delete(scores, confirmed).min()
    assert (detector.calibration_index_ < 0).nonzero()[0].tolist() == confirmed
    frame = results(detector)
    np.testing.assert_allclose(frame["score"], scores, rtol=1e-12)
    assert frame["verdict"][confirmed].tolist() == [-1, -1]
    assert frame["reason"][60] == "the same as a confirmed anomaly"


def test_groups_are_a_column_of_results():
    graphs = cases(250, 6, "category")
    graphs[255].nodes[0]["step"] = "Never seen"  # which the others of the group lack
    frame = results(detector := fitted(graphs))
    is_in = frame["group"].eq(frame["group"][250]).fillna(False)
    assert np.flatnonzero(is_in).tolist() == [*range(250, 255)]
    assert frame["reason"][250:255].str.endswith("5 alike: all have Pay -> Post").all()
    assert results(detector, cases(3, 0, ""))["group"].isna().all()


def test_a_pipeline_routes_verdicts():
    graphs = cases(60, 3, "category")
    verdicts = [0] * 60 + [-1, 0, 0]
    set_config(enable_metadata_routing=True)
    try:
        detector = fitted(graphs[:3]).set_fit_request(verdicts=True)
        pipeline = make_pipeline(FunctionTransformer(), detector).fit(graphs, verdicts=verdicts)
    finally:
        set_config(enable_metadata_routing=False)
    assert pipeline[-1].verdicts_.tolist() == verdicts


def test_what_to_look_at_next():
    graphs = cases(250, 6, "category")
    graphs.append(graphs[int(fitted(graphs).training_scores_.argmin())].copy())
    detector = fitted(graphs)
    everything = detector.suggest(1000)
    scores, groups = detector.training_scores_, results(detector)["group"]
    assert len(set(everything)) == len(everything) < len(graphs)
    assert detector.suggest(4).tolist() == everything[:4].tolist()
    assert scores[everything[0]] == pytest.approx(scores.min(), rel=0.05)
    assert len(set(everything) & {*range(250, 256)}) == 1
    assert groups[everything].dropna().is_unique
    alone = groups[everything].isna().to_numpy()
    assert (np.diff(scores[everything[alone]]) >= 0).all()

    looked = everything[:5]
    verdicts = np.zeros(len(graphs), dtype=int)
    verdicts[looked] = [1, -1, 1, -1, 1]
    detector.fit(graphs, verdicts=verdicts)
    judged = {*np.flatnonzero(detector.verdicts_), len(graphs) - 1}  # the copy of the first, too
    assert not set(detector.suggest(1000)) & judged
