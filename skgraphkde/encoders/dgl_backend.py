"""DGL's graph convolution: the only module that imports dgl, and only when it is used.

DGL is no longer released, and its last builds import two modules that no longer exist. This module
replaces both:

- ``setuptools.extern.packaging`` by ``packaging``;
- for DGL 2, its GraphBolt library, which exists only for torch <= 2.2.1 and torchdata < 0.10 and
  is not needed here, by an empty module ``dgl.graphbolt`` if it cannot work.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import scipy.sparse as sp
import torch

# The import temporarily changes os.environ and sys.modules, so only one thread may run it.
_lock = threading.RLock()


def import_dgl() -> Any | None:
    """Import dgl; None if it is not installed or fails to import."""
    with _lock:
        return _import_dgl()


@functools.cache
def _import_dgl() -> Any | None:
    if "dgl" in sys.modules:
        return sys.modules["dgl"]
    spec = importlib.util.find_spec("dgl")
    if spec is None or spec.origin is None:
        return None
    with _stand_ins(Path(spec.origin).parent):
        try:
            return importlib.import_module("dgl")
        except (ImportError, OSError, AttributeError):  # a broken build; torch replaces it
            for name in [name for name in sys.modules if name.split(".")[0] == "dgl"]:
                del sys.modules[name]
            return None


def supports(device: torch.device) -> bool:
    """True if DGL is installed and its build can compute on `device`."""
    if import_dgl() is None:
        return False
    return device.type == "cpu" or _reaches(device)


@functools.cache
def _reaches(device: torch.device) -> bool:
    dgl: Any = import_dgl()
    try:
        dgl.graph(([0], [0])).to(device)
    except dgl.DGLError:  # PyPI's builds have no CUDA
        return False
    return True


def graph_convolution(
    adjacency: sp.csr_array, like: torch.Tensor
) -> Callable[[torch.Tensor, torch.Tensor], torch.Tensor]:
    """DGL's ``GraphConv`` over a weighted adjacency: ``(Z, W) -> adjacency @ Z @ W``.

    Parameters
    ----------
    adjacency : csr_array of shape (m, n)
    like : Tensor
        Sets the dtype and the device.

    Returns
    -------
    callable
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
    ).to(like.device)
    edge_weight = torch.tensor(coo.data, dtype=like.dtype, device=like.device)

    def convolve(Z: torch.Tensor, W: torch.Tensor) -> torch.Tensor:
        layer = dgl.nn.GraphConv(
            *W.shape, norm="none", weight=False, bias=False, allow_zero_in_degree=True
        )
        return layer(graph, (Z, None), weight=W, edge_weight=edge_weight)

    return convolve


@contextlib.contextmanager
def _stand_ins(folder: Path) -> Iterator[None]:
    """Replace the modules that DGL's last builds import and that no longer exist."""
    modules: dict[str, types.ModuleType] = {}
    if not _exists("setuptools"):
        modules["setuptools"] = types.ModuleType("setuptools")
    if not _exists("setuptools.extern"):
        import packaging.version

        modules["setuptools.extern"] = types.ModuleType("setuptools.extern")
        modules["setuptools.extern"].packaging = packaging  # type: ignore[attr-defined]
        modules["setuptools.extern.packaging"] = packaging
    before = {name: sys.modules.get(name) for name in modules}
    backend = os.environ.get("DGLBACKEND")
    sys.modules.update(modules)
    library = folder.glob(f"graphbolt/*pytorch_{torch.__version__.split('+')[0]}.*")
    graphbolt_works = any(library) and _exists("torchdata.datapipes")
    if (folder / "graphbolt").is_dir() and not graphbolt_works:
        sys.modules["dgl.graphbolt"] = types.ModuleType("dgl.graphbolt")
    os.environ["DGLBACKEND"] = "pytorch"  # otherwise DGL prints, and writes a file to the home
    try:
        yield
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
        if backend is None:
            del os.environ["DGLBACKEND"]
        else:
            os.environ["DGLBACKEND"] = backend


def _exists(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent is missing
        return False
