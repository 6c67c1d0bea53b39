"""``skgraphkde info``: a model file -> lines about its contents."""

from __future__ import annotations

import os

import click

from skgraphkde.cli.fitted import echo_fitted
from skgraphkde.cli.options import detector_option, examples, load_model, model_argument
from skgraphkde.cli.runtime import echo
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.explanation.wording import learned_words


@click.command(epilog=examples("skgraphkde info model.skg"))
@model_argument
@detector_option
def info(model: str, detector: type[BaseGraphDetector]) -> None:
    """Say what is in a model file."""
    contents = load_model(model, detector)
    defaults = detector().get_params(deep=False)
    parameters = contents.detector.get_params(deep=False).items()
    changed = [f"{k}={v!r}" for k, v in parameters if repr(v) != repr(defaults[k])]
    size, version = os.path.getsize(model), contents.library_version
    echo(f"file            {model}, {size} bytes, skgraphkde {version}")
    echo(f"detector        {detector.__name__}")
    for line in f"parameters      {', '.join(changed) or 'all defaults'}".split("\n"):  # of a repr
        echo(line)
    echo_fitted(contents.detector)
    if isinstance(contents.detector, GraphKDEDetector):
        for line in learned_words(contents.detector.model_):
            echo(line)
