"""``skgraphkde learn`` reads what people and spreadsheets make of tables and pages."""

import csv
import zipfile

import pytest

import skgraphkde
from skgraphkde.cli.table import cell, text_of
from skgraphkde.views import Confirmed
from tests.cli.conftest import run, table
from tests.cli.test_hostile_names import FORGED, FORMULAS, TEXTS


def learned(here):
    """The names and verdicts in the new model."""
    confirmed = skgraphkde.load("learned.skg").model_.first(Confirmed)
    return dict(zip(confirmed.graphs_.names, confirmed.verdicts_.tolist(), strict=True))


@pytest.mark.parametrize("text", [*FORMULAS, *TEXTS, FORGED, "a\\nb", "\\", "\udcff\\x41", "Å"])
def test_text_comes_back_from_a_cell(text):
    assert text_of(cell(text)) == text


def test_names_that_score_writes_can_be_learned(here):
    names = ["=x", "'=y", "a\nb", "t\tb", "q\"'c", "back\\slash", "a, b"]
    for i, name in enumerate(names):
        content = (here / "new" / f"{i % 7:02d}.graphml").read_bytes()
        (here / f"{name}.graphml").write_bytes(content)
    run("score model.skg =x.graphml . -o scores.csv")
    cells = {text_of(x["graph"]): x["graph"] for x in table((here / "scores.csv").read_text())}
    written = [cells[f"{name}.graphml"] for name in names]
    with open("verdicts.csv", "w", newline="") as file:
        rows = zip(written, ["anomaly", *["normal"] * 6], strict=True)
        csv.writer(file).writerows([("graph", "verdict"), *rows])
    for graphs in ("", "."):  # in which are the tables, too
        run(f"learn model.skg verdicts.csv {graphs} -o learned.skg --force")
        assert sorted(learned(here)) == sorted(written)


@pytest.mark.parametrize("header", ["graph,verdict", "graph,verdict,"])
def test_commas_at_the_end_of_rows(here, header):
    rows = [header, "new/00.graphml,anomaly,", "new/01.graphml,normal", " new/02.graphml, normal,,"]
    (here / "verdicts.csv").write_text("\n".join(rows))
    run("learn model.skg verdicts.csv -o learned.skg")
    assert learned(here) == {f"new/0{i}.graphml": 1 if i else -1 for i in range(3)}


def test_graphs_in_a_zip(here):
    with zipfile.ZipFile("day.zip", "w") as archive:
        for i in range(3):
            archive.write(f"new/0{i}.graphml")
    run("score model.skg day.zip -o scores.csv")
    names = [row["graph"] for row in table((here / "scores.csv").read_text())]
    assert names == [f"day.zip/new/0{i}.graphml" for i in range(3)]
    (here / "verdicts.csv").write_text(f"graph,verdict\n{names[1]},anomaly\n")
    run("learn model.skg verdicts.csv -o learned.skg")
    assert learned(here) == {names[1]: -1}
