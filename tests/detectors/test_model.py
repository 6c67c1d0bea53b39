import pickle

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde import MMD, Density, GraphKDEDetector, References, read_graphs
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


def test_embeddings_are_means_over_nodes(model, batch):
    measures = model._measures(batch)[0]
    expected = measures.weights.toarray() @ measures.points
    np.testing.assert_allclose(model.embeddings(batch), expected, atol=1e-12)
    assert model.embeddings(batch).shape == (9, model.embedding_dim)


def test_references_in_their_order():
    assert (fit().references.adjacency != GRAPHS.adjacency).nnz == 0
    chosen = fit(references=References("uniform", 0.3)).references
    assert len(chosen) == 6
    sizes = GRAPHS.n_nodes_per_graph.tolist()
    for n in chosen.n_nodes_per_graph.tolist():  # a subsequence
        sizes = sizes[sizes.index(n) + 1 :]


# -- what is computed of the references once -------------------------------------------------------


def first_measures(model):
    return model._references.measures[0]


def test_scoring_twice_gives_the_same_bits_and_computes_once(model, batch):
    fresh = pickle.loads(pickle.dumps(model))
    for compute in ("log_densities", "distances", "scores"):
        first = getattr(fresh, compute)(batch)
        kept = dict(first_measures(fresh).memo)
        for other in (fresh, model):
            np.testing.assert_array_equal(getattr(other, compute)(batch), first)
        memo = first_measures(fresh).memo
        assert kept.keys() == memo.keys()
        assert all(memo[name] is value for name, value in kept.items())


def test_pickles_leave_out_what_is_kept(batch):
    model = pickle.loads(pickle.dumps(fit()))
    before = len(pickle.dumps(model))
    expected = model.scores(batch)
    model.on(torch.device("cpu:0")).scores(batch)
    assert len(pickle.dumps(model)) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).scores(batch), expected)


def test_a_copy_for_a_device_is_made_once(model, batch):
    assert model.on(model.device) is model
    copy = model.on(torch.device("cpu:0"))  # not the same by name: as good as another device
    assert copy is not model
    assert model.on(torch.device("cpu:0")) is copy
    assert isinstance(first_measures(copy).points, torch.Tensor)
    assert isinstance(first_measures(copy.on(None)).points, np.ndarray)
    np.testing.assert_allclose(copy.log_densities(batch), model.log_densities(batch), rtol=1e-12)
    np.testing.assert_allclose(copy.scores(batch), model.scores(batch), rtol=1e-12)
    for view in model.densities:
        one, other = (x.distances(batch, view=view) for x in (copy, model))
        np.testing.assert_allclose(one, other, atol=1e-7)
    contributions = [x.contributions(batch[0], np.array([1])) for x in (copy, model)]
    np.testing.assert_allclose(*contributions, atol=1e-12)
    np.testing.assert_allclose(copy.embeddings(batch), model.embeddings(batch), atol=1e-12)
