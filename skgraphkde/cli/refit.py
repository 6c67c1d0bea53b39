"""``skgraphkde learn`` and ``update``: a model file, graphs and verdicts -> another model file."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from skgraphkde._messages import listed, shown
from skgraphkde.cli.info import fit_quietly, save
from skgraphkde.cli.options import (
    detector_option,
    examples,
    load_model,
    model_argument,
    output_option,
    reads_graphs,
    table_options,
)
from skgraphkde.cli.output import echo
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.cli.verdicts import read_verdicts
from skgraphkde.detectors.estimator import GraphKDEDetector


@click.command(
    epilog=examples(
        "skgraphkde update model.skg day17/ -o model2.skg",
        "skgraphkde update model.skg day17/ -o model.skg --force",
    )
)
@model_argument
@table_options
@output_option("The new model file.")
@click.option("--flagged", is_flag=True, help="Let graphs join that the model flags, too.")
@detector_option
@partial(reads_graphs, renews_model=True)
def update(model: str, files: GraphFiles, output: str, flagged: bool, own: Any) -> None:
    """Let new normal GRAPHS join a model, and write it to a file.

    They become references, and the threshold and the p-values follow from them, too. Graphs that
    the model flags are left out, and named: look at them with `report`, and let those that are
    normal join with --flagged. The output can be the model itself, with --force.
    """
    files.check_apart()
    fitted = _load(model, own)
    batch = files.read(fitted.schema_)
    echo(f"read            {batch.schema.words.counted(len(batch), 'graph')}")
    with files.stage("Judging"):
        is_odd = fitted.predict(batch) < 0
    if not flagged and is_odd.any():
        names = [name for name, odd in zip(batch.names or (), is_odd, strict=True) if odd]
        line = f"Left out {len(names)} that the model flags: {listed(names)}"
        echo(f"{line}; --flagged lets them join", err=True)
        if is_odd.all():
            raise click.ClickException("the model flags all graphs: none joins")
        batch = batch[~is_odd]
    save(fit_quietly(files, fitted.partial_fit, batch), output)


@click.command(
    epilog=examples(
        "skgraphkde learn model.skg verdicts.csv -o model2.skg",
        "skgraphkde learn model.skg verdicts.csv new/ -o model.skg --force",
        "skgraphkde learn model.skg verdicts.csv new.csv --graph-column case -o model2.skg",
    )
)
@model_argument
@click.argument("verdicts", type=click.Path(exists=True, dir_okay=False))
@table_options
@output_option("The new model file.")
@detector_option
@partial(reads_graphs, required=False, renews_model=True)
def learn(model: str, verdicts: str, files: GraphFiles, output: str, own: Any) -> None:
    """Learn from verdicts of people on GRAPHS, and write the model to a file.

    VERDICTS is a table (CSV) with the columns "graph", the name of a graph, and "verdict", which is
    "anomaly" or "normal"; rows without a verdict are left out. Pages save such a table. Without
    GRAPHS, the names are those of files.
    """
    fitted = _load(model, own)
    marked = read_verdicts(verdicts)
    files.paths = files.paths or _files_of(marked.verdicts, verdicts)
    batch = files.read(fitted.schema_)
    found = np.array(marked.of(list(batch.names or ()), files))
    some = np.flatnonzero(found != "")
    echo(f"read            {batch.schema.words.counted(len(some), 'graph')} with a verdict")
    save(fit_quietly(files, fitted.learn, batch[some], found[some]), output)


def _load(path: str, own: Any) -> GraphKDEDetector:
    fitted = load_model(path, own)
    if not isinstance(fitted, GraphKDEDetector):
        raise click.ClickException(
            f"{path} contains a {type(fitted).__name__}, which only `fit` changes: fit it again, "
            "on all graphs together"
        )
    return fitted


def _files_of(names: Iterable[str], table: str) -> list[str]:
    """The files that contain graphs with some names: themselves, the part before "#", or a zip."""
    files = []
    for name in names:
        places = [name, name.rpartition("#")[0], *map(str, Path(name).parents)]
        path = next((place for place in places if os.path.isfile(place)), None)
        if path is None:
            raise click.ClickException(
                f"{table} names {shown(name)}, which is no file here: give the files or the tables "
                "that the page was made of"
            )
        files.append(path)
    return list(dict.fromkeys(files))
