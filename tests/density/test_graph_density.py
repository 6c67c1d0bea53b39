import pickle

import numpy as np
import pytest
import torch
from sklearn import config_context

from skgraphkde import MMD, GraphBatch, GraphKDEDetector, Readout, References, read_graphs
from skgraphkde.distances import DiscreteMeasures
from tests.conftest import random_graphs
from tests.density.test_kde import density_slow

DISTANCES = {
    "auto": "auto",
    "mmd": MMD(),
    "biased": MMD(estimator="biased"),
    "random features": MMD(method="random_features"),
    "mean": Readout("mean"),
}


def fit(distance="auto", **parameters):
    """With three views if `distance` is "auto", otherwise with one."""
    novelty = "auto" if distance == "auto" else None
    detector = GraphKDEDetector(distance=distance, novelty=novelty, random_state=0, **parameters)
    return detector.fit(random_graphs(20, seed=1)).density_


@pytest.fixture(scope="module", params=DISTANCES)
def density(request):
    return fit(DISTANCES[request.param])


def numbered_distances(density):
    return range(len(density.fitted_distances))


@pytest.fixture(scope="module")
def batch():
    return read_graphs(random_graphs(9, seed=2))


# -- what it computes ------------------------------------------------------------------------------


def squared_distances(density, batch, other=None, view=0):
    """Signed, as the density takes them; references are embedded anew, for this view alone."""
    other = density.references if other is None else other
    measures = [density._measures(graphs)[0] for graphs in (batch, other)]
    P, Q = (DiscreteMeasures(x.points, x.weights, x.sizes) for x in measures)
    return density.fitted_distances[view].squared(P, Q).numpy()


def log_densities_slow(density, batch, own):
    weights = np.exp(density._model.size_kernel(batch, density.references))
    scores = np.empty((len(density.fitted_distances), len(batch)))
    for view in numbered_distances(density):
        squared = squared_distances(density, batch, None, view)
        mixture = density.bandwidths[view], density.mixture_weights[view]
        scores[view] = [
            np.log(density_slow(d, *mixture, w, skip))
            for d, w, skip in zip(squared, weights, own, strict=True)
        ]
    return scores


@pytest.mark.parametrize("working_memory", [1024, 0.01])
def test_log_densities_equal_the_formula(density, batch, working_memory):
    own = np.full(9, -1)
    expected = log_densities_slow(density, batch, own)
    with config_context(working_memory=working_memory):
        np.testing.assert_allclose(density.log_densities(batch), expected, rtol=1e-7)
        own[[2, 5]] = 11, 0
        np.testing.assert_allclose(
            density.log_densities(batch, own=own),
            log_densities_slow(density, batch, own),
            rtol=1e-7,
        )
        features = density.features.transform_batch(batch).attributes
        featurized = GraphBatch(batch.node_ptr, batch.adjacency, attributes=features)  # no labels
        np.testing.assert_array_equal(
            density.log_densities(featurized, featurized=True), density.log_densities(batch)
        )


@pytest.mark.parametrize("working_memory", [1024, 0.003])
def test_distances_between_any_graphs(density, batch, working_memory):
    other = read_graphs(random_graphs(5, seed=3))
    for view in numbered_distances(density):
        with config_context(working_memory=working_memory):
            distances = {
                other: density.distances(batch, other, view=view),
                None: density.distances(batch, view=view),
                batch: density.distances(batch, batch, view=view),
            }
            references = density.reference_distances(view)
        for others, D in distances.items():
            expected = squared_distances(density, batch, others, view).clip(min=0)
            np.testing.assert_allclose(D**2, expected, atol=1e-9)
        expected = squared_distances(density, density.references, None, view).clip(min=0)
        np.testing.assert_allclose(references**2, expected, atol=1e-9)


def test_contributions_sum_to_squared_distances(density, batch):
    some = np.array([7, 0, 19])
    for view in numbered_distances(density):
        expected = squared_distances(density, batch, None, view)
        for i in range(len(batch)):
            shares = density.contributions(batch[i], some, view=view)
            assert shares.shape == (batch[i].n_nodes, 3)
            np.testing.assert_allclose(shares.sum(axis=0), expected[i, some], atol=1e-9)


def test_embeddings_are_means_over_nodes(density, batch):
    measures = density._measures(batch)[0]
    expected = measures.weights.toarray() @ measures.points.numpy()
    np.testing.assert_allclose(density.embeddings(batch), expected, atol=1e-12)
    assert density.embeddings(batch).shape == (9, density.embedding_dim)


def test_references_in_their_order():
    graphs = read_graphs(random_graphs(20, seed=1))
    assert (fit().references.adjacency != graphs.adjacency).nnz == 0
    chosen = fit(references=References("uniform", 0.3)).references
    assert len(chosen) == 6
    sizes = graphs.n_nodes_per_graph.tolist()
    for n in chosen.n_nodes_per_graph.tolist():  # a subsequence
        sizes = sizes[sizes.index(n) + 1 :]


def test_attributes_far_out_are_refused_where_random_features_lose_their_digits():
    train, new = (read_graphs(random_graphs(n, n, n_attributes=2)) for n in (20, 4))
    far = np.array(new.attributes)
    node = int(new.node_ptr[3]) - 1  # the last of graph 2
    far[node, 1] = -1e10
    far = new.replace(attributes=far)
    densities = {
        method: GraphKDEDetector(distance=MMD(method=method), random_state=0).fit(train).density_
        for method in ("exact", "random_features")
    }
    for density in densities.values():
        density.check_batch(new)
    densities["exact"].check_batch(far)
    position = f"graph 2, node {new.n_nodes_per_graph[2] - 1}: node attribute 'x_1' is -1e\\+10, "
    with pytest.raises(ValueError, match=position + r".* clip it, or use distance=MMD\(method='ex"):
        densities["random_features"].check_batch(far)


# -- what is computed of the references once -------------------------------------------------------


def memo(density):
    return density._references.measures[0].memo


def test_scoring_twice_gives_the_same_bits(density, batch):
    fresh = pickle.loads(pickle.dumps(density))
    for compute in ("log_densities", "distances", "scores"):
        first = getattr(fresh, compute)(batch)
        kept = dict(memo(fresh))
        again = [getattr(x, compute)(batch) for x in (fresh, density, fresh)]
        for other in again:
            np.testing.assert_array_equal(other, first)
        assert kept.keys() == memo(fresh).keys()
        assert all(memo(fresh)[name] is value for name, value in kept.items())
    if getattr(density.fitted_distances[0], "method", None) == "exact":
        assert "support" in kept


def test_pickles_leave_out_what_is_kept(batch):
    density = pickle.loads(pickle.dumps(fit()))
    before = len(pickle.dumps(density))
    expected = density.scores(batch)
    density.on(torch.device("cpu:0")).scores(batch)
    assert memo(density)
    assert density._copies
    restored = pickle.loads(pickle.dumps(density))
    assert len(pickle.dumps(density)) == before
    assert not memo(restored)
    assert not restored._copies
    np.testing.assert_array_equal(restored.scores(batch), expected)


def test_a_copy_for_a_device_is_made_once(density, batch):
    assert density.on(density.device) is density
    copy = density.on(torch.device("cpu:0"))  # not the same by name: as good as another device
    assert copy is not density
    assert density.on(torch.device("cpu:0")) is copy
    np.testing.assert_array_equal(copy.log_densities(batch), density.log_densities(batch))
    np.testing.assert_array_equal(copy.scores(batch), density.scores(batch))
