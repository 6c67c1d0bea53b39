"""The detector with PyOD's interface."""

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector, Split

pyod = pytest.importorskip("skgraphkde.pyod")

KNOWN = [nx.connected_watts_strogatz_graph(20 + k % 3, 4, 0.2, seed=k) for k in range(60)]
NEW = [nx.connected_watts_strogatz_graph(20, 4, 0.2, seed=99), nx.star_graph(20)]


def test_it_says_what_the_detector_says():
    found = pyod.GraphKDE(contamination=0.2, detector=GraphKDEDetector(random_state=0)).fit(KNOWN)
    own = GraphKDEDetector(contamination=0.2, random_state=0).fit(KNOWN)
    np.testing.assert_array_equal(found.decision_scores_, -own.training_scores_)
    np.testing.assert_array_equal(found.labels_, own.fit_predict(KNOWN) == -1)
    np.testing.assert_array_equal(found.decision_function(NEW), -own.score_samples(NEW))
    np.testing.assert_array_equal(found.predict(NEW), own.predict(NEW) == -1)
    assert found.predict_proba(NEW).shape == (2, 2)
    assert found.threshold_ == -own.offset_
    assert found.detector is not found.detector_
    assert found.get_params()["contamination"] == 0.2


def test_it_needs_a_score_for_each_graph():
    with pytest.raises(ValueError, match="has no score for each graph"):
        pyod.GraphKDE(detector=GraphKDEDetector(calibration=Split(0.5))).fit(KNOWN)
