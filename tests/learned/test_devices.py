"""What a GPU computes, as tensors on "cpu:0", which is another device than the CPU with NumPy."""

import pickle

import numpy as np
import pytest
import torch

from skgraphkde import GCN, KDE, MMD, Contrastive, Density, GraphKDEDetector, References
from skgraphkde.density import kernel_density
from skgraphkde.explanation import node_contributions
from tests.conftest import random_graphs

KINDS = {
    "defaults": {},
    "random features": {"views": Density(MMD(method="random_features", n_components=64))},
    "mean, by likelihood": {"views": Density("mean", KDE("likelihood"))},
    "sampled references": {"references": References("importance", 0.5), "views": "density"},
    "mixture weights": {"training": Contrastive(max_iter=2), "views": "density"},
    "gcn": {"encoder": GCN(hidden_dim=8), "training": Contrastive(max_iter=2)},
}


@pytest.mark.parametrize("name", KINDS)
def test_a_fit_on_another_device_gives_the_same_scores(name, monkeypatch):
    graphs, new = random_graphs(30, seed=1, n_attributes=2), random_graphs(6, 2, n_attributes=2)
    monkeypatch.setattr(kernel_density, "MAX_SAMPLE", 20)
    cpu, other = (
        GraphKDEDetector(random_state=0, device=device, **KINDS[name]).fit(graphs)
        for device in ("cpu", "cpu:0")
    )
    close = {"rtol": 1e-6, "atol": 1e-6} if cpu.training is not None else {"rtol": 1e-9}
    scores = cpu.score_samples(new)
    np.testing.assert_allclose(other.calibration_scores_, cpu.calibration_scores_, **close)
    np.testing.assert_allclose(other.score_samples(new), scores, **close)
    distances = (x.pairwise_distances(new, graphs) for x in (cpu, other))
    np.testing.assert_allclose(*distances, atol=1e-6)
    np.testing.assert_allclose(*(x.transform(new) for x in (cpu, other)), atol=1e-6)
    shares = (np.concatenate(node_contributions(x, new)) for x in (cpu, other))
    np.testing.assert_allclose(*shares, **{**close, "atol": 1e-6})
    # The fitted model is on the CPU, and its copies on devices stay out of files and pickles.
    assert isinstance(other.model_._references.measures[0].points, np.ndarray)
    assert list(other.model_._copies) == ["cpu:0"]
    copy = pickle.loads(pickle.dumps(other))
    np.testing.assert_array_equal(copy.score_samples(new), other.score_samples(new))
    np.testing.assert_allclose(other.set_params(device="cpu").score_samples(new), scores, **close)


def test_auto_is_the_gpu_for_encoders_with_weights_alone(monkeypatch):
    from skgraphkde.detectors.model import device_of

    plain, gcn = (
        GraphKDEDetector(encoder=x).specification("encoder") for x in ("propagation", "gcn")
    )
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert device_of("auto", plain.build(3)) is None
    assert device_of("auto", gcn.build(3)) == torch.device("cuda")
    for encoder in (plain.build(3), gcn.build(3)):
        assert device_of("cpu", encoder) is None
        assert device_of(torch.device("cpu"), encoder) is None
        assert device_of("cpu:0", encoder) == torch.device("cpu:0")
