"""A fitted detector, new graphs with hostile names, and the page about them."""

import base64
import gzip
import io
import json
import os
import shutil
import time
from html.parser import HTMLParser

import networkx as nx
import pandas as pd
import pytest
from selenium import webdriver

import skgraphkde
from skgraphkde import GraphKDEDetector
from skgraphkde.page import page, rendering
from tests.conftest import random_graphs, with_data

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    "</script><script>alert(3)</script>",
    "&lt;img src=//evil.test/x onerror=alert(4)&gt;",
    "two\nlines \u202e{{ 7 * 7 }}",
    "star",
    "triangle",
]
BUTTONS = ("▲", "●", "Save table", "Save verdicts")  # that are not names of graphs


@pytest.fixture(scope="package")
def detector():
    return GraphKDEDetector(random_state=0).fit(random_graphs(30, seed=1))


@pytest.fixture(scope="package")
def new():
    star, triangle = (
        with_data(graph, {"label": "<b>new</b>"})
        for graph in (nx.star_graph(40), nx.cycle_graph(3))
    )
    return [*random_graphs(5, seed=2), star, nx.relabel_nodes(triangle, {0: "<i>node</i>"})]


@pytest.fixture(scope="package")
def html(detector, new):
    return skgraphkde.report(detector, new, NAMES)


class Parsed(HTMLParser):
    """The elements of a page, and the texts in each kind, as a browser reads them."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.texts, self.rows, self.open = [], {}, [], []
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in ("meta", "link", "img", "br", "wbr"):
            self.open.append(tag)
        if tag == "tr" and "data-details" in dict(attributes):
            self.rows.append([])
        if tag == "td" and self.open.count("table") == 1 and "article" not in self.open:
            self.rows[-1].append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.setdefault(self.open[-1] if self.open else "", []).append(data)
        if "td" in self.open and "article" not in self.open:
            self.rows[-1][-1] += data

    @property
    def names(self):
        """The names of the graphs in the table, without the other buttons."""
        return [x for x in self.texts["button"] if x not in BUTTONS]

    @property
    def table(self):
        """The table that the page saves."""
        return pd.read_csv(io.StringIO(self.packed["table"]), keep_default_na=False)

    @property
    def packed(self):
        """What the page unpacks: the table's script and text, and pictures by their names."""
        (text,) = (x for x in self.texts["script"] if len(x) > 100_000)
        return json.loads(gzip.decompress(base64.b64decode(text)))

    @property
    def pictures(self):
        """The SVGs that the images of the page show, by their alternative texts."""
        found = {}
        for tag, x in self.elements:
            if tag == "img":
                svg = self.packed["pictures"][x["data-picture"]]
                found.setdefault(x["alt"], []).append(svg)
        return found


def draw_little(monkeypatch):
    """One graph and no histogram: pictures take most of the time of a page."""
    monkeypatch.setattr(page, "PICTURED", 1)
    monkeypatch.setattr(rendering.pictures, "distribution", lambda *_: "<svg/>")


PROGRAM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")


@pytest.fixture(scope="module")
def browser():
    if PROGRAM is None or DRIVER is None:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("chromium or chromedriver is not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = PROGRAM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1300,900"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options, webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def until(condition):
    """Wait for what a browser does in its own time."""
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)
