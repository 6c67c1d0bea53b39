"""PageModel: what the page says of a list of graphs, in sentences without HTML."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from skgraphkde._messages import listed
from skgraphkde._words import number
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.estimator import GraphKDEDetector
from skgraphkde.detectors.together import least_number_odd
from skgraphkde.explanation.reasons import RankedReason
from skgraphkde.explanation.views import name_view, summarize_view
from skgraphkde.page.rows import Detail, Row, are_known

# Share of graphs beyond the fence in lists of normal graphs alone: the least, and the largest.
FLAGGED_BY_FENCE = (0.02, 0.05)
# The outer fence of a box plot is so many interquartile ranges below the first quartile (Tukey).
OUTER = 3.0
# Fewer known graphs do not show what is usual.
FEWEST_KNOWN = 20
# Of the least number of odd graphs.
CONFIDENCE = 0.95
# Scores of these sizes are written without an exponent.
FIXED = 1e-6, 1e7
# A normal score that is closer to the threshold, relative to it, counts as equal.
CLOSE = 1e-6


class PageModel:
    """What the page says: how many graphs stand out, how sure that is, and what each score means.

    Parameters
    ----------
    detector : BaseGraphDetector
        Fitted.
    rows : list of Row
        All graphs, the lowest score first.
    alpha : float
        False-discovery rate of the selection.

    Attributes
    ----------
    words : Words
        For nodes, edges and graphs.
    are_known : bool
        Whether the graphs are those of the fit, each judged by the others.
    given, unknown : list of Row
        Graphs that people have judged, and the others.
    n_anomalies : int
        How many of the others are flagged.
    chance : (int, int)
        How many of as many usual graphs would be, at least and at most.
    far : set of int
        Numbers of the graphs that are flagged and far below most others: under `lowest_near`.
    """

    def __init__(self, detector: BaseGraphDetector, rows: list[Row], alpha: float) -> None:
        self.detector = detector
        self.alpha = alpha
        self.words = detector.schema_.words
        self.kinds = listed(detector.schema_.graph_categories)
        self.are_known = are_known(rows)
        self.n_graphs = len(rows)
        self.n_known = len(detector.calibration_scores_)
        self.given = [row for row in rows if row.given]
        self.unknown = [row for row in rows if not row.given]
        self.n_selected = sum(row.is_selected for row in rows)
        found = [row for row in self.unknown if row.judged.is_anomaly]
        self.n_anomalies = len(found)
        scores = np.array([row.judged.score for row in rows])
        self._format = _score_format(scores, float(detector.offset_))
        first, third = np.quantile(scores, (0.25, 0.75))
        self.lowest_near = first - OUTER * (third - first)
        self.far = {row.number for row in found if row.judged.score < self.lowest_near}
        self.least_p_value = 1 / (self.n_known + 1)
        self.contamination = detector.calibration_.contamination
        lowest, highest = FLAGGED_BY_FENCE
        if self.contamination is not None:
            lowest = highest = max(self.contamination, self.least_p_value)
        self.rate = highest
        n = len(self.unknown)
        self.chance = (math.floor(lowest * n), math.ceil(highest * n - 1e-9))

    def score(self, x: float) -> str:
        """A score, with as many digits as tell all of them from the threshold."""
        return format(x, self._format)

    def is_far(self, row: Row) -> bool:
        """True for a graph that is far below most others."""
        return row.number in self.far

    # -- the top of the page -------------------------------------------------------------------

    @property
    def headline(self) -> str:
        """How many graphs stand out."""
        verb = "stands" if self.n_anomalies == 1 else "stand"
        text = f"{self.n_anomalies} of {self.words.counted(len(self.unknown), 'graph')} {verb} out"
        n_given = sum(row.given == "anomaly" for row in self.given)
        if n_given:
            text += f"; {n_given} more {'was' if n_given == 1 else 'were'} confirmed before"
        return text

    @property
    def how_sure(self) -> str:
        """How many usual graphs would stand out by chance, and how sure a verdict is."""
        graphs = self.words.graphs
        if not self.detector.is_calibrated_:
            return (
                'Nobody knows: the threshold was set with calibration="train", by which far more '
                f"usual {graphs} stand out."
            )
        if self.are_known and self.contamination is not None:
            return (
                f"You asked for the oddest {percent(self.rate)}: as many stand out in any list, so "
                "each is a hint to check, and no proof."
            )
        n_far = len(self.far)
        is_by_chance = self.n_anomalies <= self.chance[1]
        sentences = [self._by_chance()]
        if not is_by_chance:
            subject = "It" if self.n_anomalies == 1 else "Each"
            sentences.append(f"{subject} is still a hint to check, and no proof.")
        if 0 < n_far < self.n_anomalies:
            these = "that one" if n_far == 1 else f"these {n_far}"
            sentences.append(f"Look at {these} first, marked “far below”.")
        elif is_by_chance and self.n_anomalies > 1 and not n_far:
            sentences.append("Look at the first few only.")
        if self.n_known < FEWEST_KNOWN:
            known = "" if self.are_known else "known "
            sentences.append(f"{self.n_known} {known}{graphs} are too few to show what is usual.")
        if not self.are_known:
            sentences.append(self._selection())
        return " ".join(sentences)

    def _by_chance(self) -> str:
        """How many usual graphs would stand out, and how many do."""
        least, most = self.chance
        n = self.n_anomalies
        n_far = len(self.far)
        of_chance = f"{least} to {most}" if least < most else str(most)
        graphs = self.words.graph if len(self.unknown) == 1 else self.words.graphs
        too = ", too" if 0 < n <= most else ""
        text = (
            f"By chance alone, about {of_chance} of {len(self.unknown)} usual {graphs} would stand "
            f"out{too}; here, {n or 'none'} {'do' if n > 1 else 'does'}"
        )
        if n_far:
            text += f", {f'{n_far} of them ' if n_far < n else ''}far below most others"
            if n_far == n <= most:
                text += f": check {'it' if n_far == 1 else 'these'} first"
        return f"{text}."

    def _selection(self) -> str:
        """How many graphs are odd enough for the false-discovery rate, and how many are, at least.

        The second is often more: that a list has odd graphs is easier to see than which.
        """
        text = self._selected()
        scores = np.array([row.judged.score for row in self.unknown])
        least = least_number_odd(scores, self.detector.calibration_scores_, 1 - CONFIDENCE)
        if least:
            are = "is" if least == 1 else "are"
            text += (
                f" With {percent(CONFIDENCE)} confidence, at least {least} of {len(self.unknown)} "
                f"{are} unlike the known {self.words.graphs}, whichever these are."
            )
        return text

    def _selected(self) -> str:
        """How many graphs are odd enough for the false-discovery rate."""
        rate = f"at most {percent(self.alpha)} of such {self.words.graphs} turn out usual."
        if not self.n_selected:
            return f"None is odd enough to be sure that {rate}"
        first = "The first is" if self.n_selected == 1 else f"The first {self.n_selected} are"
        return f"{first} so odd that, on average, {rate}"

    @property
    def are_enough(self) -> bool:
        """True if the known graphs show what is usual."""
        return self.n_known >= FEWEST_KNOWN

    @property
    def what_next(self) -> str:
        """What to do first."""
        if not self.are_enough:
            return (
                f"Ask whoever made this page for one with more {self.words.graphs}, and do not "
                "mark any yet."
            )
        if self.n_anomalies:
            return "Open the first row, and read why it stands out."
        return "Open the first row: it is the oddest."

    @property
    def learned_from(self) -> str:
        """From how many verdicts the detector has learned; "" if from none."""
        if not isinstance(self.detector, GraphKDEDetector):
            return ""
        n_odd, n_normal = (int((self.detector.verdicts_ == x).sum()) for x in (-1, 1))
        of_normal = f"{self.words.counted(n_normal, 'graph')} judged normal"
        if n_odd:
            anomalies = "anomaly" if n_odd == 1 else "anomalies"
            and_normal = f" and {of_normal}" if n_normal else ""
            return f"Learned from {n_odd} confirmed {anomalies}{and_normal}."
        if n_normal:
            return f"Learned from {of_normal}; a confirmed anomaly teaches more."
        return ""

    # -- one graph -----------------------------------------------------------------------------

    def place_of(self, row: Row) -> str:
        """Where a graph is in the list."""
        if row.given:
            return "confirmed before"
        of = " without a verdict" if self.given else ""
        return f"place {row.place} of {len(self.unknown)}{of}, from the oddest on"

    def meaning_of_score(self, row: Row) -> str:
        """What the score of a graph means for its verdict."""
        offset = self.score(self.detector.offset_)
        if row.given == "anomaly":
            return "so low because it is a confirmed anomaly"
        if row.judged.is_anomaly:
            far = ""
            if self.is_far(row):
                far = f", and far below, as it is under {self.score(self.lowest_near)}"
            return f"it stands out, as it is below {offset}{far}"
        if row.judged.decision < 0:
            return f"below {offset}, but judged normal"
        if self.score(row.judged.score) == offset:
            return "equal to the threshold; only what is lower stands out"
        return f"it would stand out below {offset}"

    def caption(self, detail: Detail, reasons: list[RankedReason]) -> str:
        """What the colors, lines and circles of a picture are."""
        words = self.words
        values = detail.colors.values
        text = ""
        if values is not None and detail.colors.radius is None:
            is_blue = values.min() < 0
            blue = ", bluish ones make it like them" if is_blue else ""
            text = (
                f"{'Reddish' if is_blue else 'Colored'} {words.nodes} set it apart from the "
                f"{words.graphs} most like it{blue}: the deeper the color, the more. "
            )
        elif values is not None:
            text = (
                f"Colored {words.nodes}: no other {words.graph} has one like it with the same "
                "around it; the deeper the color, the nearer is what differs. A reason need not "
                "name it. "
            )
        if any(reason.edges for reason in reasons):
            most = "60" if any(reason.kind == "shape" for reason in reasons) else "five"
            return text + (
                f"Broad lines: {words.edges} that the reasons are about. Circled: their ends, and "
                f"{words.nodes} that the reasons are about. Up to {most} of each for a reason."
            )
        if detail.lines:
            return f"{text}Circled: {words.nodes} that the reasons are about, up to five for each."
        if reasons:
            are = " is" if len(reasons) == 1 else "s are"
            return f"{text}The reason{are} about the whole {words.graph}."
        return text

    def usual_heading(self, detail: Detail) -> str:
        """The heading above the most similar usual graph."""
        alike = ""
        if detail.usual >= 0 and not detail.lacks:
            alike = ", of about the same size"
            if self.kinds:
                alike = f", of the same {self.kinds} and about the same size"
        return f"The most similar {self.words.graph} that does not stand out{alike}"

    def usual_name(self, detail: Detail) -> str:
        """The name of that graph, and in what no usual one is like the graph."""
        if detail.lacks == "size":
            return f"{detail.usual_name} (none is of about the same size)"
        if detail.lacks:
            return f"{detail.usual_name} (none of about the same size has the same {self.kinds})"
        return detail.usual_name

    # -- how the page was made -----------------------------------------------------------------

    @property
    def threshold(self) -> str:
        """How the threshold was set."""
        if self.contamination is None:
            known = "" if self.are_known else "known "
            return (
                f"the lower fence of a box plot of the {known}scores: the first quartile minus 1.5 "
                "times its distance to the third, or less, so that at most a tenth is below."
            )
        if not self.detector.is_calibrated_:
            return (
                "a quantile of the training graphs' scores, each of which contains the graph "
                "itself."
            )
        return f"below which about {percent(self.rate)} of usual {self.words.graphs} are."

    @property
    def selection_limit(self) -> str:
        """What the number of known scores allows to select."""
        text = (
            f"With {self.n_known} known scores to compare with, no p-value is below "
            f"{number(self.least_p_value)}"
        )
        fewest = math.ceil(self.n_graphs * self.least_p_value / self.alpha - 1e-9)
        if fewest > self.n_graphs:
            return f"{text}, which is too much to select any of so few at this rate."
        if fewest > 1:
            return f"{text}, and a selection has at least {fewest}, or none."
        return f"{text}."

    @cached_property
    def views(self) -> list[tuple[str, str, float]]:
        """The name of each view, what it looks at, and its weight."""
        if not isinstance(self.detector, GraphKDEDetector):
            return []
        model = self.detector.model_
        found = []
        for view, weight in zip(model.views, model.view_weights.tolist(), strict=True):
            found.append((name_view(view), summarize_view(view), weight))
        return found

    def by_summary(self, surprises: np.ndarray) -> list[tuple[str, float]]:
        """The surprises of the views, added up for views that look at the same."""
        total: dict[str, Any] = {}
        for (name, summary, _), surprise in zip(self.views, surprises.tolist(), strict=True):
            what = summary or name
            total[what] = total.get(what, 0.0) + surprise
        return list(total.items())


def percent(x: float) -> str:
    """A share as a percentage."""
    return f"{100 * x:.3g}%"


def _score_format(scores: np.ndarray, offset: float) -> str:
    """The format of all scores, in which they look unlike the threshold, but for one that is it."""
    others = scores[(scores < offset) | ~np.isclose(scores, offset, rtol=CLOSE, atol=0)].tolist()
    size = max(abs(offset), float(np.median(np.abs(scores))))
    kind = "e"
    least = 2
    if FIXED[0] <= size < FIXED[1]:
        kind = "f"
        least = max(2 - math.floor(math.log10(size)), 0)
    formats = [f"z.{n}{kind}" for n in range(least, 17)]
    looks_unlike = (x for x in formats if format(offset, x) not in [format(y, x) for y in others])
    return next(looks_unlike, formats[-1])
