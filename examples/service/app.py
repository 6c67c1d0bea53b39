"""A web service around a fitted detector: POST /score takes graphs and returns a row for each.

Run it with ``SKGRAPHKDE_MODEL=model.skg OMP_NUM_THREADS=1 uvicorn app:app --workers 2``.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import networkx as nx
from fastapi import FastAPI, HTTPException

import skgraphkde
from skgraphkde.explanation import results


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
def score(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row for each graph of the body, a list of graphs in node-link JSON."""
    graphs = []
    for i, document in enumerate(documents):
        try:
            graphs.append(nx.node_link_graph(document, edges="edges"))
        except (KeyError, TypeError, nx.NetworkXError) as error:
            detail = f"graph {i} is not in node-link JSON ({type(error).__name__}: {error})"
            raise HTTPException(422, detail) from error
    try:
        table = results(app.state.detector, graphs)
    except (TypeError, ValueError) as error:
        raise HTTPException(422, str(error)) from error
    columns = ["name", "score", "verdict", "p_value", "reason"]
    return table[columns].astype(object).where(table[columns].notna(), None).to_dict("records")
