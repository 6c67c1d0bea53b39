"""Settings by name: those of the paper, and those under which scores are densities."""

from __future__ import annotations

from typing import Any

from skgraphkde.density.kde import KDE
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.distances.mmd import FIVE_DECADES, MMD
from skgraphkde.encoders.gcn import GCN
from skgraphkde.training.contrastive import Contrastive

__all__ = ["density_settings", "paper_settings"]


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
        "novelty": None,
        "density": KDE(bandwidths=FIVE_DECADES, size_kernel=False),
        "training": Contrastive(max_iter=100, leave_one_out=False),
        "references": None,
        "calibration": "train",
        "contamination": 0.1,
    }
    return _changed(settings, changes)


def density_settings(**changes: Any) -> dict[str, Any]:
    """Parameters under which the score is a density, highest where graphs are most common.

    The defaults find outliers: their kernels are so short that a score says little beyond how far
    the nearest training graphs are. These find modes. One wide kernel compares the clouds of nodes
    by little more than their means; the bandwidth is that of the largest leave-one-out likelihood;
    neither size nor novelty plays a part. On Erdos-Renyi graphs whose nodes carry their normalized
    degree the scores follow the density of the edge probability. Graphs without node data are
    compared by the bins of their degrees, in which near modes merge: give ``degree / (n - 1)`` as
    node attribute. Of graphs with labels it is a density of the shares of labels, and sees nothing
    of the structure: name features, such as ``features=NodeFeatures(("label", "degree"))``.

    Parameters
    ----------
    **changes : dict
        Parameters of :class:`GraphKDEDetector` that are different.

    Returns
    -------
    dict
        For ``GraphKDEDetector(**density_settings())``.

    Raises
    ------
    TypeError
        If a name in `changes` is not a parameter.

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
        "distance": MMD(gammas=(0.01,), estimator="biased"),
        "novelty": None,
        "density": KDE(bandwidths="likelihood", size_kernel=False),
    }
    return _changed(settings, changes)


def _changed(settings: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    known = GraphKDEDetector().get_params(deep=False)
    unknown = [name for name in changes if name not in known]
    if unknown:
        raise TypeError(
            f"{unknown[0]!r} is not a parameter of GraphKDEDetector: give one of {', '.join(known)}"
        )
    return settings | changes
