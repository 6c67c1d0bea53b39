"""The example of a web service: the library's scores, and one clear answer to what is damaged."""

import asyncio
import importlib.util
import json
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from skgraphkde import GraphKDEDetector
from skgraphkde.explanation import results
from tests.conftest import random_graphs

for package in ("fastapi", "httpx"):
    pytest.importorskip(package, reason=f"{package} is not installed")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about which httpx it would rather have
    from starlette.testclient import TestClient

APP = Path(__file__).parents[1] / "examples" / "service" / "app.py"
NORMAL = random_graphs(20, seed=1)
NEW = [*random_graphs(4, seed=2), nx.star_graph(40)]
nx.set_node_attributes(NEW[-1], "C", "label")
for number, graph in enumerate(NEW):
    graph.name = f"graph of {number}"
DETECTOR = GraphKDEDetector(random_state=0).fit(NORMAL)


def document(graph):
    return nx.node_link_data(graph, edges="edges")


@pytest.fixture(scope="module")
def module():
    spec = importlib.util.spec_from_file_location("service_app", APP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def client(module, tmp_path_factory):
    path = tmp_path_factory.mktemp("service") / "model.skg"
    DETECTOR.save(path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SKGRAPHKDE_MODEL", str(path))
        with TestClient(module.app) as client:
            yield client


@pytest.mark.parametrize("reasons", [False, True])
def test_rows_are_those_of_the_library(client, reasons):
    answer = client.post("/score", params={"reasons": reasons}, json=[*map(document, NEW)])
    assert answer.status_code == 200
    rows, frame = answer.json(), results(DETECTOR, NEW)
    for name in ("score", "decision"):  # of a thread that may have other threads: rounding
        found = [row.pop(name) for row in rows]
        np.testing.assert_allclose(found, frame[name], rtol=1e-9)
    expected = frame[["p_value"]].to_dict("records")
    for row, graph, verdict, reason in zip(
        expected, NEW, frame["verdict"], frame["reason"], strict=True
    ):
        row |= {"name": graph.name, "verdict": "anomaly" if verdict < 0 else "normal"}
        if reasons and verdict < 0:
            row["reason"] = reason
    assert rows == expected
    assert {row["verdict"] for row in expected} == {"normal", "anomaly"}


def test_one_graph_alone_and_without_a_name(client):
    (row,) = client.post("/score", json=document(NEW[0])).json()
    assert row["name"] == "graph of 0"
    for name, expected in ((None, "0"), ("", "0"), (["a"], "['a']"), ("\ud800", "\\ud800")):
        body = json.dumps(document(NEW[0]) | {"graph": {"name": name}})  # of half a character, too
        assert client.post("/score", content=body).json() == [row | {"name": expected}]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("", "the text cannot be read as node-link JSON (Expecting value"),
        ("[OK, 3]", 'the text cannot be read as node-link JSON (graph 1: a graph has no list "no'),
        ('[OK, {"nodes": [{"id": 0}], "edges": []}]', "graph 1 has no node attribute 'label', and"),
        ('{"nodes": [{"id": 0}], "edges": []}', "graph 0 has no node attribute 'label'"),
        ('[OK, OK, {"nodes": [], "edges": []}]', "graph 2 has no nodes"),
    ],
)
def test_damaged_requests(client, body, message):
    before = client.post("/score", json=document(NEW[0])).json()
    answer = client.post("/score", content=body.replace("OK", json.dumps(document(NEW[0]))))
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(message)
    assert client.post("/score", json=document(NEW[0])).json() == before


def test_large_requests(client, module, monkeypatch):
    body = json.dumps(document(NEW[0])).encode()
    monkeypatch.setattr(module, "LARGEST_BODY", len(body))
    assert client.post("/score", content=body).status_code == 200
    answer = client.post("/score", content=iter([body, b" "]))  # of a length that nobody says
    assert answer.status_code == 413
    assert "send fewer graphs" in answer.json()["detail"]


def test_a_client_that_leaves_is_no_error(client, module):
    sent, parts = [], [{"type": "http.request", "body": b"[{", "more_body": True}]

    async def receive():
        return parts.pop() if parts else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    request = {"type": "http", "method": "POST", "path": "/score", "query_string": b""}
    asyncio.run(module.app(request | {"headers": []}, receive, send))
    assert sent[0]["status"] == 400


def test_no_page_loads_anything_from_elsewhere(client):
    for path in ("/docs", "/redoc"):
        assert client.get(path).status_code == 404


def test_health(client):
    answer = client.get("/health").json()
    assert answer["status"] == "ok"
    assert len(answer["model"]) == 12


def test_a_model_without_p_values_is_not_served(module, tmp_path, monkeypatch):
    path = tmp_path / "model.skg"
    GraphKDEDetector(calibration="train").fit(NORMAL).save(path)
    monkeypatch.setenv("SKGRAPHKDE_MODEL", str(path))
    with pytest.raises(ValueError, match="calibration"), TestClient(module.app):
        pass
