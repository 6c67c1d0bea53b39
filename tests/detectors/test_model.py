import numpy as np
import pytest
from sklearn import config_context

from skgraphkde import MMD, Density, GraphKDEDetector, read_graphs
from skgraphkde.distances import DiscreteMeasures
from tests.conftest import random_graphs

VIEWS = {
    "defaults": "auto",
    "novelty first": ("novelty", "density", Density("mean")),
    "random features": Density(MMD(method="random_features")),
}


GRAPHS = read_graphs(random_graphs(20, seed=1))


def fit(graphs=GRAPHS, **parameters):
    return GraphKDEDetector(random_state=0, **parameters).fit(graphs).model_


@pytest.fixture(scope="module", params=VIEWS)
def model(request):
    return fit(views=VIEWS[request.param])


@pytest.fixture(scope="module")
def batch():
    return read_graphs(random_graphs(9, seed=2))


# -- what it computes ------------------------------------------------------------------------------


def squared_distances(model, batch, other=None, view=0):
    """Signed, as the kernels take them; references are embedded anew, for this view alone."""
    other = model.references if other is None else other
    measures = [model._measures(graphs)[0] for graphs in (batch, other)]
    P, Q = (DiscreteMeasures(x.points, x.weights, x.sizes) for x in measures)
    return model.views[view].distance_.squared(P, Q)


@pytest.mark.parametrize("working_memory", [1024, 0.003])
def test_distances_between_any_graphs(model, batch, working_memory):
    other = read_graphs(random_graphs(5, seed=3))
    for view in model.densities:
        with config_context(working_memory=working_memory):
            distances = {
                other: model.distances(batch, other, view=view),
                None: model.distances(batch, view=view),
                batch: model.distances(batch, batch, view=view),
            }
            references = model.reference_distances(view)
        for others, D in distances.items():
            expected = squared_distances(model, batch, others, view).clip(min=0)
            np.testing.assert_allclose(D**2, expected, atol=1e-9)
        expected = squared_distances(model, model.references, None, view).clip(min=0)
        np.testing.assert_allclose(references**2, expected, atol=1e-9)


def test_contributions_sum_to_squared_distances(model, batch):
    some = np.array([7, 0, 19])
    for view in model.densities:
        expected = squared_distances(model, batch, None, view)
        for i in (0, 5):
            shares = model.contributions(batch[i], some, view=view)
            assert shares.shape == (batch[i].n_nodes, 3)
            np.testing.assert_allclose(shares.sum(axis=0), expected[i, some], atol=1e-9)


# -- what is computed of the references once -------------------------------------------------------
