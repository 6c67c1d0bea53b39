"""Ways to train beside the untrained defaults, on the same features, folds and views."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd
import torch
from sklearn.utils._param_validation import Interval

from benchmarks import protocol
from benchmarks.protocol import evaluate, load
from benchmarks.render import markdown, mean_std
from skgraphkde import (
    GCN,
    Contrastive,
    EncoderModule,
    GraphKDEDetector,
    Propagation,
    TorchEncoder,
    register,
)
from skgraphkde.propagation import MessageFlow

TITLE = "Learning"
ABOUT = """\
What training adds to the untrained defaults, in points of AUROC on the same folds: *scales* of the
columns, or of the layers, of the propagated features (a diagonal metric: a hundred numbers, or
three, in place of a network), *mixture weights* of the bandwidths, and the paper's *GCN* with steps
enough to move (up to 200 epochs, learning rate 0.01), as it is and *anchored*, that is, drawn back
to its random initial state. All contrast each graph with two twins of two kinds in a step, and stop
by the contrast of held-out graphs. The first row is the AUROC of the defaults, on the number of
folds in the last; a way that has fewer says how many. **Labels of these data sets chose the
defaults**, and no other way here.
"""

DATASETS = ["MUTAG", "IMDB-BINARY", "BZR", "COX2", "DHFR", "ENZYMES", "AIDS"]
N_FOLDS = 3


@register
class ScaledPropagation(TorchEncoder):
    """A Propagation whose columns, or layers, have scales that are learned.

    Parameters
    ----------
    n_layers : int, default=2
    by : {"column", "layer"}, default="column"
    """

    is_random, is_relational = False, True
    _parameter_constraints: dict = {**Propagation._parameter_constraints, "by": [str]}

    def __init__(self, n_layers: int = 2, by: str = "column") -> None:
        self.n_layers = n_layers
        self.by = by

    def build_module(self, in_dim: int, generator: None, n_relations: int = 0) -> ScaledModule:
        """Build the module, with all scales 1."""
        return ScaledModule(self, in_dim, n_relations)


class ScaledModule(EncoderModule):
    """The module that :class:`ScaledPropagation` builds."""

    def __init__(self, specification: ScaledPropagation, in_dim: int, n_relations: int) -> None:
        plain = Propagation(specification.n_layers).build(in_dim, n_relations)
        super().__init__(specification, in_dim, plain.out_dim, plain.n_layers)
        self.plain = plain
        widths = [1] * plain.out_dim
        if specification.by == "layer":
            widths = [columns.stop - columns.start for columns in plain.columns]
        self.scale_of_column = np.repeat(np.arange(len(widths)), widths)
        self.log_scales = torch.nn.Parameter(torch.zeros(len(widths)))

    def forward(self, flow: MessageFlow, generator: torch.Generator | None = None) -> torch.Tensor:
        """The points, their total variance as before."""
        scales = torch.exp(self.log_scales)[self.scale_of_column]
        scales = scales / scales.square().mean().sqrt()
        return torch.tensor(self.plain.encode(flow)).to(scales) * scales

    def standardize(self, flows: Sequence[MessageFlow]) -> None:
        """Standardize the columns, which the scales multiply."""
        self.plain.standardize(flows)


@register
class AnchoredGCN(GCN):
    """A GCN whose weights are drawn back to their initial values.

    Parameters
    ----------
    hidden_dim : int, default=128
    n_layers : int, default=2
    dropout : float, default=0.2
    batch_norm : bool, default=True
    backend : str, default="auto"
    pull : float, default=0.02
        The gradient has `pull` times the way that a weight has gone added to it.
    """

    _parameter_constraints: dict = {
        **GCN._parameter_constraints,
        "pull": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        hidden_dim: int = 128,
        n_layers: int = 2,
        dropout: float = 0.2,
        batch_norm: bool = True,
        backend: str = "auto",
        pull: float = 0.02,
    ) -> None:
        super().__init__(hidden_dim, n_layers, dropout, batch_norm, backend)
        self.pull = pull

    def build_module(
        self, in_dim: int, generator: torch.Generator | None, n_relations: int = 0
    ) -> EncoderModule:
        """Build the module, with a hook at each weight."""
        module = super().build_module(in_dim, generator, n_relations)
        for weight in module.parameters():
            self._anchor(weight, weight.detach().clone())
        return module

    def _anchor(self, weight: torch.nn.Parameter, start: torch.Tensor) -> None:
        def pulled(gradient: torch.Tensor) -> torch.Tensor:
            return gradient + self.pull * (weight.detach() - start.to(weight))

        weight.register_hook(pulled)


def _training(**changes: Any) -> Contrastive:
    options = {"max_iter": 60, "learning_rate": 0.03, "n_iter_no_change": 15, "n_twins": 2}
    return Contrastive(**{**options, **changes})


LONG = {"max_iter": 200, "learning_rate": 0.01, "n_iter_no_change": 30}
WAYS: dict[str, dict[str, Any]] = {
    "untrained (the defaults)": {},
    "mixture weights": {"training": _training()},
    "scales of columns": {
        "encoder": ScaledPropagation(),
        "training": _training(learn_weights=False),
    },
    "scales of layers": {
        "encoder": ScaledPropagation(by="layer"),
        "training": _training(learn_weights=False),
    },
    "GCN, untrained": {"encoder": GCN()},
    "GCN": {"encoder": GCN(), "training": _training(**LONG)},
    "GCN, anchored": {"encoder": AnchoredGCN(), "training": _training(**LONG)},
}


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every way, the first fold of all data sets first."""
    return [
        {"dataset": name, "way": way, "fold": index}
        for index in range(min(n_folds, N_FOLDS))
        for name in datasets or DATASETS
        for way in WAYS
    ]


def estimator(dataset: str, way: str, fold: int) -> GraphKDEDetector:
    """The defaults with another encoder, or a training."""
    return GraphKDEDetector(**WAYS[way], random_state=fold)


def measure(estimator: GraphKDEDetector, dataset: str, way: str, fold: int) -> dict[str, float]:
    """One fold, with the epoch that was kept."""
    values = evaluate(estimator, *protocol.fold(load(dataset), fold))
    losses = estimator.history_.get("validation_loss", [0.0])
    return {**values, "epoch": float(pd.Series(losses).argmin())}


def report(rows: pd.DataFrame) -> str:
    """One row per way, as differences from the defaults on the folds that both have."""
    first = next(iter(WAYS))
    table = rows.pivot_table(index=["dataset", "fold"], columns="way", values="auroc")
    n_folds = table[first].groupby("dataset").count()
    present = [name for name in DATASETS if name in n_folds.index]
    lines: dict[str, dict[str, str]] = {first: {}}
    for name in present:
        lines[first][name] = mean_std(table[first].loc[name])
    lines[first]["mean"] = f"{table[first].groupby('dataset').mean().mean():.1f}"
    for way in list(WAYS)[1:]:
        of_sets = (table[way] - table[first]).dropna().groupby("dataset")
        gains, counts = of_sets.mean(), of_sets.count()
        few = {name: f" ({n})" if n < n_folds[name] else "" for name, n in counts.items()}
        lines[way] = {name: f"{gain:+.1f}{few[name]}" for name, gain in gains.items()}
        lines[way]["mean"] = f"{gains.mean():+.2f}"
    lines["folds"] = {name: str(n_folds[name]) for name in present}
    frame = pd.DataFrame(lines).T.reindex(columns=[*present, "mean"]).fillna("")
    frame.index.name = "way"
    return f"{ABOUT}\n\n{markdown(frame)}"
