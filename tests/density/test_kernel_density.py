"""One density of a model: what it checks of a distance, and that blocks change nothing."""

import numpy as np
import pytest
import torch
from skgraphkde.density.kernel_density import KernelDensity
from skgraphkde.distances.readout import FittedReadout
from sklearn import config_context

from skgraphkde import KDE, MMD, Readout, read_graphs
from skgraphkde.density.size_kernel import SizeKernel
from skgraphkde.distances import DiscreteMeasures
from skgraphkde.learned import tensors  # noqa: F401  registers the operations on tensors
from tests.conftest import random_graphs

GRAPHS = read_graphs(random_graphs(12))
POINTS = np.random.RandomState(0).standard_normal((GRAPHS.n_nodes, 3))
SPECIFICATIONS = {
    "biased": MMD(estimator="biased"),
    "adaptive": MMD(gammas=(100.0, 0.1)),
    "random features": MMD(gammas=(0.3, 1.0), method="random_features", n_components=64),
    "mean": Readout("mean"),
}


def clouds(points=POINTS, distance=None):
    measures = DiscreteMeasures.from_clouds(points, GRAPHS.node_ptr)
    return GRAPHS, measures if distance is None else distance.embed(measures)


@pytest.mark.parametrize(
    "result", [torch.zeros(12, 12), np.zeros(2), [[0.0] * 12] * 12], ids=["type", "shape", "list"]
)
def test_a_distance_that_returns_something_else_is_named(result):
    class Wrong(FittedReadout):
        def squared(self, P, Q=None):
            return result

    density = KernelDensity(Wrong("mean"), KDE([1.0]).build(), None)
    with pytest.raises(TypeError, match=r"Wrong.squared must return a ndarray of shape \(12, 12\)"):
        density(clouds(), clouds())


@pytest.mark.parametrize("kernels", [KDE(), KDE("likelihood", size_kernel=False)], ids=str)
@pytest.mark.parametrize("name", SPECIFICATIONS)
def test_tensors_and_blocks_give_the_same_densities(name, kernels):
    results = []
    for convert, working_memory in ((np.asarray, 1024), (torch.tensor, 1024), (np.asarray, 0.01)):
        distance = SPECIFICATIONS[name].build(3, 100, np.random.RandomState(0))
        size_kernel = SizeKernel.fit(GRAPHS) if kernels.size_kernel else None
        density = KernelDensity(distance, kernels.build(), size_kernel)
        references = clouds(convert(POINTS), distance)
        with config_context(working_memory=working_memory):
            squared = density.adapt(references, all_pairs=True)
            assert (squared is None) == (working_memory < 1 and name != "mean")
            left_out = density.leave_one_out(references, squared)
            own = np.eye(12, dtype=bool)
            np.testing.assert_allclose(density(references, references, own), left_out, rtol=1e-9)
            D = density.pairwise(references[1], references[1])
        results.append(np.column_stack([left_out, D**2]))
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-9, atol=1e-9)
