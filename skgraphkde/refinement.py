"""Color refinement: graphs with node features -> which nodes the encoder cannot tell apart.

Nodes that agree in features and degree, and whose neighbors agree round by round, get the same
embedding from as many layers of message passing (Weisfeiler and Leman, 1968; Xu et al., ICLR 2019).
Molecules have few such colors, and everything behind the encoder may work on one point a color.
"""

from __future__ import annotations

import numpy as np

from skgraphkde.graphs import GraphBatch

# Bits of a float that do not count: 2^-40 apart, as sums in another order may be, is equal.
ROUNDING_BITS = 12


def node_colors(graphs: GraphBatch, n_rounds: int) -> np.ndarray:
    """Colors of the nodes after each round of refinement.

    Parameters
    ----------
    graphs : GraphBatch
        With the node features as attributes.
    n_rounds : int
        Layers of the encoder.

    Returns
    -------
    ndarray of shape (n_rounds + 1, n_nodes), uint64
        Row l: equal for nodes that look the same to l layers, in any batch; different for others,
        but for a chance of 2^-64 a pair.
    """
    adjacency = graphs.adjacency
    weighted_degrees = np.asarray(adjacency.sum(axis=1)).ravel()
    colors = _mix(_bits(weighted_degrees))
    for column in np.asarray(graphs.attributes).T:
        colors = _mix(colors + _bits(column))
    rounds = [colors]
    of_edge = _mix(_bits(adjacency.data))
    for _ in range(n_rounds):
        messages = _mix(colors[adjacency.indices] + of_edge)
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(messages)])  # modulo 2^64
        received = total[adjacency.indptr[1:]] - total[adjacency.indptr[:-1]]
        colors = _mix(_mix(colors) + received)
        rounds.append(colors)
    return np.stack(rounds)


def _bits(values: np.ndarray) -> np.ndarray:
    """Floats as integers, equal up to rounding."""
    values = np.ascontiguousarray(values, dtype=np.float64) + 0.0  # -0 is 0
    half = np.uint64(1 << (ROUNDING_BITS - 1))
    return (values.view(np.uint64) + half) >> np.uint64(ROUNDING_BITS)


def _mix(x: np.ndarray) -> np.ndarray:
    """The finalizer of SplitMix64 (Steele et al., OOPSLA 2014): a random-looking bijection."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
