"""Seeds that do not change: what is fitted again from a file must come out the same."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np


def fixed_seed(random_state: Any, rng: np.random.RandomState) -> int:
    """The seed `random_state` itself, or, if it is not a number, one drawn from `rng`."""
    if isinstance(random_state, Integral):
        return int(random_state)
    return int(rng.randint(2**31))
