"""``skgraphkde update``: a model file and files of new normal graphs -> another model file."""

from __future__ import annotations

import copy
import time
import warnings
from functools import partial

import click

from skgraphkde.cli.options import (
    detector_option,
    force_option,
    graphs_argument,
    load_model,
    model_argument,
    quiet_option,
    skip_errors_option,
)
from skgraphkde.cli.shell import Skipped, check_file, echo, examples, judge_all, with_progress
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.updating import UpdatableDetector
from skgraphkde.graphs.batch import GraphBatch
from skgraphkde.graphs.files import FileGraph, chunks, read_files


@click.command(
    epilog=examples(
        "skgraphkde update model.skg day17/ -o model2.skg",
        "skgraphkde update model.skg day17/ -o model.skg --force",
    )
)
@model_argument
@graphs_argument
@click.option("-o", "--output", required=True, callback=check_file, help="The new model file.")
@force_option
@detector_option
@skip_errors_option
@quiet_option
def update(
    model: str,
    graphs: tuple[str, ...],
    output: str,
    force: bool,
    detector: type[BaseGraphDetector],
    skip_errors: bool,
    quiet: bool,
) -> None:
    """Let new normal GRAPHS join a model, and write it to a file.

    They become references, and the threshold and the p-values come to rest on them; features and
    bandwidths stay those of `fit`. A model fitted with --set references=window keeps the last 1,000
    graphs, one with references=reservoir 1,000 of all, and others all of them;
    --set references__max_references sets another number. The output can be the model itself, with
    --force.
    """
    start = time.perf_counter()
    contents = load_model(model, detector)
    fitted = contents.detector
    if not isinstance(fitted, UpdatableDetector):
        raise click.ClickException(
            f"{model} contains a {type(fitted).__name__}, which cannot be updated: fit it again, "
            "on old and new graphs together"
        )
    fitted.check_updatable()  # before files are read
    before = Before(fitted)
    skipped = Skipped(skip_errors)
    files = with_progress(skipped.find_files(graphs), quiet)
    read = list(read_files(files, fitted.schema_.to_schema(), skipped.on_error))
    n_read = _join(fitted, read, skipped)
    if n_read:
        fitted.save(output, contents.notes)
    echo(f"read            {n_read} graphs")
    before.echo_changes(fitted)
    if n_read:
        echo(f"saved           {output}, after {time.perf_counter() - start:.1f} seconds")
    skipped.exit_if_any()


def _join(detector: UpdatableDetector, graphs: list[FileGraph], skipped: Skipped) -> int:
    """Let all graphs join that can be used, in one update, and return how many these are.

    One after the other, each would be scored by those before it, and copies among them would
    not be seen.
    """
    try:
        if graphs:
            detector.partial_fit(GraphBatch.concatenate([graph.batch for graph in graphs]))
        return len(graphs)
    except Exception:  # of which graphs?
        usable = [
            graph
            for chunk in chunks(graphs)
            for graph, _ in judge_all(partial(_try, detector), chunk, skipped)
        ]
        if len(usable) == len(graphs):
            raise
    return _join(detector, usable, skipped)


def _try(detector: UpdatableDetector, batch: GraphBatch, _: list) -> list[bool]:
    """Let graphs join a copy, which raises what it raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        copy.copy(detector).partial_fit(batch)
    return [True] * len(batch)


class Before:
    """What an update changes, as it was."""

    def __init__(self, detector: UpdatableDetector) -> None:
        self.n_graphs, self.offset = detector.n_graphs_seen_, detector.offset_
        self.n_references = len(detector.density_.references)

    def echo_changes(self, detector: UpdatableDetector) -> None:
        """Say what has changed since."""
        references = detector.specification("references")
        bound = "all are kept" if references is None else f"at most {references.most}"
        n_new = int((detector.calibration_graphs_ >= self.n_graphs).sum())
        n = len(detector.density_.references)
        echo(f"references      {n} graphs (before: {self.n_references}; {bound})")
        echo(f"calibration     {len(detector.calibration_scores_)} scores, {n_new} of them new")
        echo(f"threshold       {detector.offset_:.6g} (before: {self.offset:.6g})")
