"""GraphKDEDetector: the method, composed of features, encoder and views."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy.stats import rankdata
from sklearn.base import TransformerMixin, clone
from sklearn.utils import check_scalar
from sklearn.utils.validation import check_is_fitted

from skgraphkde._messages import listed
from skgraphkde._utils import warn
from skgraphkde.core.distances.mmd import MMD
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.copies import kinds_of
from skgraphkde.core.graphs.problems import IgnoredWarning
from skgraphkde.core.graphs.schema import KINDS_OF, FittedSchema
from skgraphkde.core.points.features import NodeFeatures
from skgraphkde.core.points.propagation import Encoder, Propagation
from skgraphkde.core.scoring.groups import find_groups
from skgraphkde.core.scoring.model import fit_model
from skgraphkde.core.specification import StrOptions, at_least
from skgraphkde.core.views import (
    Density,
    Namesakes,
    Neighbors,
    Novelty,
    Numbers,
    Statistics,
    Tanimoto,
    View,
)
from skgraphkde.core.views.embedding import Embedding
from skgraphkde.detectors.base import BaseGraphDetector, Judged, check_target
from skgraphkde.detectors.together import scores_together
from skgraphkde.detectors.verdicts import UNKNOWN, check_coding, checked_verdicts

__all__ = ["GraphKDEDetector"]


# Views that a name stands for.
VIEWS: dict[str, type[View]] = {
    "density": Density,
    "novelty": Novelty,
    "tanimoto": Tanimoto,
    "neighbors": Neighbors,
    "statistics": Statistics,
    "numbers": Numbers,
    "namesakes": Namesakes,
}


class GraphKDEDetector(
    TransformerMixin,
    BaseGraphDetector,  # type: ignore[misc]
):
    """Kernel density estimator for graphs, in a metric between clouds of nodes.

    Each graph becomes a cloud of points, one per node: the features of the node and their averages
    over neighborhoods, or its embedding by a graph convolutional network (GCN). The maximum mean
    discrepancy (MMD) measures the distance between clouds. A mixture of Gaussian kernels on that
    distance, centered at the training graphs, is the density; the weights of its bandwidths are
    learned from the training graphs and perturbed twins. Graphs of low density are anomalies; the
    detector uses no target. The density is that of LGKDE [1]_, which :class:`LGKDE` has alone, with
    its network.

    By default, each graph is scored in six *views*: two densities, one under the biased MMD
    (sensitive to size), one under the unbiased MMD; the novelty of its neighborhoods; its
    similarity to the most similar training graph, and the number of neighborhoods by which it
    differs from the nearest ones; and its statistics as a whole. A seventh compares numbers, if
    nodes, edges or graphs have any; and three compare nodes of the same name, if names recur. The
    score of each view becomes a p-value, and the log p-values are summed.

    Parameters
    ----------
    schema : GraphSchema, "all", "molecule" or None, default=None
        Attributes of nodes, edges and graphs to read, and their types, see :class:`GraphSchema`.
        None reads the conventional names (category "label", numbers "x"), "all" reads all
        attributes, "molecule" those of molecules of RDKit, see :meth:`GraphSchema.molecule`. A
        warning lists ignored attributes.
    features : "auto" or NodeFeatures, default="auto"
        Node features. "auto" is :class:`NodeFeatures`: all attributes of the training graphs,
        degrees and random walks.
    encoder : "auto" or Encoder, default="auto"
        Node encoder: :class:`Propagation`, which has no weights and is "auto", :class:`GCN`, or
        your own.
    views : "auto", a View, a name, or a list of these, default="auto"
        Views that score a graph: :class:`Density` ("density"), :class:`Novelty` ("novelty"),
        :class:`Tanimoto` ("tanimoto"), :class:`Neighbors` ("neighbors"),
        :class:`Statistics` ("statistics"), :class:`Numbers` ("numbers"), :class:`Namesakes`
        ("namesakes"), or your own :class:`View`; at least one is a density. A list may have pairs
        of a name and a view, whose parameters a grid search reaches by that name. "auto" is
        ``[Density(MMD(gammas=(10.0,), estimator="biased")), Density(MMD(gammas=(1.0,),
        estimator="unbiased")), "novelty", "tanimoto", "neighbors", "statistics", "numbers",
        Namesakes(of="node"), Namesakes(of="link"), Namesakes(of="graph")]``,
        without the views that do not apply to the training graphs.
    max_references : int, "auto" or None, default="auto"
        Largest number of training graphs with which graphs are compared one by one, which is what
        makes a score expensive. Of more, a sample is used, drawn by their content: neither by their
        order nor by the names of categories. The others calibrate, and count in what is counted
        over all graphs: neighborhoods, categories, and means and scales of numbers. "auto" is
        5,000. None is all.
    calibration : {"loo", "split", "train"}, LeaveOneOut or Split, default="loo"
        Scores that determine the threshold and the p-values: leave-one-out scores of the training
        graphs; scores of held-out graphs; or, as in the paper, scores of the training graphs with
        their own kernels. Copies among the training graphs count once if there are more than
        chance explains, see :class:`LeaveOneOut`.
    contamination : float or "auto", default=0.1
        Share of normal graphs that fall below the threshold, in (0, 0.5]. "auto" assumes no share:
        the threshold is the lower fence of a box plot of the calibration scores, see
        :func:`~skgraphkde.core.scoring.calibration.lower_fence`.
    n_jobs : int, default=None
        Number of processes that score many graphs, as for joblib: None is 1 outside of a
        ``joblib.parallel_config``, which can name a cluster; -1 is all cores. Fitting, and scoring
        a few graphs, use one process.
    random_state : int, RandomState instance or None, default=None
        Seed or generator of initial weights, held-out graphs, batches, dropout, twins and random
        features. An int gives the same result in each run on the same machine, to the last bit with
        one thread; with another number of threads to a relative 1e-12, if no network is trained.
    verbose : int, default=0
        1 shows a progress bar for each stage; in a log, a line.

    Attributes
    ----------
    model_ : GraphModel
        The fitted model, with its `views`, `references` and `features`. A density has its
        `distance_`, `bandwidths_` and `mixture_weights_`.
    offset_ : float
        The threshold: ``decision_function(graphs) == score_samples(graphs) - offset_``.
    calibration_ : FittedCalibration
        The calibration scores, with their threshold and p-values.
    calibration_scores_, calibration_graphs_ : ndarray of shape (n_scores,)
        Scores that determine `offset_` and the p-values, and the indices of their training graphs.
    training_graphs_ : GraphBatch
        The graphs of `fit`, as they were read.
    training_scores_ : ndarray of shape (n_graphs,)
        Score of each of them by all others, as that of its copy if it is one; the lowest scores for
        confirmed anomalies. With ``calibration="train"`` its plain score; missing with "split".
    calibration_index_ : ndarray of shape (n_graphs,)
        Position of this score in `calibration_scores_`; -1 for confirmed anomalies.
    verdicts_ : ndarray of shape (n_graphs,), int
        The verdict on each of them: 1, -1, or 0 for none.

    See Also
    --------
    LGKDE : The method of the paper [1]_, with a network, and learned in full.
    BaseGraphDetector : Base class for your own detectors.
    sklearn.neighbors.KernelDensity : Kernel density estimator for vectors.

    Notes
    -----
    With ``views="density"``, a score is a log density: the logarithm of a mean of kernels in a
    metric space. It is comparable between graphs of one fitted detector, but normalized only if the
    metric space is a line. With several views, a score is the weighted sum of the log p-values in
    all views, at most 0. The p-value of a view is the share of the training graphs with
    leave-one-out scores as low as the graph's score. It is extrapolated below the lowest of them.

    ``calibration="train"``, the paper's choice, uses a percentile of scores in which each graph has
    itself as a reference at distance 0. New graphs do not, and are flagged far too often: on MUTAG,
    at contamination 0.1, 91% of new normal molecules are flagged, against 7% with "loo".

    The defaults differ from the paper in these choices, which `docs/defaults.md` measures one by
    one: several views instead of one; node features with degrees and walks; their averages instead
    of a GCN, and no training of a network; bandwidths relative to the distance to the nearest
    neighbor; a kernel on graph size; leave-one-out densities. Mean AUROC over twelve data sets is
    79.7 percent (the paper reports 79.4); labels of these sets took part in the choice of views.

    References
    ----------
    .. [1] X. Wang, Z. Sun, C. Ding, J. Fan. Learnable Kernel Density Estimation for Graphs and Its
       Application to Graph-Level Anomaly Detection. ICML, 2026.

    Examples
    --------
    >>> from skgraphkde import GCN, GraphKDEDetector
    >>> from skgraphkde.datasets import load_mutag
    >>> molecules, y = load_mutag(return_X_y=True)
    >>> normal, odd = molecules[y == 1], molecules[y == -1]
    >>> detector = GraphKDEDetector().fit(normal[:100])
    >>> bool(detector.score_samples(normal[100:]).mean() > detector.score_samples(odd).mean())
    True
    >>> detector.predict(odd[:8]).tolist()
    [1, 1, -1, 1, -1, -1, -1, 1]
    >>> GraphKDEDetector(encoder=GCN(n_layers=3)).set_params(encoder__hidden_dim=32).encoder
    GCN(hidden_dim=32, n_layers=3)
    """

    _parameter_constraints: dict = {
        **BaseGraphDetector._parameter_constraints,
        "features": [StrOptions({"auto"}), NodeFeatures],
        "encoder": [StrOptions({"auto"}), Encoder],
        "views": "no_validation",  # see _validate_values
        "max_references": [at_least(2, Integral), StrOptions({"auto"}), None],
    }

    def __init__(
        self,
        *,
        schema: Any = None,
        features: Any = "auto",
        encoder: Any = "auto",
        views: Any = "auto",
        max_references: int | str | None = "auto",
        calibration: Any = "loo",
        contamination: float | str = 0.1,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            schema=schema,
            calibration=calibration,
            contamination=contamination,
            n_jobs=n_jobs,
            random_state=random_state,
            verbose=verbose,
        )
        self.features = features
        self.encoder = encoder
        self.views = views
        self.max_references = max_references

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, also named views and theirs, as those of a Pipeline.

        Parameters
        ----------
        deep : bool, default=True
            Whether to add nested parameters: ``encoder__n_layers``, ``views__distance`` of a
            single view, and ``new`` and ``new__radius`` with ``views=[..., ("new", Novelty())]``.

        Returns
        -------
        dict
        """
        params = super().get_params(deep=deep)
        for name, view in self._named_views if deep else ():
            params[name] = view
            if isinstance(view, View):
                params |= {f"{name}__{key}": value for key, value in view.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, named views, and parameters of these, see :meth:`get_params`.

        Parameters
        ----------
        **params : dict

        Returns
        -------
        self
        """
        if "views" in params:
            super().set_params(views=params.pop("views"))
        new = {name: params.pop(name) for name, _ in self._named_views if name in params}
        if new:
            named = self._named_views
            self.views = [(x[0], new.get(*x)) if x in named else x for x in self.views]
        return super().set_params(**params)

    @property
    def _named_views(self) -> list[tuple[str, Any]]:
        """Pairs of a name and a view among the views that are given."""
        given = self.views if isinstance(self.views, list | tuple) else ()
        return [item for item in given if isinstance(item, tuple) and len(item) == 2]

    def _validate_values(self) -> None:
        names = [name for name, _ in self._named_views]
        taken = super().get_params(deep=False)
        for name in names:  # as scikit-learn checks those of a VotingClassifier
            if not isinstance(name, str) or "__" in name or name in taken:
                raise ValueError(f"{name!r} cannot be the name of a view: choose another")
            if names.count(name) > 1:
                raise ValueError(f"two views have the name {name!r}: choose other names")
        views = self._views()
        for view in views:
            if not isinstance(view, View):
                raise ValueError(
                    f"each view must be a View, such as Novelty(), a pair of a name and a View, or "
                    f"one of {sorted(VIEWS)}. Got {view!r}"
                )
            view.validate()
        if not any(view.uses_points for view in views):
            raise ValueError(
                f"views={self.views!r} has no Density, whose distance finds the nearest graphs: "
                "add 'density'"
            )

    def _views(self) -> list[Any]:
        """Views that the parameter stands for, as new objects."""
        if isinstance(self.views, str) and self.views == "auto":
            return [  # of which those count that apply to the training graphs
                Density(MMD(gammas=(10.0,), estimator="biased")),
                Density(MMD(gammas=(1.0,), estimator="unbiased")),
                *(Novelty(), Tanimoto(), Neighbors(), Statistics(), Numbers()),
                *(Namesakes(of="node"), Namesakes(of="link"), Namesakes(of="graph")),
            ]
        given = self.views if isinstance(self.views, list | tuple) else [self.views]
        views = []
        for item in given:
            view = item[1] if isinstance(item, tuple) and len(item) == 2 else item
            if isinstance(view, str) and view in VIEWS:
                view = VIEWS[view]()
            views.append(clone(view, safe=False))
        return views

    # -- fit ---------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, *, verdicts: Any = None) -> Self:
        """Fit the detector to normal graphs, and to what people know of them.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
            Training graphs, at least 2, see :func:`skgraphkde.read_graphs`.
        y : array-like of shape (n_graphs,), default=None
            Ignored, with a warning if it has values other than 1 and -1. Its length is checked.
        verdicts : array-like of shape (n_graphs,), default=None
            -1 or "anomaly" for a confirmed anomaly, 1 or "normal" for a graph that somebody
            confirmed as normal, 0 or None for no verdict. Confirmed anomalies are no references
            and do not calibrate: nearness to them makes a graph anomalous, and they determine how
            much each view counts.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If `X` is not a sequence of graphs.
        ValueError
            If a graph, a verdict or a parameter is invalid. A detector that was fitted before is
            unchanged.
        """
        check_target(X, y)
        self._fit(X, verdicts)
        return self

    @property
    def keeps_training_graphs(self) -> bool:
        """True if each training graph was compared with the others, and has a calibration score."""
        return hasattr(self, "training_scores_") and self.is_calibrated_

    def suggest(self, n: int = 10) -> np.ndarray:
        """Suggest training graphs to look at next: the most anomalous ones without a verdict.

        Of graphs that are alike and unlike the others, and of copies, one is suggested. It counts
        as anomalous as it would be alone, until one of them has a verdict. A copy of a graph with
        a verdict is not suggested.

        Parameters
        ----------
        n : int, default=10
            Number of graphs; fewer if there are no more.

        Returns
        -------
        ndarray of shape (n,), int
            Their positions in the list of `fit`, the most anomalous first.

        Raises
        ------
        ValueError
            If the detector has no score for each graph that it keeps.

        Examples
        --------
        >>> import networkx as nx
        >>> from skgraphkde import GraphKDEDetector
        >>> graphs = [nx.cycle_graph(n) for n in range(15, 65)] + [nx.star_graph(30)]
        >>> GraphKDEDetector().fit(graphs).suggest(1).tolist()
        [50]
        """
        check_scalar(n, "n", Integral, min_val=1)
        check_is_fitted(self)
        self.check_keeps_training_graphs()
        ranks = rankdata(self.calibration_scores_) / len(self.calibration_scores_)
        group = np.arange(len(ranks))
        for found in find_groups(self.model_):
            group[found.members] = found.members[0]
            if not self.verdicts_[self.calibration_graphs_[found.members]].any():
                ranks[found.members] = np.minimum(ranks[found.members], found.share)
        (kinds,) = kinds_of(self.training_graphs_)  # equal for copies
        is_judged = np.isin(kinds, kinds[self.verdicts_ != UNKNOWN])
        unknown = np.flatnonzero(~is_judged & (self.calibration_index_ >= 0))
        index = self.calibration_index_[unknown]
        order = np.lexsort([self.calibration_scores_[index], ranks[index]])
        # Of copies, and of a group, the first.
        for alike in (kinds[unknown], group[index]):
            _, first = np.unique(alike[order], return_index=True)
            order = order[np.sort(first)]
        return unknown[order][:n]

    def check_keeps_training_graphs(self) -> None:
        """Raise a ValueError unless each training graph was compared with the others."""
        if not self.keeps_training_graphs:
            raise ValueError(
                "the training graphs are judged by the others if they calibrate: fit with "
                "calibration='loo', or give graphs"
            )

    def learn(self, X: Any, verdicts: Any) -> Self:
        """Fit again, with verdicts of people on some graphs.

        The training graphs, their verdicts, and these graphs are fitted together. A later verdict
        on a graph replaces an earlier one. Graphs of the training are recognized, and not added
        again; other graphs with the verdict "normal" become training graphs.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
        verdicts : array-like of shape (n_graphs,)
            -1 or "anomaly" for an anomaly, 1 or "normal" for a normal graph. 0 or None changes
            nothing.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a graph or a verdict is invalid. The detector is then unchanged.

        Examples
        --------
        >>> from skgraphkde import GraphKDEDetector
        >>> from skgraphkde.datasets import load_mutag
        >>> molecules, y = load_mutag(return_X_y=True)
        >>> normal, odd = molecules[y == 1], molecules[y == -1]
        >>> detector = GraphKDEDetector().fit(normal[:100])
        >>> before = int((detector.predict(odd[10:]) == -1).sum())
        >>> detector = detector.learn(odd[:10], [-1] * 10)
        >>> after = int((detector.predict(odd[10:]) == -1).sum())
        >>> before < after  # of 53
        True
        """
        batch = self.read(X)
        check_coding(verdicts)
        new_verdicts = checked_verdicts(verdicts, batch)
        if not len(batch):
            return self
        of_known, of_batch = kinds_of(self.training_graphs_, batch)
        known_verdicts = self.verdicts_.copy()
        for kind, verdict in zip(of_batch, new_verdicts, strict=True):
            if verdict != UNKNOWN:
                known_verdicts[of_known == kind] = verdict
        added = np.flatnonzero(~np.isin(of_batch, of_known) & (new_verdicts != UNKNOWN))
        self._refit(batch[added], np.append(known_verdicts, new_verdicts[added]))
        return self

    def _fit_judged(
        self, graphs: GraphBatch, judged: Judged, rng: np.random.RandomState
    ) -> np.ndarray:
        if self.calibration == "train":
            warn(
                "calibration='train' places the threshold by scores of graphs that are among their "
                "own references: at contamination 0.1, expect 30 to 99% of new normal graphs to be "
                "flagged. calibration='loo' holds the 10%"
            )
        views = self._views()
        if isinstance(self.views, str):
            views = [view for view in views if view.applies_to(graphs)]
        self._check_graph_data(views, graphs.schema)
        is_normal = np.zeros(len(graphs), dtype=bool)
        if len(judged.anomalies) and len(judged.normal):
            of_graphs, of_normal = kinds_of(graphs, judged.normal)
            is_normal = np.isin(of_graphs, of_normal)
        self.model_ = fit_model(
            graphs,
            clone(self._features()),
            self._encoder(),
            views,
            train=self._trainer(rng),
            max_references=self.max_references,
            anomalies=judged.anomalies if len(judged.anomalies) else None,
            judged=is_normal,
            rng=rng,
        )
        self._check_densities()
        return self.model_.leave_one_out()

    # Parts of the model, which a subclass may choose by parameters of its own.

    def _features(self) -> NodeFeatures:
        """Specification of the node features."""
        return NodeFeatures() if self.features == "auto" else self.features

    def _encoder(self) -> Encoder:
        """Specification of the encoder."""
        return Propagation() if self.encoder == "auto" else self.encoder

    def _trainer(
        self, rng: np.random.RandomState
    ) -> Callable[[Embedding, GraphBatch], None] | None:
        """Make the function that trains encoder and densities in place; None trains nothing."""
        return None

    def _check_graph_data(self, views: list[View], schema: FittedSchema) -> None:
        """Refuse data of graphs as a whole that the schema names, if no view looks at them."""
        for kind in KINDS_OF["graph"]:
            names = schema.names(kind)
            if not names or any(kind in view.graph_data for view in views):
                continue
            readers = " or ".join(repr(x) for x, view in VIEWS.items() if kind in view.graph_data)
            remedy = f"add {readers} to views"
            if "views" not in self.get_params(deep=False):  # as in LGKDE
                remedy = "use GraphKDEDetector, which has others"
            cause = f"none of the views {', '.join(view.name for view in views)} reads them"
            self._refuse_unused(kind, schema, cause, remedy)

    def _check_densities(self) -> None:
        """Refuse data that the schema names, if there are densities alone, and no feature of it."""
        if all(view.uses_points for view in self.model_.views):
            self._refuse_unread(self.model_.features, self.schema_)

    def _refuse_unread(self, features: NodeFeatures, schema: FittedSchema) -> None:
        """Refuse data of nodes and edges that the schema names and no node feature has."""
        used = set(features.kinds_)
        unread = []
        if schema.node_categories and "label" not in used:
            unread.append(("node_categories", "label"))
        if schema.node_numbers and not used & {"attribute", "raw_attribute"}:
            unread.append(("node_numbers", "attribute"))
        if schema.edge_numbers and "edge" not in used:
            unread.append(("edge_numbers", "edge"))
        for kind, feature in unread:
            kinds = (*(x for x in features.kinds_ if x != "constant"), feature)
            cause = f"the node features are {' and '.join(features.kinds_)}"
            remedy = f"give features=NodeFeatures({kinds})"
            is_named = self.given_schema is not None and self.given_schema.named(kind)
            if is_named or (self.features == "given" and kind != "node_categories"):
                self._refuse_unused(kind, schema, cause, remedy)

    def _refuse_unused(self, kind: str, schema: FittedSchema, cause: str, remedy: str) -> None:
        """Refuse data that the user named and that nothing uses; warn of what he did not name."""
        names = listed(list(map(repr, schema.names(kind))))
        text = f"{kind} {names} would count for nothing, as {cause}: {remedy}, or name no {kind}"
        if self.given_schema is not None and self.given_schema.named(kind):
            raise ValueError(text)
        warn(f"schema={self.schema!r}: {text}", IgnoredWarning)

    # -- score -------------------------------------------------------------------------------------

    def _check_batch(self, graphs: GraphBatch) -> None:
        self.model_.check_batch(graphs)

    def _score_batch(self, graphs: GraphBatch) -> np.ndarray:
        return self.model_.scores(graphs)

    def pairwise_distances(self, X: Any, other: Any = None) -> np.ndarray:
        """Distances between graphs under the distance of the first density.

        The size kernel is not part of the distance.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch
        other : sequence of graphs, or GraphBatch, default=None
            None means `X`.

        Returns
        -------
        ndarray of shape (len(X), len(other))
            A metric if the distance is the biased MMD. Negative estimates of a squared distance
            count as 0.
        """
        batch = self.read(X)
        if other is not None:
            return self.model_.distances(batch, self.read(other))
        D = self.model_.distances(batch, batch)
        D = np.maximum(D, D.T)  # symmetric despite rounding
        np.fill_diagonal(D, 0)
        return D

    def _scores_together(self, batch: GraphBatch) -> tuple[np.ndarray, np.ndarray]:
        model = self.model_
        weights = of_calibration = model.view_weights[:, np.newaxis]
        judged = model.as_log_p_values(model.view_scores(batch))
        if not self.keeps_training_graphs:
            held_out = self.training_graphs_[self.calibration_graphs_]
            calibration = model.as_log_p_values(model.view_scores(held_out))
        else:
            calibration = model.leave_one_out_log_p_values()
            if model.learned_weights is not None:
                of_calibration = model.learned_weights.training
        if len(model.views) == 1:
            return calibration[0], judged[0]
        return scores_together(calibration, judged, of_calibration, weights)

    def kneighbors(
        self,
        X: Any = None,
        n_neighbors: int = 5,
        return_distance: bool = True,
        *,
        view: int | str | None = None,
    ) -> Any:
        """Training graphs that are most like each graph, in the words of scikit-learn.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch, default=None
            None: the training graphs, of which none is a neighbor of itself.
        n_neighbors : int, default=5
            At least 1.
        return_distance : bool, default=True
            Whether to return distances, too.
        view : int or str, default=None
            Whose distance it is: an index in ``model_.views``, or the name of the first of its
            kind: "density", "tanimoto", "neighbors" or "statistics". None is the first density.

        Returns
        -------
        distances : ndarray of shape (n_graphs, n_neighbors)
            In ascending order; only with `return_distance`.
        indices : ndarray of shape (n_graphs, n_neighbors), int
            Positions in `training_graphs_`. Of more than `max_references` training graphs, those
            of the sample are compared.

        Raises
        ------
        ValueError
            If there are not so many references, or the view has no distances.

        Examples
        --------
        >>> import networkx as nx
        >>> from skgraphkde import GraphKDEDetector
        >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
        >>> detector.kneighbors([nx.cycle_graph(15)], 1, return_distance=False, view="statistics")
        array([[5]])
        """
        check_is_fitted(self)
        check_scalar(n_neighbors, "n_neighbors", Integral, min_val=1)
        model = self.model_
        place = self._view_with_distances(view)
        n_known = len(model.references) - (X is None)
        if n_neighbors > n_known:
            raise ValueError(f"n_neighbors is {n_neighbors}, of {n_known} graphs: lower it")
        batch = self.training_graphs_ if X is None else self.read(X)
        own = np.full(len(batch), -1)
        if X is None:
            own[self.fitted_graphs_] = np.arange(len(self.fitted_graphs_))
        distances, indices = model.nearest(batch, n_neighbors, view=place, own=own)
        indices = self.fitted_graphs_[model.reference_index[indices]]
        return (distances, indices) if return_distance else indices

    def _view_with_distances(self, view: int | str | None) -> int:
        """The index of the fitted view that is meant."""
        model = self.model_
        places = [i for i, x in enumerate(model.views) if x.has_distances]
        if view is None:
            return model.densities[0]
        if isinstance(view, Integral) and not isinstance(view, bool) and view in places:
            return int(view)
        of_name: dict[str, int] = {}
        for name, kind in VIEWS.items():
            for i in places:
                if isinstance(model.views[i], kind):
                    of_name.setdefault(name, i)
        if isinstance(view, str) and view in of_name:
            return of_name[view]
        raise ValueError(f"view must be one of {places} or of {list(of_name)}, got {view!r}")

    def transform(self, X: Any) -> np.ndarray:
        """Embed each graph as the mean of its node embeddings.

        Parameters
        ----------
        X : sequence of graphs, or GraphBatch

        Returns
        -------
        ndarray of shape (n_graphs, embedding_dim)
            Vectors for t-SNE, clustering, or any other scikit-learn estimator. `embedding_dim` is
            the dimension of the encoder's points: `hidden_dim` of a GCN, the number of node
            features times ``n_layers + 1`` of a Propagation. ``set_output(transform="pandas")``
            names the columns, see :meth:`get_feature_names_out`.
        """
        batch = self.read(X)
        return self.model_.embeddings(batch)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str, shape (embedding_dim,)
            The node features, and their averages over neighborhoods by the round of averages.
            Coordinates that mix features, as those of a GCN, have the name of the encoder and a
            number.

        Examples
        --------
        >>> import networkx as nx
        >>> from skgraphkde import GraphKDEDetector
        >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(10, 30)])
        >>> names = detector.get_feature_names_out().tolist()
        >>> names[0], names[-1]
        ('degree=0', 'round 2: return_4')
        """
        check_is_fitted(self)
        encoder = self.model_.encoder
        of_nodes = self.model_.features.get_feature_names_out().tolist()
        names = encoder.names_of_coordinates(of_nodes)
        counts = Counter[str]()
        for i, name in enumerate(names):  # 1 and "1" may be two categories
            counts[name] += 1
            if counts[name] > 1:
                names[i] = f"{name} ({counts[name]})"
        return np.array(names, dtype=object)
