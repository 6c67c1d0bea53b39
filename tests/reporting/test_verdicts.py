"""The loop of an analyst: report, mark in a browser, learn, report."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import skgraphkde
from skgraphkde.views import Confirmed
from tests.cli.conftest import run
from tests.conftest import random_graphs
from tests.reporting.conftest import draw_little
from tests.reporting.test_browser import browser, until  # noqa: F401

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of normal graphs, and of new ones, some of which have a tail."""
    monkeypatch.chdir(tmp_path)
    draw_little(monkeypatch)
    graphs = random_graphs(46, seed=3, max_nodes=12)
    for graph in graphs[40:]:
        nx.add_path(graph, [0, *range(20, 26)])
        nx.set_node_attributes(graph, dict.fromkeys(range(20, 26), "C"), "label")
    for name, some in (("normal", graphs[:34]), ("new", graphs[34:])):
        (tmp_path / name).mkdir()
        for i, graph in enumerate(some):
            nx.write_graphml(graph, tmp_path / name / f'{i} "odd", or not.graphml')
    return tmp_path


def lines(browser):  # noqa: F811
    until(lambda: browser.find_elements(By.CLASS_NAME, "dt-search"))
    rows = browser.find_elements(By.CSS_SELECTOR, "tr[data-details]")
    return {row.find_element(By.TAG_NAME, "button").text: row for row in rows}


def pressed(row):
    marks = row.find_elements(By.CSS_SELECTOR, "button.mark[aria-pressed=true]")
    return [x.get_attribute("value") for x in marks]


def test_what_is_marked_is_learned(browser, folder):  # noqa: F811
    run("fit normal -o model.skg")
    run("report model.skg new -o page.html")
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    browser.get((folder / "page.html").as_uri())
    rows = lines(browser)
    save = browser.find_element(By.ID, "save")
    assert not save.is_enabled()
    odd, normal, undone, by_key = list(rows)[:4]
    for name, value in ((odd, "anomaly"), (normal, "normal"), (undone, "normal")):
        rows[name].find_element(By.CSS_SELECTOR, f"button.mark[value={value}]").click()
        assert pressed(rows[name]) == [value]
    rows[undone].find_element(By.CSS_SELECTOR, "button.mark[value=normal]").click()
    assert pressed(rows[undone]) == []
    rows[by_key].find_element(By.TAG_NAME, "button").send_keys("n")
    rows[by_key].find_element(By.TAG_NAME, "button").send_keys("a")
    assert pressed(rows[by_key]) == ["anomaly"]
    assert not browser.find_elements(By.CSS_SELECTOR, "td.opened")  # a mark opens no row

    browser.refresh()  # which keeps the verdicts
    rows = lines(browser)
    assert [pressed(rows[x]) for x in (odd, normal, undone)] == [["anomaly"], ["normal"], []]
    save = browser.find_element(By.ID, "save")
    assert save.text == "Save 3 verdicts"
    save.send_keys(Keys.ENTER)
    until((folder / "verdicts.csv").exists)

    result = run("learn model.skg verdicts.csv -o model2.skg")
    assert "Learned from 3 verdicts, 2 of them anomalies." in result.stdout
    learned = skgraphkde.load("model2.skg").model_.first(Confirmed)
    verdicts = dict(zip(learned.graphs_.names, learned.verdicts_.tolist(), strict=True))
    assert verdicts == {odd: -1, normal: 1, by_key: -1}
    run("report model2.skg new -o page2.html")
    browser.get((folder / "page2.html").as_uri())
    lines(browser)
    assert "Learned from 3 verdicts, 2 of them anomalies." in browser.page_source
    assert browser.get_log("browser") == []


def test_verdicts_of_a_table(folder):
    run("fit normal -o model.skg")
    files = sorted((folder / "new").iterdir())
    rows = [f'"new/{files[0].name}",anomaly', f'"new/{files[1].name}",', "no such graph,normal"]
    table = "\n".join(["graph,verdict", *(row.replace('"odd"', '""odd""') for row in rows)])
    (folder / "verdicts.csv").write_text(table)
    result = run("learn model.skg verdicts.csv new -o model2.skg", exit_code=1)
    assert "verdicts.csv names no such graph, not among the graphs" in result.stderr
    assert not (folder / "model2.skg").exists()
    result = run("learn model.skg verdicts.csv new --skip-errors -o model2.skg", exit_code=3)
    assert "1 graphs with a verdict" in result.stdout
    before, after = (skgraphkde.load(x) for x in ("model.skg", "model2.skg"))
    assert len(after.model_.views) == len(before.model_.views) + 1
    assert np.isfinite(after.calibration_scores_).all()


def test_names_of_files_are_enough_and_normal_graphs_can_join(folder):
    run("fit normal -o model.skg")
    names = [f"new/{path.name}" for path in sorted((folder / "new").iterdir())]
    rows = pd.DataFrame({"graph": names[:5], "verdict": ["Anomaly", "-1", " normal", "", "1"]})
    rows.to_csv("verdicts.csv", index=False, encoding="utf-8-sig")
    run("learn model.skg verdicts.csv -o model2.skg")
    run("learn model.skg verdicts.csv --update -o model3.skg")
    first, second = (skgraphkde.load(x) for x in ("model2.skg", "model3.skg"))
    assert first.model_.first(Confirmed).verdicts_.tolist() == [-1, -1, 1, 1]
    assert len(second.model_.references) == len(first.model_.references) + 2
    before = (folder / "verdicts.csv").read_bytes()
    result = run("learn model.skg verdicts.csv -o verdicts.csv --force", exit_code=2)
    assert "is both verdicts and output" in result.stderr
    assert (folder / "verdicts.csv").read_bytes() == before
    rows.assign(graph=[f"./{name}" for name in names[:5]]).to_csv("verdicts.csv", index=False)
    assert "4 graphs with" in run("learn model.skg verdicts.csv new -o model5.skg").stdout
    rows.assign(graph=[f"case{i}" for i in range(5)]).to_csv("verdicts.csv", index=False)
    result = run("learn model.skg verdicts.csv -o model4.skg", exit_code=1)
    assert "names case0, which is no file here: give the files or the tables" in result.stderr


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("name,verdict\nx,anomaly", "has no column 'graph', but name, verdict"),
        ("graph,verdict\nx,odd", "the verdict on x is 'odd', and neither 'anomaly' nor 'normal'"),
        ("graph,verdict\nx,", "has no verdict: mark graphs on the page"),
        ("graph,verdict\nx,normal\nx,anomaly", "has two verdicts on x: keep one"),
        ("graph;verdict\nx;normal", "between commas"),
        ("graph,score,verdict\nx,1,normal", "its verdicts are those of a model"),
        ("", "has no column 'graph', but none: the columns are"),
        ("graph,verdict\na,b.gml,normal", "line 2 has more cells than columns: put names"),
    ],
)
def test_a_wrong_table_says_so(folder, table, message):
    run("fit normal -o model.skg")
    (folder / "verdicts.csv").write_text(table)
    assert message in run("learn model.skg verdicts.csv new -o model2.skg", exit_code=1).stderr
