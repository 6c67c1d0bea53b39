"""Helpers of all displays: axes, colors, validated numbers, and the lower end of scores.

The helpers take what the caller of a picture passes. They return arrays and matplotlib objects, or
raise a ValueError before a figure is opened. matplotlib is imported when something is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_consistent_length

from skgraphkde.model_selection import check_target

# Readable with color blindness, too (Okabe and Ito).
BLUE, VERMILION, GRAY = "#0072B2", "#D55E00", "#777777"


def open_axes(ax: Any) -> tuple[Any, Any]:
    """The caller's axes, or new ones if `ax` is None, without a box; and their figure."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(5, 4), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax, ax.figure


def shades(name: str, low: float, high: float, n: int = 256) -> Any:
    """Colors of matplotlib between two shares of a map; black text is legible on all."""
    from matplotlib import colormaps

    return colormaps[name](np.linspace(low, high, n))


def groups(y: np.ndarray | None, names: tuple[str, str]) -> Iterator[tuple[Any, str, str, str]]:
    """(which, name, color, marker) for normal graphs and for anomalies, or for all without `y`."""
    if y is None:
        yield slice(None), "graphs", BLUE, "o"
    else:
        yield y == 1, names[0], BLUE, "o"
        yield y == -1, names[1], VERMILION, "^"


def check_numbers(values: Any, name: str) -> np.ndarray:
    """The values as a flat, nonempty array of finite numbers."""
    numbers = check_array(values, ensure_2d=False, dtype=float, input_name=name)
    if numbers.ndim != 1:
        raise ValueError(f"{name} must be a flat list of numbers, got shape {numbers.shape}")
    return numbers


def check_target_of(y: Any, scores: np.ndarray) -> np.ndarray | None:
    """The target as an array of 1 and -1, as long as `scores`; None without a target."""
    if y is None:
        return None
    check_consistent_length(scores, y)
    return check_target(y)


def lowest_shown(scores: np.ndarray, offset: float | None, y: np.ndarray | None) -> float:
    """The score below which a picture makes no difference, see DensityDisplay."""
    normal = scores if y is None or not np.any(y == 1) else scores[y == 1]
    middle, highest = np.median(normal), scores.max()
    low = middle if offset is None else min(middle, offset)
    return low - 4 * (highest - middle) if highest > middle else -np.inf
