"""Contrastive: parameters of the training (Algorithm 3 of the paper)."""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval, StrOptions

from skgraphkde.learned.twins import Twins
from skgraphkde.specification import Specification, at_least


class Contrastive(Specification):
    """Training of the encoder and mixture weights by contrasting graphs with perturbed twins.

    The loss is low if the density is higher at graphs than at their twins. The optimizer is Adam
    with gradient clipping. Training stops early by the contrast of
    held-out graphs. It uses no target.

    Parameters
    ----------
    max_iter : int, default=100
        Largest number of epochs.
    batch_size : int, default=128
        Graphs in a training step, at least 2. None takes all of them.
    learning_rate : float, default=1e-3
        Largest learning rate of Adam.
    learn_weights : bool, default=True
        Whether to learn the mixture weights of the bandwidths; otherwise they are equal.
    leave_one_out : bool, default=True
        Whether to exclude a graph's own kernel from its density and from that of its twins. The
        paper includes it.
    n_twins : int, default=1
        Twins of each graph in a training step. The first one has edges removed or added, at random,
        and the two kinds take turns: of two twins, one has edges removed, and one added.
    twins : Twins, default=None
        Perturbation of graphs, also for :meth:`GraphKDEDetector.score`; None is ``Twins()``. The
        paper's ablations are ``Twins(edges=None)`` and ``Twins(swap_ratio=0)``.
    validation_fraction : float, default=0.1
        Share of the graphs that are held out for early stopping, in (0, 1). They become references
        like all other graphs.
    n_iter_no_change : int, default=10
        Number of epochs without a better held-out contrast after which training stops. The best
        state is kept, which may be the untrained one.
    loss : {"ratio", "log_ratio"}, default="ratio"
        With the density f of a graph and that of its twin f~, the mean of (f~ - f) / (f + 1e-6),
        as in the text of the paper, or of log((f~ + 1e-6) / (f + 1e-6)), as in its code.
    schedule : {"cosine", "constant"}, default="cosine"
        Learning rate over the steps: "cosine" rises in the first tenth of them, and falls by half a
        cosine.
    weight_decay : float, default=0.0
        Factor of the weights that Adam adds to their gradients.

    Examples
    --------
    >>> from skgraphkde import GCN, Contrastive, GraphKDEDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> detector = GraphKDEDetector(
    ...     encoder=GCN(hidden_dim=16), training=Contrastive(max_iter=2), random_state=0
    ... )
    >>> len(detector.fit(load_mutag().graphs[:20]).history_["loss"])  # epoch 0 is untrained
    3
    """

    _parameter_constraints: dict = {
        "max_iter": [at_least(1, Integral)],
        "batch_size": [at_least(2, Integral), None],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "learn_weights": ["boolean"],
        "leave_one_out": ["boolean"],
        "n_twins": [at_least(1, Integral)],
        "twins": [Twins, None],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [at_least(1, Integral)],
        "loss": [StrOptions({"ratio", "log_ratio"})],
        "schedule": [StrOptions({"cosine", "constant"})],
        "weight_decay": [at_least(0, Real)],
    }

    def __init__(
        self,
        max_iter: int = 100,
        batch_size: int | None = 128,
        learning_rate: float = 1e-3,
        learn_weights: bool = True,
        leave_one_out: bool = True,
        n_twins: int = 1,
        twins: Twins | None = None,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        loss: str = "ratio",
        schedule: str = "cosine",
        weight_decay: float = 0.0,
    ) -> None:
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learn_weights = learn_weights
        self.leave_one_out = leave_one_out
        self.n_twins = n_twins
        self.twins = twins
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.loss = loss
        self.schedule = schedule
        self.weight_decay = weight_decay
