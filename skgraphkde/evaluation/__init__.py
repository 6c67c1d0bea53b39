"""Evaluation of detectors: metrics, folds and scorers whose positive class is always explicit.

Targets are 1 for normal graphs and -1 for anomalies; any other coding is an error. Scores are
higher for normal graphs.
"""

from skgraphkde.evaluation.folds import OneClassKFold
from skgraphkde.evaluation.metrics import (
    auprc,
    auroc,
    detection_report,
    fpr_at_tpr,
    get_detection_scorer,
)

__all__ = [
    "OneClassKFold",
    "auprc",
    "auroc",
    "detection_report",
    "fpr_at_tpr",
    "get_detection_scorer",
]
