"""``skgraphkde info``: a model file -> lines about what it reads and knows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import click

from skgraphkde._messages import listed
from skgraphkde.cli.options import detector_option, examples, load_model, model_argument
from skgraphkde.cli.output import echo, write_model
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.core.graphs.batch import GraphBatch
from skgraphkde.core.graphs.problems import IgnoredWarning
from skgraphkde.core.graphs.schema import KINDS, FittedSchema, unread_attributes
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.estimator import GraphKDEDetector

MOST_NAMES = 20  # in a line


@click.command(epilog=examples("skgraphkde info model.skg"))
@model_argument
@detector_option
def info(model: str, own: Any) -> None:
    """Say what is in a model file."""
    fitted = load_model(model, own)
    echo(f"file            {model}, {os.path.getsize(model)} bytes")
    known = fitted.info()
    echo(f"detector        {known['detector']}")
    versions = [f"{package} {version}" for package, version in known["versions"].items()]
    echo(f"fitted by       {', '.join(versions)}")
    counted = fitted.schema_.words.counted(known["n_graphs"], "graph")
    echo(f"training        {counted}, sha256 {known['checksum']}")
    print_fitted(fitted)


def fit_quietly(
    files: GraphFiles, fit: Callable[..., Any], batch: GraphBatch, *more: Any, **options: Any
) -> Any:
    """Call a method that fits, without warnings about attributes that the command prints."""
    with (
        files.stage(f"Fitting {batch.schema.words.counted(len(batch), 'graph')}"),
        warnings.catch_warnings(action="ignore", category=IgnoredWarning),
    ):
        return fit(batch, *more, **options)


def echo_what_is_read(files: GraphFiles, detector: BaseGraphDetector, what: str) -> None:
    """Print to stderr what a detector reads, and what not.

    Parameters
    ----------
    files : GraphFiles
    detector : BaseGraphDetector
        Fitted.
    what : str
        What is not found where nothing is read: "odd".
    """
    echo(f"Read: {schema_words(detector.schema_)}", err=True)
    ignored = detector.schema_.ignored
    if ignored:
        line = f"Not read: {listed(ignored, MOST_NAMES)}"
        unread = unread_attributes(detector.given_schema, ignored)
        if any(attribute.is_readable for attribute in unread):
            are_molecules = all(str(x).lower().endswith((".smi", ".sdf")) for x in files.sources)
            all_of_it = "molecule" if are_molecules else "all"
            line += f". Whatever is {what} there is not found: --schema {all_of_it} reads it"
        echo(line, err=True)


def save(detector: BaseGraphDetector, path: str) -> None:
    """Save a detector and print what it knows."""
    write_model(detector, path)
    print_fitted(detector)
    echo(f"saved           {path}")


def print_fitted(detector: BaseGraphDetector) -> None:
    """Print what a detector reads and knows."""
    ignored = detector.schema_.ignored
    echo(f"reads           {schema_words(detector.schema_)}")
    if ignored:
        echo(f"left out        {listed(ignored, MOST_NAMES)}")
    unread = unread_attributes(detector.given_schema, ignored)
    if any(attribute.is_readable for attribute in unread):
        echo("  to read these fit with --schema all, or name them, such as --node-category NAME")
    if isinstance(detector, GraphKDEDetector):
        model = detector.model_
        echo(
            f"references      {model.references.n_graphs} graphs, {model.references.n_nodes} nodes"
        )
        kinds = ", ".join(model.features.kinds_)
        echo(f"node features   {kinds} ({model.features.n_features_out_} columns)")
        for i, (view, weight) in enumerate(zip(model.views, model.view_weights, strict=True)):
            echo(f"{f'view {i}':<16}{view.name}, weight {weight:.1f}")
            if hasattr(view, "bandwidths_"):
                echo(f"  bandwidths    {', '.join(f'{h:.4g}' for h in view.bandwidths_)}")
    echo(
        f"threshold       {detector.offset_:.6g} (calibration {detector.calibration!r}, "
        f"contamination {detector.contamination})"
    )


def schema_words(schema: FittedSchema) -> str:
    """What was read of the training graphs."""
    parts = ["directed graphs" if schema.directed else "undirected graphs"]
    for kind in KINDS:
        value = getattr(schema, kind)
        names = value if kind.endswith("categories") else [name for name, _ in value]
        if names:
            parts.append(f"{kind.replace('_', ' ')} {listed([repr(x) for x in names], MOST_NAMES)}")
    if schema.edge_weight is not None:
        parts.append(f"edge weight {schema.edge_weight!r}")
    if schema.missing != "error":
        parts.append("missing values as evidence")
    return "; ".join(parts)
