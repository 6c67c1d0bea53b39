"""The small tables of the paper: ablations on MUTAG, and graphs whose true density is known.

`TABLES` maps names to tables, each with its own CSV of results and its own page.
"""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import spearmanr
from sklearn.metrics import euclidean_distances, roc_auc_score

from benchmarks import random_graphs
from benchmarks.methods import METHODS, peer, published, seeded, untrained
from benchmarks.protocol import METRICS, evaluate, evaluate_fold, load, split
from benchmarks.render import averaged, markdown, of_paper, read_paper, side_by_side
from skgraphkde import LGKDE, Distance, FittedDistance, GraphBatch
from skgraphkde.core.distances.measures import DiscreteMeasures
from skgraphkde.core.distances.mmd import FIVE_DECADES
from skgraphkde.core.points.twins import Twins

PAPER = ("paper settings", "paper settings, untrained")
#: A learning rate at which weights do not move.
EQUAL_WEIGHTS = {"weights_learning_rate": 1e-12}


class Capacity:
    """Width and depth of the encoder under three forms of the density."""

    TITLE = "Capacity"
    ABOUT = """\
AUROC on MUTAG in percent, at the settings of the paper except for width and depth of the encoder
and the density: bandwidths with learned weights, with equal weights, or h = 0.1 alone.
"""
    FORMS: dict[str, dict[str, Any]] = {
        "learned": {},
        "fixed": EQUAL_WEIGHTS,
        "single": {"bandwidths": (0.1,)},
    }
    DEPTHS = (1, 2, 3, 4, 5)

    def cells(self, datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
        """Every form, width and depth on every fold."""
        names = ("weights", "hidden_dim", "n_layers", "fold")
        grid = product(range(n_folds), self.FORMS, (32, 64, 128, 256), self.DEPTHS)
        return [dict(zip(names, (*cell, fold), strict=True)) for fold, *cell in grid]

    def estimator(self, weights: str, hidden_dim: int, n_layers: int, fold: int) -> Any:
        """The changed settings of the paper, seeded with the fold."""
        size = {"hidden_dim": hidden_dim, "n_layers": n_layers}
        return published(**size, **self.FORMS[weights])(fold)

    def measure(self, estimator: Any, fold: int, **cell: Any) -> dict[str, float]:
        """One fold."""
        return evaluate_fold(estimator, "MUTAG", fold)

    def report(self, rows: pd.DataFrame) -> str:
        """Widths by depths, one table per form."""
        parts, paper = [], read_paper("capacity")
        for form, of_form in rows.groupby("weights", sort=False):
            ours = averaged(of_form, ["hidden_dim", "n_layers"], ["auroc"])["auroc"].unstack()
            published = of_paper(paper[paper["weights"] == form], "hidden_dim", "n_layers")
            titles = {depth: f"L = {depth}" for depth in self.DEPTHS}
            parts += [f"### Weights: {form}", side_by_side(ours, published, titles)]
        return "\n\n".join(parts)


class Variants:
    """Settings of the paper with one part changed, on some data sets."""

    TITLE: str
    COLUMN: str
    FIGURES: str  # the file of the paper's figures
    DATASETS = ("MUTAG",)
    VARIANTS: dict[str, Callable[[int], Any]]
    METRICS = {"auroc": "AUROC", "auprc": "AUPRC, normal"}

    def cells(self, datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
        """Every variant on every fold."""
        grid = product(datasets or self.DATASETS, self.VARIANTS, range(n_folds))
        names = ("dataset", self.COLUMN, "fold")
        return [dict(zip(names, cell, strict=True)) for cell in grid]

    def estimator(self, dataset: str, fold: int, **cell: str) -> Any:
        """The changed settings of the paper, seeded with the fold."""
        return self.VARIANTS[cell[self.COLUMN]](fold)

    def measure(self, estimator: Any, dataset: str, fold: int, **cell: str) -> dict[str, float]:
        """One fold."""
        return evaluate_fold(estimator, dataset, fold)

    def report(self, rows: pd.DataFrame) -> str:
        """One table per data set."""
        parts, paper = [], read_paper(self.FIGURES)
        if "dataset" not in paper:
            paper["dataset"] = self.DATASETS[0]
        for dataset, of_dataset in rows.groupby("dataset", sort=False):
            n_folds = of_dataset["fold"].nunique()
            ours = averaged(of_dataset, self.COLUMN, METRICS, out_of=n_folds)
            ours = ours.rename(columns={"auprc_normal": "auprc"})
            published = of_paper(paper[paper["dataset"] == dataset], self.COLUMN, "metric")
            parts.append(f"### {dataset}, {n_folds} fold{'s' if n_folds > 1 else ''}")
            parts.append(side_by_side(ours, published, self.METRICS))
        return "\n\n".join(parts)


class Readout(Distance):
    """Distance of the means of two clouds, or of the sums of their points."""

    def __init__(self, of_sums: bool = False) -> None:
        self.of_sums = of_sums

    def build(self, dim: int, n_points: int, rng: np.random.RandomState) -> FittedDistance:
        """Build the distance."""
        return _FittedReadout(self.of_sums)


class _FittedReadout(FittedDistance):
    def __init__(self, of_sums: bool) -> None:
        self.of_sums = of_sums

    def squared(self, P: DiscreteMeasures, Q: DiscreteMeasures | None = None) -> np.ndarray:
        Q = P if Q is None else Q
        return euclidean_distances(self._read_out(P), self._read_out(Q), squared=True)

    def _read_out(self, P: DiscreteMeasures) -> np.ndarray:
        return P.means() * P.sizes[:, np.newaxis] if self.of_sums else P.means()


class Components(Variants):
    """The settings of the paper with one part of the density changed."""

    TITLE, COLUMN, FIGURES = "Components", "variant", "components"
    ABOUT = """\
The settings of the paper except for what the row names, trained anew each time; percent. *Mean
readout* and *sum readout* are Euclidean distances of the means and of the sums of a graph's points
in place of the MMD, with equal weights, and are not trained, as training needs the MMD. The paper
does not say which class its AUPRC takes for positive; its rows h = 0.01 and h = 1 have the same
AUROC and FPR95 to the last digit.
"""
    VARIANTS = {
        **{f"h={h:g}": published(bandwidths=(h,)) for h in FIVE_DECADES},
        "mean readout": untrained(distance=Readout()),
        "sum readout": untrained(distance=Readout(of_sums=True)),
        "fixed weights": published(**EQUAL_WEIGHTS),
        "full": published(),
        "full, untrained": untrained(),
    }
    METRICS = Variants.METRICS | {"fpr95": "FPR95"}


class RandomEdges(Twins):
    """Twins of undirected graphs with a fifth of the edges less, or more, at random."""

    SHARE = 0.2

    def _pairs(self, batch: GraphBatch) -> list[np.ndarray]:
        rng = np.random.RandomState(0)
        arcs = batch.adjacency.tocoo()
        edges = arcs.row * batch.n_nodes + arcs.col
        removed, added = [], []
        for first, size in zip(batch.node_ptr, batch.n_nodes_per_graph, strict=False):
            u, v = first + np.array(np.triu_indices(size, 1))
            pairs = u * batch.n_nodes + v
            is_edge = np.isin(pairs, edges)
            linked = rng.permutation(pairs[is_edge])
            others = rng.permutation(pairs[~is_edge])
            n = round(self.SHARE * len(linked))
            removed.append(linked[n:])
            added += [linked, others[:n]]
        return [np.sort(np.concatenate(keys)) for keys in (removed, added)]


class _WithRandomEdges(LGKDE):
    """LGKDE with twins whose edges are random, and whose features are its own."""

    @property
    def _twins(self) -> Twins:
        return RandomEdges(self.swap)


class Perturbation(Variants):
    """The settings of the paper with other twins."""

    TITLE, COLUMN, FIGURES = "Perturbation", "perturbation", "perturbation"
    ABOUT = """\
The settings of the paper except for the twins: swapped features, a fifth of the edges removed or
added at random, a bent spectrum, or features and spectrum; "none" is the untrained encoder. In
percent; the number of folds is in parentheses after a figure that has fewer. The paper does not say
which class its AUPRC takes for positive.
"""
    DATASETS = ("MUTAG", "PROTEINS")
    VARIANTS = {
        "features": published(energies=None),
        "random_edges": lambda seed: _WithRandomEdges.published(swap=0, random_state=seed),
        "spectrum": published(swap=0),
        "both": published(),
        "none": untrained(),
    }


class TwoStages(Variants):
    """A network that knows no densities, then a KDE; beside LGKDE."""

    TITLE, COLUMN, FIGURES = "Two stages", "method", "two_stages"
    ABOUT = """\
An embedding of graphs that is learned without a density, by InfoGraph or a graph autoencoder
(written from their papers), then a KDE of the vectors with the paper's bandwidths, equally
weighted; percent. Both networks stop by their held-out loss. As in the paper, both are below one
stage, by 4 to 12 points. The paper does not say which class its AUPRC takes for positive.
"""
    VARIANTS = {
        "InfoGraph+KDE": peer("two_stage", "InfoGraphKDE"),
        "GAE+KDE": peer("two_stage", "GAEKDE"),
        "paper settings": published(),
        "LGKDE": lambda seed: LGKDE(random_state=seed),
    }
    METRICS = Variants.METRICS | {"fpr95": "FPR95"}


class Thresholds:
    """AUROC and shares of changed edges over (tau_1, tau_2)."""

    TITLE = "Energy thresholds"
    ABOUT = """\
The settings of the paper except for the energy thresholds. Shares of changed edges are means and
standard deviations over all graphs, in percent of a graph's edges, and need no training. The
spectrum is that of A, as in the text of the paper, or of A + I, with a self-loop at each node, as
in its code: the second gives the paper's table.
"""
    GRID = tuple(product((0.45, 0.5, 0.55, 0.6), (0.7, 0.75, 0.8, 0.85)))
    VALUES = ("auroc", "fit_seconds", "added", "added_std", "removed", "removed_std")
    #: The "fold" of shares of edges, without self-loops and with them.
    SHARES = {-1: "of A", -2: "of A + I"}

    def cells(self, datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
        """The shares of edges on MUTAG, then every pair of thresholds on every fold."""
        grid = [*product(["MUTAG"], self.SHARES, self.GRID)]
        grid += product(datasets or ["MUTAG"], range(n_folds), self.GRID)
        return [
            {"dataset": dataset, "tau_1": tau_1, "tau_2": tau_2, "fold": fold}
            for dataset, fold, (tau_1, tau_2) in grid
        ]

    def estimator(self, dataset: str, tau_1: float, tau_2: float, fold: int) -> Any:
        """The settings of the paper with other thresholds; None for the shares of edges."""
        if fold < 0:
            return None
        return published(energies=(tau_1, tau_2))(fold)

    def measure(
        self, estimator: Any, dataset: str, tau_1: float, tau_2: float, fold: int
    ) -> dict[str, float]:
        """One fold, or the shares of edges."""
        values = dict.fromkeys(self.VALUES)
        if fold >= 0:
            measured = evaluate_fold(estimator, dataset, fold)
            return values | {name: measured[name] for name in ("auroc", "fit_seconds")}
        graphs = load(dataset).graphs
        self_loops = self.SHARES[fold] == "of A + I"
        twins = Twins(swap=0, energies=(tau_1, tau_2), self_loops=self_loops)
        removed, added = twins.structural(graphs, np.random.RandomState(0))
        for name, changed in (("added", added), ("removed", removed)):
            change = np.abs(changed.n_edges_per_graph - graphs.n_edges_per_graph)
            percent = 100 * change / graphs.n_edges_per_graph
            values |= {name: round(percent.mean(), 4), f"{name}_std": round(percent.std(), 4)}
        return values

    def report(self, rows: pd.DataFrame) -> str:
        """The AUROC by data set, then the shares of edges."""
        by = ["tau_1", "tau_2"]
        trained = rows[rows["fold"] >= 0]
        ours = averaged(trained, [*by, "dataset"], ["auroc"])["auroc"].unstack("dataset")
        n_folds = trained.groupby("dataset")["fold"].nunique()
        titles = {name: f"{name} ({n_folds[name]})" for name in ours}
        paper = of_paper(read_paper("thresholds"), by, "dataset")
        parts = ["### AUROC in percent (folds)", side_by_side(ours, paper, titles)]
        published = of_paper(read_paper("edge_changes"), by, "change")
        for kind, title in self.SHARES.items():
            shares = rows[rows["fold"] == kind].set_index(by)
            changes = pd.DataFrame(index=shares.index)
            for name in ("removed", "added"):
                pairs = zip(shares[name], shares[f"{name}_std"], strict=True)
                changes[name] = [f"{mean:.1f} ± {std:.1f}" for mean, std in pairs]
            parts += [f"### Changed edges, MUTAG, the spectrum {title}"]
            parts += [side_by_side(changes, published, {"removed": "removed", "added": "added"})]
        return "\n\n".join(parts)


class Contamination:
    """Anomalies among the training graphs, and what is left of the density gap."""

    TITLE = "Contamination and density gap"
    ABOUT = """\
MUTAG: anomalies of the training folds, drawn at random, are trained on as if they were normal; a
training fold has 100 normal graphs and 50 anomalies. Densities are means over the test fold, of the
paper's settings; scores of other methods are no densities on its scale. The paper does not say how
its densities are scaled.
"""
    estimator = staticmethod(seeded(METHODS))

    def cells(self, datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
        """Every number of anomalies on every fold."""
        grid = product((*PAPER, "defaults", "one view"), (0, 5, 10, 20, 30, 40, 50), range(n_folds))
        return [{"method": method, "n_anomalies": n, "fold": fold} for method, n, fold in grid]

    def measure(self, estimator: Any, method: str, n_anomalies: int, fold: int) -> dict[str, float]:
        """One fold."""
        mutag = load("MUTAG")
        train, test = split(mutag, fold)
        left = np.setdiff1d(np.flatnonzero(mutag.target == -1), test)
        smuggled = np.random.RandomState(fold).permutation(left)[:n_anomalies]
        graphs = GraphBatch.concatenate([mutag.graphs[train], mutag.graphs[smuggled]])
        y = mutag.target[test]
        values = evaluate(estimator, graphs, mutag.graphs[test], y)
        return values | density_gap(estimator.score_samples(mutag.graphs[test]), y)

    def report(self, rows: pd.DataFrame) -> str:
        """One table per method."""
        paper = of_paper(read_paper("contamination"), "n_anomalies", "quantity", 3)
        parts = []
        for method, of_method in rows.groupby("method", sort=False):
            ours = averaged(of_method, "n_anomalies", ["auroc"])
            table = markdown(ours.rename(columns=GAP_TITLES))
            if method in PAPER:
                densities = averaged(of_method, "n_anomalies", ["normal", "anomaly", "gap"], 3)
                table = side_by_side(ours.join(densities), paper, GAP_TITLES)
            parts += [f"### {method}", table]
        return "\n\n".join(parts)


GAP_TITLES = {"auroc": "AUROC", "normal": "density of normal graphs"}
GAP_TITLES |= {"anomaly": "of anomalies", "gap": "gap"}


def density_gap(scores: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Mean densities of normal graphs and of anomalies, and their difference."""
    normal, anomaly = np.exp(scores[y == 1]).mean(), np.exp(scores[y == -1]).mean()
    return {"normal": normal, "anomaly": anomaly, "gap": normal - anomaly}


class Draws:
    """Every method on random graphs of several seeds."""

    ROWS: dict[str, Any]

    def cells(self, datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
        """Every method on every draw; a "fold" is a seed here."""
        grid = product(range(n_folds), self.ROWS)
        return [{"method": method, "seed": seed} for seed, method in grid]

    def estimator(self, method: str, seed: int, **cell: str) -> Any:
        """The method, with a seed."""
        return self.ROWS[method](seed)


def _without_size(**changes: Any) -> Callable[[int], LGKDE]:
    return lambda seed: LGKDE(size_kernel=False, random_state=seed, **changes)


class ErdosRenyi(Draws):
    """Whether the density peaks where the true one does."""

    TITLE = "Recovery of the density of Erdos-Renyi graphs"
    ABOUT = """\
Fitted on 2,000 graphs with 20 to 50 nodes and p from Beta(2, 2), scored on 1,000 others. The rank
correlation is Spearman's, between the score and the density of Beta(2, 2) at p. Densities are
divided by the largest of the 1,000; the paper does not say how its own are scaled. Nodes carry
their normalized degree, as in the paper. *Widest kernel* has gamma = 0.01 alone. *LGKDE* is
`LGKDE()`, *no size* is without its size kernel. *Widest* has gamma = 0.01 and the paper's
bandwidths, too. *Smooth* has gammas 0.01 to 1 and bandwidths 0.2 to 0.8, which were **chosen with
the true density in sight**. These four rows are of two seeds.
"""
    WIDEST: dict[str, Any] = {"gammas": (0.01,)}
    ROWS = {name: METHODS[name] for name in (*PAPER, "defaults", "one view", "size only")}
    ROWS |= {
        "widest kernel": published(**WIDEST),
        "widest kernel, untrained": untrained(**WIDEST),
        "LGKDE": lambda seed: LGKDE(random_state=seed),
        "LGKDE, no size": _without_size(),
        "LGKDE, no size, widest": _without_size(bandwidths=FIVE_DECADES, **WIDEST),
        "LGKDE, no size, smooth": _without_size(gammas=(0.01, 0.1, 1), bandwidths=(0.2, 0.4, 0.8)),
    }
    RANGES = {f"{low:.1f}-{low + 0.2:.1f}": low for low in (0.0, 0.2, 0.4, 0.6, 0.8)}

    def measure(self, estimator: Any, method: str, seed: int) -> dict[str, float]:
        """Mean relative density by range of p, and rank correlations."""
        drawn = random_graphs.make_erdos_renyi(3000, random_state=seed)
        estimator.fit(drawn.graphs[:2000])
        scores = estimator.score_samples(drawn.graphs[2000:])
        p, true = drawn.p[2000:], drawn.density[2000:]
        density = np.exp(scores - scores.max())
        values = {"spearman": spearmanr(scores, true).statistic}
        for name, low in self.RANGES.items():
            inside = (p >= low) & (p < low + 0.2)
            values |= {name: density[inside].mean(), f"{name} std": density[inside].std()}
        sizes = drawn.graphs[2000:].n_nodes_per_graph
        values["spearman_size"] = spearmanr(scores, sizes).statistic
        return {name: round(float(value), 5) for name, value in values.items()}

    def report(self, rows: pd.DataFrame) -> str:
        """Rank correlations, then densities by range."""
        titles = {"spearman": "with the true density", "spearman_size": "with the number of nodes"}
        correlations = averaged(rows, "method", list(titles), 3).rename(columns=titles)
        ours = averaged(rows, "method", list(self.RANGES), 3).T
        paper = read_paper("erdos_renyi").assign(method="paper settings")
        paper = of_paper(paper, "p", "method", 3)
        parts = ["### Rank correlation of the score", markdown(correlations)]
        parts += ["### Mean relative density by range of p"]
        parts += [side_by_side(ours, paper, {name: name for name in ours})]
        return "\n\n".join(parts)


MAKERS = {
    "erdos_renyi": random_graphs.make_erdos_renyi,
    "barabasi_albert": random_graphs.make_barabasi_albert,
    "watts_strogatz": random_graphs.make_watts_strogatz,
    "stochastic_block": random_graphs.make_stochastic_block,
}


class Families(Draws):
    """Four families of random graphs: density gap and detection."""

    TITLE = "Four families of random graphs"
    ABOUT = """\
Fitted on 400 normal graphs, scored on 200 others and 200 anomalies, 20 to 50 nodes each. Densities
are means of the paper's settings; scores of other methods are no densities on its scale. The rank
correlation is Spearman's, between the score and the target density of the paper over normal and
anomalous graphs; the target densities of the Barabasi-Albert and Watts-Strogatz graphs are higher
for some anomalies than for normal graphs.
"""
    ROWS = {x: METHODS[x] for x in (*PAPER, "defaults", "one view", "size only", "WL-SVM")}

    def cells(self, datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
        """Every method on every family and draw."""
        grid = product(range(n_folds), MAKERS, self.ROWS)
        return [{"method": method, "family": family, "seed": seed} for seed, family, method in grid]

    def measure(self, estimator: Any, method: str, family: str, seed: int) -> dict[str, float]:
        """Detection, densities, rank correlation."""
        drawn = MAKERS[family](600, 200, random_state=seed)
        train, test, y = drawn.graphs[:400], drawn.graphs[400:], drawn.target[400:]
        values = evaluate(estimator, train, test, y)
        scores = estimator.score_samples(test)
        values |= density_gap(scores, y)
        return values | {"spearman": spearmanr(scores, drawn.density[400:]).statistic}

    def report(self, rows: pd.DataFrame) -> str:
        """One table per method; the paper's figures beside the settings of the paper."""
        paper = of_paper(read_paper("families"), "family", "quantity", 3)
        parts, titles = [], GAP_TITLES | {"spearman": "rank correlation"}
        for method, of_method in rows.groupby("method", sort=False):
            densities = ["normal", "anomaly", "gap"] if method in PAPER else []
            ours = averaged(of_method, "family", [*densities, "spearman"], 3)
            ours.insert(0, "auroc", averaged(of_method, "family", ["auroc"])["auroc"])
            table = markdown(ours.rename(columns=titles))
            if method == "paper settings":
                table = side_by_side(ours, paper, titles)
            parts += [f"### {method}", table]
        return "\n\n".join(parts)


class Shift(Draws):
    """The normal graphs of the test are not those of the training."""

    TITLE = "Distribution shift"
    ABOUT = """\
Fitted on 2,000 Erdos-Renyi graphs with p around 0.5, scored on 500 normal graphs with p around 0.5,
0.3 or 0.7, and 500 anomalies; AUROC in percent, "loss" is the mean of the two falls. When shifted
half of the anomalies are normal graphs with half of their edges moved at random, which are
Erdos-Renyi graphs still: on these no detector can do better than chance, and 75 is what a perfect
one reaches. The paper's figures for the shifts are above that.
"""
    ROWS = {x: METHODS[x] for x in (*PAPER, "defaults", "size only", "WL-SVM")}
    SCENARIOS = ("in_distribution", "sparse", "dense")

    def measure(self, estimator: Any, method: str, seed: int) -> dict[str, float]:
        """AUROC in the three scenarios, after one training; and on the rewired graphs alone."""
        make = random_graphs.make_distribution_shift
        drawn = {name: make(name, random_state=seed) for name in self.SCENARIOS}
        estimator.fit(drawn["in_distribution"].train)
        values = {}
        for name, scenario in drawn.items():
            scores = estimator.score_samples(scenario.test)
            y, rewired = scenario.target, scenario.rewired > 0
            values[name] = 100 * roc_auc_score(y, scores)
            if name != "in_distribution":
                shown = (y == 1) | rewired
                values[f"{name}_rewired"] = 100 * roc_auc_score(y[shown], scores[shown])
        shifted = np.mean([values["sparse"], values["dense"]])
        values["loss"] = values["in_distribution"] - shifted
        return {name: round(float(value), 4) for name, value in values.items()}

    def report(self, rows: pd.DataFrame) -> str:
        """One table, the paper's three methods below ours."""
        columns = [*self.SCENARIOS, "loss", "sparse_rewired", "dense_rewired"]
        ours = averaged(rows, "method", columns)
        paper = of_paper(read_paper("shift"), "method", "scenario")
        paper = ("*" + paper + "*").rename(index=lambda name: f"*{name}, in the paper*")
        titles = {
            "in_distribution": "in distribution",
            "sparse_rewired": "sparse, rewired only",
            "dense_rewired": "dense, rewired only",
        }
        return markdown(pd.concat([ours, paper]).rename(columns=titles))


TABLES: dict[str, Any] = {
    "components": Components(),
    "perturbation": Perturbation(),
    "two_stages": TwoStages(),
    "thresholds": Thresholds(),
    "capacity": Capacity(),
    "contamination": Contamination(),
    "erdos_renyi": ErdosRenyi(),
    "families": Families(),
    "shift": Shift(),
}
