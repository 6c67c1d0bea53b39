"""Blocks for any working_memory that scikit-learn lets a user set."""

import math

import networkx as nx
import numpy as np
import pytest
from sklearn import config_context

from skgraphkde import GCN, MMD, Contrastive, Density, GraphKDEDetector
from skgraphkde.computing.blocks import blocks, working_memory


@pytest.mark.parametrize(
    ("mebibytes", "n_bytes", "n_blocks"),
    [(math.inf, 2**62, 1), (1e300, 2**62, 1), (1, 2**20, 3), (1e-9, 1, 5), (0, 1, 5), (-1, 1, 5)],
)
def test_any_working_memory(mebibytes, n_bytes, n_blocks):
    costs = np.full(5, 2.0**18)
    with config_context(working_memory=mebibytes):
        assert working_memory() == n_bytes
        assert len(blocks(costs)) == n_blocks


def test_scores_do_not_depend_on_it():
    graphs = [nx.cycle_graph(n) for n in range(4, 9)]
    training = {"encoder": GCN(4), "training": Contrastive(max_iter=1)}
    for parameters in ({}, {"views": Density(MMD(method="random_features"))}, training):
        scores = []
        for mebibytes in (1024, math.inf):
            with config_context(working_memory=mebibytes):
                detector = GraphKDEDetector(random_state=0, **parameters).fit(graphs)
                scores.append(detector.score_samples([nx.path_graph(5)])[0])
        assert scores == pytest.approx([scores[0]] * 2)
