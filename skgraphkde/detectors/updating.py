"""UpdatableDetector: `partial_fit`, which adds new normal graphs to references and calibration."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context

from skgraphkde.calibration import Calibration, Split, finite
from skgraphkde.density.references import References
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.model import GraphModel
from skgraphkde.graphs.batch import GraphBatch

# Streams of random numbers: one selects held-out graphs, one replaces references.
HELD_OUT_STREAM, RESERVOIR_STREAM = 1, 2


class UpdatableDetector(BaseGraphDetector):
    """Base class of detectors with a fitted model: adds :meth:`partial_fit`."""

    model_: GraphModel
    twin_seed_: int
    _model: Any

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, graphs: Any, y: Any = None) -> Self:
        """Add normal graphs to the references and to the calibration.

        An update does not change what `fit` learned: features with their scales and vocabulary,
        weights of the encoder, constants of the distances, bandwidths, and `contamination`, even
        if the parameter was changed since. It costs about as much as scoring the graphs. If the
        detector is not fitted, it is fitted to the graphs. Views other than densities are fitted
        to the new references (:meth:`View.updated`).

        Parameters
        ----------
        graphs : sequence of graphs, or GraphBatch
            Normal graphs, at least one, in the order of their arrival.
        y : None
            Ignored.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            If a graph is invalid, or the detector cannot be updated: `references` must be None,
            which keeps all graphs, or ``References("window")`` or ``References("reservoir")`` with
            room for the current references; and `calibration` must not be "train". The detector is
            then unchanged.

        Warns
        -----
        UserWarning
            If the graphs have a category that `fit` did not see. The category has no node feature
            until you fit again; :class:`Novelty` knows it from the new references.

        Notes
        -----
        Each graph is scored before it becomes a reference, like a new graph. These scores, in each
        view, become calibration scores. The latest scores are kept: as many as there were after
        `fit`, or `max_references` if that is more. With ``calibration="split"``, the share
        `fraction` of the graphs, drawn at random, is held out: their scores become calibration
        scores, and they never become references; the other graphs become references only.

        With a full window, the references of any two graphs have the same distribution, so that a
        normal graph has a p-value of at most a with a probability of about a. While the number of
        references grows, old calibration scores are slightly too low and p-values slightly too
        large: there are fewer false alarms, not more. All this assumes that there is no drift.

        A copy of a reference is ignored if `fit` would ignore it, see `calibration`.

        Other threads that score during an update use the detector before or after the update. Only
        one thread may update at a time.

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
        >>> len(detector.model_.references), detector.n_graphs_seen_
        (60, 120)
        """
        if not hasattr(self, "model_"):
            return self.fit(graphs)
        self.validate()
        updated = self._snapshot()  # an error below leaves self unchanged
        updated._update(graphs)
        self.__dict__ = updated.__dict__  # in one step, for other threads
        return self

    def _update(self, graphs: Any) -> None:
        self.check_updatable()
        references, calibration = (self.specification(x) for x in ("references", "calibration"))
        batch = self.read(graphs)
        known = self.model_.references
        canonical_index = calibration.distinct(GraphBatch.concatenate([known, batch]))[len(known) :]
        is_distinct = canonical_index == np.arange(len(known), len(known) + len(batch))
        distinct_index = np.flatnonzero(is_distinct)
        n_seen, n_counted = self.calibration_.n_seen, self.calibration_.n_counted
        n_distinct = len(distinct_index)
        if n_distinct:
            self._join(batch[distinct_index], n_seen + distinct_index, references, calibration)
        self.calibration_ = replace(
            self.calibration_, n_seen=n_seen + len(batch), n_counted=n_counted + n_distinct
        )

    def check_updatable(self) -> None:
        """Raise a ValueError if the parameters of the fitted detector do not allow updates."""
        references, calibration = (self.specification(x) for x in ("references", "calibration"))
        if not isinstance(calibration, Calibration):
            raise ValueError(
                "calibration='train' includes each training graph in its own reference set, so its "
                "scores cannot be updated: fit with calibration='loo' or 'split'"
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
                f"references={self.references!r} keeps a share of the training graphs, and cannot "
                "be updated: fit with references='window' or 'reservoir', or with None, which "
                "keeps all graphs"
            )
        n = len(self.model_.references)
        if n > references.most:
            raise ValueError(
                f"the detector has {n} references, and max_references={references.most} would drop "
                "references that the calibration scores depend on: raise max_references, or fit "
                "again"
            )

    def _join(
        self,
        batch: GraphBatch,
        numbers: np.ndarray,
        references: References | None,
        calibration: Calibration,
    ) -> None:
        """Score graphs, then add them; `numbers` are their indices among all graphs seen."""
        model, share = self.model_, 1.0
        scores = self._model.view_scores(batch, verbose=self.verbose)
        for view_scores in scores:
            finite(view_scores)
        joins = np.ones(len(batch), dtype=bool)
        if isinstance(calibration, Split):
            share = 1 - calibration.fraction  # share of the graphs that can become references
            drawn = [self._rng(HELD_OUT_STREAM, number).random() for number in numbers.tolist()]
            joins = np.array(drawn) < share
        n_known, candidates = len(model.references), np.flatnonzero(joins)
        kept, most = np.arange(n_known + len(candidates)), np.inf
        if references is not None:
            most = references.most
            rngs = {
                self.calibration_.n_counted + i: self._rng(RESERVOIR_STREAM, number)
                for i, number in zip(candidates.tolist(), numbers[candidates].tolist(), strict=True)
            }
            kept = references.after(n_known, rngs, share)
        is_known = kept < n_known
        training_scores = model.training_scores
        if training_scores is not None:
            training_scores = _latest(training_scores, scores[:, joins], most)
        self.model_ = model.updated(
            kept[is_known], batch[candidates[kept[~is_known] - n_known]], training_scores
        )
        self._recalibrate(scores, numbers, joins, most)

    def _recalibrate(
        self, scores: np.ndarray, numbers: np.ndarray, joins: np.ndarray, most: float
    ) -> None:
        """Calibrate with the scores of new references or, with a split, of held-out graphs."""
        model, old = self.model_, self.calibration_
        views = old.views
        if views is not None:
            scores, numbers = scores[:, ~joins], numbers[~joins]
            views = _latest(views, scores, most)
            calibration_scores = model.as_log_p_values(views).sum(axis=0)
        elif model.training_scores is not None:
            calibration_scores = model.leave_one_out()  # with the p-values of new graphs
        else:
            calibration_scores = _latest(old.scores, scores[0], most)
        graphs = _latest(old.graphs, numbers, most)
        self.calibration_ = replace(
            old, scores=finite(calibration_scores), graphs=graphs, views=views
        )
        self.calibration_.warn_if_few()

    def _held_out_scores(self, graphs: GraphBatch) -> tuple[np.ndarray, np.ndarray]:
        views = self._model.view_scores(graphs, verbose=self.verbose)
        return self.model_.as_log_p_values(views).sum(axis=0), views

    def _rng(self, purpose: int, number: int) -> np.random.Generator:
        """Generator for one graph, which depends on its index alone and not on its batch."""
        return np.random.default_rng([self.twin_seed_, purpose, number])


def _latest(old: np.ndarray, new: np.ndarray, most: float) -> np.ndarray:
    """Latest of the old and new scores: as many as the old ones, or `most` if that is more."""
    joined = np.concatenate([old, new], axis=-1)
    n = min(joined.shape[-1], max(most, old.shape[-1]))
    return joined[..., joined.shape[-1] - int(n) :]
