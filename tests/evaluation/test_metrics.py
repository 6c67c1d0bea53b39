import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from skgraphkde.evaluation import auprc, auroc, detection_report, fpr_at_tpr

TARGETS = st.lists(st.sampled_from([1, -1]), min_size=2, max_size=30)


def targets_and_scores(data):
    y = np.array(data.draw(TARGETS))
    assume(len(set(y)) == 2)
    integers = st.lists(st.integers(-20, 20), min_size=len(y), max_size=len(y))
    return y, np.array(data.draw(integers), dtype=float)


def auroc_slow(y, score):
    pairs = [(a, b) for a in score[y == 1] for b in score[y == -1]]
    return np.mean([(a > b) + 0.5 * (a == b) for a, b in pairs])


def auprc_slow(is_positive, score):
    """Sum of the precisions at each threshold, weighted by what it adds to the recall."""
    total, found = 0.0, 0
    for threshold in sorted(set(score), reverse=True):
        taken = score >= threshold
        now = np.sum(is_positive & taken)
        total += (now - found) * now / taken.sum()
        found = now
    return total / is_positive.sum()


def fpr_slow(is_positive, score, tpr):
    for threshold in sorted(set(score), reverse=True):
        taken = score >= threshold
        if np.mean(taken[is_positive]) >= tpr:
            return np.mean(taken[~is_positive])
    raise AssertionError


@given(st.data())
def test_auroc_counts_pairs(data):
    y, score = targets_and_scores(data)
    assert auroc(y, score) == pytest.approx(auroc_slow(y, score))


@given(st.data())
def test_auprc_of_either_class(data):
    y, score = targets_and_scores(data)
    assert auprc(y, score, positive="anomaly") == pytest.approx(auprc_slow(y == -1, -score))
    assert auprc(y, score, positive="normal") == pytest.approx(auprc_slow(y == 1, score))


@given(st.data(), st.sampled_from([0.01, 0.3, 0.5, 0.95, 1.0]))
def test_fpr_at_tpr_walks_the_thresholds(data, tpr):
    y, score = targets_and_scores(data)
    assert fpr_at_tpr(y, score, tpr=tpr) == pytest.approx(fpr_slow(y == -1, -score, tpr))
    of_normal = fpr_at_tpr(y, score, tpr=tpr, positive="normal")
    assert of_normal == pytest.approx(fpr_slow(y == 1, score, tpr))


def test_fpr_at_tpr_on_a_straight_line():
    # The point between two ties counts, although the curve does not bend there.
    assert fpr_at_tpr([1, -1, 1, -1], [1.0, 1.0, 2.0, 2.0], tpr=0.5) == 0.5


def test_alarms_are_scores_below_the_offset():
    report = detection_report([1, 1, -1, -1], [0, 1, 1, -1], offset=1, output_dict=True)
    assert report["false_alarms"] == 0.5
    assert report["misses"] == 0.5
    text = detection_report([1, 1, -1, -1], [0, 1, 1, -1], offset=1)
    titles = [
        "AUROC",
        "AUPRC, anomaly",
        "AUPRC, normal",
        "FPR at 95% TPR",
        "False alarms",
        "Misses",
    ]
    assert [line[:18].strip() for line in text.splitlines()[1:]] == titles
    assert "Misses               0.500" in text
    assert "Misses" not in detection_report([1, -1], [1, 0])


@pytest.mark.parametrize("y", [[0, 1, 1], [True, False, True], [1, 2, 1], ["1", "-1", "1"]])
def test_any_other_coding_is_refused(y):
    for metric in (auroc, fpr_at_tpr, detection_report):
        with pytest.raises(ValueError, match=r"y must be 1 .* np\.where\(y == 1, -1, 1\)"):
            metric(y, [0.1, 0.2, 0.3])


@pytest.mark.parametrize(("y", "kind"), [([1, 1], "normal"), ([-1, -1], "anomalous")])
def test_both_kinds_are_needed(y, kind):
    with pytest.raises(ValueError, match=f"all graphs are {kind}"):
        auroc(y, [1.0, 2.0])


@pytest.mark.parametrize("score", [[np.nan, 1.0], [np.inf, 1.0]])
def test_scores_have_to_be_finite(score):
    with pytest.raises(ValueError, match="y_score contains"):
        auroc([1, -1], score)


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        auroc([1, -1], [1.0])
    with pytest.raises(ValueError, match="positive must be 'anomaly' or 'normal'"):
        auprc([1, -1], [1.0, 0.0], positive="outlier")
    with pytest.raises(ValueError, match="tpr must be in"):
        fpr_at_tpr([1, -1], [1.0, 0.0], tpr=0)
