"""The examples of a web service and of a list in partitions do what the library does."""

import importlib.util
import itertools
import json
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from skgraphkde import GraphKDEDetector
from skgraphkde.explanation import results
from tests.conftest import random_graphs, with_data


def example(name):
    """The module of an example."""
    spec = importlib.util.spec_from_file_location(
        Path(name).stem, Path(__file__).parents[1] / "examples" / name
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.filterwarnings("ignore:node categories that fit did not see")
def test_the_service(tmp_path, monkeypatch):
    for package in ("fastapi", "httpx"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about which httpx it would rather have
        from starlette.testclient import TestClient

    detector = GraphKDEDetector(random_state=0).fit(random_graphs(20, seed=1))
    detector.save(tmp_path / "model.skg")
    monkeypatch.setenv("SKGRAPHKDE_MODEL", str(tmp_path / "model.skg"))
    app = example("service/app.py").app
    graphs = [*random_graphs(4, seed=2), with_data(nx.star_graph(40), {"label": "C"})]
    documents = [nx.node_link_data(graph, edges="edges") for graph in graphs]
    with TestClient(app) as client:
        assert client.get("/health").json() == {"status": "ok"}
        rows, table = client.post("/score", json=documents).json(), results(detector, graphs)
        for name in ("score", "p_value", "verdict"):
            found = [row[name] for row in rows]
            assert found == pytest.approx(table[name].tolist(), rel=1e-9)
        assert {row["verdict"] for row in rows} == {1, -1}
        has_none = table["reason"].isna() | (table["verdict"] == 1)  # anomalies alone are explained
        assert [row["reason"] is None for row in rows] == has_none.tolist()
        stranger = {**documents[0], "edges": [{"source": 0, "target": "nobody"}]}
        bad = {
            "a graph has no list": {"edges": []},
            "graph 1 has no node attribute 'label'": {"nodes": [{"id": 0}], "edges": []},
            "'b' is no node and no edge": {**documents[0], "nodes": ["b"]},
            "ends at 'nobody', a node that is not listed": stranger,
            "these are 2 graphs: send each by itself": documents[:2],
            'a graph has no list "nodes"': None,
        }
        for message, document in bad.items():
            answer = client.post("/score", json=[documents[0], document, documents[1], document])
            assert answer.status_code == 200
            first, wrong, second, last = answer.json()
            assert [first["score"], second["score"]] == pytest.approx(table["score"][:2], rel=1e-9)
            assert [first["name"], second["name"]] == [0, 2]
            assert [*wrong] == [*last] == ["error"]
            assert wrong["error"].startswith("graph 1")
            assert message in wrong["error"]
            assert last["error"] == wrong["error"].replace("graph 1", "graph 3")
        # Names, values and texts that JSON or UTF-8 cannot hold.
        odd = {"nodes": [{"id": "\ud800", "label": "\ud800"}], "edges": []}
        odd["graph"] = {"name": float("nan")}
        content = json.dumps([documents[0], odd, {**odd, "graph": {"name": "\ud800"}}, {}])
        found = client.post("/score", content=content, headers={"Content-Type": "application/json"})
        assert [row.get("name", "bad") for row in found.json()] == [0, 1, "\\ud800", "bad"]
        for body in (documents[0], None, "text"):
            answer = client.post("/score", json=body)
            assert answer.status_code == 422
            assert answer.json()["detail"].startswith("the body is no list: send [graph, ...]")
        assert client.post("/score", content=b"{").status_code == 422
        assert client.post("/score", json=[]).json() == []


def partitions():
    """The example of Dask."""
    for package in ("rdkit", "dask", "distributed"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    return example("partitions/molecules.py")


def test_partitions_need_pyarrow_before_they_work(tmp_path, monkeypatch):
    molecules = partitions()
    monkeypatch.setattr(molecules, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        molecules.find([tmp_path / "there_is_none.smi"], tmp_path / "scores", 40)
    assert not (tmp_path / "scores").exists()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*(seem to be training graphs|that fit did not see)")
def test_partitions_have_the_numbers_of_one_list(tmp_path):
    molecules = partitions()
    import dask

    chains = ["C" * n + end for n in range(1, 16) for end in ("O", "N", "Cl", "=O")]
    lines = [f"{text} M{i}" for i, text in enumerate([*chains, "C[Te]C", "[SiH3]C"])]
    j = lines.index(molecules.smallest(lines, 40)[0])  # a file that the sample holds whole
    tables = []
    for name, cuts in (("one", [0, 62]), ("two", [0, j, j + 1, 62])):
        paths = []
        for i, (start, stop) in enumerate(itertools.pairwise(cuts)):
            paths.append(tmp_path / f"{name}{i}.smi")
            paths[-1].write_text("\n\n".join(lines[start:stop]))
        if name == "two":  # in two formats
            paths[-1] = paths[-1].with_suffix(".parquet")
            pd.DataFrame({"smiles": [*lines[start:stop], None]}).to_parquet(paths[-1])
        with dask.config.set(scheduler="synchronous"):
            n_odd = molecules.find(paths, tmp_path / name, 40)
        table = pd.concat(pd.read_parquet(x) for x in sorted((tmp_path / name).glob("*.parquet")))
        assert table["molecule"].tolist() == lines
        assert table["is_odd"].sum() == n_odd > 0
        tables.append(table)
    np.testing.assert_allclose(*(table["score"] for table in tables), rtol=1e-12, atol=1e-12)
    assert list(molecules.read(["C M0", "no molecule", "CO"])) == ["C M0", "CO"]
