"""A web service around a fitted detector: POST /score takes graphs and returns a row for each.

Run it with ``SKGRAPHKDE_MODEL=model.skg OMP_NUM_THREADS=1 uvicorn app:app --workers 2``.
"""

import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI, HTTPException, Request
from starlette.requests import ClientDisconnect

import skgraphkde
from skgraphkde import GraphKDEDetector
from skgraphkde.calibration import conformal_p_values
from skgraphkde.explanation import explain
from skgraphkde.graphs.files import node_link_graphs
from skgraphkde.graphs.naming import printable

LARGEST_BODY = 2 * 2**20  # bytes: other requests to this worker wait meanwhile


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Load the model, once per worker, before it takes requests."""
    path = Path(os.environ["SKGRAPHKDE_MODEL"])
    detector = app.state.detector = skgraphkde.load(path)
    app.state.model = hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    app.state.one_at_a_time = CapacityLimiter(1)  # a worker has one core
    detector.p_values(detector.model_.references[:1])  # compiles, or says that there are none
    yield


app = FastAPI(
    title="Which of these graphs is not like the others?",
    lifespan=lifespan,
    docs_url=None,  # these pages would load scripts of other servers
    redoc_url=None,
)


@app.get("/health")
async def health() -> dict:
    """Whether this worker serves, and which model."""
    return {"status": "ok", "model": app.state.model, "process": os.getpid()}


@app.post("/score")
async def score(request: Request, reasons: bool = False) -> list[dict]:
    """A row for each graph of the body: a graph in node-link JSON, or a list of graphs."""
    body = bytearray()
    try:
        async for part in request.stream():
            body += part
            if len(body) > LARGEST_BODY:
                raise HTTPException(413, f"send fewer graphs: at most {LARGEST_BODY} bytes")
        # In a thread, so that /health answers meanwhile.
        return await run_sync(
            rows, app.state.detector, bytes(body), reasons, limiter=app.state.one_at_a_time
        )
    except ClientDisconnect as error:
        raise HTTPException(400, "the client left before its request was complete") from error
    except ValueError as error:
        raise HTTPException(422, str(error)) from error


def rows(detector: GraphKDEDetector, body: bytes, reasons: bool) -> list[dict]:
    """Judge the graphs of a request; the detector is only read, so no lock is needed."""
    graphs = node_link_graphs(body)
    scores = detector.score_samples(graphs)
    decisions = scores - detector.offset_
    p_values = conformal_p_values(scores, detector.calibration_scores_)
    found = [
        {
            "name": printable(str(graph.name or i)),
            "score": scores[i],
            "decision": decisions[i],
            "verdict": "anomaly" if decisions[i] < 0 else "normal",
            "p_value": p_values[i],
        }
        for i, graph in enumerate(graphs)
    ]
    odd = [i for i in range(len(graphs)) if decisions[i] < 0] if reasons else []
    if odd:
        table = explain(detector, [graphs[i] for i in odd], n_reasons=1)
        for i, reason in zip(table["graph"], table["reason"], strict=True):
            found[odd[i]]["reason"] = reason
    return found
