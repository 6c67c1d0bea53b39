"""One graph in a call, as a service scores it. Take --jobs 1."""

import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.end_to_end import fit_grakel
from benchmarks.methods import defaults
from benchmarks.protocol import fold, load
from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector
from skgraphkde.explanation import results

SERVICE = Path(__file__).parent.parent / "examples" / "service"
N_WORKERS, N_CLIENTS = 2, 8
TITLE = "One graph in a call"
ABOUT = """\
The defaults are fitted to the training graphs of the first fold, and score its test graphs, of
networkx, one in a call. Milliseconds of the first 300 calls, each the faster of two, with one
thread; *in a batch*: all in one call. *GraKeL* is the median of the same calls of its kernel and
the SVM of the table [end to end](end_to_end.md), in the same run.

*Results* is `results(graphs, reasons="flagged")` of the same calls: medians of the graphs that are
normal, and of those that are flagged and have reasons. *Service*: the example service with two
workers, and eight clients on the same machine that wait for each answer; requests in a second, and
the 99th percentile of the milliseconds of a request.
"""
DATASETS = ("MUTAG", "PROTEINS", "NCI1")
N_CALLS = 300


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """One per data set."""
    return [{"dataset": dataset} for dataset in datasets or DATASETS]


estimator = defaults


def measure(estimator: GraphKDEDetector, dataset: str) -> dict[str, float]:
    """Milliseconds of a call."""
    train, test, _ = fold(load(dataset), 0)
    graphs = test.to_networkx()
    with threadpool_limits(1):
        estimator.fit(train)
        some = (graphs * -(-N_CALLS // len(graphs)))[:N_CALLS]
        score, peer = estimator.score_samples, fit_grakel(train.to_networkx())
        seconds = np.array([[_seconds(score, [g]) for g in some] for _ in range(2)]).min(0)
        of_peer = np.array([[_seconds(peer, [g]) for g in some] for _ in range(2)]).min(0)
        _seconds(score, graphs)
        in_batch = _seconds(score, graphs) / len(graphs)
        is_flagged = estimator.predict(some) == -1
        judge = partial(results, estimator, reasons="flagged")
        judge(some[:1])
        of_results = np.array([[_seconds(judge, [g]) for g in some] for _ in range(2)]).min(0)
    p50, p99 = np.percentile(seconds, (50, 99))
    values = {"p50": p50, "p99": p99, "mean": seconds.mean(), "in_batch": in_batch}
    values["grakel"] = np.median(of_peer)
    values["results_normal"] = np.median(of_results[~is_flagged])
    values["results_flagged"] = np.median(of_results[is_flagged])
    rate, values["service_p99"] = _service(estimator, some)
    milliseconds = {name: round(1e3 * float(value), 3) for name, value in values.items()}
    return {"references": len(train), **milliseconds, "service": round(rate, 1)}


def _service(detector: GraphKDEDetector, graphs: list[nx.Graph]) -> tuple[float, float]:
    """Requests in a second, and the 99th percentile of their seconds, of the example service."""
    with tempfile.TemporaryDirectory() as folder, socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
        model = Path(folder) / "model.skg"
        detector.save(model)
        command = [sys.executable, "-m", "uvicorn", "app:app", "--log-level", "error"]
        command += ["--app-dir", str(SERVICE), "--workers", str(N_WORKERS), "--port", str(port)]
        free.close()
        settings = {"SKGRAPHKDE_MODEL": str(model), "OMP_NUM_THREADS": "1"}
        with subprocess.Popen(command, env=os.environ | settings) as server:
            try:
                return _requests(f"http://127.0.0.1:{port}/", graphs)
            finally:
                server.terminate()


def _requests(url: str, graphs: list[nx.Graph]) -> tuple[float, float]:
    bodies = [json.dumps([nx.node_link_data(x, edges="edges")], default=int) for x in graphs]

    def ask(body: str) -> float:
        start = time.perf_counter()
        headers = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{url}score", body.encode(), headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            answer.read()
        return time.perf_counter() - start

    for _ in range(240):  # until it serves
        try:
            urllib.request.urlopen(f"{url}health", timeout=60).close()
            break
        except OSError:
            time.sleep(0.25)
    with ThreadPoolExecutor(N_CLIENTS) as clients:
        list(clients.map(ask, bodies[:50]))
        start = time.perf_counter()
        seconds = list(clients.map(ask, bodies))
        total = time.perf_counter() - start
    return len(bodies) / total, float(np.percentile(seconds, 99))


def _seconds(score: Callable[[list[nx.Graph]], np.ndarray], graphs: list[nx.Graph]) -> float:
    start = time.perf_counter()
    score(graphs)
    return time.perf_counter() - start


def report(rows: pd.DataFrame) -> str:
    """One row per data set."""
    rows = rows.set_index("dataset")
    table = pd.DataFrame(
        {
            "references": rows["references"].map("{:.0f}".format),
            "p50, ms": rows["p50"].map("{:.1f}".format),
            "p99, ms": rows["p99"].map("{:.1f}".format),
            "in a batch, ms": rows["in_batch"].map("{:.2f}".format),
            "call / share of a batch": (rows["mean"] / rows["in_batch"]).map("{:.1f}".format),
            "GraKeL, ms": rows["grakel"].map("{:.1f}".format),
            "call / GraKeL": (rows["p50"] / rows["grakel"]).map("{:.2f}".format),
            "results of normal / call": (rows["results_normal"] / rows["p50"]).map("{:.2f}".format),
            "of flagged / call": (rows["results_flagged"] / rows["p50"]).map("{:.2f}".format),
            "service, 1/s": rows["service"].map("{:.0f}".format),
            "service p99, ms": rows["service_p99"].map("{:.0f}".format),
        }
    )
    return markdown(table)
