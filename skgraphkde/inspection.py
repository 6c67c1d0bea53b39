"""The name of :mod:`skgraphkde.explanation` up to version 0.1, for code that imports it."""

from skgraphkde.explanation import *  # noqa: F403
