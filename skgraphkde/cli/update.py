"""``skgraphkde update``: a model file and files of new normal graphs -> another model file."""

from __future__ import annotations

import time
import warnings

import click

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
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.batch import GraphBatch


@click.command(
    epilog=examples(
        "skgraphkde update model.skg day17/ -o model2.skg",
        "skgraphkde update model.skg day17/ -o model.skg --force",
    )
)
@model_argument
@table_options
@click.option("-o", "--output", required=True, type=OutputFile(), help="The new model file.")
@force_option
@detector_option
@reads_graphs
def update(
    model: str,
    files: GraphFiles,
    output: str,
    force: bool,
    detector: type[BaseGraphDetector],
) -> None:
    """Let new normal GRAPHS join a model, and write it to a file.

    They become references, and the threshold and the p-values follow from them, too; features and
    bandwidths stay those of `fit`. A model fitted with --set references=window keeps the last 1,000
    graphs, one with references=reservoir 1,000 of all, and others all of them;
    --set references__max_references sets another number. The output can be the model itself, with
    --force.
    """
    start = time.perf_counter()
    contents = load_model(model, detector)
    fitted = contents.detector
    if not isinstance(fitted, GraphKDEDetector):
        raise click.ClickException(
            f"{model} contains a {type(fitted).__name__}, which cannot be updated: fit it again, "
            "on old and new graphs together"
        )
    n_seen, n_references = len(fitted.training_graphs_), len(fitted.model_.references)
    threshold = fitted.offset_
    n_read = _join(fitted, files)
    n_new = int((fitted.calibration_graphs_ >= n_seen).sum())
    n = len(fitted.model_.references)
    echo(f"read            {n_read} graphs")
    echo(f"references      {n} graphs (before: {n_references})")
    echo(f"calibration     {len(fitted.calibration_scores_)} scores, {n_new} of them new")
    echo(f"threshold       {fitted.offset_:.6g} (before: {threshold:.6g})")
    if n_read:
        fitted.save(output)
        echo(f"saved           {output}, after {time.perf_counter() - start:.1f} seconds")
    files.exit_if_skipped()


def _join(detector: GraphKDEDetector, files: GraphFiles) -> int:
    """The number of graphs that joined, in one update: all that can be scored.

    One after the other, each would be scored by those before it, and copies among them would
    not be seen.
    """

    def score(batch: GraphBatch, ids: list) -> list[float]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the update warns
            return detector.score_samples(batch).tolist()

    graphs = list(files.read(detector.schema_))
    usable = [graph.batch for graph, _ in files.judged(score, graphs)]
    if usable:
        detector.partial_fit(GraphBatch.concatenate(usable))
    return len(usable)
