"""``skgraphkde learn`` and ``update``: a model file, graphs and verdicts -> another model file."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import click

from skgraphkde.cli.info import quietly, save
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
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.naming import listed, shown

VERDICTS = {"anomaly": -1, "normal": 1, "-1": -1, "1": 1}


@click.command(
    epilog=examples(
        "skgraphkde update model.skg day17/ -o model2.skg",
        "skgraphkde update model.skg day17/ -o model.skg --force",
    )
)
@model_argument
@table_options
@output_option("The new model file.")
@detector_option
@reads_graphs
def update(model: str, files: GraphFiles, output: str, own: Any) -> None:
    """Let new normal GRAPHS join a model, and write it to a file.

    They become references, and the threshold and the p-values follow from them, too. The output can
    be the model itself, with --force.
    """
    fitted = _load(model, own)
    batch, _ = files.read(fitted.schema_)
    echo(f"read            {len(batch)} graphs")
    save(quietly(fitted.partial_fit, batch), output)


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
@partial(reads_graphs, required=False)
def learn(model: str, verdicts: str, files: GraphFiles, output: str, own: Any) -> None:
    """Learn from verdicts of people on GRAPHS, and write the model to a file.

    VERDICTS is a table (CSV) with the columns "graph", the name of a graph, and "verdict", which is
    "anomaly" or "normal"; rows without a verdict are left out. The page of `report` saves such a
    table. Without GRAPHS, the names are those of files.
    """
    fitted = _load(model, own)
    marked = _read_verdicts(verdicts)
    files.paths = files.paths or _files_of(marked, verdicts)
    batch, _ = files.read(fitted.schema_)
    # "./new/a.gml" is "new/a.gml".
    position = {os.path.normpath(name): i for i, name in enumerate(batch.names or ())}
    marked = {os.path.normpath(name): verdict for name, verdict in marked.items()}
    missing = [name for name in marked if name not in position]
    if missing:
        files.on_error(
            ValueError(
                f"{verdicts} names {listed(missing)}, not among the graphs that were read: give "
                "the files or tables that the page was made of"
            )
        )
    found = {position[name]: verdict for name, verdict in marked.items() if name in position}
    echo(f"read            {len(found)} graphs with a verdict")
    learned = quietly(fitted.learn, batch[list(found)], list(found.values()))
    save(learned, output)


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


def _read_verdicts(path: str) -> dict[str, int]:
    """The verdicts of a table, 1 and -1, by the name of the graph."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True, restval=""))
    columns = list(rows[0]) if rows else []
    if not {"graph", "verdict"} <= set(columns):
        raise click.ClickException(
            f"{path} is no table of verdicts: it needs rows with the columns 'graph', the name of "
            "a graph, and 'verdict', 'anomaly' or 'normal', between commas"
        )
    if "score" in columns:
        raise click.ClickException(
            f"{path} has scores, and its verdicts are those of a model: keep the columns 'graph' "
            "and 'verdict', and the rows that somebody has looked at"
        )
    marked: dict[str, int] = {}
    for row in rows:
        graph, text = row["graph"], row["verdict"].strip()
        if not text:
            continue
        value = VERDICTS.get(text.lower())
        if value is None:
            raise click.ClickException(
                f"{path}: the verdict on {shown(graph)} is {shown(text)!r}, and neither "
                "'anomaly' nor 'normal'"
            )
        if marked.setdefault(graph, value) != value:
            raise click.ClickException(f"{path} has two verdicts on {shown(graph)}: keep one")
    if not marked:
        raise click.ClickException(f"{path} has no verdict: mark graphs on the page of `report`")
    return marked
