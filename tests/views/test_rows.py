"""Folds follow from what references contain, and from nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skgraphkde.views.rows import MOST_FOLDS, Whitening, folds


def rows_of(seed, n=50, n_columns=4):
    return np.random.default_rng(seed).standard_normal((n, n_columns))


@given(st.integers(0, 2**32 - 1))
def test_folds_depend_neither_on_orders_nor_on_last_digits(seed):
    rows, rng = rows_of(seed), np.random.default_rng(seed)
    fold, left_out = folds(rows)
    order = rng.permutation(len(rows))
    for changed in (rows[order], rows[order][:, rng.permutation(4)], rows[order] + 1e-12):
        of_changed = folds(changed)
        np.testing.assert_array_equal(of_changed[0], fold[order])
        np.testing.assert_array_equal(of_changed[1], left_out[order])


@pytest.mark.parametrize("n", [2, 5, 20, 47])
def test_folds_are_of_equal_sizes(n):
    fold, left_out = folds(rows_of(0, n))
    sizes = np.bincount(fold)
    assert len(sizes) == min(n, MOST_FOLDS)
    assert np.ptp(sizes) <= 1
    np.testing.assert_array_equal(left_out, fold)


def test_copies_leave_out_the_same_fold():
    rows = rows_of(1)
    fold, left_out = folds(np.vstack([rows, rows[:10], rows[:5] + 1e-9]))
    assert (left_out[50:60] == left_out[:10]).all()
    assert (left_out[60:] == left_out[:5]).all()
    assert (fold[50:60] != fold[:10]).all()  # a copy is known, as it is for a new graph


@pytest.mark.parametrize("shape", [(40, 5), (5, 5), (4, 30), (0, 3)])
def test_whitening_is_the_root_of_the_inverse_covariance(shape):
    rng = np.random.default_rng(3)
    rows = rng.standard_normal(shape) @ rng.standard_normal((shape[1], shape[1]))
    rows -= rows.mean(axis=0) if len(rows) else 0
    whiten, identity = Whitening(rows, 0.1), np.eye(shape[1])
    covariance = rows.T @ rows / max(len(rows), 1) + 0.1 * identity
    W = whiten(identity)
    np.testing.assert_allclose(W.T @ covariance @ W, identity, atol=1e-9)
    assert whiten.norm == pytest.approx(np.linalg.norm(W, 2))
