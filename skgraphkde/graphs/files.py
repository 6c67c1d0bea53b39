"""The name of :mod:`skgraphkde.reading.files` up to version 0.1, for code that imports it."""

from skgraphkde.reading.files import *  # noqa: F403
