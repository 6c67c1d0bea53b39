"""Several views in one detector: how they are joined, and that all else works as with one."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import (
    KDE,
    MMD,
    Contrastive,
    GraphKDEDetector,
    Novelty,
    Readout,
    References,
    Split,
    load,
    read_graphs,
)
from skgraphkde.density.surprise import LogPValues
from skgraphkde.inspection import nearest_references, node_contributions, view_surprises
from tests.conftest import permuted, random_graphs

VIEWS = {
    "defaults": {},
    "no novelty": {"novelty": None},
    "novelty and one distance": {"distance": "mmd"},
    "four distances": {"distance": ("mmd", "mean", MMD(gammas=(3.0,)), "sum")},
    "random features": {
        "distance": (MMD(method="random_features"), MMD((1.0,), method="random_features"))
    },
    "sampled": {"references": References("stratified", ratio=0.5)},
    "uniform": {"references": References("uniform", ratio=0.4), "novelty": Novelty(radius=1)},
    "split": {"calibration": Split(fraction=0.3)},
    "train": {"calibration": "train"},
    "trained": {"encoder": "gcn", "training": Contrastive(max_iter=2)},
}
TRAIN, NEW = random_graphs(40, seed=1), random_graphs(11, seed=2)


@pytest.fixture(scope="module", params=VIEWS)
def detector(request):
    return GraphKDEDetector(random_state=0, **VIEWS[request.param]).fit(TRAIN)


def test_the_score_is_the_sum_of_log_p_values(detector):
    density = detector.density_
    views = density.view_scores(read_graphs(NEW))
    expected = sum(
        LogPValues(known)(new) for known, new in zip(density.training_scores, views, strict=True)
    )
    np.testing.assert_allclose(detector.score_samples(NEW), expected, rtol=1e-12)
    assert len(density.views) == len(views) == len(density.training_scores)


def test_rows_of_surprises_add_up_to_the_score(detector):
    surprises = view_surprises(detector, NEW)
    assert not np.signbit(surprises).any()  # no -0
    assert surprises.shape == (len(NEW), len(detector.density_.views))
    assert (surprises >= 0).all()
    np.testing.assert_allclose(-surprises.sum(1), detector.score_samples(NEW), rtol=1e-12)


@pytest.mark.parametrize("name", ["no novelty", "four distances"])
def test_each_view_is_that_of_a_detector_of_its_own(name):
    """Except for a share of the bias that several MMDs determine together."""
    distances = [MMD(estimator="biased"), MMD((1.0,), estimator="unbiased")]
    if name == "four distances":
        distances += [Readout("mean"), Readout("sum")]
    several = GraphKDEDetector(distance=tuple(distances), novelty=None).fit(TRAIN).density_
    views = several.view_scores(read_graphs(NEW))
    for i, distance in enumerate(distances):
        alone = GraphKDEDetector(distance=distance, novelty=None).fit(TRAIN)
        np.testing.assert_allclose(views[i], alone.score_samples(NEW), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(
            several.training_scores[i], alone.calibration_scores_, rtol=1e-10, atol=1e-10
        )
        np.testing.assert_allclose(several.bandwidths[i], alone.density_.bandwidths[0], rtol=1e-12)


def test_calibration_scores_are_those_of_the_graphs_left_out():
    """Of each view, and of their sum: the detector fitted without one graph hardly differs."""
    detector = GraphKDEDetector(
        distance=MMD(estimator="biased"), novelty=Novelty(2), density=KDE(bandwidths=[0.1])
    )
    size_free = detector.set_params(density__size_kernel=False, features="given")
    known = size_free.fit(TRAIN).density_.training_scores
    for i in (0, 7, 31):
        others = [graph for j, graph in enumerate(TRAIN) if j != i]
        fitted = GraphKDEDetector(**size_free.get_params(deep=False)).fit(others)
        # The encoder's scales move a little.
        of_view = fitted.density_.view_scores(read_graphs([TRAIN[i]]))[:, 0]
        assert of_view[1] == known[1, i]
        assert of_view[0] == pytest.approx(known[0, i], rel=0.05)


def test_files_pickles_and_copies_score_the_same(detector, tmp_path):
    detector.save(tmp_path / "model.skg")
    restored = load(tmp_path / "model.skg")
    expected = detector.score_samples(NEW)
    np.testing.assert_allclose(restored.score_samples(NEW), expected, rtol=1e-9, atol=1e-9)
    assert restored.density_.views == detector.density_.views
    on_cpu = detector.density_.on(torch.device("cpu:0"))
    np.testing.assert_allclose(on_cpu.scores(read_graphs(NEW)), expected, rtol=1e-9)


def test_company_order_and_names_do_not_matter(detector):
    batch = read_graphs(NEW)
    expected = detector.score_samples(batch)
    alone = np.concatenate([detector.score_samples([graph]) for graph in NEW])
    np.testing.assert_allclose(alone, expected, rtol=1e-9, atol=1e-9)
    shuffled = detector.score_samples(permuted(batch, 3))
    np.testing.assert_allclose(shuffled, expected, rtol=1e-9, atol=1e-9)


@given(st.integers(0, 10**6))
def test_the_order_of_the_training_graphs_does_not_matter(seed):
    order = np.random.RandomState(seed).permutation(len(TRAIN))
    shuffled = GraphKDEDetector().fit([TRAIN[i] for i in order])
    fitted = GraphKDEDetector().fit(TRAIN)
    np.testing.assert_allclose(
        shuffled.score_samples(NEW), fitted.score_samples(NEW), rtol=1e-8, atol=1e-8
    )


def test_reasons_of_each_distance(detector):
    for view in range(len(detector.density_.fitted_distances)):
        distances, indices = nearest_references(detector, NEW, k=2, view=view)
        assert distances.shape == indices.shape == (len(NEW), 2)
    for view in range(2 if len(detector.density_.fitted_distances) == 2 else 1):
        squares = nearest_references(detector, NEW, k=2, view=view)[0] ** 2
        shares = node_contributions(detector, NEW, k=2, view=view)
        positive = (squares > 0).all(axis=1)  # an unbiased estimate may be negative
        sums = np.array([share.sum() for share in shares])
        np.testing.assert_allclose(sums[positive], squares.mean(1)[positive], rtol=1e-4, atol=1e-8)
    with pytest.raises(ValueError, match="view must be the number of a distance"):
        nearest_references(detector, NEW, view=9)


@pytest.mark.parametrize("n_draws", [20, pytest.param(200, marks=pytest.mark.slow)])
def test_p_values_of_split_keep_their_promise(n_draws):
    """P(p <= a) <= a, over draws of training, calibration and test graphs."""
    rng = np.random.RandomState(0)
    graphs = read_graphs(random_graphs(400, seed=5))
    p_values = []
    for _ in range(n_draws):
        some = rng.permutation(len(graphs))[:60]
        detector = GraphKDEDetector(
            calibration=Split(fraction=0.4), novelty=Novelty(2), random_state=rng
        ).fit(graphs[some[:50]])
        p_values.append(detector.p_values(graphs[some[50:]]))
    p_values = np.array(p_values)
    for a in (0.05, 0.1, 0.2, 0.5):
        shares = (p_values <= a + 1e-12).mean(axis=1)  # those of one draw depend on each other
        assert shares.mean() <= a + 2 * shares.std() / np.sqrt(n_draws)
    # The mean of uniform ones is 0.5, and a draw's own has a standard deviation of about 0.1.
    assert p_values.mean() < 0.54 + 0.3 / np.sqrt(n_draws)  # and they are not larger than need be


@pytest.mark.parametrize("distance", [(), ("mmd", None), ("mmd", "auto"), [MMD()], ("cosine",)])
def test_what_is_no_distance_is_refused(distance):
    with pytest.raises(ValueError, match="'distance' parameter of GraphKDEDetector must be"):
        GraphKDEDetector(distance=distance).fit(TRAIN)


def test_parameters_of_a_part_of_a_tuple_cannot_be_set():
    with pytest.raises(ValueError, match="set distance itself first"):
        GraphKDEDetector().set_params(distance__estimator="biased")
