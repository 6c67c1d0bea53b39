"""The example of a web service returns what the library does, and refuses what it cannot use."""

import importlib.util
import warnings
from pathlib import Path

import networkx as nx
import pytest

from skgraphkde import GraphKDEDetector
from skgraphkde.explanation import results
from tests.conftest import random_graphs, with_data

for package in ("fastapi", "httpx"):
    pytest.importorskip(package, reason=f"{package} is not installed")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about which httpx it would rather have
    from starlette.testclient import TestClient

APP = Path(__file__).parents[1] / "examples" / "service" / "app.py"


def test_the_service(tmp_path, monkeypatch):
    detector = GraphKDEDetector(random_state=0).fit(random_graphs(20, seed=1))
    detector.save(tmp_path / "model.skg")
    monkeypatch.setenv("SKGRAPHKDE_MODEL", str(tmp_path / "model.skg"))
    spec = importlib.util.spec_from_file_location("service_app", APP)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    graphs = [*random_graphs(4, seed=2), with_data(nx.star_graph(40), {"label": "C"})]
    documents = [nx.node_link_data(graph, edges="edges") for graph in graphs]
    with TestClient(module.app) as client:
        assert client.get("/health").json() == {"status": "ok"}
        rows, table = client.post("/score", json=documents).json(), results(detector, graphs)
        for name in ("score", "p_value", "verdict"):
            found = [row[name] for row in rows]
            assert found == pytest.approx(table[name].tolist(), rel=1e-9)
        assert {row["verdict"] for row in rows} == {1, -1}
        assert [row["reason"] is None for row in rows] == table["reason"].isna().tolist()
        without_label = {"nodes": [{"id": 0}], "edges": []}
        for bad, message in (
            ({"edges": []}, "graph 1 is not in node-link JSON (KeyError: 'nodes')"),
            (without_label, "graph 1 has no node attribute 'label'"),
        ):
            answer = client.post("/score", json=[documents[0], bad])
            assert answer.status_code == 422
            assert answer.json()["detail"].startswith(message)
