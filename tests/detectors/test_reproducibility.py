"""What may change between two runs, and what may not."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from skgraphkde import GCN, MMD, Contrastive, Density, GraphKDEDetector, paper_settings
from skgraphkde.datasets import load_mutag
from tests.conftest import random_graphs
from tests.detectors.conftest import ONE_VIEW

SETTINGS = {
    "defaults": {},
    "one view": ONE_VIEW,
    "random features": {"views": (Density(MMD(method="random_features")), "novelty")},
    "trained": {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=1)},
}


@pytest.fixture(scope="module", params=SETTINGS)
def detector(request, train):
    return GraphKDEDetector(random_state=0, **SETTINGS[request.param]).fit(train)


@pytest.fixture(scope="module")
def train():
    return random_graphs(20, seed=1, n_attributes=2, max_nodes=20)


@pytest.fixture(scope="module")
def new_graphs():
    return random_graphs(20, seed=2, n_attributes=2, max_nodes=40)


def in_threads(n_threads, function):
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(n_threads)
        return function()
    finally:
        torch.set_num_threads(before)


def test_threads_change_rounding_at_most_and_a_seed_fixes_the_bits(detector, train, new_graphs):
    expected = detector.score_samples(new_graphs)
    states = np.random.get_state()[1].copy(), torch.random.get_rng_state()
    detector.fit(train).score(new_graphs)
    np.testing.assert_array_equal(detector.score_samples(new_graphs), expected)
    np.testing.assert_array_equal(np.random.get_state()[1], states[0])
    assert torch.equal(torch.random.get_rng_state(), states[1])
    four = in_threads(4, lambda: detector.fit(train).score_samples(new_graphs))
    np.testing.assert_allclose(four, expected, rtol=1e-6)


def test_training_on_molecules_does_not_depend_on_the_number_of_threads():
    molecules = load_mutag().graphs[:60]
    detector = GraphKDEDetector(**paper_settings(), random_state=0)
    detector.set_params(training__max_iter=4)
    one, two = (
        in_threads(n, lambda: detector.fit(molecules).score_samples(molecules)) for n in (1, 2)
    )
    # Training holds torch to one thread. Sums that were split between two would differ by 6e-8, and
    # a few epochs of training would make 5e-5 of it.
    np.testing.assert_allclose(one, two, rtol=1e-6)


def test_a_failed_training_leaves_the_number_of_threads_as_it_was(train):
    detector = GraphKDEDetector(
        encoder=GCN(hidden_dim=8), training=Contrastive(max_iter=1, learning_rate=1e30)
    )

    def fail():
        with pytest.raises(ValueError, match="the loss is not finite"):
            detector.fit(train)
        return torch.get_num_threads()

    assert in_threads(3, fail) == 3


@pytest.mark.parametrize("others", [(), ("novelty",)], ids=str)
@pytest.mark.parametrize("method", ["exact", "random_features"])
def test_company_changes_scores_of_molecules_by_rounding_at_most(method, others):
    molecules = load_mutag().graphs
    detector = GraphKDEDetector(views=(Density(MMD(method=method)), *others), random_state=0)
    detector.fit(molecules[:100])
    alone = np.concatenate([detector.score_samples(molecules[i : i + 3]) for i in range(0, 90, 3)])
    np.testing.assert_allclose(alone, detector.score_samples(molecules[:90]), rtol=1e-6)


def test_predictions_from_several_threads_at_once(detector, new_graphs):
    methods = [detector.score_samples, detector.predict, detector.p_values]
    expected = [method(new_graphs) for method in methods]
    with ThreadPoolExecutor(6) as pool:
        at_once = list(pool.map(lambda method: method(new_graphs), methods * 3))
    for values, alone in zip(at_once, expected * 3, strict=True):
        np.testing.assert_array_equal(values, alone)
