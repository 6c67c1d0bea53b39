"""LGKDE: the method of the paper, with its parameters, as an estimator."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.distances.mmd import FIVE_DECADES, MMD
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.points.features import NodeFeatures
from skgraphkde.core.points.propagation import Encoder
from skgraphkde.core.points.twins import Twins, swap_features
from skgraphkde.core.scoring.calibration import finite
from skgraphkde.core.specification import Interval, StrOptions, at_least, positive_numbers
from skgraphkde.core.views.base import View
from skgraphkde.core.views.density import Density
from skgraphkde.core.views.embedding import Embedding
from skgraphkde.core.views.kernels import KDE
from skgraphkde.detectors.base import BaseGraphDetector, Judged
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.learned.gcn import GCN
from skgraphkde.learned.gpu import TorchMMD, find_device
from skgraphkde.learned.trainer import train

__all__ = ["LGKDE"]

# Parameters of the training of the network.
OF_TRAINING = ("dropout", "n_twins", "batch_size", "learning_rate")


class LGKDE(GraphKDEDetector):
    """Learned kernel density estimation for graphs, the method of Wang et al. (ICML 2026).

    A graph convolutional network turns each graph into a cloud of points, one per node. The maximum
    mean discrepancy (MMD) is the distance between clouds. A mixture of Gaussian kernels on that
    distance, of several bandwidths, centered at the training graphs, is the density [1]_. The
    weights of the bandwidths, and the network with ``learn_encoder=True``, are learned: graphs
    become denser than perturbed twins, without a label.

    The defaults are the parts of the paper that work. :meth:`published` has its own choices.

    Parameters
    ----------
    hidden_dim : int, default=128
        Width of the layers of the network, and of the node embeddings.
    n_layers : int, default=2
        Number L of graph convolutions.
    dropout : float, default=0.2
        Share of activations dropped between layers while the network is trained, in [0, 1). Not
        used without `learn_encoder`.
    gammas : array-like of float, default=(0.01, 0.1, 1, 10, 100)
        Exponents of the kernels of the MMD, of which the largest distance counts (Gamma_emb).
    bandwidths : "relative" or array-like of float, default="relative"
        Bandwidths h_k of the density (H_KDE); "relative" is nine multiples of the median distance
        to the nearest training graph, see :class:`KDE`.
    size_kernel : bool, default=True
        Whether a kernel on the numbers of nodes and edges is a factor of the density, see
        :class:`KDE`. The paper has none.
    scale_points : bool, default=True
        Whether points are divided by the root of their total variance. Without it, kernels of 128
        columns saturate. The paper does not scale.
    n_twins : int, default=2
        Twins of each graph in a training step of the network (N_pert); those with edges removed,
        and those with edges added, take turns. Not used without `learn_encoder`: weights of
        bandwidths alone are learned from both.
    swap : float, default=0.2
        Share of nodes whose features are swapped in a twin (r_swap), in [0, 1].
    energies : tuple of float or None, default=(0.5, 0.75)
        Shares (tau_1, tau_2) of the energy of the spectrum before which the head ends, which is
        shrunk to remove edges, and after which the tail begins, which is stretched to add some.
        None keeps the edges.
    self_loops : bool, default=True
        Whether the spectrum is that of A + I. With that of A, half of the twins of small molecules
        equal their graph.
    p_pert : float, default=1.0
        Largest share of singular values that change in a twin, in (0, 1].
    loss : {"damped", "ratio", "log_ratio"}, default="damped"
        With the densities f of a graph and f~ of its twin: the mean of 10 asinh(log(f~ / f) / 10)
        with a weak prior, see :func:`skgraphkde.core.views.mixture.learn_weights`; of (f~ - f) /
        (f + 1e-6), as in the text of the paper; or of log((f~ + 1e-6) / (f + 1e-6)), as in its
        code.
    leave_one_out : bool, default=True
        Whether the kernel of a graph is left out of its density, and of that of its twins, in the
        loss. The paper has it inside.
    learn_encoder : bool, default=False
        Whether to train the network, too. Its training lowers the loss, and detects no better: see
        `docs/lgkde.md`. Without it, distances are computed once, of at most 400 training graphs of
        at most 1,000 nodes, and learning takes seconds.
    max_iter : int, default=150
        Largest number of epochs.
    batch_size : int or None, default=128
        Graphs in a training step of the network, at least 2; None takes all. Not used without
        `learn_encoder`, where each epoch is one step on all.
    learning_rate : float, default=1e-3
        Largest learning rate of Adam for the network (eta_theta). Not used without `learn_encoder`.
    weights_learning_rate : float, default=0.1
        The same for the logits of the mixture weights (eta_alpha).
    schedule : {"constant", "cosine"}, default="constant"
        Learning rates over the steps: "cosine" rises in the first tenth of them, and falls by half
        a cosine.
    weight_decay : float, default=0.0
        Factor of the weights that Adam adds to their gradients.
    early_stopping : bool, default=False
        Whether to hold out a tenth of the graphs, stop after 10 epochs in which their loss does not
        fall, and restore the best state.
    out_dim : int, default=None
        Width of the last layer; None is `hidden_dim`.
    last_relu : bool, default=True
        Whether the last layer ends with a relu.
    backend : {"auto", "dgl", "torch"}, default="auto"
        Library for message passing, see :class:`GCN`.
    device : str, default="auto"
        Device of the network and of exact distances: "cpu", a GPU such as "cuda", or "auto", the
        GPU if torch finds one.
    features : "given" or NodeFeatures, default="given"
        Node features X. "given" is the first that the graphs have of labels, numbers and degrees.
    schema, max_references, calibration, contamination, n_jobs, random_state, verbose
        As for :class:`GraphKDEDetector`.

    Attributes
    ----------
    mixture_weights_, bandwidths_ : ndarray of shape (n_bandwidths,)
        Weights pi_k of the bandwidths h_k of the density.
    gammas_ : tuple of float
        Exponents of the kernels of the distance.
    encoder_ : FittedGCN
        The network.
    n_iter_ : int
        Number of epochs that the training took.
    history_ : dict of lists
        Values per epoch: "loss" (first nan: epoch 0 is untrained), "validation_loss" (nan without
        `early_stopping`), "mixture_weights", "copies" (the share of twins that equal their graph
        for the network, and do not count), "seconds".
    model_, offset_, calibration_, training_graphs_, ...
        As for :class:`GraphKDEDetector`.

    See Also
    --------
    GraphKDEDetector : Several views without a network, which detect more, on most data.
    GCN : The network.

    Notes
    -----
    A score is a log density in a metric space. It is comparable between graphs of one fitted
    detector, but normalized only if the metric space is a line. After verdicts with anomalies, it
    is a sum of log p-values.

    References
    ----------
    .. [1] X. Wang, Z. Sun, C. Ding, J. Fan. Learnable Kernel Density Estimation for Graphs and Its
       Application to Graph-Level Anomaly Detection. ICML, 2026.

    Examples
    --------
    >>> from skgraphkde import LGKDE
    >>> from skgraphkde.datasets import load_mutag
    >>> molecules, y = load_mutag(return_X_y=True)
    >>> normal, odd = molecules[y == 1], molecules[y == -1]
    >>> detector = LGKDE(random_state=0).fit(normal[:100])
    >>> bool(detector.score_samples(normal[100:]).mean() > detector.score_samples(odd).mean())
    True
    >>> len(detector.mixture_weights_), len(detector.history_["loss"])  # epoch 0 is untrained
    (9, 151)
    """

    _parameter_constraints: dict = {
        **BaseGraphDetector._parameter_constraints,
        "hidden_dim": [at_least(1, Integral)],
        "n_layers": [at_least(1, Integral)],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "gammas": ["array-like"],
        "bandwidths": [StrOptions({"relative"}), "array-like"],
        "size_kernel": ["boolean"],
        "scale_points": ["boolean"],
        "n_twins": [at_least(1, Integral)],
        "swap": [Interval(Real, 0, 1, closed="both")],
        "energies": [tuple, list, None],
        "self_loops": ["boolean"],
        "p_pert": [Interval(Real, 0, 1, closed="right")],
        "loss": [StrOptions({"damped", "ratio", "log_ratio"})],
        "leave_one_out": ["boolean"],
        "learn_encoder": ["boolean"],
        "max_iter": [at_least(1, Integral)],
        "batch_size": [at_least(2, Integral), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "weights_learning_rate": [Interval(Real, 0, 100, closed="right")],
        "schedule": [StrOptions({"constant", "cosine"})],
        "weight_decay": [at_least(0, Real)],
        "early_stopping": ["boolean"],
        "out_dim": [at_least(1, Integral), None],
        "last_relu": ["boolean"],
        "backend": [StrOptions({"auto", "dgl", "torch"})],
        "device": [str],
        "features": [StrOptions({"given"}), NodeFeatures],
        "max_references": GraphKDEDetector._parameter_constraints["max_references"],
    }

    history_: dict[str, list]

    def __init__(
        self,
        *,
        hidden_dim: int = 128,
        n_layers: int = 2,
        dropout: float = 0.2,
        gammas: Any = FIVE_DECADES,
        bandwidths: Any = "relative",
        size_kernel: bool = True,
        scale_points: bool = True,
        n_twins: int = 2,
        swap: float = 0.2,
        energies: Any = (0.5, 0.75),
        self_loops: bool = True,
        p_pert: float = 1.0,
        loss: str = "damped",
        leave_one_out: bool = True,
        learn_encoder: bool = False,
        max_iter: int = 150,
        batch_size: int | None = 128,
        learning_rate: float = 1e-3,
        weights_learning_rate: float = 0.1,
        schedule: str = "constant",
        weight_decay: float = 0.0,
        early_stopping: bool = False,
        out_dim: int | None = None,
        last_relu: bool = True,
        backend: str = "auto",
        device: str = "auto",
        features: Any = "given",
        schema: Any = None,
        max_references: int | str | None = "auto",
        calibration: Any = "loo",
        contamination: float | str = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            schema=schema,
            features=features,
            views="density",
            max_references=max_references,
            calibration=calibration,
            contamination=contamination,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.hidden_dim = hidden_dim
        self.n_layers = n_layers
        self.dropout = dropout
        self.gammas = gammas
        self.bandwidths = bandwidths
        self.size_kernel = size_kernel
        self.scale_points = scale_points
        self.n_twins = n_twins
        self.swap = swap
        self.energies = energies
        self.self_loops = self_loops
        self.p_pert = p_pert
        self.loss = loss
        self.leave_one_out = leave_one_out
        self.learn_encoder = learn_encoder
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weights_learning_rate = weights_learning_rate
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.early_stopping = early_stopping
        self.out_dim = out_dim
        self.last_relu = last_relu
        self.backend = backend
        self.device = device

    @classmethod
    def published(cls, code: str = "text", **changes: Any) -> Self:
        """Make a detector with the choices of the paper, where it says any, for its tables.

        Its threshold is a quantile of densities that contain the graph's own kernel, and `fit`
        warns of the false alarms.

        Parameters
        ----------
        code : {"text", "released"}, default="text"
            Source of the choices: the text of the paper, or the code that its authors released,
            which differs. The released code chooses the node features by data set: the labels, or
            ``features=NodeFeatures(("raw_attribute",))``, or ``("constant",)``. It also chooses the
            epoch by the labels of the test set; nothing here does that.
        **changes : dict
            Parameters that replace those of the paper.

        Returns
        -------
        LGKDE

        Raises
        ------
        ValueError
            If `code` is neither.

        Examples
        --------
        >>> from skgraphkde import LGKDE
        >>> LGKDE.published().loss, LGKDE.published("released", hidden_dim=16).loss
        ('ratio', 'log_ratio')
        """
        if code not in ("text", "released"):
            raise ValueError(f"code must be 'text' or 'released'. Got {code!r} instead.")
        parameters: dict[str, Any] = {
            "bandwidths": FIVE_DECADES,
            "size_kernel": False,
            "scale_points": False,
            "n_twins": 1,
            "self_loops": False,
            "loss": "ratio",
            "leave_one_out": False,
            "learn_encoder": True,
            "max_iter": 100,
            "weights_learning_rate": 1e-3,
            "schedule": "cosine",
            "early_stopping": True,
            "calibration": "train",
        }
        if code == "released":
            parameters |= {
                "hidden_dim": 32,
                "out_dim": 16,
                "last_relu": False,
                "n_twins": 2,
                "self_loops": True,
                "loss": "log_ratio",
                "batch_size": None,
                "learning_rate": 0.01,
                "weights_learning_rate": 0.01,
                "schedule": "constant",
                "weight_decay": 0.1,
            }
        return cls(**(parameters | changes))

    # -- parts of the model ------------------------------------------------------------------------

    def _validate_values(self) -> None:
        find_device(self.device)
        positive_numbers(self, "gammas")
        if not isinstance(self.bandwidths, str):
            positive_numbers(self, "bandwidths")
        tau = self.energies
        if tau is not None:
            are_numbers = all(isinstance(x, Real) for x in tau)
            if not are_numbers or len(tau) != 2 or not 0 < tau[0] <= tau[1] <= 1:
                raise ValueError(
                    "The 'energies' parameter of LGKDE must be None or (tau_1, tau_2) with "
                    f"0 < tau_1 <= tau_2 <= 1. Got {tau!r} instead."
                )
        if tau is None and self.swap == 0:
            raise ValueError(
                "with swap=0 and energies=None twins are copies of the graphs: raise swap, or give "
                "energies"
            )
        super()._validate_values()
        self._encoder().validate()

    def _features(self) -> NodeFeatures:
        return NodeFeatures("given") if self.features == "given" else self.features

    def _encoder(self) -> Encoder:
        return GCN(
            hidden_dim=self.hidden_dim,
            n_layers=self.n_layers,
            dropout=self.dropout,
            out_dim=self.out_dim,
            last_relu=self.last_relu,
            scale_points=self.scale_points,
            backend=self.backend,
            device=self.device,
        )

    def _views(self) -> list[View]:
        gammas = positive_numbers(self, "gammas")  # no array of the user, which a fit would freeze
        distance: MMD = MMD(gammas, estimator="biased")
        if find_device(self.device).type != "cpu":
            distance = TorchMMD(gammas, estimator="biased", device=self.device)
        bandwidths = self.bandwidths
        if not isinstance(bandwidths, str):
            bandwidths = positive_numbers(self, "bandwidths")
        kernels = KDE(bandwidths, size_kernel=self.size_kernel)
        return [Density(distance, kernels)]

    def _trainer(self, rng: np.random.RandomState) -> Callable[[Embedding, GraphBatch], None]:
        def train_model(embedding: Embedding, graphs: GraphBatch) -> None:
            assert embedding.features is not None  # only twins carry theirs
            self._refuse_unread(embedding.features, graphs.schema)  # before it takes time
            self.history_ = train(self, self._twins, embedding, graphs, rng)

        return train_model

    @property
    def _twins(self) -> Twins:
        energies = None if self.energies is None else tuple(self.energies)
        return Twins(self.swap, energies, self.self_loops, self.p_pert)

    def _fit_judged(
        self, graphs: GraphBatch, judged: Judged, rng: np.random.RandomState
    ) -> np.ndarray:
        self._warn_of_unused()
        with torch.inference_mode(False):  # in which nothing would be learned
            scores = super()._fit_judged(graphs, judged, rng)
        if min(self.history_["copies"][1:]) == 1:
            warn(
                "every twin equals its graph, so that nothing is learned: graphs without edges, or "
                "with nothing to swap, have no others. Use GraphKDEDetector"
            )
        self.twin_seed_ = int(rng.randint(2**31))
        return scores

    def _warn_of_unused(self) -> None:
        """Warn of parameters that the user has set, and that count only for the network."""
        if self.learn_encoder:
            return
        defaults = inspect.signature(LGKDE).parameters
        is_set = [name for name in OF_TRAINING if getattr(self, name) != defaults[name].default]
        if is_set:
            count = "counts" if len(is_set) == 1 else "count"
            warn(f"{listed(is_set)} {count} only with learn_encoder=True")
        if not isinstance(self.bandwidths, str) and np.size(self.bandwidths) == 1:
            warn("with one bandwidth and learn_encoder=False, nothing is learned")

    # -- what was learned --------------------------------------------------------------------------

    @property
    def n_iter_(self) -> int:
        """Number of epochs that the training took."""
        check_is_fitted(self)
        return len(self.history_["loss"]) - 1  # epoch 0 is untrained

    @property
    def mixture_weights_(self) -> np.ndarray:
        """Weights of the bandwidths, shape (n_bandwidths,)."""
        return self._density.mixture_weights_

    @property
    def bandwidths_(self) -> np.ndarray:
        """Bandwidths of the density, shape (n_bandwidths,)."""
        return self._density.bandwidths_

    @property
    def gammas_(self) -> tuple[float, ...]:
        """Exponents of the kernels of the distance."""
        return self._density.distance_.gammas

    @property
    def encoder_(self) -> Any:
        """The network."""
        return self.model_.encoder

    @property
    def _density(self) -> Any:
        check_is_fitted(self)
        return self.model_.views[0]

    def twins(self, X: Any) -> list[GraphBatch]:
        """Make perturbed twins of graphs, to look at, by the parameters as they are now.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch

        Returns
        -------
        list of GraphBatch
            ``[removed, added]``: twins with edges removed, and with edges added, in the order of
            the graphs, with the data of nodes of the graphs. Of weighted graphs, both can lack
            edges. The time grows with the cube of the number of nodes. The features that training
            swaps are not swapped. ``[swapped]`` if `energies` is None: the data of edges are
            swapped.
        """
        self.validate()
        batch = self.read(X)
        if not len(batch):
            raise ValueError("there is no graph to make twins of: give at least one")
        return self._twins.structural(batch, np.random.RandomState(self.twin_seed_))

    def score(self, X: Any, y: Any = None) -> float:
        """Contrast between the densities of new graphs and of their twins.

        It is a criterion for model selection without labels, which corresponds to the training
        objective, but does not depend on the scale of the densities.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            Normal graphs, not those of `fit`.
        y : array-like of shape (n_graphs,), default=None
            1 for normal graphs, and -1 for others, which do not count. None: all are normal.

        Returns
        -------
        float
            Mean of (f(graph) - f(twin)) / (f(graph) + f(twin)), with f the density, in [-1, 1]. The
            twins are those of the parameters, so it compares no values of `swap`, `energies`,
            `self_loops`, `p_pert` or `features`, and very short bandwidths have a high one.
        """
        self.validate()
        batch = self.read(X)
        if y is not None:
            y = column_or_1d(y)
            check_consistent_length(batch, y)
            if not np.isin(y, (1, -1)).all():
                raise ValueError("y must be 1 for normal graphs and -1 for anomalies")
            batch = batch[np.flatnonzero(y == 1)]
        if not len(batch):
            raise ValueError("there is no normal graph to make twins of: give at least one")
        self.warn_if_given_again(batch)
        rng = np.random.RandomState(self.twin_seed_)
        carried = Embedding(None, self.encoder_, [self._density])
        of_twins = []
        for twins in self._twins.structural(batch, rng):
            featurized = self.model_.embedding.featurized(twins)
            swapped = swap_features(featurized, self.swap, rng)
            of_twins.append(self.model_.log_densities(swapped, embedding=carried))
        of_graphs = self.model_.log_densities(batch)
        finite(np.vstack([of_graphs, *of_twins]).T)
        return float(np.tanh((of_graphs - np.array(of_twins)) / 2).mean())
