"""One-class folds: every graph is tested once, and no anomaly is trained on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from skgraphkde.model_selection import OneClassKFold


@given(
    n_normal=st.integers(4, 20),
    n_anomalies=st.integers(4, 20),
    n_splits=st.integers(2, 4),
    seed=st.integers(0, 99),
)
def test_train_on_normal_test_on_all(n_normal, n_anomalies, n_splits, seed):
    y = np.random.RandomState(seed).permutation([1] * n_normal + [-1] * n_anomalies)
    cv = OneClassKFold(n_splits, shuffle=True, random_state=seed)
    tested = []
    for train, test in cv.split(y, y):
        assert (y[train] == 1).all()
        # All normal graphs that are not tested are trained on.
        assert set(train) == set(np.flatnonzero(y == 1)) - set(test)
        assert abs((y[test] == -1).sum() - n_anomalies / n_splits) < 1
        tested.extend(test)
    assert sorted(tested) == list(range(len(y)))
    assert cv.get_n_splits() == n_splits


def test_several_classes_are_all_stratified():
    classes = np.repeat([1, 2, 3], [10, 20, 5])
    cv = OneClassKFold(5, shuffle=True, random_state=0, anomaly_class=3)
    expected = StratifiedKFold(5, shuffle=True, random_state=0).split(classes, classes)
    for (train, test), (all_train, all_test) in zip(
        cv.split(classes, classes), expected, strict=True
    ):
        np.testing.assert_array_equal(test, all_test)
        np.testing.assert_array_equal(train, all_train[classes[all_train] != 3])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "needs y"),
        *[
            (y * 5, r"y must be 1 .* np\.where\(y == 1, -1, 1\)")
            for y in ([0, 1], [True, False], [1, 2], ["1", "-1"])
        ],
        ([1] * 10, "y contains no graph of the anomaly class -1, only"),
        ([1, -1] * 4, "inconsistent numbers of samples"),
        ([1] * 9 + [-1], "there is one anomaly"),
        ([1] * 7 + [-1] * 3, r"3 anomalies for 4 test folds.*: use n_splits=3"),
    ],
)
def test_what_cannot_be_split(y, message):
    with pytest.raises(ValueError, match=message):
        list(OneClassKFold(4).split(range(10), y))
