"""``skgraphkde watch``: a model file and new graph files -> rows of a log, and perhaps an alarm."""

from __future__ import annotations

import csv
import io
import json
import os
from pathlib import Path
from typing import Any

import click

from skgraphkde.cli.codes import ALARM
from skgraphkde.cli.lock import only_writer
from skgraphkde.cli.options import (
    any_graphs_argument,
    detector_option,
    load_model,
    model_argument,
    quiet_option,
    skip_errors_option,
)
from skgraphkde.cli.shell import (
    Skipped,
    cell,
    check_file,
    echo,
    examples,
    judged,
    text_of,
    with_progress,
    write_rows,
)
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import read_files
from skgraphkde.graphs.naming import escaped
from skgraphkde.monitoring import DriftMonitor
from skgraphkde.persistence import atomic_file, check_regular

COLUMNS = ["graph", "score", "p_value", "statistic", "mmd_p_value", "alarm"]
LISTED = 3  # alarms on stdout, at most


def _check_log(ctx: click.Context, parameter: click.Parameter, path: str) -> str | None:
    if path == "-":
        raise click.BadParameter("a log that goes on the next day is a file: give its path")
    return check_file(ctx, parameter, path)


@click.command(
    epilog=examples(
        "skgraphkde watch model.skg day17/ -o log.csv",
        "skgraphkde watch model.skg day18/ -o log.csv || mail -s drift me@example.org < log.csv",
    )
)
@model_argument
@any_graphs_argument
@click.option(
    "-o",
    "--output",
    required=True,
    callback=_check_log,
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
@skip_errors_option
@quiet_option
def watch(
    model: str,
    graphs: tuple[str, ...],
    output: str,
    false_alarm_rate: float | None,
    window: int | None,
    random_state: int,
    detector: type[BaseGraphDetector],
    skip_errors: bool,
    quiet: bool,
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
    click.get_current_context().with_resource(only_writer(output))
    log = _Log(output)
    given = {"false_alarm_rate": false_alarm_rate, "window": window}
    given = {name: value for name, value in given.items() if value is not None}
    monitor = log.resumed(fitted, given) or _begun(fitted, given, random_state)
    known = set(map(_place, log.names))
    skipped = Skipped(skip_errors)
    found = skipped.find_files(graphs, output) if graphs else []
    once = list({os.path.abspath(path): path for path in reversed(found)}.values())[::-1]
    files = [path for path in once if _place(cell(path)) not in known]
    read = read_files(with_progress(files, quiet), fitted.schema_.to_schema(), skipped.on_error)
    new = (graph for graph in read if _place(cell(graph.name)) not in known)
    rows = [[graph.name, *row] for graph, row in judged(_judge(monitor), new, skipped)]
    log.append(rows, monitor)
    echo(f"watched         {len(rows)} graphs; {len(log.names)} in {output}")
    if len(files) < len(once):
        echo(f"left out        {len(once) - len(files)} files that the log has")
    alarms = monitor.alarms_[log.n_reported :]
    for alarm in alarms[:LISTED]:
        at, since = log.names[alarm.at], log.names[alarm.since]
        echo(f"ALARM           {alarm.test}: at {at}, row {alarm.at + 1}")
        echo(f"  since about   {since}, row {alarm.since + 1}")
    if len(alarms) > LISTED:
        echo(f"                and {len(alarms) - LISTED} more, see {output}")
    if alarms:
        log.keep_reported(len(monitor.alarms_))
        raise click.exceptions.Exit(ALARM)
    skipped.exit_if_any()


def _begun(detector: BaseGraphDetector, given: dict[str, Any], random_state: int) -> DriftMonitor:
    without = {} if hasattr(detector, "density_") else {"window": None}
    settings = without | {name: value or None for name, value in given.items()}
    return DriftMonitor(detector, random_state=random_state, **settings)


def _judge(monitor: DriftMonitor) -> Any:
    def judge(batch: GraphBatch, _: list) -> list:
        return list(monitor.update(batch)[COLUMNS[1:]].itertuples(index=False, name=None))

    return judge


def _place(written: str) -> str:
    """Where the graph with this name in a log is: one name for all paths that lead there."""
    return os.path.normpath(os.path.join(escaped(os.getcwd()), text_of(written)))


class _Log:
    """A CSV that grows, and beside it the state of the monitor, in step with it.

    The state is written first, in one step, with the rows that are to be appended: a call that was
    killed between the two is made good by the next one. It also has the number of alarms that a
    call has reported, so that one that was killed before it could is made good as well.
    """

    def __init__(self, path: str) -> None:
        self.path, self.state_path = Path(path), Path(f"{path}.state")
        self.names: list[str] = []
        self.n_reported = 0
        self._state: dict[str, Any] | None = None
        if check_regular(self.state_path) is None:
            if self.path.exists():
                raise ValueError(
                    f"{path} was not written by watch, or {self.state_path} is gone: name another "
                    "log with --output"
                )
            return
        try:
            self._state = json.loads(self.state_path.read_text(encoding="utf-8"))
            self.n_reported = int(self._state["n_reported"])
            self._complete(int(self._state["start"]), str(self._state["rows"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(
                f"{self.state_path} is damaged: begin another log with --output ({error})"
            ) from error
        if self.path.exists():
            with self.path.open(encoding="utf-8", newline="") as file:
                self.names = [row[0] for row in csv.reader(file) if row][1:]

    def _complete(self, start: int, rows: str) -> None:
        """Append what the last call did not."""
        size = self.path.stat().st_size if self.path.exists() else 0
        if size < start:
            return  # rows are gone that were complete: which `resumed` reports
        with self.path.open("ab+") as file:
            file.seek(start)
            there = file.read()
            if rows.encode().startswith(there):
                _write(file, rows.encode()[len(there) :])

    def resumed(self, detector: BaseGraphDetector, given: dict[str, Any]) -> DriftMonitor | None:
        """The monitor that wrote the log, if there is one."""
        if self._state is None:
            return None
        try:
            monitor = DriftMonitor.from_dict(detector, self._state["monitor"])
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"{self.path} cannot be continued: {error}. Watch with the model file that began "
                "it, or begin another log with --output"
            ) from error
        if monitor.n_graphs_ != len(self.names):
            raise ValueError(
                f"{self.path} has {len(self.names)} rows, and {monitor.n_graphs_} were written: "
                "undo the changes, or begin another log with --output"
            )
        for name, value in given.items():
            before = getattr(monitor, name)
            if (value or None) != before:
                option = f"--{name.replace('_', '-')}"
                raise click.UsageError(
                    f"{self.path} was begun with {option} {before}: leave the option out, or begin "
                    "another log with --output"
                )
        return monitor

    def append(self, rows: list[list[Any]], monitor: DriftMonitor) -> None:
        """Keep the state that the monitor has after new rows, and add these."""
        text = io.StringIO()
        is_new = self._state is None
        write_rows(text, ([COLUMNS] if is_new else []) + rows)
        start = 0 if is_new else self.path.stat().st_size
        state = {"start": start, "rows": text.getvalue(), "monitor": monitor.to_dict()}
        self._state = state | {"n_reported": self.n_reported}
        self._write_state()
        with self.path.open("ab") as file:
            _write(file, text.getvalue().encode())
        self.names += [cell(row[0]) for row in rows]

    def keep_reported(self, n_alarms: int) -> None:
        """Keep that so many alarms have been reported."""
        self._state = {**(self._state or {}), "n_reported": n_alarms}
        self._write_state()

    def _write_state(self) -> None:
        with atomic_file(self.state_path, "t", encoding="utf-8") as file:
            json.dump(self._state, file, allow_nan=False)


def _write(file: Any, content: bytes) -> None:
    file.write(content)
    file.flush()
    os.fsync(file.fileno())
