"""`learn` and `update` do what the library does, by tables that people and spreadsheets make."""

import zipfile

import networkx as nx
import numpy as np
import pytest

import skgraphkde
from tests.cli.conftest import NEW, read, run
from tests.conftest import with_data


@pytest.fixture
def fitted(here):
    """The detector in model.skg, whose training graphs have the names of their files."""
    return skgraphkde.load("model.skg")


def scores(path):
    return skgraphkde.load(path).score_samples(read(NEW))


def named():
    return read(NEW).replace(names=[f"new/{i:02d}.graphml" for i in range(7)])


def test_an_update_is_that_of_the_library(here, fitted):
    (here / "own.skg").write_bytes((here / "model.skg").read_bytes())
    result = run("update own.skg new -o own.skg --flagged --force")  # it may replace its model
    np.testing.assert_allclose(
        scores("own.skg"), fitted.partial_fit(named()).score_samples(read(NEW)), rtol=1e-9
    )
    assert result.stdout.startswith("read            7 graphs\n")
    assert "references      27 graphs" in result.stdout
    assert result.stdout.endswith("saved           own.skg\n")


def test_what_the_model_flags_does_not_join_without_being_told(here, fitted):
    odd = with_data(NEW[0].copy(), {"px": 900.0})
    nx.write_graphml(odd, "odd.graphml")
    assert fitted.predict(read([odd])) == [-1]
    flagged = [f"new/{i:02d}.graphml" for i in np.flatnonzero(fitted.predict(named()) < 0)]
    result = run("update model.skg new odd.graphml -o own.skg")
    names = ", ".join([*flagged, "odd.graphml"])
    assert f"Left out {len(flagged) + 1} that the model flags: {names};" in result.stderr
    joined = skgraphkde.load("own.skg").training_graphs_.names[20:]
    assert {*joined} == {*named().names} - {*flagged}
    run("update model.skg new odd.graphml -o all.skg --flagged")
    assert len(skgraphkde.load("all.skg").training_graphs_) == 28
    message = run("update model.skg odd.graphml -o none.skg", exit_code=1).stderr
    assert "the model flags all graphs: none joins" in message
    assert not (here / "none.skg").exists()


def test_only_the_default_detector(here, own):
    run(f"fit normal -o counts.skg --detector {own}:EdgeCount")
    message = run(f"update counts.skg new -o own.skg --detector {own}:EdgeCount", 1).stderr
    assert "contains a EdgeCount, which only `fit` changes: fit it again" in message


@pytest.mark.parametrize(
    "table",
    [
        "graph,verdict\nnew/00.graphml,anomaly\nnew/01.graphml,normal\nnew/02.graphml,\n",
        "graph,verdict,\nnew/00.graphml,anomaly,\n new/01.graphml, Normal,\n",
        "graph,verdict\nnew/00.graphml,anomaly,\nnew/01.graphml,normal,\n",
        "\ufeffverdict,graph\r\n-1,./new/00.graphml\r\n1,new//01.graphml\r\n",
        "\ufeffgraph;verdict;rank\r\nnew/00.graphml;anomaly;3\r\nnew/01.graphml;normal;\r\n;;\r\n",
        "graph\tverdict\nnew/00.graphml\tANOMALY\nnew/01.graphml\tnormal\n",
    ],
)
@pytest.mark.parametrize("graphs", ["", "new"])
def test_learning_is_that_of_the_library(here, fitted, table, graphs):
    (here / "verdicts.csv").write_text(table)
    result = run(f"learn model.skg verdicts.csv {graphs} -o own.skg")
    expected = fitted.learn(named()[:2], ["anomaly", "normal"])
    np.testing.assert_allclose(scores("own.skg"), expected.score_samples(read(NEW)), rtol=1e-9)
    assert "read            2 graphs with a verdict\n" in result.stdout


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("name,verdict\nx,anomaly", "it needs rows with the columns 'graph'"),
        ("graph,verdict\nx,odd", "the verdict on x is 'odd', and neither 'anomaly' nor 'normal'"),
        ("graph,verdict\nx,normal\n,odd", "verdicts.csv, row 3: a verdict on no graph: name"),
        ("graph,verdict\nx,", "has no verdict: mark graphs on the page"),
        ("graph,verdict\nx,normal\nx,anomaly", "has two verdicts on x: keep one"),
        ("graph,score,verdict\nx,1,normal", "its verdicts are those of a model"),
        ("", "verdicts.csv is empty: leave it out"),
        ("graph,verdict,verdict\nx,anomaly,normal", "has the column 'verdict' twice"),
        ("graph,verdict\na,b.gml,normal", "row 2: column 3 has no name"),
        ("graph,verdict\nx,normal", "verdicts.csv names x, not among the graphs that were read"),
    ],
)
def test_a_wrong_table_says_so(here, table, message):
    (here / "verdicts.csv").write_text(table)
    assert message in run("learn model.skg verdicts.csv new -o own.skg", exit_code=1).stderr
    assert not (here / "own.skg").exists()


def test_names_that_are_not_there(here):
    (here / "verdicts.csv").write_text("graph,verdict\nnew/00.graphml,anomaly\ncase1,normal\n")
    message = run("learn model.skg verdicts.csv -o own.skg", exit_code=1).stderr
    assert "names case1, which is no file here: give the files or the tables" in message
    result = run("learn model.skg verdicts.csv new -o own.skg --skip-errors", exit_code=3)
    assert "1 graph with a verdict" in result.stdout


def test_graphs_in_a_zip(here):
    with zipfile.ZipFile("day.zip", "w") as archive:
        for i in range(3):
            archive.write(f"new/0{i}.graphml")
    (here / "verdicts.csv").write_text("graph,verdict\nday.zip/new/01.graphml,anomaly\n")
    (here / "plain.csv").write_text("graph,verdict\nnew/01.graphml,anomaly\n")
    run("learn model.skg verdicts.csv -o zipped.skg")
    run("learn model.skg plain.csv -o plain.skg")
    np.testing.assert_array_equal(scores("zipped.skg"), scores("plain.skg"))
