import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde import References
from skgraphkde.density.references import RETENTION, _shares, inverse_index


def choose(n, ratio, sampling, seed=0, log_density=None):
    rng = np.random.RandomState(seed)
    density = rng.standard_normal(n) if log_density is None else log_density
    return References(sampling, ratio).choose(density, rng)


@given(
    st.integers(2, 60),
    st.floats(0.01, 1),
    st.sampled_from(["uniform", "stratified", "importance"]),
)
def test_as_many_as_asked_for_and_none_twice(n, ratio, sampling):
    chosen = choose(n, ratio, sampling)
    assert len(chosen) == max(2, round(ratio * n))
    assert (np.diff(chosen) > 0).all()
    assert 0 <= chosen[0] <= chosen[-1] < n


def test_stratified_keeps_the_papers_shares():
    """90, 80 and 70 % of the thirds at Q/N = 0.8; in proportion below; all of them at 1."""
    density = np.random.RandomState(0).permutation(300).astype(float)
    for ratio, expected in ((0.8, [90, 80, 70]), (0.4, [45, 40, 35]), (1.0, [100, 100, 100])):
        kept = density[choose(300, ratio, "stratified", log_density=density)]
        assert np.histogram(kept, [0, 100, 200, 300])[0].tolist() == expected


@given(st.lists(st.integers(0, 50), min_size=3, max_size=3), st.integers(0, 150))
def test_shares_add_up_and_fit(sizes, total):
    sizes = np.array(sizes)
    total = min(total, sizes.sum())
    counts = _shares(total, sizes)
    assert counts.sum() == total
    assert (counts <= sizes).all()
    free = counts < sizes  # among the parts that are not used up, the proportion holds
    if free.sum() > 1:
        factor = counts[free] / (RETENTION[free] * sizes[free])
        assert (
            np.ptp(factor * RETENTION[free] * sizes[free])
            <= np.ptp(RETENTION[free] * sizes[free]) * factor.max() + 2
        )


def test_importance_follows_the_papers_probabilities():
    log_density = np.log([0.5, 1.0, 3.0, 8.0])
    first = [choose(4, 0.5, "importance", seed, log_density) for seed in range(1000)]
    share = np.bincount(np.concatenate(first), minlength=4) / 1000
    p = 1 / (1 + np.exp(2.0 - np.exp(log_density)))  # the median density is 2
    p /= p.sum()
    # drawn two without replacement: i first, or second after j
    expected = p + sum(p[j] * np.where(np.arange(4) == j, 0, p / (1 - p[j])) for j in range(4))
    np.testing.assert_allclose(share, expected, atol=0.06)  # four standard errors


@pytest.mark.parametrize("log_density", [np.full(5, -1e5), np.full(5, 1e5)])
def test_extreme_densities(log_density):
    assert len(choose(5, 0.5, "importance", log_density=log_density)) == 2


def test_positions():
    assert inverse_index(np.array([1, 4, 5]), 7).tolist() == [-1, 0, -1, -1, 1, 2, -1]


@pytest.mark.parametrize(
    "parameters", [{"sampling": "all"}, {"sampling": None}, {"ratio": 0}, {"ratio": 1.1}]
)
def test_bad_parameters(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"'{name}' parameter of References must be"):
        References(**parameters).validate()
