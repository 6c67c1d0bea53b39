"""Checks inside scikit-learn: the estimator in a Pipeline and in cross-validation.

Each check takes an unfitted estimator and a list of graphs. It raises an AssertionError if the
estimator works alone but not inside scikit-learn's tools.
"""

from __future__ import annotations

from typing import Any
from unittest import SkipTest

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from skgraphkde.testing.common import assert_same, fitted, fresh, results_of
from skgraphkde.testing.registry import register_check


@register_check(compares_fits=True)
def check_pipeline(estimator: Any, graphs: Any) -> None:
    """The last step of a Pipeline gives the same results as the estimator alone."""
    expected = results_of(fitted(fresh(estimator), graphs), graphs)
    pipeline = make_pipeline("passthrough", estimator).fit(list(graphs))
    assert_same(results_of(pipeline, graphs), expected, "differs inside a Pipeline")


@register_check("score")
def check_cross_val_score(estimator: Any, graphs: Any) -> None:
    """`cross_val_score` splits the list and gets one number per fold from `score`."""
    try:
        clone(estimator)
    except Exception as error:
        raise SkipTest("clone does not work, see check_clone") from error
    scores = cross_val_score(estimator, list(graphs), cv=3, error_score="raise")
    assert not np.isnan(scores).any(), f"the scores of three folds are {scores}"
