"""UpdatableDetector: new normal graphs become references, and the calibration moves on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context

from skgraphkde.calibration import Calibration, Split, finite
from skgraphkde.density.graph_density import GraphDensity
from skgraphkde.density.references import References
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.graphs.batch import GraphBatch

# What updates draw, each from a stream of its own.
SET_ASIDE, RESERVOIR = 1, 2


class UpdatableDetector(BaseGraphDetector):
    """Adds :meth:`partial_fit` to a detector with a fitted density."""

    density_: GraphDensity
    twin_seed_: int
    _density: Any

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, graphs: Any, y: Any = None) -> Self:
        """Learn from more normal graphs: they become references, and the calibration moves on.

        What was adapted to the graphs of `fit` stays as it is: features with their scales and
        vocabulary, weights of the encoder, constants of the distances, bandwidths, and the
        `contamination`, if it was changed since. It costs about as much as scoring the graphs. A
        detector that is not fitted is fitted.

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            Normal graphs, at least one, in the order in which they came.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a graph cannot be used, or the detector cannot be updated: `references` has to be
            None, which keeps all graphs, or ``References("window")`` or ``References("reservoir")``
            with no fewer references than the detector has; and `calibration` not "train". Then the
            detector stays as it was.

        Warns
        -----
        UserWarning
            If the graphs have a category that `fit` did not see. It has no node feature of its own
            until you fit again; references that have it are known to :class:`Novelty`.

        Notes
        -----
        Each graph is scored before it joins, by references that do not contain it, as a new graph
        is. These scores, in each view, become calibration scores: the latest ones, as many as there
        were after `fit`, or `max_references` if that is more. With
        ``calibration="split"`` the share `fraction` of the graphs, drawn at random, is set aside:
        they become calibration scores and never references, and the others become references only.

        With a full window the references of any two graphs are drawn alike, so that a normal graph
        has a p-value of at most a with a probability of about a. While references become more, old
        calibration scores are a little lower than they would be today, and p-values larger: there
        are fewer false alarms, not more. All that assumes that nothing drifts.

        A copy of a reference is left out where `fit` would leave it out: see `calibration`.

        Another thread that scores meanwhile gets scores of the detector before or after the update.
        Only one thread may update.

        Examples
        --------
        >>> from skgraphkde import GraphKDEDetector, References
        >>> from skgraphkde.datasets import load_mutag
        >>> molecules, y = load_mutag(return_X_y=True)
        >>> normal = molecules[y == 1]
        >>> detector = GraphKDEDetector(references=References("window", max_references=60))
        >>> detector = detector.fit(normal[:60])
        >>> for start in range(60, 120, 20):
        ...     detector = detector.partial_fit(normal[start : start + 20])
        >>> len(detector.density_.references), detector.n_graphs_seen_
        (60, 120)
        """
        if not hasattr(self, "density_"):
            return self.fit(graphs)
        self.validate()
        updated = self._snapshot()  # whatever fails below, self stays as it was
        updated._update(graphs)
        self.__dict__ = updated.__dict__  # at once, for whoever uses it in another thread
        return self

    def _update(self, graphs: Any) -> None:
        self.check_updatable()
        references, calibration = (self.specification(x) for x in ("references", "calibration"))
        batch = self.read(graphs)
        known = self.density_.references
        first = calibration.distinct(GraphBatch.concatenate([known, batch]))[len(known) :]
        counted = np.flatnonzero(first == np.arange(len(known), len(known) + len(batch)))
        if len(counted):
            self._join(batch[counted], self.n_graphs_seen_ + counted, references, calibration)
        n_seen, n_counted = self.calibration_.n_seen, self.calibration_.n_counted
        self.calibration_ = replace(
            self.calibration_, n_seen=n_seen + len(batch), n_counted=n_counted + len(counted)
        )

    def check_updatable(self) -> None:
        """Raise a ValueError if the fitted detector has parameters that no update can continue."""
        references, calibration = (self.specification(x) for x in ("references", "calibration"))
        if not isinstance(calibration, Calibration):
            raise ValueError(
                "calibration='train' uses scores in which each graph vouches for itself, which no "
                "update can continue: fit with calibration='loo' or 'split'"
            )
        if isinstance(calibration, Split) != (self.calibration_.views is not None):
            raise ValueError(
                f"the detector was not fitted with calibration={self.calibration!r}: set the "
                "calibration of fit, or fit again"
            )
        if references is None:
            return
        if not references.is_bounded:
            raise ValueError(
                f"references={self.references!r} keeps a share of the graphs of fit, and says "
                "nothing of new ones: fit with references='window' or 'reservoir', or with None, "
                "which keeps all"
            )
        n = len(self.density_.references)
        if n > references.most:
            raise ValueError(
                f"the detector has {n} references, and max_references={references.most} would "
                "leave it with fewer, by which its calibration scores were not computed: raise "
                "max_references, or fit again"
            )

    def _join(
        self,
        batch: GraphBatch,
        numbers: np.ndarray,
        references: References | None,
        calibration: Calibration,
    ) -> None:
        """Score graphs, which have these numbers among all, then let them join."""
        density, share = self.density_, 1.0
        scores = self._density.view_scores(batch, verbose=self.verbose)
        for of_view in scores:
            finite(of_view)
        joins = np.ones(len(batch), dtype=bool)
        if isinstance(calibration, Split):
            share = 1 - calibration.fraction  # of the graphs, that can become references
            drawn = [self._rng(SET_ASIDE, number).random() for number in numbers.tolist()]
            joins = np.array(drawn) < share
        n_known, candidates = len(density.references), np.flatnonzero(joins)
        kept, most = np.arange(n_known + len(candidates)), np.inf
        if references is not None:
            most = references.most
            rngs = {
                self.calibration_.n_counted + i: self._rng(RESERVOIR, number)
                for i, number in zip(candidates.tolist(), numbers[candidates].tolist(), strict=True)
            }
            kept = references.after(n_known, rngs, share)
        is_known = kept < n_known
        training_scores = density.training_scores
        if training_scores is not None:
            training_scores = _latest(training_scores, scores[:, joins], most)
        self.density_ = density.updated(
            kept[is_known], batch[candidates[kept[~is_known] - n_known]], training_scores
        )
        self._move_on(scores, numbers, joins, most)

    def _move_on(
        self, scores: np.ndarray, numbers: np.ndarray, joins: np.ndarray, most: float
    ) -> None:
        """Calibrate with scores of graphs that have joined, or, of a split, of those set aside."""
        density, old = self.density_, self.calibration_
        views = old.views
        if views is not None:
            scores, numbers = scores[:, ~joins], numbers[~joins]
            views = _latest(views, scores, most)
            of_graphs = density.as_log_p_values(views).sum(axis=0)
        elif density.training_scores is not None:
            of_graphs = density.leave_one_out()  # under p-values that are those of new graphs
        else:
            of_graphs = _latest(old.scores, scores[0], most)
        graphs = _latest(old.graphs, numbers, most)
        self.calibration_ = replace(old, scores=finite(of_graphs), graphs=graphs, views=views)
        self.calibration_.warn_if_few()

    def _scores_set_aside(self, graphs: GraphBatch) -> tuple[np.ndarray, np.ndarray]:
        views = self._density.view_scores(graphs, verbose=self.verbose)
        return self.density_.as_log_p_values(views).sum(axis=0), views

    def _rng(self, purpose: int, number: int) -> np.random.Generator:
        """What is drawn for a graph depends on its number alone, not on what came with it."""
        return np.random.default_rng([self.twin_seed_, purpose, number])


def _latest(old: np.ndarray, new: np.ndarray, most: float) -> np.ndarray:
    """The latest of old and new scores: as many as there were, or `most` if that is more."""
    joined = np.concatenate([old, new], axis=-1)
    n = min(joined.shape[-1], max(most, old.shape[-1]))
    return joined[..., joined.shape[-1] - int(n) :]
