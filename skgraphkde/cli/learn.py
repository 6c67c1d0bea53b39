"""``skgraphkde learn``: a model file and verdicts of people -> another model file."""

from __future__ import annotations

import csv
import os
import time
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import click
import numpy as np

from skgraphkde.cli.options import (
    OutputFile,
    detector_option,
    examples,
    force_option,
    load_model,
    model_argument,
    reads_graphs,
    table_options,
)
from skgraphkde.cli.runtime import GraphFiles, echo
from skgraphkde.cli.table import text_of
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.detectors.learning import WORDS
from skgraphkde.explanation.wording import learned_words
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.naming import listed, shown

VERDICTS = WORDS | {"-1": -1, "1": 1}


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
@click.option("-o", "--output", required=True, type=OutputFile(), help="The new model file.")
@click.option(
    "--update", is_flag=True, help="Let the normal graphs join the model, as `update` does."
)
@force_option
@detector_option
@partial(reads_graphs, required=False)
def learn(
    model: str,
    verdicts: str,
    files: GraphFiles,
    output: str,
    update: bool,
    force: bool,
    detector: type[BaseGraphDetector],
) -> None:
    """Learn from verdicts of people on GRAPHS, and write the model to a file.

    VERDICTS is a table (CSV) with the columns "graph", the name of a graph, and "verdict", which is
    "anomaly" or "normal"; rows without a verdict are left out. The page of `report` saves such a
    table. Without GRAPHS, the names are those of files. Normal graphs take part in the choice of
    the weights of the views, and become known graphs with --update.
    """
    start = time.perf_counter()
    if os.path.realpath(output) == os.path.realpath(verdicts):
        raise click.UsageError(f"{verdicts} is both verdicts and output: give another output")
    contents = load_model(model, detector)
    fitted = contents.detector
    if not isinstance(fitted, GraphKDEDetector):
        raise click.ClickException(
            f"{model} contains a {type(fitted).__name__}, which does not learn from verdicts"
        )
    marked = _marked(verdicts)
    files.paths = files.paths or _files_of(marked, verdicts)
    # "./new/a.gml" is "new/a.gml", and a name may be that of a table that `score` wrote.
    by_path = {os.path.normpath(x): name for name in marked for x in (text_of(name), name)}
    graphs, names = [], []
    for graph in files.read(fitted.schema_):
        if (name := by_path.get(os.path.normpath(graph.name))) is not None:
            graphs.append(graph)
            names.append(name)
    missing = [name for name in marked if name not in set(names)]
    if missing:
        message = f"{verdicts} names {listed(missing)}, not among the graphs that were read"
        files.on_error(ValueError(f"{message}: give the files or tables that the page was made of"))
    if graphs:
        batch = GraphBatch.concatenate([graph.batch for graph in graphs]).replace(names=names)
        verdict = np.array([marked[name] for name in names])
        if update and (verdict == 1).any():
            fitted.partial_fit(batch[verdict == 1])
        fitted.learn(batch, verdict)
        fitted.save(output)
    echo(f"read            {len(graphs)} graphs with a verdict")
    for line in learned_words(fitted.model_):
        echo(line)
    if graphs:
        echo(f"saved           {output}, after {time.perf_counter() - start:.1f} seconds")
    files.exit_if_skipped()


def _files_of(names: Iterable[str], table: str) -> list[str]:
    """The files that contain graphs with some names: themselves, the part before "#", or a zip."""
    files = []
    for name in names:
        places = [
            place
            for text in (name, text_of(name))
            for place in (text, text.rpartition("#")[0], *map(str, Path(text).parents))
        ]
        path = next(filter(os.path.isfile, places), None)
        if path is None:
            raise click.ClickException(
                f"{table} names {shown(name)}, which is no file here: give the files or the tables "
                "that the page was made of"
            )
        files.append(path)
    return list(dict.fromkeys(files))


def _marked(path: str) -> dict[str, int]:
    """The verdicts of a table, 1 and -1, by the name of the graph."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, skipinitialspace=True, restval="")
            columns = list(reader.fieldnames or ())
            rows = [(reader.line_num, row) for row in reader]
    except (ValueError, csv.Error) as error:
        raise click.ClickException(f"{path} is no table of verdicts: {error}") from error
    missing = [name for name in ("graph", "verdict") if name not in columns]
    if missing:
        raise click.ClickException(
            f"{path} has no column {missing[0]!r}, but {listed(columns) or 'none'}: the columns "
            "are 'graph', the name of a graph, and 'verdict', 'anomaly' or 'normal', between commas"
        )
    if "score" in columns:
        raise click.ClickException(
            f"{path} has scores, and its verdicts are those of a model: keep the columns 'graph' "
            "and 'verdict', and the rows that somebody has looked at"
        )
    marked: dict[str, int] = {}
    for line, row in rows:
        if any(row.get(None, ())):  # cells without a column, which a comma at the end does not make
            raise click.ClickException(
                f"{path}, line {line} has more cells than columns: put names with commas in quotes"
            )
        graph, verdict = row["graph"], row["verdict"].strip()
        if not verdict:
            continue
        if verdict.lower() not in VERDICTS:
            raise click.ClickException(
                f"{path}: the verdict on {shown(graph)} is {shown(verdict)!r}, and neither "
                "'anomaly' nor 'normal'"
            )
        value = VERDICTS[verdict.lower()]
        if marked.setdefault(graph, value) != value:
            raise click.ClickException(f"{path} has two verdicts on {shown(graph)}: keep one")
    if not marked:
        raise click.ClickException(f"{path} has no verdict: mark graphs on the page of `report`")
    return marked
