"""Named settings: those of the paper, and those that make scores densities."""

from __future__ import annotations

from typing import Any

from skgraphkde.density.kde import KDE
from skgraphkde.distances.mmd import FIVE_DECADES, MMD
from skgraphkde.learned.contrastive import Contrastive
from skgraphkde.learned.gcn import GCN
from skgraphkde.learned.twins import SpectralEdges, Twins
from skgraphkde.views.density import Density

__all__ = ["density_settings", "paper_settings"]


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
        "features": "given",
        "encoder": encoder,
        "views": Density(
            MMD(FIVE_DECADES, estimator="biased", method="exact"),
            KDE(bandwidths=FIVE_DECADES, size_kernel=False),
        ),
        "training": training,
        "references": None,
        "calibration": "train",
        "contamination": 0.1,
    }
    return settings | changes


def density_settings(**changes: Any) -> dict[str, Any]:
    """Parameters that make the score a density, highest for the most common graphs.

    The defaults find outliers: their kernels are so narrow that a score mostly reflects the
    distance to the nearest training graphs. These settings find modes. One wide kernel compares
    little more than the means of the clouds of nodes; the bandwidth maximizes the leave-one-out
    likelihood; size and novelty are not used. On Erdos-Renyi graphs whose nodes carry their
    normalized degree, the scores follow the density of the edge probability. Graphs without node
    data are compared by bins of their degrees, which merge modes that are close: use
    ``degree / (n - 1)`` as node attribute. For graphs with labels, the score is a density of the
    shares of labels and ignores the structure: choose features, such as
    ``features=NodeFeatures(("label", "degree"))``.

    Parameters
    ----------
    **changes : dict
        Parameters of :class:`GraphKDEDetector` that replace these settings.

    Returns
    -------
    dict
        Parameters for ``GraphKDEDetector(**density_settings())``.

    Examples
    --------
    >>> from scipy.stats import spearmanr
    >>> from skgraphkde import GraphKDEDetector, density_settings
    >>> from skgraphkde.datasets import make_erdos_renyi
    >>> drawn = make_erdos_renyi(200, random_state=0)
    >>> detector = GraphKDEDetector(**density_settings()).fit(drawn.graphs[:150])
    >>> scores = detector.score_samples(drawn.graphs[150:])
    >>> bool(spearmanr(scores, drawn.density[150:]).statistic > 0.7)
    True
    """
    settings = {
        "features": "given",
        "encoder": "propagation",
        "views": Density(
            MMD(gammas=(0.01,), estimator="biased"),
            KDE(bandwidths="likelihood", size_kernel=False),
        ),
    }
    return settings | changes
