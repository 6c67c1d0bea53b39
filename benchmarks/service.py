"""A web service under load, with workers that die and requests that are damaged.

Nothing else may compute meanwhile: take --jobs 1.
"""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd

from benchmarks.render import markdown
from skgraphkde import GraphKDEDetector
from skgraphkde.datasets import load_mutag

TITLE = "A web service"
N_CLIENTS, SECONDS, LONGEST_WAIT = 4, 10, 60
LARGEST_BODY = 2 * 2**20  # of the service
ABOUT = f"""\
`examples/service/app.py`, run by uvicorn with one thread per worker, serves the defaults, fitted on
100 molecules of MUTAG. {N_CLIENTS} clients, on the same cores as the service, each send one request
after the other, for {SECONDS} seconds or until all is done, over a connection that stays open:
molecules that the model has not seen, 1 or 100 in a request. If the connection breaks, they open
another and send the request once more; *broken* is how often, and *failed* are the requests that
were not answered then either. Every answer is compared with the scores that the library gives.

- *damaged*: every fifth request is damaged, in one of {{n_damaged}} ways.
- *killed*: both workers are killed with SIGKILL, one after the other; uvicorn starts new ones.
- *replaced*: another model takes the place of the file, and uvicorn replaces the workers (SIGHUP).
"""
LOADS = ((1, 1), (2, 1), (1, 100), (2, 100))
CASES = ("damaged", "killed", "replaced")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Four loads, and three that are disturbed."""
    loads = [{"case": "load", "workers": w, "graphs": n} for w, n in LOADS]
    return loads + [{"case": case, "workers": 2, "graphs": 1} for case in CASES]


def estimator(case: str, workers: int, graphs: int) -> GraphKDEDetector:
    """The defaults."""
    return GraphKDEDetector(random_state=0)


def measure(estimator: GraphKDEDetector, case: str, workers: int, graphs: int) -> dict[str, float]:
    """Times of requests, and what became of them."""
    mutag = load_mutag()
    normal = mutag.graphs[mutag.target == 1]
    known = normal[:100].to_networkx()
    unseen = [*normal[100:].to_networkx(), *mutag.graphs[mutag.target == -1].to_networkx()]
    rng = np.random.RandomState(0)
    picked = [rng.randint(len(unseen), size=graphs) for _ in range(max(5, 100 // graphs))]
    requests = [_body([unseen[i] for i in index]) for index in picked]
    models = [estimator.fit(known), GraphKDEDetector(random_state=0).fit(known[:90])]
    models = models[: 1 + (case == "replaced")]
    scores = [[model.score_samples(unseen)[index] for index in picked] for model in models]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.skg")
        models[0].save(path)
        with _service(path, workers) as service:
            damaged = _damaged() if case == "damaged" else []
            clients = [_Client(service.port, requests, damaged, i) for i in range(N_CLIENTS)]
            start, again = time.perf_counter(), np.nan
            with _running(clients):
                if case in DISTURBANCES:
                    time.sleep(1)
                    again = DISTURBANCES[case](service, models[-1])
                    time.sleep(1)
                time.sleep(max(0.0, start + SECONDS - time.perf_counter()))
            seconds = time.perf_counter() - start
    summary = _summary(clients, seconds, graphs)
    return summary | {"again": round(again, 2), "wrong": _n_wrong(clients, scores)}


def _body(graphs: list[nx.Graph]) -> bytes:
    return json.dumps([nx.node_link_data(graph, edges="edges") for graph in graphs]).encode()


def _damaged() -> list[bytes]:
    """Requests that cannot be answered, each for another reason."""
    good = {"nodes": [{"id": 0, "label": "C"}, {"id": 1, "label": "C"}], "edges": []}
    return [
        b"",
        b"{",
        b"\xff",
        b"[]",
        b"[" * 100_000,
        b" " * (LARGEST_BODY + 1),
        *(
            json.dumps([good, {**good, **change}]).encode()
            for change in (
                {"nodes": []},
                {"nodes": None},
                {"nodes": [{"id": 0, "label": "C"}] * 2},
                {"nodes": [{"id": 0}, {"id": 1}]},
                {"nodes": [{"id": {}, "label": "C"}]},
                {"edges": [{"source": 0, "target": 7}]},
                {"edges": [{"source": 0}]},
                {"edges": 3},
            )
        ),
    ]


# -- the service -----------------------------------------------------------------------------------


class _Service:
    """A service that runs.

    Parameters
    ----------
    path : Path
        Of the model.
    port : int
    process : Popen
        Of uvicorn, which starts the workers.
    """

    def __init__(self, path: Path, port: int, process: subprocess.Popen) -> None:
        self.path, self.port, self.process = path, port, process

    def health(self) -> dict[str, Any] | None:
        """What a worker says over a new connection; None if nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/health")
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def until(self, is_so: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """What the first worker says of which something is so."""
        start = time.perf_counter()
        while time.perf_counter() < start + LONGEST_WAIT:
            answer = self.health()
            if answer is not None and is_so(answer):
                return answer
            time.sleep(0.02)
        raise TimeoutError(f"the service did not get there in {LONGEST_WAIT} seconds")

    def workers(self, n_workers: int, but: str = "") -> set[int]:
        """The processes of all workers, as soon as they serve, with another model than one."""
        found: set[int] = set()

        def is_last(answer: dict[str, Any]) -> bool:
            if answer["model"] != but:
                found.add(answer["process"])
            return len(found) == n_workers

        self.until(is_last)
        return found


@contextmanager
def _service(path: Path, n_workers: int) -> Iterator[_Service]:
    """The service with a model, from when all workers serve."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(__file__).parents[1]
    words = ["-m", "uvicorn", "--app-dir", str(folder / "examples" / "service"), "app:app"]
    words += ["--port", str(port), "--workers", str(n_workers), "--log-level", "critical"]
    words += ["--timeout-worker-healthcheck", str(LONGEST_WAIT)]
    environment = os.environ | {"SKGRAPHKDE_MODEL": str(path), "OMP_NUM_THREADS": "1"}
    environment["PYTHONPATH"] = str(folder)
    # Workers that end by a signal leave semaphores of tqdm, which Python then cleans up.
    environment["PYTHONWARNINGS"] = "ignore:resource_tracker"
    process = subprocess.Popen([sys.executable, *words], env=environment)
    service = _Service(path, port, process)
    try:
        service.workers(n_workers)
        yield service
    finally:
        process.terminate()
        process.wait()


def _killed(service: _Service, _: GraphKDEDetector) -> float:
    """Kill the workers, one after the other; the longest time until a new one served."""
    known, waits = service.workers(2), []
    for process in sorted(known):
        start = time.perf_counter()
        os.kill(process, signal.SIGKILL)
        known.add(service.until(lambda answer: answer["process"] not in known)["process"])
        waits.append(time.perf_counter() - start)
    return max(waits)


def _replaced(service: _Service, model: GraphKDEDetector) -> float:
    """Let another model replace that of the service; seconds until all workers had it."""
    old = service.until(lambda _: True)["model"]
    start = time.perf_counter()
    model.save(service.path)
    service.process.send_signal(signal.SIGHUP)
    service.workers(2, but=old)
    return time.perf_counter() - start


DISTURBANCES = {"killed": _killed, "replaced": _replaced}


# -- clients ---------------------------------------------------------------------------------------


class _Client(threading.Thread):
    """Sends requests, one after the other, and remembers times and answers."""

    def __init__(self, port: int, requests: list, damaged: list, first: int) -> None:
        super().__init__()
        self.port, self.requests, self.damaged, self.first = port, requests, damaged, first
        self.stops = False
        self.times: list[float] = []  # of requests that were answered with scores
        self.answers: set[tuple[int, bytes]] = set()  # to which request
        self.n_broken = self.n_failed = self.n_refused = self.n_damaged = 0

    def run(self) -> None:
        """Send until told to stop."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST_WAIT)
        number = self.first
        while not self.stops:
            number += 1
            is_damaged = bool(self.damaged) and number % 5 == 0
            index = (number * 7) % len(self.requests)
            body = self.requests[index]
            if is_damaged:
                body = self.damaged[number // 5 % len(self.damaged)]
            start = time.perf_counter()
            status, content = self._answer(connection, body)
            if is_damaged:
                self.n_damaged += 1
                self.n_refused += 400 <= status < 500
            elif status == 200:
                self.times.append(time.perf_counter() - start)
                self.answers.add((index, content))
            else:
                self.n_failed += 1
        connection.close()

    def _answer(self, connection: http.client.HTTPConnection, body: bytes) -> tuple[int, bytes]:
        """Status and content; if the connection breaks, of a second attempt."""
        for _ in range(2):
            try:
                connection.request("POST", "/score", body)
                response = connection.getresponse()
                return response.status, response.read()
            except (OSError, http.client.HTTPException):
                self.n_broken += 1
                connection.close()  # the next request opens it
        return 0, b""


@contextmanager
def _running(clients: list[_Client]) -> Iterator[None]:
    """Clients that send requests meanwhile."""
    for client in clients:
        client.start()
    try:
        yield
    finally:
        for client in clients:
            client.stops = True
        for client in clients:
            client.join()


def _summary(clients: list[_Client], seconds: float, n_graphs: int) -> dict[str, float]:
    times = 1000 * np.concatenate([client.times for client in clients])
    per_second = len(times) / seconds
    return {
        "requests": len(times),
        "requests_per_second": round(per_second, 2),
        "graphs_per_second": round(per_second * n_graphs, 1),
        "p50": round(float(np.quantile(times, 0.5)), 2),
        "p99": round(float(np.quantile(times, 0.99)), 2),
        "longest": round(float(times.max()), 2),
        "broken": sum(client.n_broken for client in clients),
        "failed": sum(client.n_failed for client in clients),
        "damaged": sum(client.n_damaged for client in clients),
        "refused": sum(client.n_refused for client in clients),
    }


def _n_wrong(clients: list[_Client], scores: list[list[np.ndarray]]) -> int:
    """How many different answers have scores that no model gives."""
    n_wrong = 0
    for index, content in set().union(*(client.answers for client in clients)):
        found = [row["score"] for row in json.loads(content)]
        is_right = [np.allclose(found, of_model[index], rtol=1e-9) for of_model in scores]
        n_wrong += not any(is_right)
    return n_wrong


# -- report ----------------------------------------------------------------------------------------


def report(rows: pd.DataFrame) -> str:
    """A table of the loads, and a sentence for what disturbed them."""
    table = pd.DataFrame(
        {
            "": rows["case"],
            "workers": rows["workers"],
            "graphs": rows["graphs"],
            "requests/s": rows["requests_per_second"].map("{:.0f}".format),
            "graphs/s": rows["graphs_per_second"].map("{:.0f}".format),
            "p50, ms": rows["p50"].map("{:.1f}".format),
            "p99, ms": rows["p99"].map("{:.1f}".format),
            "longest, ms": rows["longest"].map("{:.0f}".format),
            "answered": rows["requests"],
            "broken": rows["broken"],
            "failed": rows["failed"],
            "wrong": rows["wrong"],
        }
    )
    about = ABOUT.format(n_damaged=len(_damaged()))
    lines = [f"{about}\n\n{markdown(table, index=False)}\n"]
    said = {
        "damaged": "{refused:.0f} of {damaged:.0f} damaged requests were answered with a code from "
        "400 to 499.",
        "killed": "After a kill, a new worker served after {again:.1f} seconds, the longer of two "
        "times; the other worker served meanwhile.",
        "replaced": "Both workers had the new model {again:.1f} seconds after SIGHUP.",
    }
    for _, row in rows[rows["case"].isin(said)].iterrows():
        lines.append(f"- *{row['case']}*: {said[row['case']].format(**row)}")
    return "\n".join(lines)
