import pickle

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde import MMD, Density, GraphBatch, GraphKDEDetector, References, read_graphs
from skgraphkde.distances import DiscreteMeasures
from tests.conftest import random_graphs
from tests.density.test_kde import density_slow

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


def log_densities_slow(model, batch, own):
    scores = []
    for view, density in zip(model.densities, model._density.densities, strict=True):
        weights = np.exp(density.size_kernel(batch, model.references))
        squared = squared_distances(model, batch, None, view)
        mixture = model.views[view].bandwidths_, model.views[view].mixture_weights_
        scores.append(
            [
                np.log(density_slow(d, *mixture, w, skip))
                for d, w, skip in zip(squared, weights, own, strict=True)
            ]
        )
    return scores


@pytest.mark.parametrize("working_memory", [1024, 0.01])
def test_log_densities_equal_the_formula(model, batch, working_memory):
    own = np.full(9, -1)
    expected = log_densities_slow(model, batch, own)
    with config_context(working_memory=working_memory):
        np.testing.assert_allclose(model.log_densities(batch), expected, rtol=1e-7)
        own[[2, 5]] = 11, 0
        np.testing.assert_allclose(
            model.log_densities(batch, own=own),
            log_densities_slow(model, batch, own),
            rtol=1e-7,
        )
        features = model.features.transform_batch(batch).attributes
        featurized = GraphBatch(batch.node_ptr, batch.adjacency, attributes=features)  # no labels
        np.testing.assert_array_equal(
            model.log_densities(featurized, featurized=True), model.log_densities(batch)
        )


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


def test_attributes_far_out_are_refused_where_random_features_lose_their_digits():
    train, new = (read_graphs(random_graphs(n, n, n_attributes=2)) for n in (20, 4))
    far = np.array(new.attributes)
    node = int(new.node_ptr[3]) - 1  # the last of graph 2
    far[node, 1] = -1e10
    far = new.replace(attributes=far)
    models = {
        method: fit(train, views=Density(MMD(method=method)))
        for method in ("exact", "random_features")
    }
    for model in models.values():
        model.check_batch(new)
    models["exact"].check_batch(far)
    position = f"graph 2, node {new.n_nodes_per_graph[2] - 1}: node attribute 'x_1' is -1e\\+10, "
    remedy = r".* clip it, or use views=Density\(MMD\(method='exact'\)\)"
    with pytest.raises(ValueError, match=position + remedy):
        models["random_features"].check_batch(far)


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
