"""Warnings that point to the user's line of code, from any depth of the package."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

import sklearn

# scikit-learn wraps `fit`, so its frames lie between the user's frames and ours.
_INSIDE = (str(Path(__file__).parents[1]), str(Path(sklearn.__file__).parent))


def warn(message: str | Warning, category: type[Warning] = UserWarning) -> None:
    """Issue a warning, attributed to the first caller outside of the package.

    Parameters
    ----------
    message : str or Warning
        Text of the warning, or the warning, which needs no category.
    category : type of Warning, default=UserWarning

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("attributed to this line")
    >>> str(caught[0].message)
    'attributed to this line'
    """
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_INSIDE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
