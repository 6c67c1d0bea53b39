"""The view of a density, and the clouds of points that densities share."""

import numpy as np
import pytest
from sklearn import config_context

from skgraphkde import MMD, Density, GraphKDEDetector
from skgraphkde.distances import DiscreteMeasures
from tests.conftest import random_graphs

TRAIN, NEW = random_graphs(30, seed=1), random_graphs(5, seed=2)
VIEWS = []
for gamma, estimator in ((10.0, "biased"), (1.0, "unbiased"), (0.5, "biased")):
    VIEWS.append(Density(MMD((gamma,), estimator, "random_features", 32)))


@pytest.mark.parametrize("working_memory", [0.05, 1024])
def test_embedding_without_points(working_memory):
    """Random features block by block are those of all points at once."""
    model = GraphKDEDetector(views=VIEWS).fit(TRAIN).model_
    embedding, graphs = model.embedding, model.references
    with config_context(working_memory=working_memory):
        flows = embedding.flows(graphs)
        assert (len(flows) > 3) == (working_memory < 1)
        found = embedding.of_references(graphs, flows)
    expected = embedding(graphs)
    for density in embedding.densities:
        x, y = found[density], expected[density]
        alone = density.distance_.embed(DiscreteMeasures(y.points, y.weights, y.sizes))
        for other in (x, y):
            np.testing.assert_allclose(other.features, alone.features, atol=1e-13)
            np.testing.assert_allclose(other.squared_norms, alone.squared_norms, atol=1e-13)
        assert x.points is None
        np.testing.assert_array_equal(x[3:5].sizes, y[3:5].sizes)


def test_an_adaptive_distance_keeps_its_points():
    adaptive = Density(MMD(method="random_features"))
    model = GraphKDEDetector(views=(adaptive, *VIEWS)).fit(TRAIN).model_
    assert all(clouds.points is not None for clouds in model.clouds.values())
