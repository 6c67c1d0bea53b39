"""A web service around a fitted detector: POST /score takes graphs and returns a row for each.

Run it with ``SKGRAPHKDE_MODEL=model.skg OMP_NUM_THREADS=1 uvicorn app:app --workers 2``.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import networkx as nx
from fastapi import Body, FastAPI, HTTPException

import skgraphkde
from skgraphkde.explanation import results
from skgraphkde.reading.files import node_link_graphs


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the model, once per worker, before it takes requests."""
    app.state.detector = skgraphkde.load(os.environ["SKGRAPHKDE_MODEL"])
    yield


app = FastAPI(
    title="Which of these graphs is not like the others?",
    lifespan=lifespan,
    docs_url=None,  # these pages would load scripts of other servers
    redoc_url=None,
)


@app.get("/health")
def health() -> dict[str, str]:
    """Say that this worker serves."""
    return {"status": "ok"}


@app.post("/score")
def score(documents: Annotated[Any, Body()] = None) -> list[dict[str, Any]]:
    """A row for each graph of the body, a list of graphs in node-link JSON, or what is wrong."""
    if not isinstance(documents, list):
        raise HTTPException(422, "the body is no list: send [graph, ...] as application/json")
    graphs, rows = dict[int, nx.Graph](), dict[int, dict[str, Any]]()
    for i, document in enumerate(documents):
        try:
            graphs[i] = read(document)
        except ValueError as error:
            rows[i] = {"error": f"graph {i}: {error}"}
    rows |= judge(graphs)
    return [rows[i] for i in range(len(documents))]


def read(document: Any) -> nx.Graph:
    """The graph of a document, as it would be read of a file."""
    graphs = node_link_graphs(document)
    if len(graphs) != 1:
        raise ValueError(f"these are {len(graphs)} graphs: send each by itself")
    return graphs[0]


def judge(graphs: dict[int, nx.Graph]) -> dict[int, dict[str, Any]]:
    """Rows by position; a list with a bad graph is halved, until that one is alone."""
    if not graphs:
        return {}
    given = [graph.graph.get("name") for graph in graphs.values()]
    names = [x if isinstance(x, str) else i for i, x in zip(graphs, given, strict=True)]
    try:
        new = list(graphs.values())
        table = results(app.state.detector, new, names=names, reasons="flagged")
    except (TypeError, ValueError) as error:
        if len(graphs) > 1:
            pairs, half = list(graphs.items()), len(graphs) // 2
            return judge(dict(pairs[:half])) | judge(dict(pairs[half:]))
        [i], text = graphs, str(error)  # which calls it graph 0, unless it has a name
        text = text.removeprefix("graph 0") if text.startswith("graph 0") else f": {text}"
        return {i: {"error": f"graph {i}{text}"}}
    columns = ["name", "score", "verdict", "p_value", "reason"]
    table = table[columns].astype(object).where(table[columns].notna(), None)
    return dict(zip(graphs, table.to_dict("records"), strict=True))
