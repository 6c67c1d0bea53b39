"""``skgraphkde update`` does what ``partial_fit`` does, and writes a file only if it can."""

import re

import networkx as nx
import numpy as np
import pytest

import skgraphkde
from skgraphkde import GraphKDEDetector, References
from skgraphkde.detectors import files
from skgraphkde.graphs.files import walk
from tests.cli.conftest import NEW, NORMAL, SCHEMA, read, run


@pytest.fixture
def model(here):
    references = References("window", max_references=22)
    fitted = GraphKDEDetector(schema=SCHEMA, references=references, random_state=0).fit(NORMAL)
    fitted.save("window.skg", {"from": "me"})
    return fitted


@pytest.mark.parametrize("size", [1000, 2])
def test_an_update_is_that_of_the_library(here, model, monkeypatch, size):
    monkeypatch.setattr(walk, "CHUNK_GRAPHS", size)
    before, result = model.offset_, run("update window.skg new -o own.skg")
    model.partial_fit(read(NEW))
    contents = files.read("own.skg")
    assert contents.notes == {"from": "me"}
    scores = contents.detector.score_samples(read(NEW))
    np.testing.assert_allclose(scores, model.score_samples(read(NEW)), rtol=1e-9)
    assert contents.detector.calibration_scores_.tolist() == model.calibration_scores_.tolist()
    assert result.stdout.split("\n")[:4] == [
        "read            7 graphs",
        "references      22 graphs (before: 20; at most 22)",
        "calibration     22 scores, 7 of them new",
        f"threshold       {model.offset_:.6g} (before: {before:.6g})",
    ]
    assert re.fullmatch(r"saved +own.skg, after [\d.]+ seconds\n", result.stdout.split("\n", 4)[4])


def test_files_that_cannot_be_read(here, model):
    (here / "bad.json").write_text("{")
    nx.write_graphml(nx.path_graph(3), here / "other.graphml")  # without the attributes
    message = run("update window.skg bad.json new -o own.skg", exit_code=1).stderr
    assert "bad.json" in message
    assert not (here / "own.skg").exists()
    result = run("update window.skg bad.json new other.graphml -o own.skg --skip-errors", 3)
    assert result.stderr.count("Skipped: ") == 2
    assert skgraphkde.load("own.skg").n_graphs_seen_ == 27
    before = (here / "own.skg").read_bytes()
    result = run("update window.skg bad.json -o own.skg --force --skip-errors", 3)
    assert "read            0 graphs" in result.stdout
    assert (here / "own.skg").read_bytes() == before


def test_one_bad_graph_changes_nothing_for_the_others(here, model, monkeypatch):
    """They join together, as if it had not been there."""
    (here / "bad").mkdir()
    graph = nx.DiGraph(nx.read_graphml(here / "new" / "03.graphml"))
    graph.remove_edge(*next(iter(graph.edges)))  # which has a direction now
    nx.write_graphml(graph, here / "bad" / "m.graphml")
    words = "update window.skg new/00.graphml bad new -o {}.skg {}"
    message = run(words.format("none", ""), exit_code=1).stderr
    assert message.startswith("Error: bad/m.graphml: ")
    for name, size in (("with", 1000), ("two", 2)):
        monkeypatch.setattr(walk, "CHUNK_GRAPHS", size)
        result = run(words.format(name, "--skip-errors"), exit_code=3)
        assert result.stderr.count("Skipped: bad/m.graphml") == 1
    run("update window.skg new/00.graphml new -o without.skg")
    expected = skgraphkde.load("without.skg").calibration_scores_.tolist()
    for name in ("with", "two"):
        assert skgraphkde.load(f"{name}.skg").calibration_scores_.tolist() == expected


def test_copies_of_the_references(here, model):
    words = "update window.skg normal -o own.skg"
    message = run(words).stderr
    assert "training graphs are copies of others" in message
    assert skgraphkde.load("own.skg").n_graphs_seen_ == 40


def test_a_model_can_be_updated_in_place(here, model):
    for _ in range(2):
        run("update window.skg new/00.graphml -o window.skg --force")
    assert skgraphkde.load("window.skg").n_graphs_seen_ == 22


def test_models_that_cannot_be_updated(here, own):
    GraphKDEDetector(schema=SCHEMA, references="uniform").fit(NORMAL).save("uniform.skg")
    message = run("update uniform.skg new -o own.skg", exit_code=1).stderr
    assert message.startswith("Error: references='uniform' keeps a share")  # of no file
    run(f"fit normal -o counts.skg --detector {own}:EdgeCount")
    message = run(f"update counts.skg new -o own.skg --detector {own}:EdgeCount", 1).stderr
    assert "contains a EdgeCount, which cannot be updated: fit it again" in message
    assert not (here / "own.skg").exists()
