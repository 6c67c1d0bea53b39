"""The page in a real browser, with Debian's packages chromium and chromium-driver.

Without them these tests are skipped, but on continuous integration (`CI=true`) they fail.
"""

import json

import pandas as pd
import pytest
from selenium.common.exceptions import NoAlertPresentException
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import skgraphkde
from skgraphkde import GraphKDEDetector, GraphSchema
from tests.conftest import random_graphs
from tests.page.conftest import NAMES, until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:node categories that fit did not see"),
]


@pytest.fixture
def opened(browser, html, tmp_path):
    """The page as it opens; at the end, there was no error, no alert and no request."""
    path = tmp_path / "page.html"
    path.write_text(html, encoding="utf-8")
    browser.get_log("browser"), browser.get_log("performance")
    browser.get(path.as_uri())
    until(lambda: browser.find_elements(By.CLASS_NAME, "dt-search"))
    yield browser
    with pytest.raises(NoAlertPresentException):
        browser.switch_to.alert.accept()
    assert browser.get_log("browser") == []
    events = [json.loads(x["message"])["message"] for x in browser.get_log("performance")]
    sent = [x for x in events if x["method"] == "Network.requestWillBeSent"]
    addresses = {x["params"]["request"]["url"] for x in sent}
    assert len(addresses) > 1
    others = {x for x in addresses if not x.startswith("data:")}
    assert others <= {path.as_uri()}


def names(browser):
    return [x.text for x in browser.find_elements(By.CSS_SELECTOR, "#graphs button:not(.mark)")]


def column(browser, place):
    cells = browser.find_elements(By.CSS_SELECTOR, f"tr[data-details] > td:nth-child({place})")
    return [x.text for x in cells]


def details(browser):
    """The headings of all graphs whose details are visible."""
    return [x.text for x in browser.find_elements(By.CSS_SELECTOR, "article h3") if x.text]


def test_it_filters_by_words_and_by_verdict(opened):
    field = opened.find_element(By.CSS_SELECTOR, ".dt-search input")
    for text, n in (("<script>alert(1)", 1), ("onerror", 2), ("lines", 1)):
        field.clear()
        field.send_keys(text)
        until(lambda: len(names(opened)) == n)  # noqa: B023
        assert all(text in name for name in names(opened))
    field.clear()
    field.send_keys(Keys.SPACE)
    until(lambda: len(names(opened)) == len(NAMES))
    verdicts = column(opened, 2)
    choice = Select(opened.find_element(By.ID, "verdict"))
    for verdict in ("anomaly", "normal"):
        choice.select_by_visible_text(verdict)
        expected = [x for x in verdicts if x.endswith(verdict)]
        until(lambda: column(opened, 2) == expected)  # noqa: B023
        assert 0 < len(expected) < len(NAMES)


def test_a_click_on_a_row_opens_it_and_another_closes_it(opened):
    assert details(opened) == []
    rows = opened.find_elements(By.CSS_SELECTOR, "tr[data-details]")
    first = rows[0].find_element(By.TAG_NAME, "button")
    for _ in range(2):
        rows[0].find_elements(By.TAG_NAME, "td")[1].click()
        assert details(opened) == names(opened)[:1]
        assert first.get_attribute("aria-expanded") == "true"
        images = opened.find_elements(By.CSS_SELECTOR, "#graphs article img")
        widths = "return [...arguments[0]].map(x => x.naturalWidth)"
        until(lambda: min(opened.execute_script(widths, images)) > 100)  # noqa: B023
        assert len(images) == 2  # the graph, and the nearest known one
        first.click()
        assert details(opened) == []
        assert first.get_attribute("aria-expanded") == "false"


def test_the_keyboard_reaches_and_opens_each_row(opened):
    opened.find_element(By.CSS_SELECTOR, ".dt-search input").send_keys(Keys.TAB)
    reached = []
    while len(reached) < len(NAMES):
        active = opened.switch_to.active_element
        if active.tag_name == "button" and active.get_attribute("aria-expanded"):
            active.send_keys(Keys.ENTER if len(reached) % 2 else Keys.SPACE)
            reached.append(active.text)
        active.send_keys(Keys.TAB)
    assert reached == names(opened) == details(opened)
    first = opened.find_element(By.CSS_SELECTOR, "#graphs button[aria-expanded]")
    opened.execute_script("arguments[0].focus()", first)
    up, down = Keys.ARROW_UP, Keys.ARROW_DOWN
    for key, place in ((down, 1), (down, 2), (up, 1), (up, 0), (up, 0)):
        opened.switch_to.active_element.send_keys(key)
        assert opened.switch_to.active_element.text == reached[place]


def test_a_column_of_the_graphs_data_can_be_shown(browser, tmp_path):
    graphs = random_graphs(12, seed=1)
    for i, graph in enumerate(graphs):
        graph.graph |= {"vendor": f"<img src=x onerror=alert({i % 3})>", "total": float(i)}
    schema = GraphSchema(graph_categories="vendor", graph_numbers="total")
    path = tmp_path / "page.html"
    skgraphkde.report(GraphKDEDetector(schema=schema).fit(graphs), path=path)
    browser.get(path.as_uri())
    until(lambda: browser.find_elements(By.CLASS_NAME, "dt-search"))
    rows = "#graphs tr[data-details] > td:nth-child(4)"
    heads = "#graphs th.data"
    assert not browser.find_elements(By.CSS_SELECTOR, heads)
    choice = Select(browser.find_element(By.ID, "data"))
    for name, first in (("total", "0"), ("vendor", "<img src=x onerror=alert(0)>")):
        choice.select_by_visible_text(name)
        [head] = browser.find_elements(By.CSS_SELECTOR, heads)
        assert head.text == name
        head.click()  # sorts by it
        until(lambda: browser.find_element(By.CSS_SELECTOR, rows).text == first)  # noqa: B023
    field = browser.find_element(By.CSS_SELECTOR, ".dt-search input")
    field.send_keys("alert(2)")  # the filter finds data, shown or not
    until(lambda: len(names(browser)) == 4)
    choice.select_by_value("")
    assert not browser.find_elements(By.CSS_SELECTOR, heads)
    assert len(names(browser)) == 4
    assert browser.get_log("browser") == []


def test_the_table_is_saved(opened, tmp_path):
    folder = {"behavior": "allow", "downloadPath": str(tmp_path)}
    opened.execute_cdp_cmd("Browser.setDownloadBehavior", folder)
    opened.find_element(By.ID, "export").click()
    until((tmp_path / "table.csv").exists)
    table = pd.read_csv(tmp_path / "table.csv", encoding="utf-8-sig")
    assert len(table) == len(NAMES)
    assert {"graph", "verdict", "score", "reason", "codes"} <= set(table.columns)


@pytest.mark.parametrize("width", [1300, 800, 390])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_it_fits_the_width_and_follows_the_color_scheme(opened, width, scheme):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    opened.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    for button in opened.find_elements(By.CSS_SELECTOR, "#graphs button:not(.mark)"):
        opened.execute_script("arguments[0].click()", button)
    widest = "return Math.max(document.documentElement.scrollWidth, graphs.offsetWidth)"
    assert opened.execute_script(widest) <= width
    heading = opened.find_element(By.CSS_SELECTOR, "#graphs th.wide")
    assert heading.is_displayed() == (width > 1000)
    color = "return getComputedStyle(document.body).backgroundColor"
    until(lambda: (opened.execute_script(color) == "rgb(255, 255, 255)") == (scheme == "light"))
    has_class = "return document.documentElement.classList.contains('dark')"
    until(lambda: opened.execute_script(has_class) == (scheme == "dark"))


def test_it_prints_all_rows_in_the_light(opened):
    feature = {"name": "prefers-color-scheme", "value": "dark"}
    opened.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    seen = """
        addEventListener("beforeprint", () => window.seen = [
            document.documentElement.className.includes("dark"),
            document.querySelectorAll("tr[data-details]").length,
        ])"""
    opened.execute_script(seen)
    filtered = opened.find_element(By.CSS_SELECTOR, ".dt-search input")
    filtered.send_keys("t")
    n = len(names(opened))
    assert len(opened.execute_cdp_cmd("Page.printToPDF", {})["data"]) > 10_000
    assert opened.execute_script("return window.seen") == [False, n]
    assert "dark" in opened.execute_script("return document.documentElement.className")
