"""The registry of checks: a function that asserts something -> a check that can be called alone.

`register_check` takes a function of an unfitted estimator and a list of graphs. It returns a check,
``check(estimator, graphs=None)``, and keeps it under the name of its module. `registered_checks`
returns the checks of a module, in the order in which they are written.
"""

from __future__ import annotations

import copy
import functools
from collections import defaultdict
from collections.abc import Callable
from types import ModuleType
from typing import Any
from unittest import SkipTest

from skgraphkde.testing.common import example_graphs, fresh, is_reproducible

_CHECKS: dict[str, list[Callable]] = defaultdict(list)


def register_check(*needs: str, compares_fits: bool = False) -> Callable:
    """Register a check, for estimators that have the methods and parameters `needs`.

    Parameters
    ----------
    *needs : str
        Names of methods and parameters. The check is skipped if the estimator lacks one of them.
    compares_fits : bool, default=False
        Whether the check compares the results of several fits. If it fails although two equal fits
        already differ, it is skipped: check_fit_is_reproducible reports that fault, and one fault
        fails one check.

    Returns
    -------
    callable
        A decorator. What the decorated function raises becomes an AssertionError that names the
        check and the estimator. The function works on a fresh estimator and on copies of the
        graphs.
    """

    def register(function: Callable) -> Callable:
        @functools.wraps(function)
        def check(estimator: Any, graphs: Any = None) -> None:
            lacking = [name for name in needs if not hasattr(estimator, name)]
            if lacking:
                raise SkipTest(f"{type(estimator).__name__} has no {', '.join(lacking)}")
            graphs = example_graphs() if graphs is None else copy.deepcopy(list(graphs))
            try:
                function(fresh(estimator), graphs)
            except SkipTest:
                raise
            except Exception as error:
                if compares_fits and not is_reproducible(estimator, graphs):
                    raise SkipTest("equal fits differ, see check_fit_is_reproducible") from error
                name = type(estimator).__name__
                raise AssertionError(f"{function.__name__} failed for {name}: {error}") from error

        _CHECKS[function.__module__].append(check)
        return check

    return register


def registered_checks(module: ModuleType) -> list[Callable]:
    """The checks of a module, in the order in which they are written."""
    return list(_CHECKS[module.__name__])
