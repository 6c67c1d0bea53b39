"""One process at a time writes a file, whichever command it runs."""

import io
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import skgraphkde
from skgraphkde.cli import main
from skgraphkde.cli.runtime import only_writer
from tests.cli.conftest import READ, run

SCHEMA = " ".join(READ)
WRITERS = [
    f"fit normal {SCHEMA} -o own.skg",
    "update model.skg new -o own.skg",
    "learn model.skg verdicts.csv new -o own.skg",
    "score model.skg new -o rows.csv",
    "score model.skg new -o rows.parquet",
    "explain model.skg new/00.graphml -o rows.csv",
    "explain model.skg new/00.graphml --picture odd.svg",
    "report model.skg new -o page.html",
    "watch model.skg new -o log.csv",
    f"find normal {SCHEMA} -o page.html",
]
# A process that runs a command, and waits for the file "go" before it reads graphs.
WAITING = """
import sys, time
from pathlib import Path
from skgraphkde.cli import main
from skgraphkde.cli.runtime import GraphFiles

progress = GraphFiles.progress

def waiting(files, *arguments):
    Path("waits").touch()
    while not Path("go").exists():
        time.sleep(0.01)
    return progress(files, *arguments)

GraphFiles.progress = waiting
main(sys.argv[1:])
"""


@pytest.fixture(autouse=True)
def verdicts(here):
    (here / "verdicts.csv").write_text("graph,verdict\nnew/00.graphml,anomaly\n")


def started(words, *begin):
    environment = os.environ | {"PYTHONPATH": str(Path(skgraphkde.__file__).parents[1])}
    command = [sys.executable, *begin, *shlex.split(words)]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("command", WRITERS)
def test_a_second_writer_is_refused(here, command):
    output = command.split()[-1]
    with only_writer(output):
        result = run(command, exit_code=1)
    assert result.stderr == (
        f"Error: another process is writing {output}: wait until it has ended, or give another -o\n"
    )
    assert not (here / output).exists()


def test_a_lock_that_a_killed_process_left_blocks_nobody(here):
    (here / "rows.csv.lock").touch()
    run("score model.skg new -o rows.csv")
    assert not (here / "rows.csv.lock").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", WRITERS)
def test_two_processes(here, command):
    """The first writes what it would have written alone, and the second is refused meanwhile."""
    output, force = command.split()[-1], " --force" * ("watch" not in command)
    other_name = command.replace(output, f"../{here.name}/{output}")
    with started(command, "-c", WAITING) as first:
        while not (here / "waits").exists() and first.poll() is None:
            time.sleep(0.01)
        second = [CliRunner().invoke(main, shlex.split(x + force)) for x in (command, other_name)]
        (here / "go").touch()
        first.communicate()  # before the end of the block closes its stderr
    assert first.returncode == 0
    for result in second:
        assert result.exit_code == 1
        assert "another process is writing" in result.stderr
    assert (here / output).exists()
    assert not [*here.glob("*.lock")]
    run(command + force)


@pytest.mark.slow
def test_updates_of_one_model_at_once(here):
    """Every graph of a process that ends with 0 is in the model."""
    (here / "own.skg").write_bytes((here / "model.skg").read_bytes())
    words = "update own.skg new/0{}.graphml -o own.skg --force"
    processes = [started(words.format(i), "-m", "skgraphkde") for i in range(3)]
    errors = [process.communicate()[1] for process in processes]
    refused = [x for x, process in zip(errors, processes, strict=True) if process.returncode]
    assert all("another process is writing own.skg" in text for text in refused)
    n_graphs = skgraphkde.load("own.skg").n_graphs_seen_
    assert n_graphs == 20 + len(processes) - len(refused) > 20


def test_what_another_process_wrote_meanwhile_is_kept(here):
    """Between the check of the options and the lock, as while paths are listed."""

    class Listing(io.BytesIO):
        def read(self, size=-1):
            if size != 0:  # with which click asks whether it returns bytes
                (here / "rows.csv").write_text("kept")
            return super().read(size)

    words = ["score", "model.skg", "-o", "rows.csv", "-"]
    result = CliRunner().invoke(main, words, input=Listing(b"new"))
    assert result.exit_code == 2
    assert "rows.csv exists: give --force" in result.stderr
    assert (here / "rows.csv").read_text() == "kept"
