"""DriftMonitor: graphs in any portions, alarms, state, and errors that change nothing."""

import copy
import json

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from skgraphkde import BaseGraphDetector, Density, GraphKDEDetector, LeaveOneOut, Split
from skgraphkde.monitoring import DriftMonitor
from tests.conftest import random_graphs


def worlds(n_graphs, seed, n_nodes=12, p=0.1):
    rng = np.random.RandomState(seed)
    return [
        nx.watts_strogatz_graph(n_nodes + rng.randint(8), 4, p, seed=rng) for _ in range(n_graphs)
    ]


class EdgeCount(BaseGraphDetector):
    """Scores are numbers of edges; whatever they mean, the promise holds."""

    def _fit_batch(self, graphs, rng):
        return self._score_batch(graphs)

    def _score_batch(self, graphs):
        return graphs.n_edges_per_graph.astype(float)


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector(random_state=0).fit(worlds(50, 0))


@pytest.fixture(scope="module")
def stream():
    return worlds(40, 1) + worlds(40, 2, n_nodes=15, p=0.6)


@pytest.fixture(scope="module")
def watched(detector, stream):
    monitor = DriftMonitor(detector, window=20, random_state=0)
    return monitor, monitor.update(stream)


def test_a_change_is_noticed_by_both_tests(watched, detector, stream):
    monitor, table = watched
    assert monitor.n_graphs_ == 80
    assert monitor.threshold_ == 2000
    assert {alarm.test for alarm in monitor.alarms_} == {"martingale", "mmd"}
    assert all(40 <= alarm.at <= 60 for alarm in monitor.alarms_[:2])
    assert all(20 <= alarm.since <= alarm.at for alarm in monitor.alarms_[:2])
    np.testing.assert_allclose(table["score"], detector.score_samples(stream))
    for test in ("martingale", "mmd"):
        at = [alarm.at for alarm in monitor.alarms_ if alarm.test == test]
        assert np.flatnonzero(table["alarm"].str.contains(test)).tolist() == at
    sounds = table["alarm"].str.contains("martingale")
    assert ((table["statistic"] >= 2000) == sounds).all()
    assert [x.at for x in monitor.alarms_] == sorted(x.at for x in monitor.alarms_)
    assert np.isfinite(table.drop(columns="alarm").to_numpy(dtype=float)).all()


@pytest.mark.parametrize("cuts", [range(37, 48), [3, 50]])
def test_portions_and_a_way_through_json_make_no_difference(cuts, watched, detector, stream):
    expected, table = watched
    monitor, parts = DriftMonitor(detector, window=20, random_state=0), []
    for start, stop in zip([0, *cuts], [*cuts, 80], strict=True):
        parts.append(monitor.update(stream[start:stop]))
        if start % 5 == 0:
            state = json.dumps(monitor.to_dict(), allow_nan=False)
            monitor = DriftMonitor.from_dict(copy.deepcopy(detector), json.loads(state))
    assert monitor.alarms_ == expected.alarms_
    pd.testing.assert_frame_equal(pd.concat(parts), table, check_index_type=False, rtol=1e-6)
    assert monitor.to_dict()["evidence"]["n_steps"] == 80


def test_graphs_that_cannot_be_read_leave_a_monitor_as_it_was(detector, stream):
    monitor = DriftMonitor(detector, window=20, random_state=0)
    monitor.update(stream[:30])
    before = monitor.to_dict()
    with pytest.raises(TypeError):
        monitor.update([stream[30], "no graph"])
    assert monitor.to_dict() == before


@pytest.mark.parametrize(
    "changed", [{"false_alarm_rate": 0.01}, {"window": 24}, {"window": None}, {"random_state": 1}]
)
def test_a_parameter_changes_something(changed, watched, detector, stream):
    settings = {"window": 20, "random_state": 0} | changed
    monitor = DriftMonitor(detector, **settings)
    assert not monitor.update(stream).equals(watched[1])
    assert monitor.alarms_ != watched[0].alarms_


def test_false_alarms_of_graphs_are_as_few_as_promised():
    """With few calibration scores, and many ties among them."""
    counts = []
    for seed in range(20):
        rng = np.random.RandomState(seed)
        graphs = [nx.path_graph(n) for n in rng.randint(2, 8, size=130)]
        monitor = DriftMonitor(
            EdgeCount(calibration=LeaveOneOut("apart")).fit(graphs[:30]),
            false_alarm_rate=0.05,
            window=None,
            random_state=seed,
        )
        monitor.update(graphs[30:])
        counts.append(len(monitor.alarms_))
    assert 0.2 * 5 < np.mean(counts) < 5


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"false_alarm_rate": 0}, r"'false_alarm_rate' parameter of DriftMonitor .*\(0.0, 0.1\]"),
        ({"false_alarm_rate": "often"}, "Got 'often' instead"),
        (
            {"window": 19},
            r"'window' parameter of DriftMonitor must be an int .*\[20, inf\) or None",
        ),
        ({"window": 50.0}, "Got 50.0 instead"),
        ({"window": 20, "false_alarm_rate": 1e-6}, "window=20 is too short"),
    ],
)
def test_parameters_out_of_range(settings, message, detector):
    with pytest.raises(ValueError, match=message):
        DriftMonitor(detector, **settings)


def test_detectors_that_cannot_be_watched():
    with pytest.raises(NotFittedError):
        DriftMonitor(GraphKDEDetector())
    with pytest.raises(TypeError, match="must be a fitted BaseGraphDetector, got 1"):
        DriftMonitor(1)
    graphs = random_graphs(12)
    with pytest.raises(ValueError, match="calibration='split', or 'loo'"):
        DriftMonitor(GraphKDEDetector(calibration="train").fit(graphs))
    with pytest.raises(ValueError, match=r"EdgeCount has no distances .* window=None"):
        DriftMonitor(EdgeCount().fit(graphs))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "its format is 2, not 1"),
        ({"scores": "many"}, "could not convert"),
        ({"window": 3}, "'window' parameter"),
        ({"rows": [[1.0, 2.0]] * 10}, "cannot reshape"),
        ({"evidence": {}}, "'n_steps'"),
        ({"alarms": [["mmd", 1]]}, "not enough values"),
    ],
)
def test_states_that_cannot_be_used(changes, message, watched, detector):
    with pytest.raises(ValueError, match=f"DriftMonitor cannot be used: .*{message}"):
        DriftMonitor.from_dict(detector, watched[0].to_dict() | changes)


def test_a_detector_may_be_updated_or_fitted_again_meanwhile(detector, stream):
    """The monitor goes on with what it began with."""
    expected = DriftMonitor(detector, window=20, random_state=0)
    living = copy.copy(detector)
    monitor = DriftMonitor(living, window=20, random_state=0)
    for start, change in ((0, living.partial_fit), (30, living.fit), (60, living.partial_fit)):
        new = stream[start : start + 30]
        pd.testing.assert_frame_equal(monitor.update(new), expected.update(new))
        change(worlds(30, 90 + start))
    assert monitor.to_dict() == expected.to_dict()
    with pytest.raises(ValueError, match="or to this one before it was updated or fitted again"):
        DriftMonitor.from_dict(living, monitor.to_dict())


def test_a_state_from_before_an_update_without_new_calibration_scores():
    settings = {"views": Density("mean"), "random_state": 0}
    detector = GraphKDEDetector(calibration=Split(0.1), **settings).fit(worlds(90, 0))
    state, before = DriftMonitor(detector).to_dict(), detector.calibration_scores_
    while np.array_equal(before, detector.partial_fit(worlds(1, 1)).calibration_scores_):
        with pytest.raises(ValueError, match="another detector"):
            DriftMonitor.from_dict(detector, state)


@pytest.mark.parametrize("views", ["auto", "density"])
def test_a_source_that_repeats_a_graph_is_no_change(views):
    """A new copy has one copy more to be compared with than a training graph that is left out."""
    n_alarms, p_values, detector = 0, [], GraphKDEDetector(views=views)
    for seed in range(4):
        rng, [repeated, *others] = np.random.RandomState(seed), worlds(301, seed)
        drawn = [repeated if rng.rand() < 0.5 else x for x in others]
        monitor = DriftMonitor(detector.fit(drawn[:100]), window=None, random_state=seed)
        table = monitor.update(drawn[100:])
        n_alarms += len(monitor.alarms_)
        p_values += table["p_value"][[x is repeated for x in drawn[100:]]].tolist()
    assert n_alarms <= 1  # of 800 graphs; it was four or more
    np.testing.assert_allclose(np.mean(p_values), 0.75, atol=0.06)  # those above the median
