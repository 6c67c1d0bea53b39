"""Data sets: the name of a data set, or a seed -> GraphBatch and targets."""

from skgraphkde.datasets._mutag import load_mutag
from skgraphkde.datasets._random_graphs import (
    make_barabasi_albert,
    make_distribution_shift,
    make_erdos_renyi,
    make_stochastic_block,
    make_watts_strogatz,
)
from skgraphkde.datasets._tu import fetch_tu_dataset

__all__ = [
    "fetch_tu_dataset",
    "load_mutag",
    "make_barabasi_albert",
    "make_distribution_shift",
    "make_erdos_renyi",
    "make_stochastic_block",
    "make_watts_strogatz",
]
