"""The command `find`: each graph is judged by the others, and the page says so."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, report
from skgraphkde.calibration import outlying_share
from skgraphkde.graphs.files import find_files, read_batch
from skgraphkde.inspection import explain, results
from tests.cli.conftest import run


def world(seed):
    return nx.connected_watts_strogatz_graph(14, 4, 0.1, seed=seed)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graphs")
    for seed in range(40):
        nx.write_graphml(world(seed), folder / f"world{seed:02}.graphml")
    nx.write_graphml(nx.star_graph(14), folder / "star.graphml")
    return folder


def test_the_odd_one_is_found(folder, tmp_path):
    page = tmp_path / "page.html"
    result = run(f"find {folder} -o {page}")
    first, *odd = result.stdout.splitlines()
    assert first.endswith(f" of 41 graphs are not like the others: {page}")
    assert "star.graphml: " in odd[0]
    assert "usually" in odd[0]
    text = page.read_text()
    assert "Each graph is judged by the others." in text
    assert text.count('<tr data-details="') == 41
    run(f"find {folder} -o {page}", 2)  # the page is not replaced
    run(f"find {folder} -o {tmp_path}/page.txt", 2)
    run(f"find {folder} -o {page} --contamination few --force", 2)


def test_training_graphs_are_judged_by_the_others(folder):
    batch = read_batch(find_files([folder]))
    detector = GraphKDEDetector(contamination="auto").fit(batch)
    found = results(detector)
    assert found["name"].tolist() == list(batch.names)
    np.testing.assert_allclose(found["score"], detector.calibration_scores_)
    lowest = found.loc[found["score"].idxmin()]
    assert "star.graphml" in lowest["name"]
    assert lowest["verdict"] == -1
    assert lowest["p_value"] == pytest.approx(1 / 41)  # the lowest of 41
    reasons = explain(detector, k=40)
    assert not any(row.graph in row.references for row in reasons.itertuples())
    # The others alone say the same of it.
    star = int(found["score"].idxmin())
    others = GraphKDEDetector().fit(batch[np.delete(np.arange(41), star)])
    alone = explain(others, batch[star])
    mine = reasons[reasons["graph"] == star].reset_index()
    assert set(alone["what"][:3]) & set(mine["what"][:3])
    assert "Each graph is judged by the others" in report(detector)


def test_graphs_that_are_not_all_kept_cannot_be_judged_by_the_others(folder):
    batch = read_batch(find_files([folder]))
    detector = GraphKDEDetector(calibration="split", random_state=0, contamination=0.5).fit(batch)
    with pytest.raises(ValueError, match="fit it with calibration='loo'"):
        results(detector)


def test_a_threshold_that_assumes_no_share(folder):
    rng = np.random.default_rng(0)
    scores = rng.normal(size=200)
    assert outlying_share(scores) <= 0.02
    scores[:20] -= 30
    assert outlying_share(scores) == pytest.approx(0.1, abs=0.01)
    assert outlying_share(np.zeros(9)) == 0.1
    batch = read_batch(find_files([folder]))
    detector = GraphKDEDetector(contamination="auto").fit(batch)
    scores = detector.calibration_scores_
    share = outlying_share(scores)
    assert detector.calibration_.contamination == share
    expected = GraphKDEDetector(contamination=share).fit(batch)
    assert detector.offset_ == expected.offset_
    with pytest.raises(ValueError, match="'contamination' parameter"):
        GraphKDEDetector(contamination="few").fit(batch)
