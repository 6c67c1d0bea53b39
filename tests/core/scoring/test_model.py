"""GraphModel: distances and contributions; what the views of a call share; reproducible bits."""

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde import GCN, MMD, Density, GraphKDEDetector, load, read_graphs
from skgraphkde.core.views import categories, neighborhoods, statistics
from skgraphkde.core.views.embedding import Embedding
from tests.conftest import random_graphs, spied
from tests.core.scoring.common import squared_distances

SETTINGS = {
    "defaults": {},
    "novelty first": {"views": ["novelty", "density", Density(MMD(gammas=(3.0,)))]},
    "random features": {"views": [Density(MMD(method="random_features")), "novelty"]},
    "network": {"encoder": GCN(hidden_dim=8)},
}
TRAIN = read_graphs(random_graphs(20, seed=1, n_attributes=2, max_nodes=20))
NEW = read_graphs(random_graphs(20, seed=2, n_attributes=2, max_nodes=40))


@pytest.fixture(scope="module", params=SETTINGS)
def detector(request):
    return GraphKDEDetector(random_state=0, **SETTINGS[request.param]).fit(TRAIN)


# -- distances -------------------------------------------------------------------------------------


@pytest.mark.parametrize("working_memory", [1024, 0.003])
def test_distances_between_any_graphs(detector, working_memory):
    model, other = detector.model_, read_graphs(NEW[:5])
    for view in model.densities:
        with config_context(working_memory=working_memory):
            found = {
                other: model.distances(NEW, other, view=view),
                model.references: model.distances(NEW, view=view),
                NEW: model.distances(NEW, NEW, view=view),
            }
            of_references = model.distances(model.references, view=view)
        for others, D in found.items():
            expected = squared_distances(model, NEW, others, view).clip(min=0)
            np.testing.assert_allclose(D**2, expected, atol=1e-9)
        expected = squared_distances(model, model.references, model.references, view).clip(min=0)
        np.testing.assert_allclose(of_references**2, expected, atol=1e-9)
    D = detector.pairwise_distances(NEW)
    np.testing.assert_allclose(D, model.distances(NEW, NEW), atol=1e-6)
    np.testing.assert_array_equal(D, D.T)
    assert not D.diagonal().any()


# -- work that views share -------------------------------------------------------------------------


def test_views_share_work_and_nothing_stays_after_a_call(monkeypatch, tmp_path):
    embedded = spied(monkeypatch, Embedding, "of_flows")
    colored = spied(monkeypatch, neighborhoods.Neighborhoods, "_colors")
    counted = spied(monkeypatch, statistics, "triangles")
    named = spied(monkeypatch, categories.Vocabulary, "__init__")
    detector = GraphKDEDetector().fit(TRAIN.replace())
    assert len(counted) <= 2  # blocks
    # Colors of the references make the table, and are numbered once as those of other graphs.
    # The graphs are embedded, and once their twins.
    assert (len(embedded), len(colored), len(named)) == (1 + 1, 2 + 1, 1)
    detector.save(tmp_path / "model.skg")
    for one in (detector, detector, *[load(tmp_path / "model.skg")] * 2):
        for calls in (embedded, colored, counted):
            calls.clear()
        one.score_samples(NEW)
        assert (len(embedded), len(colored), len(counted)) == (1, 1, 1)


# -- reproducible bits -----------------------------------------------------------------------------


def test_threads_change_rounding_at_most_and_a_seed_fixes_the_bits(detector):
    expected = detector.score_samples(NEW)
    states = np.random.get_state()[1].copy(), torch.random.get_rng_state()
    with torch.no_grad():
        detector.fit(TRAIN).score_samples(NEW)
    np.testing.assert_array_equal(detector.score_samples(NEW), expected)
    np.testing.assert_array_equal(np.random.get_state()[1], states[0])
    assert torch.equal(torch.random.get_rng_state(), states[1])
    n_threads = torch.get_num_threads()
    try:
        torch.set_num_threads(4)
        four = detector.fit(TRAIN).score_samples(NEW)
    finally:
        torch.set_num_threads(n_threads)
    np.testing.assert_allclose(four, expected, rtol=1e-6)
