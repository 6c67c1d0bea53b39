"""results is what the methods of a detector say, in one frame."""

import io

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import GraphKDEDetector, GraphSchema, load, read_graphs, report
from skgraphkde.core.scoring.calibration import lower_fence
from skgraphkde.explanation import explain, reasons, results
from skgraphkde.explanation.results import judge, to_judge
from skgraphkde.explanation.wording import in_two_lines
from tests.conftest import random_graphs, with_data
from tests.detectors.common import EdgeCount
from tests.explanation.common import ring

COLUMNS = ["name", "score", "decision", "verdict", "p_value", "selected", "group", "reason"]
COLUMNS.append("n_unseen")
NORMAL = random_graphs(40, seed=1)
NEW = [*random_graphs(6, seed=2), *[with_data(nx.star_graph(n), {"label": "C"}) for n in (30, 40)]]


def check(frame, detector, alpha):
    assert list(frame) == COLUMNS
    np.testing.assert_array_equal(frame["score"], detector.score_samples(NEW))
    np.testing.assert_array_equal(frame["decision"], detector.decision_function(NEW))
    np.testing.assert_array_equal(frame["verdict"], detector.predict(NEW))
    np.testing.assert_array_equal(frame["p_value"], detector.p_values(NEW))
    np.testing.assert_array_equal(frame["selected"].astype(bool), detector.select(NEW, alpha))


@pytest.mark.parametrize("alpha", [0.05, 0.2, 1.0])
def test_what_the_methods_say(alpha):
    detector = GraphKDEDetector().fit(NORMAL)
    frame = results(detector, NEW, alpha=alpha)
    check(frame, detector, alpha)
    assert frame["name"].tolist() == list(range(8))
    first = explain(detector, NEW, n_reasons=1)
    strong = first["strength"] >= 1
    assert strong.any()
    assert not strong.all()
    said = frame["reason"]
    assert said[strong].tolist() == first["reason"][strong].tolist()
    assert said[~strong].dropna().str.match("no strong sign; |one weak sign: |no single ").all()
    assert (frame["verdict"].iloc[6:] == -1).all()


def test_other_detectors_have_no_reasons():
    detector = EdgeCount().fit(NORMAL)
    names = ["a\udcff", 1, ("b", 2), None, *"efgh"]
    frame = results(detector, NEW, names=names)
    check(frame, detector, 0.1)
    assert frame["name"].tolist() == [r"a\udcff", *names[1:]]
    assert frame["reason"].isna().all()


@pytest.mark.filterwarnings("ignore:.* that fit did not see")
def test_names_and_values_with_half_characters_reach_every_output():
    def half(i, label, n):
        graph = nx.cycle_graph(n, create_using=nx.Graph)
        graph.graph |= {"name": f"\udce9{i}", "of\udce9": label}
        return with_data(graph, {"label": label})

    graphs = [*(half(i, "a", 6 + i) for i in range(20)), *(half(i, "\udcff", 5) for i in range(3))]
    detector = GraphKDEDetector(schema="all").fit(graphs)
    for frame in (results(detector), explain(detector, [half(0, "\ud800", 9)])):
        assert r"\udce90" in frame.to_csv().encode().decode()
        frame.to_parquet(io.BytesIO())
    assert report(detector).encode()


def test_no_p_values_where_there_are_none():
    frame = results(GraphKDEDetector(calibration="train").fit(NORMAL), NEW)
    assert frame[["p_value", "selected"]].isna().all(axis=None)
    assert not frame["score"].isna().any()
    calibrated = results(GraphKDEDetector().fit(NORMAL), NEW)
    assert (frame.dtypes == calibrated.dtypes).all()
    assert len(frame[frame["selected"]]) == 0  # a missing value selects nothing
    by_others = results(GraphKDEDetector().fit(NORMAL))
    assert by_others["selected"].isna().all()  # p-values of training graphs are ranks


def test_weak_reasons_are_told_together(monkeypatch):
    detector = GraphKDEDetector().fit(NORMAL)
    [judged] = judge(detector, detector.read(NEW[6:7]))
    facts = [f"{n} nodes (usually 5 to 6)" for n in range(2, 6)]
    first = judged.reasons[0]
    weak = judged._replace(reasons=[first._replace(strength=0.5, fact=x) for x in facts])
    told = "; ".join(facts)
    assert weak._replace(decision=1.0).why == f"no strong sign; weak ones: {told}"
    assert weak._replace(decision=-1.0).why == f"no single thing explains it; weak signs: {told}"
    long = weak._replace(reasons=[x._replace(fact=3 * x.fact) for x in weak.reasons])
    assert long.why.endswith("; and 3 more")  # of all that the page lists
    none = judged._replace(reasons=[first._replace(strength=0.0)])
    assert none.why == f"no single thing explains it; weak sign: {first.fact}"
    assert judged.why == judged.reasons[0].text
    assert none._replace(decision=1.0).why is None
    monkeypatch.setattr(reasons, "WEAKEST", 200)  # all are weak
    said = results(detector, NEW)
    assert said.loc[said["verdict"] == -1, "reason"].str.match("no single thing ").all()
    assert said["reason"][6] in report(detector, NEW)


def test_a_bracket_is_left_out_rather_than_cut():
    way = "Receive -> " * 12 + "Pay"
    text, whole = in_two_lines("rare: ", [f"{way} (in 3 (three) of 405 others)", "b", "c"])
    assert text == f"rare: {way}..., and 2 more"
    assert "(in 3 (three) of" in whole
    text, _ = in_two_lines("weak: ", [f"{'x' * 140}... (in 3 of 9)", "b"], "; ")  # cut once before
    assert text.endswith("x...; and 1 more")


def test_training_graphs_have_the_ids_of_their_nodes():
    graphs = [ring(n, (30, 31)) for n in range(15, 35)]  # which one of them has
    detector = GraphKDEDetector(schema=GraphSchema(edge_numbers="len")).fit(graphs[:16])
    detector.partial_fit(graphs[16:17]).learn(graphs[:1], [1])
    said = explain(detector).query("graph == 16")["reason"]
    for text in (said.str.cat(), results(detector)["reason"].str.cat(), report(detector)):
        assert "edge between 30 and 31" in text


def test_reasons_are_joined_with_results_by_name():
    detector = GraphKDEDetector().fit([NORMAL[0], *NORMAL])  # of which two are copies
    for graphs in (None, NEW):
        first = explain(detector, graphs, n_reasons=1)
        assert first["name"].tolist() == results(detector, graphs)["name"].tolist()
    named = [nx.Graph(graph, name=f"g{i}") for i, graph in enumerate(NEW)]
    assert explain(detector, named)["name"].unique().tolist() == [f"g{i}" for i in range(8)]


# -- training graphs, each judged by the others, as `find` does ------------------------------------


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


def test_reasons_of_flagged_graphs_alone_are_those_of_all():
    detector = GraphKDEDetector(random_state=0).fit([nx.cycle_graph(n) for n in range(5, 45)])
    new = [nx.cycle_graph(12), nx.cycle_graph(50), nx.star_graph(30)]
    every = results(detector, new)
    flagged = results(detector, new, reasons="flagged")
    none = results(detector, new, reasons=False)
    columns = [x for x in every.columns if x != "reason"]
    pd.testing.assert_frame_equal(flagged[columns], every[columns])
    pd.testing.assert_frame_equal(none[columns], every[columns])
    is_flagged = every["verdict"] == -1
    assert is_flagged.any()
    assert flagged["reason"][is_flagged].equals(every["reason"][is_flagged])
    assert flagged["reason"][~is_flagged].isna().all()
    assert none["reason"].isna().all()
    with pytest.raises(ValueError, match="reasons must be True, False or 'flagged', got 'some'"):
        results(detector, new, reasons="some")
