"""The loop of an analyst: report, mark in a browser, learn, report."""

import networkx as nx
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import skgraphkde
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
    assert "3 graphs with a verdict" in result.stdout
    learned = skgraphkde.load("model2.skg")
    verdicts = dict(zip(learned.training_graphs_.names, learned.verdicts_.tolist(), strict=True))
    verdicts = {name: verdict for name, verdict in verdicts.items() if verdict}
    assert verdicts == {odd: -1, normal: 1, by_key: -1}
    run("report model2.skg new -o page2.html")
    browser.get((folder / "page2.html").as_uri())
    lines(browser)
    assert "Learned from 2 confirmed anomalies." in browser.page_source
    assert browser.get_log("browser") == []
