"""The names of :mod:`skgraphkde.reading` up to version 0.1, for code that imports them."""

from skgraphkde.core.graphs import *  # noqa: F403
from skgraphkde.reading import *  # noqa: F403
