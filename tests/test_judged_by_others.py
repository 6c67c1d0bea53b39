"""Training graphs, each judged by the others, as `find` does."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, load, read_graphs
from skgraphkde.calibration import lower_fence
from skgraphkde.explanation import explain
from skgraphkde.explanation.results import judge, to_judge
from tests.conftest import with_data


def world(seed):
    return nx.connected_watts_strogatz_graph(14, 4, 0.1, seed=seed)


@pytest.fixture(scope="module")
def batch():
    names = ["star", *(f"world {seed}" for seed in range(40))]
    return read_graphs([nx.star_graph(14), *map(world, range(40))]).replace(names=names)


def test_what_is_new_in_a_confirmed_anomaly_is_no_warning(batch, monkeypatch):
    rare = with_data(nx.path_graph(4), {"label": "mercury"})
    known = [with_data(world(seed), {"label": "carbon"}) for seed in range(20)]
    detector = GraphKDEDetector().fit([*known, rare], verdicts=[*[0] * 20, -1])
    graphs, own = to_judge(detector, None)
    with monkeypatch.context() as patched:
        patched.setattr("warnings.catch_warnings", None)  # which would hide those of others
        judged = judge(detector, graphs, n_reasons=0, own=own)  # warnings are errors
    assert judged[-1].is_anomaly


def test_a_threshold_that_assumes_no_share(batch, tmp_path):
    detector = GraphKDEDetector(contamination="auto").fit(batch)
    scores = detector.calibration_scores_
    low, high = np.quantile(scores, [0.25, 0.75])
    a_tenth = np.sort(scores)[len(scores) // 10]
    assert detector.offset_ == pytest.approx(min(low - 1.5 * (high - low), a_tenth))
    assert (detector.fit_predict(batch) == -1).sum() < 0.1 * len(batch)
    detector.save(tmp_path / "model.skg")
    assert load(tmp_path / "model.skg").offset_ == detector.offset_
    detector.partial_fit(batch[:3])
    assert detector.offset_ == lower_fence(detector.calibration_scores_)


@given(st.lists(st.integers(-30, 0), min_size=2, max_size=40))
def test_at_most_a_tenth_is_below_the_fence(scores):
    scores = 0.3 * np.array(scores)
    assert (scores < lower_fence(scores)).sum() <= max(1, len(scores) / 10)


def test_reasons_of_a_training_graph_are_as_strong_as_by_the_others_alone(batch):
    of_star = explain(GraphKDEDetector().fit(batch)).query("graph == 0")
    assert of_star["strength"].max() > 10  # beyond doubt
