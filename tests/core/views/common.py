"""Views by themselves: fitted to references, and asked for scores."""

import math

import numpy as np

from skgraphkde import View
from skgraphkde.core.views.base import Context


def context_of(graphs):
    """A context for views that compare no clouds."""
    return Context(graphs, lambda _: {}, {})


def fit(view, references):
    return view.fit(references, context_of(references))


def scores_of(view, graphs, own=None):
    """Scores of new graphs, or of the references `own`."""
    own = np.full(len(graphs), -1) if own is None else np.asarray(own)
    return view.scores(graphs, own, context_of(graphs))


class DegreeEntropy(View):
    """Minus the distance of the entropy of degrees to that of the nearest reference."""

    def __init__(self, base=2.0):
        self.base = base

    def applies_to(self, graphs):  # for views="auto" alone
        return False

    def fit(self, references, context):
        self.entropies_ = self._entropies(references)
        return self

    def scores(self, graphs, own, context):
        away = abs(self._entropies(graphs)[:, np.newaxis] - self.entropies_)
        away[own >= 0, own[own >= 0]] = np.inf
        return -away.min(axis=1)

    def _entropies(self, graphs):
        degrees = np.split(graphs.degrees, graphs.node_ptr[1:-1])
        shares = [np.unique(x, return_counts=True)[1] / len(x) for x in degrees]
        return np.array([-(p * np.log(p)).sum() for p in shares]) / np.log(self.base)


def density_slow(squared, bandwidths, weights, second=None, skip=None):
    """f = sum_k pi_k mean_i K(d_i, h_k) w_i for the squared distances d_i^2 of one graph."""
    total = 0.0
    for h, pi in zip(bandwidths, weights, strict=True):
        kernels = []
        for i, di_squared in enumerate(squared):
            kernel = math.exp(-di_squared / (2 * h**2)) / (math.sqrt(2 * math.pi) * h)
            if i != skip:
                kernels.append(kernel * (1 if second is None else second[i]))
        total += pi * sum(kernels) / len(kernels)
    return total
