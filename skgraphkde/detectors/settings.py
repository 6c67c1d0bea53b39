"""Named settings: those of the paper."""

from __future__ import annotations

from typing import Any

from skgraphkde.distances.mmd import FIVE_DECADES, MMD
from skgraphkde.features import NodeFeatures
from skgraphkde.learned.contrastive import Contrastive
from skgraphkde.learned.twins import SpectralEdges, Twins
from skgraphkde.views.density import Density
from skgraphkde.views.kernels import KDE

__all__ = ["paper_settings"]


def paper_settings(code: str = "text", **changes: Any) -> dict[str, Any]:
    """Parameters of the paper, as new objects.

    Parameters
    ----------
    code : {"text", "released"}, default="text"
        Source of the parameters: the text of the paper, or the code that its authors released,
        which differs. The released code chooses the node features by data set: the labels, or
        ``features=NodeFeatures(("raw_attribute",))``, or ``("constant",)``. It also chooses the
        epoch by the labels of the test set; no setting here does that.
    **changes : dict
        Parameters of :class:`GraphKDEDetector` that replace those of the paper.

    Returns
    -------
    dict
        Parameters for ``GraphKDEDetector(**paper_settings())``.

    Raises
    ------
    ValueError
        If `code` is neither.

    Examples
    --------
    >>> from skgraphkde import GraphKDEDetector, paper_settings
    >>> GraphKDEDetector(**paper_settings(training=None)).encoder
    GCN()
    >>> GraphKDEDetector(**paper_settings(code="released")).encoder
    GCN(hidden_dim=32, last_relu=False, out_dim=16)
    """
    if code not in ("text", "released"):
        raise ValueError(f"code must be 'text' or 'released'. Got {code!r} instead.")
    from skgraphkde.learned import GCN  # imports torch

    encoder = GCN(hidden_dim=128, n_layers=2, dropout=0.2, batch_norm=True)
    training = Contrastive(max_iter=100, leave_one_out=False)
    if code == "released":
        encoder.set_params(hidden_dim=32, out_dim=16, last_relu=False)
        training.set_params(
            batch_size=None,
            learning_rate=0.01,
            schedule="constant",
            weight_decay=0.1,
            loss="log_ratio",
            n_twins=2,
            twins=Twins(edges=SpectralEdges(self_loops=True)),
        )
    settings = {
        "features": NodeFeatures("given"),
        "encoder": encoder,
        "views": Density(
            MMD(FIVE_DECADES, estimator="biased", method="exact"),
            KDE(bandwidths=FIVE_DECADES, size_kernel=False),
        ),
        "training": training,
        "calibration": "train",
        "contamination": 0.1,
    }
    return settings | changes
