"""DGL's graph convolution: the only module that imports dgl, and only when it is used.

DGL is no longer released. Its library GraphBolt, which is not needed here, exists only for
torch <= 2.2.1 and torchdata < 0.10; where it cannot work, an empty module replaces it.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import sys
import threading
import types
from pathlib import Path
from typing import Any
from unittest import mock

import scipy.sparse as sp
import torch

# The import temporarily changes os.environ, so only one thread may run it.
_lock = threading.Lock()


@functools.cache
def import_dgl() -> Any | None:
    """Import dgl; None if it is not installed or fails to import."""
    with _lock:
        if "dgl" in sys.modules:
            return sys.modules["dgl"]
        spec = importlib.util.find_spec("dgl")
        if spec is None or spec.origin is None:
            return None
        graphbolt = Path(spec.origin).parent / "graphbolt"
        if graphbolt.is_dir() and not _works(graphbolt):
            sys.modules["dgl.graphbolt"] = types.ModuleType("dgl.graphbolt")
        try:
            # Otherwise DGL prints, and writes a file to the home.
            with mock.patch.dict(os.environ, DGLBACKEND="pytorch"):
                return importlib.import_module("dgl")
        except (ImportError, OSError, AttributeError):  # a broken build; torch replaces it
            for name in [name for name in sys.modules if name.split(".")[0] == "dgl"]:
                del sys.modules[name]
            return None


def _works(graphbolt: Path) -> bool:
    """True if GraphBolt has a build for this torch, and a torchdata that it can import."""
    find_spec = importlib.util.find_spec
    return (
        any(graphbolt.glob(f"*pytorch_{torch.__version__.split('+')[0]}.*"))
        and find_spec("torchdata") is not None
        and find_spec("torchdata.datapipes") is not None
    )


@functools.cache
def supports(device: torch.device) -> bool:
    """True if DGL is installed and its build can compute on `device`."""
    dgl = import_dgl()
    if dgl is None or device.type == "cpu":
        return dgl is not None
    try:
        dgl.graph(([0], [0])).to(device)
    except dgl.DGLError:  # PyPI's builds have no CUDA
        return False
    return True


def graph_convolution(adjacency: sp.csr_array, Z: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
    """DGL's ``GraphConv`` over a weighted adjacency, ``adjacency @ Z @ W``.

    Parameters
    ----------
    adjacency : csr_array of shape (m, n)
    Z : Tensor of shape (n, d)
    W : Tensor of shape (d, k)

    Returns
    -------
    Tensor of shape (m, k)
    """
    dgl = import_dgl()
    assert dgl is not None, "ask supports() first"
    coo = adjacency.tocoo()
    m, n = adjacency.shape
    graph = dgl.create_block(
        # Messages run from column to row.
        (torch.tensor(coo.col, dtype=torch.int64), torch.tensor(coo.row, dtype=torch.int64)),
        num_src_nodes=n,
        num_dst_nodes=m,
    ).to(Z.device)
    edge_weight = torch.tensor(coo.data, dtype=Z.dtype, device=Z.device)
    layer = dgl.nn.GraphConv(
        *W.shape, norm="none", weight=False, bias=False, allow_zero_in_degree=True
    )
    return layer(graph, (Z, None), weight=W, edge_weight=edge_weight)
