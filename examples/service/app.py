"""A web service around a fitted detector: POST /score takes graphs and returns a row for each.

Run it with ``SKGRAPHKDE_MODEL=model.skg OMP_NUM_THREADS=1 uvicorn app:app --workers 2``.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import networkx as nx
import pandas as pd
from anyio import to_thread
from fastapi import Body, FastAPI, HTTPException

import skgraphkde
from skgraphkde.explanation import results
from skgraphkde.reading.files import node_link_graphs

# What the answer has of the table of results.
COLUMNS = ["name", "score", "verdict", "p_value", "reason"]


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the model, once per worker, before it takes requests."""
    app.state.detector = skgraphkde.load(os.environ["SKGRAPHKDE_MODEL"])
    # Threads of one worker would share one core: each request would wait for all others.
    to_thread.current_default_thread_limiter().total_tokens = 1
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
    graphs = dict[int, nx.Graph]()
    rows = dict[int, dict[str, Any]]()
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
    """Rows by position, of graphs that were read."""
    names = []
    for i, graph in graphs.items():
        name = graph.graph.get("name")
        names.append(name if isinstance(name, str) else i)
    new = list(graphs.values())
    options = {"names": names, "reasons": "flagged", "errors": "nan"}
    table = results(app.state.detector, new, **options).to_dict("list")
    rows = dict[int, dict[str, Any]]()
    for place, i in enumerate(graphs):
        row = {column: values[place] for column, values in table.items()}
        if isinstance(row["error"], str):
            rows[i] = {"error": row["error"]}
        else:
            rows[i] = {x: None if pd.isna(row[x]) else row[x] for x in COLUMNS}
    return rows
