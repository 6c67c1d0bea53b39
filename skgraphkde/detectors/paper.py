"""The settings of the paper."""

from __future__ import annotations

from typing import Any

from skgraphkde.density.kde import KDE
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.distances.mmd import FIVE_DECADES, MMD
from skgraphkde.encoders.gcn import GCN
from skgraphkde.training.contrastive import Contrastive

__all__ = ["paper_settings"]


def paper_settings(**changes: Any) -> dict[str, Any]:
    """The parameters of the paper, as fresh objects.

    Parameters
    ----------
    **changes : dict
        Parameters of :class:`GraphKDEDetector` that are different.

    Returns
    -------
    dict
        For ``GraphKDEDetector(**paper_settings())``.

    Raises
    ------
    TypeError
        If a name in `changes` is not a parameter.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, paper_settings
    >>> GraphKDEDetector(**paper_settings(training=None)).encoder
    GCN()
    """
    settings = {
        "features": "given",
        "encoder": GCN(hidden_dim=128, n_layers=2, dropout=0.2, batch_norm=True),
        "distance": MMD(FIVE_DECADES, estimator="biased", method="exact"),
        "density": KDE(bandwidths=FIVE_DECADES, size_kernel=False),
        "training": Contrastive(max_iter=100, leave_one_out=False),
        "references": None,
        "calibration": "train",
        "contamination": 0.1,
    }
    known = GraphKDEDetector().get_params(deep=False)
    unknown = [name for name in changes if name not in known]
    if unknown:
        raise TypeError(
            f"{unknown[0]!r} is not a parameter of GraphKDEDetector: give one of {', '.join(known)}"
        )
    return settings | changes
