"""Engines: means of kernels between weighted points, for NumPy arrays and for torch tensors.

The functions dispatch on the type of the points: `cpu` for NumPy arrays, with matrix products and
compiled loops in threads; `learned/engines` registers those for tensors, with gradients.
"""

from functools import singledispatch
from typing import Any

from skgraphkde.distances.engines import cpu

kernel_means: Any = singledispatch(cpu.kernel_means)
self_means: Any = singledispatch(cpu.self_means)
feature_means: Any = singledispatch(cpu.feature_means)
squared_distances: Any = singledispatch(cpu.squared_distances)
