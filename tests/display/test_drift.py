"""The picture of a monitor's statistic: the line, the threshold, the alarms."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from skgraphkde import GraphKDEDetector
from skgraphkde.display import DriftDisplay
from skgraphkde.monitoring import DriftMonitor
from tests.conftest import random_graphs


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_drift_has_the_statistic_the_threshold_and_the_alarms():
    alarms = ["", "", "martingale", "mmd", "martingale and mmd", ""]
    statistic = [1.0, 30.0, 400.0, 0.0, 1e9, 2.0]
    rows = pd.DataFrame({"statistic": statistic, "alarm": alarms}, index=range(10, 16))
    display = DriftDisplay.from_predictions(rows, 200.0)
    assert display.line_.get_xdata().tolist() == list(range(10, 16))
    np.testing.assert_allclose(display.line_.get_ydata(), [1, 30, 400, 2e-4, 2e4, 2])
    assert set(display.threshold_line_.get_ydata()) == {200.0}
    assert display.points_["martingale"].get_offsets().tolist() == [[12, 400], [14, 2e4]]
    assert display.points_["mmd"].get_offsets().tolist() == [[13, 200], [14, 200]]
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == [
        "martingale",
        "threshold 200",
        "alarm, martingale (2)",
        "alarm, mmd (2)",
    ]


def test_drift_of_a_monitor():
    detector, graphs = GraphKDEDetector().fit(random_graphs(30, seed=1)), random_graphs(20, seed=2)
    monitor = DriftMonitor(detector, window=20, random_state=0)
    display = DriftDisplay.from_estimator(monitor, graphs)
    assert monitor.n_graphs_ == len(graphs) == len(display.table)
    assert display.threshold == monitor.threshold_
    assert not display.points_


@pytest.mark.parametrize(
    ("columns", "threshold", "message"),
    [
        ({"alarm": [""]}, 1.0, "table has no column 'statistic'"),
        ({"alarm": [""], "statistic": [-1.0]}, 1.0, "must be positive"),
        ({"alarm": [""], "statistic": [1.0]}, 0.0, "must be positive"),
        ({"alarm": [""], "statistic": [np.nan]}, 1.0, "NaN"),
    ],
)
def test_rows_that_are_not_a_monitors(columns, threshold, message):
    with pytest.raises(ValueError, match=message):
        DriftDisplay.from_predictions(pd.DataFrame(columns), threshold)
