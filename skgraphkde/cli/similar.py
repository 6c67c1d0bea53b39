"""``skgraphkde similar``: a model file and graph files -> the known graphs that are most alike."""

from __future__ import annotations

from typing import Any

import click
import pandas as pd

from skgraphkde._messages import printable
from skgraphkde.cli.options import (
    detector_option,
    examples,
    load_model,
    model_argument,
    reads_graphs,
    table_options,
    table_output_option,
)
from skgraphkde.cli.output import write_table
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.detectors.estimator import GraphKDEDetector


@click.command(
    epilog=examples(
        "skgraphkde similar model.skg new/ -o similar.csv",
        "skgraphkde similar model.skg odd.graphml -n 3 --by tanimoto",
    )
)
@model_argument
@table_options
@table_output_option
@click.option(
    "-n", "n_neighbors", type=click.IntRange(1), default=5, show_default=True, help="How many."
)
@click.option(
    "--by",
    type=click.Choice(["density", "tanimoto", "neighbors", "statistics"]),
    default="density",
    show_default=True,
    help="Whose distance it is: of clouds of nodes, of neighborhoods that both have, of the number "
    "of neighborhoods that one of them has, or of statistics of the whole.",
)
@detector_option
@reads_graphs
def similar(
    model: str,
    files: GraphFiles,
    output: str | None,
    n_neighbors: int,
    by: str,
    own: Any,
) -> None:
    """Find the known graphs that are most like GRAPHS, one row each.

    The columns are graph, the name of the file; rank, from 1 on; similar, the training graph; and
    distance, 0 for graphs that are alike to this view.
    """
    fitted = load_model(model, own)
    if not isinstance(fitted, GraphKDEDetector):
        raise click.ClickException(
            f"{type(fitted).__name__} has no distances, which GraphKDEDetector has"
        )
    batch = fitted.read(files.read(fitted.schema_))
    with files.stage("Comparing"):
        distances, indices = fitted.kneighbors(batch, n_neighbors, view=by)
    known = fitted.training_graphs_
    rows = []
    for i in range(len(batch)):
        for rank in range(n_neighbors):
            rows.append(
                {
                    "graph": printable(str(batch.name(i))),
                    "rank": rank + 1,
                    "similar": printable(str(known.name(int(indices[i, rank])))),
                    "distance": distances[i, rank],
                }
            )
    write_table(pd.DataFrame(rows), output)
