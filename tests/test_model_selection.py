"""One-class folds: every graph is tested once, and no anomaly is trained on."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from skgraphkde import GraphKDEDetector
from skgraphkde.model_selection import OneClassKFold
from tests.conftest import warned


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


def test_a_target_that_inverts_metrics_is_warned_of():
    graphs, odd = [nx.cycle_graph(n) for n in range(5, 25)], np.arange(20) % 2
    search = GridSearchCV(GraphKDEDetector(), {}, scoring="roc_auc", cv=StratifiedKFold(2))
    warned("roc_auc can be inverted unless", search.fit, graphs, odd)
    target = 1 - 2 * odd
    with pytest.warns(UserWarning, match="graphs as anomalies, and fit takes"):
        search.fit(graphs, target)
    search.set_params(refit=False, cv=OneClassKFold(2)).fit(graphs, target)


def test_several_classes_are_all_stratified():
    classes = np.repeat([1, 2, 3], [10, 20, 5])
    cv = OneClassKFold(5, shuffle=True, random_state=0, anomaly_class=3)
    expected = StratifiedKFold(5, shuffle=True, random_state=0).split(classes, classes)
    for (train, test), (all_train, all_test) in zip(
        cv.split(classes, classes), expected, strict=True
    ):
        np.testing.assert_array_equal(test, all_test)
        np.testing.assert_array_equal(train, all_train[classes[all_train] != 3])
