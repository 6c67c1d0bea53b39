"""Commands on a detector of one's own, whose class is in a module of the current folder."""

import re
import sys

import numpy as np
import pytest
from skgraphkde.persistence.registry import _classes

import skgraphkde
from tests.cli.conftest import NEW, NORMAL, column, run, table


def test_fit_score_and_info_of_an_own_detector(here, own):
    path = list(sys.path)
    result = run(f"fit normal -o own.skg --detector {own}:EdgeCount --set power=2")
    assert f"read            20 graphs, {sum(map(len, NORMAL))} nodes\n" in result.stdout
    assert "references" not in result.stdout
    detector = skgraphkde.load("own.skg")
    assert type(detector).__name__ == "EdgeCount"
    assert (detector.power, detector.random_state) == (2, 0)
    with pytest.warns(UserWarning, match="not read"):
        expected = sys.modules[own].EdgeCount(power=2, random_state=0).fit(NORMAL)
    assert detector.offset_ == expected.offset_
    rows = table(run(f"score own.skg new --detector {own}:EdgeCount").stdout)
    np.testing.assert_array_equal(column(rows, "score"), expected.score_samples(NEW))
    np.testing.assert_array_equal(column(rows, "p_value"), expected.p_values(NEW))
    assert run(f"info own.skg --detector {own}:EdgeCount").stdout == (
        f"file            own.skg, {(here / 'own.skg').stat().st_size} bytes, "
        f"skgraphkde {skgraphkde.__version__}\n"
        "detector        EdgeCount\n"
        "parameters      power=2, random_state=0\n"
        "reads           undirected graphs\n"
        f"left out        {', '.join(map(str, expected.schema_.ignored))}\n"
        "  to read these fit with --schema all, or name them: --node-category NAME, "
        "--node-number NAME, --edge-category NAME, --edge-number NAME\n"
        f"threshold       {expected.offset_:.6g} (calibration 'loo', contamination 0.1)\n"
    )
    assert sys.path == path


def test_the_class_of_a_model_must_be_named(here, own):
    run(f"fit normal -o own.skg --detector {own}:EdgeCount")
    message = (
        "Error: own.skg contains an object of the class EdgeCount: give "
        f"--detector {own}:EdgeCount\n"
    )
    for command in ("score own.skg new", "explain own.skg new", "info own.skg"):
        assert run(command, exit_code=1).stderr == message
    wrong = run(f"score model.skg new --detector {own}:EdgeCount", exit_code=1).stderr
    assert "model.skg contains an object of the class GraphKDEDetector: leave out" in wrong
    imported = run(f"score model.skg new --detector {own}").stdout  # a module alone
    assert imported == run("score model.skg new").stdout
    error = run(f"explain own.skg new --detector {own}:EdgeCount", exit_code=1).stderr
    assert error == "Error: EdgeCount has no reasons, only GraphKDEDetector\n"


def test_a_model_alone_imports_nothing(here, own):
    run(f"fit normal -o own.skg --detector {own}:EdgeCount")
    del sys.modules[own], _classes["EdgeCount"]
    for command in ("score own.skg new", "explain own.skg new", "info own.skg"):
        error = run(command, exit_code=1).stderr
        assert "name its module with --detector MODULE[:CLASS]" in error
        assert "an object of the class EdgeCount, which is not registered" in error
    assert own not in sys.modules
    assert run(f"info own.skg --detector {own}:EdgeCount").exit_code == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("nowhere_at_all:EdgeCount", "cannot import 'nowhere_at_all:EdgeCount': No module named"),
        (".{own}:EdgeCount", "cannot import '.{own}:EdgeCount'"),
        ("{own}:Unregistered", "Unregistered cannot be saved or loaded: decorate it with"),
        ("{own}:Nobody", "cannot import '{own}:Nobody': module .* has no attribute 'Nobody'"),
        ("{own}:Other", "'{own}:Other' is not module:Class of a BaseGraphDetector"),
        ("{own}:np", "'{own}:np' is not module:Class of a BaseGraphDetector"),
        ("{own}:EdgeCount --paper", "--paper has the settings of GraphKDEDetector"),
        ("{own}:EdgeCount --set n_layers=1", "Invalid parameter 'n_layers' for .*EdgeCount"),
    ],
)
def test_detectors_that_are_none(here, own, words, message):
    result = run(f"fit normal -o a.skg --detector {words.format(own=own)}", exit_code=2)
    assert re.search(message.format(own=own), result.stderr)


def test_values_are_json_or_python_literals_or_text(here):
    for value in ("None", "null"):
        run(f"fit normal -o a.skg --force --set training={value}")
        assert skgraphkde.load("a.skg").training is None
    run("fit normal -o a.skg --force --set features=given --set contamination=0.2")
    assert skgraphkde.load("a.skg").features == "given"
    run("fit normal -o a.skg --force --set encoder__n_layers=1 --set random_state=3")
    loaded = skgraphkde.load("a.skg")
    assert (loaded.encoder.n_layers, loaded.random_state) == (1, 3)
    run("fit normal -o a.skg --force --set \"views=('density', 'novelty')\"")
    assert skgraphkde.load("a.skg").views == ("density", "novelty")
    run("fit normal -o a.skg --force --set views=density --set views__kernels__size_kernel=False")
    assert skgraphkde.load("a.skg").views.kernels.size_kernel is False
