"""Commands on a detector of one's own, whose class is in a module of the current folder."""

import re
import sys

import numpy as np
import pytest

import skgraphkde
from tests.cli.conftest import NEW, NORMAL, column, run, table


def test_fit_score_and_info_of_an_own_detector(here, own):
    result = run(f"fit normal -o own.skg --detector {own}:EdgeCount --set power=2")
    assert f"read            20 graphs, {sum(map(len, NORMAL))} nodes\n" in result.stdout
    assert "references" not in result.stdout
    detector = skgraphkde.load("own.skg", [f"{own}.EdgeCount"])
    assert type(detector).__name__ == "EdgeCount"
    assert (detector.power, detector.random_state) == (2, 0)
    with pytest.warns(UserWarning, match="not read"):
        expected = sys.modules[own].EdgeCount(power=2, random_state=0).fit(NORMAL)
    assert detector.offset_ == expected.offset_
    rows = table(run(f"score own.skg new --detector {own}:EdgeCount").stdout)
    np.testing.assert_array_equal(column(rows, "score"), expected.score_samples(NEW))
    np.testing.assert_array_equal(column(rows, "p_value"), expected.p_values(NEW))
    printed = run(f"info own.skg --detector {own}:EdgeCount").stdout
    assert "detector        EdgeCount(power=2, random_state=0)\nreads           und" in printed


def test_a_model_alone_imports_nothing(here, own):
    run(f"fit normal -o own.skg --detector {own}:EdgeCount")
    del sys.modules[own]
    for command in ("score own.skg new", "info own.skg"):
        assert f"contains {own}.EdgeCount" in run(command, exit_code=1).stderr
    assert own not in sys.modules
    assert run(f"info own.skg --detector {own}").exit_code == 0  # a module alone
    error = run(f"score own.skg new --reasons --detector {own}:EdgeCount", exit_code=1).stderr
    assert "EdgeCount has no reasons, only GraphKDEDetector" in error


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nowhere_at_all:EdgeCount", "cannot import 'nowhere_at_all:EdgeCount': No module named"),
        (".{own}:EdgeCount", "cannot import '.{own}:EdgeCount'"),
        ("{own}:Nobody", "cannot import '{own}:Nobody': module .* has no attribute 'Nobody'"),
        ("{own}:Other", "'{own}:Other' is not module:Class of a BaseGraphDetector"),
        ("{own}:np", "'{own}:np' is not module:Class of a BaseGraphDetector"),
        ("{own}:EdgeCount --paper", "Invalid parameter '"),
        ("{own}:EdgeCount --set n_layers=1", "Invalid parameter 'n_layers' for .*EdgeCount"),
    ],
)
def test_detectors_that_are_none(here, own, words, message):
    result = run(f"fit normal -o a.skg --detector {words.format(own=own)}", exit_code=2)
    assert re.search(message.format(own=own), result.stderr)
