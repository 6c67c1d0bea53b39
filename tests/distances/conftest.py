"""The kinds of points: arrays, and tensors for each of the engines of a CPU."""

import numpy as np
import pytest
import torch

from skgraphkde.learned import engines
from skgraphkde.learned.engines import torch_tiles


@pytest.fixture(params=["arrays", "loops", "tiles"])
def convert(request, monkeypatch):
    """Function that makes points of an array: an array, or a tensor for an engine."""
    if request.param == "tiles":
        monkeypatch.setattr(engines, "engine_for", lambda points: torch_tiles)
    return np.asarray if request.param == "arrays" else torch.tensor
