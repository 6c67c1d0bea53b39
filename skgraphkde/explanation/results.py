"""One judgement of graphs, which frames, pages and the shell show: judge, explain, results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.utils.validation import check_is_fitted

from skgraphkde._messages import encodable
from skgraphkde._utils import during, one_blas_thread, progress, threads_for
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.scoring.calibration import check_alpha, conformal_p_values, discoveries
from skgraphkde.core.scoring.groups import find_groups
from skgraphkde.detectors.base import BaseGraphDetector, as_sequence, read_each, text_of_one
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.detectors.verdicts import NORMAL
from skgraphkde.explanation.contributions import surprises_of
from skgraphkde.explanation.of_groups import GroupInWords, say_data_of_group, say_group
from skgraphkde.explanation.reasons import COLUMNS, Profiles, RankedReason
from skgraphkde.explanation.wording import checked_names, in_two_lines

__all__ = ["explain", "results"]

# Reasons for each graph, at most.
N_REASONS = 5


class Judgement(NamedTuple):
    """The verdict on one graph, and why; only a GraphKDEDetector fills the last seven fields."""

    score: float
    decision: float  # the score minus the threshold
    p_value: float | None  # None if the detector is not calibrated
    reasons: Sequence[RankedReason] = ()  # strong and plain ones first
    surprises: np.ndarray = np.empty(0)  # of the views
    view: int = 0  # the density with the largest surprise
    references: np.ndarray = np.empty(0, dtype=int)  # positions of the nearest ones in its distance
    distances: np.ndarray = np.empty(0)  # from these
    # the calibration score of the training graph that it is, to which it was not compared; -1: none
    own: int = -1
    is_confirmed: bool = False  # somebody judged it normal, whatever its score

    @property
    def is_anomaly(self) -> bool:
        """True if the score is below the threshold, unless somebody judged the graph normal."""
        return self.decision < 0 and not self.is_confirmed

    @property
    def verdict(self) -> str:
        """The verdict in a word."""
        return "anomaly" if self.is_anomaly else "normal"

    @property
    def unusual(self) -> list[RankedReason]:
        """The strong reasons."""
        return [reason for reason in self.reasons if reason.is_unusual]

    @property
    def told(self) -> list[RankedReason]:
        """The strong reasons, or else weak ones."""
        return self.unusual or [x for x in self.reasons if x.strength > 0 or self.is_anomaly]

    @property
    def why(self) -> str | None:
        """The main reason in words, or as many weak ones as fit; None if a graph has none."""
        if self.is_confirmed and self.decision < 0:
            return "judged normal by you"
        if self.unusual:
            return self.unusual[0].text
        weak = [reason.fact for reason in self.told]
        return in_two_lines(f"{self.no_strong_sign}: ", weak, "; ")[0] if weak else None

    @property
    def no_strong_sign(self) -> str:
        """What is said before weak reasons, if no reason is strong."""
        is_one = len(self.told) == 1
        if self.is_anomaly:
            return f"no single thing explains it; weak sign{'' if is_one else 's'}"
        return "one weak sign" if is_one else "no strong sign; weak ones"

    @property
    def codes(self) -> str:
        """Kind and what of the unusual reasons as JSON: [["new", "label"], ["size", "nodes"]]."""
        return json.dumps([(x.kind, x.what) for x in self.unusual], ensure_ascii=False)


def judge(
    detector: BaseGraphDetector,
    batch: GraphBatch,
    *,
    k: int = 5,
    n_reasons: int = N_REASONS,
    node_names: Sequence[Sequence[Any]] | None = None,
    own: np.ndarray | None = None,
) -> list[Judgement]:
    """Judge graphs; each of them is embedded once.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    batch : GraphBatch
        The result of ``detector.read``.
    k : int, default=5
        Number of nearest references.
    n_reasons : int, default=5
        Largest number of reasons for each graph. 0: verdicts alone, which is several times as fast.
    node_names : sequence of sequences, default=None
        Names of the nodes of each graph, for reasons. None: their ids.
    own : ndarray of shape (n_graphs,), default=None
        The calibration score of each graph, which is a training graph and is judged by the others;
        -1 for a confirmed anomaly. None: no graph is one.

    Returns
    -------
    list of Judgement
        One per graph.
    """
    if not len(batch):
        return []
    why: list[dict[str, Any]] = [{} for _ in range(len(batch))]
    if n_reasons and isinstance(detector, GraphKDEDetector):
        if own is None:
            detector.warn_if_given_again(batch)
        with threads_for(len(batch)):
            why = _explained(detector, batch, k, n_reasons, node_names, own)
        scores = np.array([-x["surprises"].sum() for x in why])
    elif own is None:
        scores = detector.score_samples(batch)
    else:
        scores = np.empty(len(batch))
        anomalies = np.flatnonzero(own < 0)
        if len(anomalies):
            scores[anomalies] = detector.model_.scores(batch[anomalies])
    references = np.full(len(batch), -1)
    is_confirmed = np.zeros(len(batch), dtype=bool)
    if own is not None:  # by a GraphKDEDetector
        references = own
        scores[own >= 0] = detector.calibration_scores_[own[own >= 0]]
        is_confirmed = np.isin(own, detector.calibration_index_[detector.verdicts_ == NORMAL])
    p_values: list = [None] * len(batch)
    if detector.is_calibrated_:
        p_values = conformal_p_values(scores, detector.calibration_scores_).tolist()
    decisions = scores - float(detector.offset_)
    columns = (x.tolist() for x in (scores, decisions, references, is_confirmed))
    return [
        Judgement(score, decision, p_value, own=reference, is_confirmed=is_known, **x)
        for score, decision, reference, is_known, p_value, x in zip(
            *columns, p_values, why, strict=True
        )
    ]


def judge_some(
    detector: BaseGraphDetector,
    batch: GraphBatch,
    rows: np.ndarray,
    judged: Sequence[Judgement],
    *,
    node_names: Sequence[Sequence[Any]] | None = None,
    own: np.ndarray | None,
) -> list[Judgement]:
    """Judgements of all graphs of a batch, with reasons for some; arguments as for :func:`judge`.

    The reasons of all take far longer.
    """
    if not len(rows):
        return list(judged)
    node_names = None if node_names is None else [node_names[i] for i in rows]
    own = None if own is None else own[rows]
    explained = judge(detector, batch[rows], node_names=node_names, own=own)
    found = dict(zip(rows.tolist(), explained, strict=True))
    return [found.get(i, x) for i, x in enumerate(judged)]


def _explained(
    detector: GraphKDEDetector,
    batch: GraphBatch,
    k: int,
    n_reasons: int,
    node_names: Sequence[Sequence[Any]] | None,
    own: np.ndarray | None,
) -> list[dict[str, Any]]:
    """The fields of the Judgement of each graph that say why."""
    model = detector.model_
    with during(0.0, 0.15):
        context = model.context(batch)
        features = np.asarray(model.features.transform_batch(batch).attributes)
        reference = np.full(len(batch), -1) if own is None else own
        others = np.flatnonzero(reference < 0)  # new graphs, and confirmed anomalies
        scores = model.training_scores[:, reference]
        surprises = 0.0 - model.leave_one_out_log_p_values()[:, reference].T
        if len(others):
            part = context if len(others) == len(batch) else context.part(others)
            scores[:, others] = model.view_scores(part.graphs, context=part)
            surprises[others] = surprises_of(model, scores[:, others])
        densities = np.array(model.densities, dtype=int)
        views = densities[surprises[:, densities].argmax(axis=1)]
        names = batch.ids_by_graph() if node_names is None else node_names
        profiles = Profiles(model, context, features, scores, reference, names)
    found: list[dict[str, Any]] = [{} for _ in range(len(batch))]
    for view in np.unique(views):
        index = np.flatnonzero(views == view)
        n = min(k, len(model.references) - bool((reference[index] >= 0).any()))
        with during(0.15, 0.25):
            distances, references = model.nearest(
                batch[index], n, view=int(view), own=reference[index],
                context=context.part(index),
            )  # fmt: skip
        for i, near, indices in zip(index.tolist(), distances, references, strict=True):
            found[i] = {"view": int(view), "distances": near, "references": indices}
    with during(0.25, 1.0), one_blas_thread():
        for i, x in enumerate(progress(found)):
            x |= {"reasons": profiles.reasons(i, n_reasons), "surprises": surprises[i]}
    return found


def to_judge(detector: BaseGraphDetector, graphs: Any) -> tuple[GraphBatch, np.ndarray | None]:
    """The graphs to judge, and for training graphs the index of their calibration score, or -1.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graphs : sequence of graphs, GraphBatch or None
        None: the training graphs.

    Raises
    ------
    ValueError
        If `graphs` is None, and the detector has no score for each graph that it keeps.
    """
    check_is_fitted(detector)
    if graphs is not None:
        return detector.read(graphs), None
    if not isinstance(detector, GraphKDEDetector):
        raise ValueError(
            f"a {type(detector).__name__} does not judge its training graphs by the others, as a "
            "GraphKDEDetector does: give graphs"
        )
    detector.check_keeps_training_graphs()
    return detector.training_graphs_, detector.calibration_index_


def _names_of(batch: GraphBatch, names: Sequence[Any] | None = None) -> pd.Series:
    """The names of graphs, given or their own if all have one, else their positions."""
    own = batch.names if batch.names and all(batch.names) else range(len(batch))
    found = own if names is None else checked_names(names, len(batch))
    return pd.Series(
        [encodable(x) if isinstance(x, str) else x for x in found],
        dtype=None if isinstance(found, range) else object,
    )


def groups_of(
    detector: BaseGraphDetector, unread: Sequence[Mapping[str, Any]] | None = None
) -> list[GroupInWords]:
    """Training graphs that are alike and unlike the others, and what they share.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted; of its training graphs, the references are looked at.
    unread : sequence of mapping, default=None
        Data of the training graphs that count for nothing, which a group can share, too.

    Returns
    -------
    list of GroupInWords
        With the positions of the members, copies included; the most distinct groups first.
    """
    assert isinstance(detector, GraphKDEDetector)  # others do not judge their training graphs
    index = detector.calibration_index_
    with during(0.0, 0.15):
        found = find_groups(detector.model_)
    groups = []
    data = _data_of_graphs(detector.training_graphs_, unread)
    noun = detector.schema_.words.graphs
    for group in found:
        members = np.flatnonzero(np.isin(index, group.members))
        of_data = say_data_of_group(members, data, noun)
        things = [f"{thing} ({others})" for thing, others in of_data.items()]
        things += [x for x in say_group(detector.model_, group) if x not in of_data]
        groups.append(GroupInWords(members, group.share, tuple(things), group.is_only))
    return groups


def _data_of_graphs(
    graphs: GraphBatch, unread: Sequence[Mapping[str, Any]] | None
) -> list[dict[str, Any]]:
    """The categories of each graph as a whole, and other data of it."""
    categories = graphs.schema.graph_categories
    found = []
    for i, record in enumerate(graphs.records("graph")):
        data = {name: record[name] for name in categories}
        found.append(data | (dict(unread[i]) if unread else {}))
    return found


def group_numbers(groups: list[GroupInWords], n_graphs: int) -> Any:
    """The number of the group of each graph, from 1 on, missing if it is in none."""
    numbers = pd.array([pd.NA] * n_graphs, dtype="Int64")
    for number, group in enumerate(groups, 1):
        numbers[group.members] = number
    return numbers


def row_numbers(scores: np.ndarray, groups: list[GroupInWords]) -> np.ndarray:
    """The row of each graph in a list of the oddest first, in which a group is one row, from 1 on.

    Parameters
    ----------
    scores : ndarray of shape (n_graphs,)
    groups : list of GroupInWords
    """
    place = np.empty(len(scores), dtype=np.int64)
    place[np.argsort(scores, kind="stable")] = np.arange(len(scores))
    for group in groups:
        place[group.members] = place[group.members].min()
    return np.unique(place, return_inverse=True)[1] + 1


def with_shared(reasons: Sequence[str | None], groups: list[GroupInWords]) -> list[str | None]:
    """Reasons of training graphs, each with what all of its group share, if it is in one."""
    told = list(reasons)
    for group in groups:
        alike = f"{len(group.members)} alike: all have {group.shared}"
        for i in group.members.tolist():
            told[i] = f"{told[i]}; {alike}" if told[i] else alike
    return told


def explain(
    detector: GraphKDEDetector,
    graphs: Any = None,
    k: int = 5,
    *,
    n_reasons: int = 5,
    node_names: Sequence[Sequence[Any]] | None = None,
) -> pd.DataFrame:
    """Reasons why graphs are unlike those that the detector knows, strong and plain ones first.

    Each reason is a property of the graph that few references have: the lack of a kind of node or
    edge that nearly all have; a category that none has, or
    rare combinations of categories; a mean of a node feature far from those of the references; the
    size; neighborhoods that no reference has. Its strength is minus the logarithm of the
    probability that a graph like the references has any property so improbable: 0 is nothing, 3 is
    one in twenty, 10 beyond doubt. It is a description, not a part of the score.

    Of reasons that are about equally strong, what was never seen comes first, then one node, edge
    or number, then sizes, means and statistics. A fact is told once. The user guide has the rule.

    Parameters
    ----------
    detector : GraphKDEDetector
        Fitted.
    graphs : sequence of graphs, or GraphBatch, default=None
        None: the training graphs, each compared with the others.
    k : int, default=5
        Number of nearest references that are named, at least 1.
    n_reasons : int, default=5
        Rows for each graph, at most.
    node_names : sequence of sequences, default=None
        Names of the nodes of each graph. None: their ids; their positions where graphs have no
        ids, and for training graphs of a detector that was loaded.

    Returns
    -------
    DataFrame
        With the columns

        - graph : the position in `graphs`;
        - name : as in :func:`results`;
        - rank : 1 for the first reason of a graph;
        - kind : "shape", "missing", "new", "rare", "feature", "size", "extreme",
          "neighborhoods", "namesakes", "statistics", "confirmed", or the name of your own view;
        - what : the name of the category, the feature, the size or the statistic, the same whatever
          nodes, edges and graphs are called;
        - reason : in words, at most two lines;
        - strength : see above;
        - part : "node", "edge" or "graph", which it is about;
        - value, low, high : the number that it states, and the range of nine in ten known ones;
          missing where it states none. Of the size "edges" these are edges per node, of a "feature"
          the mean or the share over the graph, and "rounds" are the edges beyond those needed to
          connect the nodes;
        - n_known : the known graphs that have it, for "new" (0), "rare" and "missing"; else the
          known numbers that were compared; -1 if none;
        - nodes : positions of the nodes that it concerns most, five at most, from 0 on;
        - edges : pairs of positions of nodes, five at most, and 60 of a shape;
        - more : all of a reason that is longer than two lines; empty for others;
        - references : positions of the k nearest references, in the distance with the largest
          surprise.

    Notes
    -----
    A property is compared with those of the references, each by the others: by ranks, and beyond
    all of them by an exponential tail, or one of a t-distribution if that is heavier. What remains
    of its probability after so many properties were looked at follows from the most improbable
    property of each reference (Westfall and Young, Resampling-Based Multiple Testing, 1993).

    Raises
    ------
    ValueError
        If `k` or `n_reasons` is less than 1, or `node_names` do not fit.

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.explanation import explain
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(15, 26)])
    >>> explain(detector, [nx.cycle_graph(200)])["what"][0]
    'nodes'
    """
    if k < 1 or n_reasons < 1:
        raise ValueError(f"k and n_reasons must be at least 1, got {k!r} and {n_reasons!r}")
    batch, own = to_judge(detector, graphs)
    if node_names is not None:
        n_names = [len(names) for names in node_names]
        if n_names != batch.n_nodes_per_graph.tolist():
            raise ValueError(
                "node_names must have a list for each graph, with a name for each node: they have "
                f"{n_names[:5]} for graphs of {batch.n_nodes_per_graph.tolist()[:5]} nodes"
            )
    judged = judge(detector, batch, k=k, n_reasons=n_reasons, node_names=node_names, own=own)
    names = _names_of(batch)
    rows = []
    for i, judgement in enumerate(judged):
        for rank, reason in enumerate(judgement.reasons, 1):
            of_graph = {"graph": i, "name": names[i], "rank": rank}
            references = {"references": tuple(judgement.references)}
            rows.append(of_graph | reason.record() | references)
    columns = [*COLUMNS, "references"]
    return pd.DataFrame(rows, columns=["graph", "name", "rank", *columns])


def results(
    detector: BaseGraphDetector,
    graphs: Any = None,
    *,
    names: Sequence[Any] | None = None,
    alpha: float = 0.1,
    reasons: bool | str = True,
    errors: str = "raise",
) -> pd.DataFrame:
    """Scores, verdicts, p-values, selection and main reason of graphs, one row each.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    graphs : sequence of graphs, or GraphBatch, default=None
        None: the training graphs, each judged by the others.
    names : sequence, default=None
        One name for each graph. None: the names of the graphs (of networkx graphs,
        ``graph.graph["name"]``), if all have one; else their positions.
    alpha : float, default=0.1
        Bound on the expected share of normal graphs among those selected, in (0, 1].
    reasons : bool or "flagged", default=True
        Which graphs have a reason: all, none (False), or the anomalies. Reasons take several times
        as long as scores.
    errors : {"raise", "nan"}, default="raise"
        What a graph does that cannot be read or judged: raise an error, or have a row without
        numbers, and its error in the column "error". The others are judged as without it.

    Returns
    -------
    DataFrame
        In the order of the graphs, with the columns

        - name : see `names`;
        - score : as in ``score_samples``, higher for normal graphs;
        - decision : the score minus the threshold, negative for anomalies;
        - verdict : 1 for a normal graph, -1 for an anomaly;
        - p_value : as in :meth:`~skgraphkde.BaseGraphDetector.p_values`; missing with
          ``calibration="train"``;
        - selected : True for an anomaly among all these graphs, as in
          :meth:`~skgraphkde.BaseGraphDetector.select`; missing with ``calibration="train"``, and
          for the training graphs, whose p-values are ranks among themselves;
        - group : number, from 1 on, of a small group of training graphs that are alike and unlike
          all others, flagged or not; missing for most graphs, and for new ones;
        - reason : the first that :func:`explain` gives, in words; if its strength is below 1, as
          many as fit in two lines; then what all of its group have; missing if there is none, as
          for detectors other than :class:`~skgraphkde.GraphKDEDetector`;
        - n_unseen : how many values of categories, of its nodes, edges and itself, no training
          graph has; the first time, a warning names them;
        - error : only with ``errors="nan"``, why a graph could not be judged, with the remedy;
          missing for all others.

        An empty list has an empty table.

    Raises
    ------
    TypeError, ValueError
        If a graph cannot be used, unless ``errors="nan"``; if there are not as many names as
        graphs, alpha is not in (0, 1], or `reasons` or `errors` is something else.

    Notes
    -----
    Graphs are selected by the procedure of Benjamini and Hochberg (1995).

    Examples
    --------
    >>> import networkx as nx
    >>> from skgraphkde import GraphKDEDetector
    >>> from skgraphkde.explanation import results
    >>> detector = GraphKDEDetector().fit([nx.cycle_graph(n) for n in range(15, 65)])
    >>> frame = results(detector, [nx.cycle_graph(30), nx.star_graph(30)], names=["ring", "star"])
    >>> frame[["name", "verdict", "selected"]]
       name  verdict  selected
    0  ring        1     False
    1  star       -1      True
    """
    check_alpha(alpha)
    if reasons not in (True, False, "flagged"):
        raise ValueError(f"reasons must be True, False or 'flagged', got {reasons!r}")
    if errors not in ("raise", "nan"):
        raise ValueError(f"errors must be 'raise' or 'nan', got {errors!r}")
    own = None
    if errors == "nan" and graphs is not None:
        usable = _judge_usable(detector, graphs, names, reasons)
    else:
        batch, own = to_judge(detector, graphs)
        judged = _judged(detector, batch, own, reasons)
        n_unseen = detector.count_unseen(batch).tolist()
        usable = Usable(_names_of(batch, names), judged, n_unseen, [None] * len(batch))
    groups = [] if own is None else groups_of(detector)
    why = [None if x is None else x.why for x in usable.judged]
    is_judged = np.array([x is not None for x in usable.judged], dtype=bool)
    judged = [x for x in usable.judged if x is not None]
    scores, decisions, p_values = np.full((3, len(why)), np.nan)
    scores[is_judged] = [x.score for x in judged]
    decisions[is_judged] = [x.decision for x in judged]
    p_values[is_judged] = np.array([x.p_value for x in judged], dtype=float)
    verdicts = [None if x is None else -1 if x.is_anomaly else 1 for x in usable.judged]
    integers = "int64" if errors == "raise" else "Int64"  # which may be missing
    selected = pd.array([pd.NA] * len(why), dtype="boolean")
    if own is None and detector.is_calibrated_ and judged:
        n_scores = len(detector.calibration_scores_)
        selected[is_judged] = discoveries(p_values[is_judged], alpha, n_scores)
    table = pd.DataFrame(
        {
            "name": usable.names,
            "score": scores,
            "decision": decisions,
            "verdict": pd.array(verdicts, dtype=integers),
            "p_value": p_values,
            "selected": selected,
            "group": group_numbers(groups, len(why)),
            "reason": pd.array(with_shared(why, groups), dtype="string"),
            "n_unseen": pd.array(usable.n_unseen, dtype=integers),
        }
    )
    if errors == "nan":
        table["error"] = pd.array(usable.errors, dtype="string")
    return table


class Usable(NamedTuple):
    """What is known of each graph of a list, some of which may have an error instead."""

    names: Any
    judged: Sequence[Judgement | None]
    n_unseen: list[int | None]
    errors: list[str | None]


def _judged(
    detector: BaseGraphDetector, batch: GraphBatch, own: np.ndarray | None, reasons: bool | str
) -> list[Judgement]:
    """Judgements with the reasons that are asked for."""
    judged = judge(detector, batch, own=own, n_reasons=N_REASONS if reasons is True else 0)
    if reasons == "flagged":
        flagged = np.flatnonzero([x.is_anomaly for x in judged])
        judged = judge_some(detector, batch, flagged, judged, own=own)
    return judged


def _judge_usable(
    detector: BaseGraphDetector, graphs: Any, names: Sequence[Any] | None, reasons: bool | str
) -> Usable:
    """Judge the graphs that can be judged; a list with an error is halved, until one is alone."""
    check_is_fitted(detector)
    graphs = as_sequence(graphs)
    if not isinstance(graphs, GraphBatch):  # of a sequence without slices, too
        graphs = list(graphs)
    n = len(graphs)
    called: list[Any] = list(range(n)) if names is None else checked_names(names, n)
    own_names: list[str | None] = [None] * n
    judged: list[Judgement | None] = [None] * n
    n_unseen: list[int | None] = [None] * n
    errors: list[str | None] = [None] * n
    parts = [slice(0, n)] if n else []
    while parts:
        part = parts.pop()
        try:
            batch = read_each(detector, graphs, part)
            found = _judged(detector, batch, None, reasons)
        except (TypeError, ValueError, AttributeError, RecursionError) as error:
            middle = (part.start + part.stop) // 2
            if middle > part.start:
                parts += [slice(middle, part.stop), slice(part.start, middle)]
            else:
                errors[middle] = text_of_one(error, called[middle])
            continue
        judged[part] = found
        n_unseen[part] = detector.count_unseen(batch).tolist()
        own_names[part] = batch.names or [None] * len(batch)
    are_named = [name or x is None for name, x in zip(own_names, judged, strict=True)]
    if names is None and any(own_names) and all(are_named):
        called = [name or i for i, name in enumerate(own_names)]
    series = pd.Series([encodable(x) if isinstance(x, str) else x for x in called])
    return Usable(series if n else series.astype(object), judged, n_unseen, errors)
