"""The name of the calibration up to version 0.1, for code that imports it."""

from skgraphkde.core.scoring.calibration import *  # noqa: F403
