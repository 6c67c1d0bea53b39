"""A view of one's own, in all that a detector does; and what is wrong with some."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import skgraphkde
from skgraphkde import (
    GraphKDEDetector,
    Neighbors,
    Novelty,
    Numbers,
    Statistics,
    Tanimoto,
    read_graphs,
)
from skgraphkde.core.scoring.model import LOG_P_OF_CONFIRMED
from skgraphkde.core.views.confirmed import ITSELF, Confirmed
from skgraphkde.explanation import explain, view_surprises
from tests.conftest import densities, permuted, random_graphs, with_data
from tests.core.views.common import DegreeEntropy, fit, scores_of
from tests.golden import trace

TRAIN, NEW = random_graphs(40, seed=1), random_graphs(9, seed=2)
STAR = with_data(nx.star_graph(30), {"label": "C"})


@pytest.fixture(scope="module")
def detector():
    return GraphKDEDetector(views=(*densities(), DegreeEntropy(), "novelty")).fit(TRAIN)


def entropy_slow(graph):
    degrees = [degree for _, degree in graph.degree]
    shares = [degrees.count(x) / len(degrees) for x in set(degrees)]
    return -sum(p * np.log(p) for p in shares) / np.log(2)


def scores_slow(graphs, references):
    known = [entropy_slow(x) for x in references]
    return [-min(abs(entropy_slow(graph) - x) for x in known) for graph in graphs]


# -- in all that a detector does -------------------------------------------------------------------


def test_it_scores(detector):
    model = detector.model_
    assert model.view_names[2] == "degree entropy"
    scores = model.view_scores(detector.read(NEW))
    np.testing.assert_allclose(scores[2], scores_slow(NEW, TRAIN), atol=1e-12)
    surprises = view_surprises(detector, NEW)
    assert list(surprises) == list(model.view_names)
    np.testing.assert_allclose(-surprises.sum(axis=1), detector.score_samples(NEW), rtol=1e-12)
    assert detector.predict([STAR]) == [-1]
    expected = [scores_slow([x], TRAIN[:i] + TRAIN[i + 1 :])[0] for i, x in enumerate(TRAIN)]
    np.testing.assert_allclose(model.training_scores[2], expected, atol=1e-12)


def test_it_gives_reasons_and_is_in_the_report(detector):
    reasons = explain(detector, [STAR], n_reasons=50)
    [found] = reasons[reasons["kind"] == "degree entropy"].itertuples()
    assert found.what == "degree entropy"
    [score] = scores_slow([STAR], TRAIN)
    assert found.reason.startswith(f"degree entropy {score:.3g}; usually ")
    assert found.strength >= 1
    assert found.nodes == found.edges == ()
    assert "degree entropy" in skgraphkde.report(detector, [STAR, *NEW])


# -- those of the library --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "view",
    [
        Novelty(2),
        Tanimoto(2),
        Neighbors(2, 3),
        Statistics(),
        Numbers(),
        DegreeEntropy(),
        Confirmed(Statistics()),
    ],
    ids=str,
)
@given(seed=st.integers(0, 10**6))
def test_neither_company_nor_the_order_of_nodes_matters(view, seed):
    batch = read_graphs([trace(seed + i) for i in range(13)], schema="all")
    known, batch = batch[:8], batch[8:]
    if isinstance(view, Confirmed):
        fitted = fit(Confirmed(fit(Statistics(), known[:5])), known[5:])
    else:
        fitted = fit(clone(view), known)
    expected = scores_of(fitted, batch)
    np.testing.assert_allclose(scores_of(fitted, permuted(batch, seed)), expected, atol=1e-9)
    alone = np.hstack([scores_of(fitted, batch[i]) for i in range(5)])
    np.testing.assert_allclose(alone, expected, atol=1e-9)


def test_a_low_score_of_another_view_confirms_no_anomaly(detector):
    log_p_values = detector.model_.as_log_p_values(np.full((4, 1), ITSELF))
    assert (log_p_values != LOG_P_OF_CONFIRMED).all()
