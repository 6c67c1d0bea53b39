"""``skgraphkde watch``: a model file and new graph files -> rows of a log, and perhaps an alarm."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import click

from skgraphkde.cli.exit_codes import ALARM
from skgraphkde.cli.options import (
    OutputFile,
    detector_option,
    examples,
    load_model,
    model_argument,
    reads_graphs,
)
from skgraphkde.cli.runtime import GraphFiles, echo
from skgraphkde.cli.table import write_rows
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.monitoring import DriftMonitor
from skgraphkde.saving import atomic_file

COLUMNS = ["graph", "score", "p_value", "statistic", "mmd_p_value", "alarm"]
LISTED = 3  # alarms on stdout, at most


@click.command(
    epilog=examples(
        "skgraphkde watch model.skg day17/ -o log.csv",
        "skgraphkde watch model.skg day18/ -o log.csv || mail -s drift me@example.org < log.csv",
    )
)
@model_argument
@click.option(
    "-o",
    "--output",
    required=True,
    type=OutputFile(),
    help="The log, a CSV file. If it is there, it is continued; its state is in OUTPUT.state.",
)
@click.option(
    "--false-alarm-rate",
    type=float,
    help="Mean number of false alarms per graph, at most.  [default: 0.001]",
)
@click.option(
    "--window",
    type=click.IntRange(0),
    help="How many of the last graphs the test of distances looks at; 0 leaves that test out.  "
    "[default: 100; 0 for a detector without distances]",
)
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed of a new log.")
@detector_option
@reads_graphs
def watch(
    model: str,
    files: GraphFiles,
    output: str,
    false_alarm_rate: float | None,
    window: int | None,
    random_state: int,
    detector: type[BaseGraphDetector],
) -> None:
    """Say whether GRAPHS are still like those that the model was fitted to.

    Appends a row per graph to the log, in the order of their names, and exits with code 4 if an
    alarm sounds. The next call with the same log goes on where this one ended, and leaves out the
    graphs whose names the log has.

    The columns are graph; score; p_value, the rank of the score among all before it; statistic,
    that of the first test, a conformal martingale; mmd_p_value, that of the second test, which
    compares the last graphs with the references; and alarm, which of them sounds: martingale, mmd,
    or both.
    """
    fitted = load_model(model, detector).detector
    log = _Log(output)
    given = {"false_alarm_rate": false_alarm_rate, "window": window}
    monitor = _monitor(log, fitted, {k: v for k, v in given.items() if v is not None}, random_state)
    known = {os.path.abspath(row[0]) for row in log.rows}
    found = {os.path.abspath(str(path)): path for path in reversed(files.sources)}
    unseen = [path for place, path in reversed(found.items()) if place not in known]
    read = files.read(fitted.schema_, unseen)
    new = (graph for graph in read if os.path.abspath(graph.name) not in known)

    def judge(batch: GraphBatch, ids: list) -> list[tuple]:
        return list(monitor.update(batch)[COLUMNS[1:]].itertuples(index=False, name=None))

    rows = [[graph.name, *row] for graph, row in files.judged(judge, new)]
    log.rows += rows
    log.save(monitor)
    echo(f"watched         {len(rows)} graphs; {len(log.rows)} in {output}")
    if len(unseen) < len(found):
        echo(f"left out        {len(found) - len(unseen)} files that the log has")
    alarms = monitor.alarms_[log.n_reported :]
    for alarm in alarms[:LISTED]:
        at, since = log.rows[alarm.at][0], log.rows[alarm.since][0]
        echo(f"ALARM           {alarm.test}: at {at}, row {alarm.at + 1}")
        echo(f"  since about   {since}, row {alarm.since + 1}")
    if len(alarms) > LISTED:
        echo(f"                and {len(alarms) - LISTED} more, see {output}")
    if alarms:
        log.n_reported += len(alarms)
        log.save(monitor)
        raise click.exceptions.Exit(ALARM)
    files.exit_if_skipped()


def _monitor(
    log: _Log, detector: BaseGraphDetector, given: dict[str, Any], random_state: int
) -> DriftMonitor:
    """The monitor that wrote the log, or a new one with the options that were given."""
    settings = {name: value or None for name, value in given.items()}
    if log.monitor is None:
        default = {} if isinstance(detector, GraphKDEDetector) else {"window": None}
        return DriftMonitor(detector, random_state=random_state, **(default | settings))
    try:
        monitor = DriftMonitor.from_dict(detector, log.monitor)
    except ValueError as error:
        raise ValueError(
            f"{log.path} cannot be continued: {error}. Watch with the model file that began it, or "
            "begin another log with --output"
        ) from error
    for name, value in settings.items():
        before = getattr(monitor, name)
        if value != before:
            raise click.UsageError(
                f"{log.path} was begun with --{name.replace('_', '-')} {before}: leave the option "
                "out, or begin another log with --output"
            )
    return monitor


class _Log:
    """A CSV, and beside it the state: all its rows, the monitor, and how many alarms are reported.

    The state is written first, in one step, and the log then gets the rows that it lacks. So the
    next call completes one that was killed in between, and reports the alarms that it did not.
    """

    def __init__(self, path: str) -> None:
        self.path, self.state_path = Path(path), Path(f"{path}.state")
        self.rows: list[list] = []
        self.monitor: dict[str, Any] | None = None
        self.n_reported = 0
        if self.state_path.exists():
            try:
                state = json.loads(self.state_path.read_text(encoding="utf-8"))
                self.rows, self.monitor = state["rows"], state["monitor"]
                self.n_reported = state["n_reported"]
            except (KeyError, TypeError, ValueError) as error:
                raise ValueError(
                    f"{self.state_path} is damaged: begin another log with --output ({error})"
                ) from error
            self._append_rows()
        elif self.path.exists():
            raise ValueError(
                f"{path} was not written by watch, or {self.state_path} is gone: name another log "
                "with --output"
            )

    def save(self, monitor: DriftMonitor) -> None:
        """Keep the state, and append the rows that the log lacks."""
        self.monitor = monitor.to_dict()
        state = {"rows": self.rows, "monitor": self.monitor, "n_reported": self.n_reported}
        with atomic_file(self.state_path, "t", encoding="utf-8") as file:
            json.dump(state, file, allow_nan=False)
        self._append_rows()

    def _append_rows(self) -> None:
        text = io.StringIO()
        write_rows(text, [COLUMNS, *self.rows])
        content = text.getvalue().encode()
        written = self.path.read_bytes() if self.path.exists() else b""
        if not content.startswith(written):
            raise ValueError(
                f"{self.path} has changed since watch wrote it: undo the changes, or begin another "
                "log with --output"
            )
        with self.path.open("ab") as file:
            file.write(content[len(written) :])
            file.flush()
            os.fsync(file.fileno())
