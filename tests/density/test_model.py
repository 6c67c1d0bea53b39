"""DensityModel: random features block by block, without points, are those of all points at once."""

import numpy as np
import pytest
import sklearn
import torch

from skgraphkde import MMD, Density, GraphKDEDetector, load, read_graphs
from skgraphkde.density import model as density_model
from skgraphkde.distances.measures import DiscreteMeasures
from skgraphkde.explanation import node_contributions
from tests.conftest import random_graphs

TRAIN, NEW = random_graphs(30, seed=1), random_graphs(5, seed=2)
VIEWS = tuple(
    Density(MMD((gamma,), estimator, "random_features", 32))
    for gamma, estimator in ((10.0, "biased"), (1.0, "unbiased"), (0.5, "biased"))
)


@pytest.mark.parametrize("working_memory", [0.05, 1024])
def test_embedding_without_points(working_memory, monkeypatch):
    monkeypatch.setattr(density_model, "MAX_SAMPLE", 20)
    model = GraphKDEDetector(views=VIEWS).fit(TRAIN).model_
    density, graphs = model._density, model.references
    with sklearn.config_context(working_memory=working_memory):
        flows = density.flows(graphs, model.features.transform_batch)
        assert (len(flows) > 3) == (working_memory < 1)
        found = density.embed_without_points(graphs, flows)
    expected = density.embed(graphs, model.features.transform_batch)
    for x, y, distance in zip(found.measures, expected.measures, density.densities, strict=True):
        alone = distance.distance.embed(DiscreteMeasures(y.points, y.weights, y.sizes))
        for other in (x, y):
            np.testing.assert_allclose(other.features, alone.features, atol=1e-13)
            np.testing.assert_allclose(other.squared_norms, alone.squared_norms, atol=1e-13)
        assert x.points is None
        assert x.sample(20).tolist() == alone.sample(20).tolist()
        np.testing.assert_array_equal(x[3:5].sizes, y[3:5].sizes)


def test_an_adaptive_distance_keeps_its_points():
    detector = GraphKDEDetector(views=(Density(MMD(method="random_features")), *VIEWS)).fit(TRAIN)
    assert detector.model_._references.measures[1].points is not None


def test_references_without_points_do_what_others_do(tmp_path):
    """Those of a file have points again."""
    fitted = GraphKDEDetector(views=VIEWS, random_state=0).fit(TRAIN)
    fitted.save(tmp_path / "model.skg")
    loaded, graphs = load(tmp_path / "model.skg"), read_graphs(NEW)
    expected = loaded.score_samples(NEW)
    assert fitted.model_._references.measures[0].points is None
    assert loaded.model_._references.measures[0].points is not None
    on_tensors = fitted.model_.on(torch.device("cpu:0")).scores(graphs)
    for scores in (fitted.score_samples(NEW), on_tensors):
        np.testing.assert_allclose(scores, expected, rtol=1e-9)
    both = [node_contributions(x, NEW[:1], k=3)[0] for x in (fitted, loaded)]
    np.testing.assert_allclose(*both, atol=1e-12)
    for x in (fitted, loaded):
        x.partial_fit(NEW)
    again = [x.score_samples(NEW) for x in (fitted, loaded)]
    np.testing.assert_allclose(*again, rtol=1e-9)
