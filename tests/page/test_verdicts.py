"""The loop of an analyst: report, mark in a browser, learn, report."""

import pandas as pd
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import skgraphkde
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.cli.verdicts import read_verdicts
from tests.cli.conftest import run, write_cases
from tests.conftest import random_graphs
from tests.core.scoring.common import cases
from tests.page.conftest import draw_little, until

pytestmark = pytest.mark.slow


def lines(browser):
    until(lambda: browser.find_elements(By.CLASS_NAME, "dt-search"))
    browser.execute_script("document.querySelectorAll('.fold').forEach((x) => (x.open = true))")
    rows = browser.find_elements(By.CSS_SELECTOR, "tr[data-details]")
    return {row.find_element(By.TAG_NAME, "td").text: row for row in rows}


def pressed(row):
    marks = row.find_elements(By.CSS_SELECTOR, "button.mark[aria-pressed=true]")
    return [x.get_attribute("value") for x in marks]


# -- find, mark, find again ------------------------------------------------------------------------

ODD = {f"c{i}" for i in range(80, 86)}  # paid before they were posted


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Tables of the cases of 86 orders."""
    monkeypatch.chdir(tmp_path)
    draw_little(monkeypatch)
    write_cases(tmp_path, cases(80, 6, "category"))
    return tmp_path


FIND = "find edges.csv --nodes nodes.csv --graph-column case --directed --node-category step"


def opened(browser, folder):
    """The lines of the page, which is opened; the download of its verdicts goes to the folder."""
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)}
    )
    browser.get((folder / "page.html").as_uri())
    return lines(browser)


def saved(browser, folder):
    """The table that the page saves, graph by graph."""
    path = folder / "verdicts.csv"
    path.unlink(missing_ok=True)
    browser.find_element(By.ID, "save").click()
    until(path.exists)
    rows = pd.read_csv(path, keep_default_na=False).set_index("graph")
    assert sorted(rows["rank"]) == list(range(1, 87))
    return rows["verdict"]


def marked(row, value):
    row.find_element(By.CSS_SELECTOR, f":scope > td button.mark[value={value}]").click()
    assert pressed(row) == [value]


def test_three_rounds_of_find_and_mark(browser, tables):
    run(f"{FIND} -o page.html")
    rows = opened(browser, tables)
    assert not browser.find_element(By.ID, "save").is_enabled()
    name = next(x for x, row in rows.items() if "Pay -> Post" in row.text)
    group = rows[name]
    assert name.startswith("6 cases alike")
    assert browser.find_element(By.CLASS_NAME, "dt-info").text.endswith(" rows; a group is one")

    # The filter finds members of groups.
    field = browser.find_element(By.CSS_SELECTOR, ".dt-search input")
    field.send_keys("c83")
    until(lambda: len(browser.find_elements(By.CSS_SELECTOR, "tr[data-details]")) == 1)
    assert "6 cases alike" in browser.find_element(By.CSS_SELECTOR, "tr[data-details]").text
    field.send_keys(*3 * [Keys.BACKSPACE])
    until(lambda: len(browser.find_elements(By.CSS_SELECTOR, "tr[data-details]")) == len(rows))

    # Round 1: the group is opened, and one of its members is marked; a normal graph, too.
    group.find_element(By.TAG_NAME, "button").click()
    members = browser.find_elements(By.CSS_SELECTOR, ".opened .members > li")
    assert {x.find_element(By.TAG_NAME, "summary").text.split()[1] for x in members} == ODD
    first = members[0]
    first.find_element(By.TAG_NAME, "summary").click()
    assert "Score" in first.find_element(By.CSS_SELECTOR, "article p").text
    first.find_element(By.CSS_SELECTOR, "button.mark[value=anomaly]").click()
    assert pressed(group) == []  # not all of its members
    alone = next(x for x, row in rows.items() if "alike" not in x and "▲" in row.text)
    marked(rows[alone], "normal")
    rows[alone].find_element(By.CSS_SELECTOR, "button.mark[value=normal]").click()
    assert pressed(rows[alone]) == []  # a second click takes a mark back
    marked(rows[alone], "normal")
    table = saved(browser, tables)
    known = {name for name in ODD if table[name] == "anomaly"}
    assert len(known) == 1
    assert table[alone] == "normal"
    assert (table != "").sum() == 2

    # Round 2: the page has the verdicts, and the others are marked at once.
    run(f"{FIND} --verdicts verdicts.csv -o page.html")
    rows = opened(browser, tables)
    [confirmed] = known
    assert pressed(rows[confirmed]) == ["anomaly"]
    browser.execute_script("document.querySelectorAll('.fold').forEach((x) => (x.open = false))")
    field = browser.find_element(By.CSS_SELECTOR, ".dt-search input")
    field.send_keys(confirmed)
    until(lambda: rows[confirmed].is_displayed())  # the filter opens what is folded
    field.send_keys(*len(confirmed) * [Keys.BACKSPACE])
    assert (pressed(rows[alone]), browser.find_element(By.ID, "save").text) == (
        ["normal"],
        "Save verdicts (none is new)",
    )
    assert "Learned from 1 confirmed anomaly and 1 case judged normal." in browser.page_source
    group = next(row for row in rows.values() if "Pay -> Post" in row.text)
    group.find_element(By.CSS_SELECTOR, ":scope > td button.mark[value=anomaly]").click()
    assert pressed(group) == []  # some are not flagged: the row opens first
    assert browser.find_elements(By.CSS_SELECTOR, ".opened .members > li")
    marked(group, "anomaly")
    rows[confirmed].find_element(By.TAG_NAME, "button").send_keys("n")  # a mistake,
    assert pressed(rows[confirmed]) == ["normal"]
    browser.refresh()  # which the browser keeps,
    rows = lines(browser)
    assert pressed(rows[confirmed]) == ["normal"]
    rows[confirmed].find_element(By.TAG_NAME, "button").send_keys("a")  # and which is undone
    table = saved(browser, tables)
    assert {name for name in table.index if table[name] == "anomaly"} == ODD

    # Round 3: a spreadsheet has saved the table in its own way.
    text = (tables / "verdicts.csv").read_text(encoding="utf-8-sig")
    (tables / "verdicts.csv").write_bytes(
        text.replace(",", ";").replace("\n", "\r\n").encode("utf-8-sig")
    )
    run(f"{FIND} --verdicts verdicts.csv -o page.html --save model.skg")
    rows = opened(browser, tables)
    assert all(pressed(rows[name]) == ["anomaly"] for name in ODD)
    assert "Learned from 6 confirmed anomalies and 1 case judged normal." in browser.page_source
    assert not any("Pay -> Post" in row.text for row in rows.values())
    learned = skgraphkde.load("model.skg")
    assert (learned.verdicts_ == -1).sum() == 6
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("width", [1300, 390])
def test_groups_fit_the_width_and_mark_buttons_hide_nothing(browser, tables, width):
    run(f"{FIND} -o page.html")
    text = (tables / "page.html").read_text()
    text = text.replace("> anomaly</td>", "> anomaly <small>2 of 3</small></td>")
    text = text.replace("</span> anomaly", "</span> anomaly <small>1 of 10</small>")
    (tables / "page.html").write_text(text)
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    opened(browser, tables)
    beyond = browser.execute_script("""
        return [...document.querySelectorAll("tr[data-details] td > small")]
            .filter((x) => x.textContent.includes(" of "))
            .map((x) => x.getBoundingClientRect().right
                - x.closest("tr").querySelector("button.mark").getBoundingClientRect().left)""")
    assert max(beyond) <= 0
    for button in browser.find_elements(By.CSS_SELECTOR, "tr[data-details] button:not(.mark)"):
        browser.execute_script("arguments[0].click()", button)
    for summary in browser.find_elements(By.CSS_SELECTOR, ".opened .members summary"):
        browser.execute_script("arguments[0].click()", summary)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


STRANGE = [
    "constructor",
    "toString",
    "__proto__",
    "n\xa0b",
    "a\u202fb",
    "a\tb",
    "a\nb",
    "x" * 1200,
    "=cmd|x",
    "-5",
    "'+a",
    "2024//1",
    "2024/1",
]


def test_any_name_makes_the_round_trip(browser, tmp_path, monkeypatch):
    draw_little(monkeypatch)
    names = [*STRANGE, *map(str, range(9))]  # as many as the table shows
    detector = skgraphkde.GraphKDEDetector(random_state=0).fit(random_graphs(22, seed=1))
    skgraphkde.report(detector, names=names, path=tmp_path / "page.html")
    rows = list(opened(browser, tmp_path).values())
    assert browser.find_element(By.ID, "save").text == "Save verdicts (none is marked)"
    assert [pressed(row) for row in rows if pressed(row)] == []
    browser.execute_script("""
        const select = "#graphs tr[data-details] button.mark[value=normal]";
        document.querySelectorAll(select).forEach((x) => x.click())""")
    n = len([row for row in rows if pressed(row) == ["normal"]])
    assert n == len(rows)
    browser.refresh()
    assert all(pressed(row) == ["normal"] for row in lines(browser).values())
    browser.find_element(By.ID, "save").click()
    until((tmp_path / "verdicts.csv").exists)
    found = read_verdicts(str(tmp_path / "verdicts.csv"))
    files = GraphFiles(["x"], {}, {}, spans=False, skip_errors=False, quiet=True)
    assert found.of(names, files) == ["normal"] * 22
    assert len(found.ranks) == 22
