"""Words about what was fitted and what was read, for several commands."""

from __future__ import annotations

from skgraphkde.cli.runtime import echo
from skgraphkde.detectors.base import BaseGraphDetector
from skgraphkde.detectors.graph_kde import GraphKDEDetector
from skgraphkde.graphs.naming import listed
from skgraphkde.graphs.schema import KINDS, FittedSchema, unread_attributes
from skgraphkde.views import Density

MOST_NAMES = 20  # in a line


def echo_fitted(detector: BaseGraphDetector) -> None:
    """Print what was fitted."""
    echo(f"reads           {schema_words(detector.schema_)}")
    if detector.schema_.ignored:
        echo(f"left out        {listed(detector.schema_.ignored, MOST_NAMES)}")
    unread = unread_attributes(detector.given_schema, detector.schema_.ignored)
    if any(x.is_readable for x in unread):
        parts = sorted({ignored.part for ignored in unread}, reverse=True)
        options = [f"--{part}-category NAME, --{part}-number NAME" for part in parts]
        echo(f"  to read these fit with --schema all, or name them: {', '.join(options)}")
    if isinstance(detector, GraphKDEDetector):
        model = detector.model_
        references, features = model.references, model.features
        kinds = ", ".join(features.kinds_)
        echo(f"references      {references.n_graphs} graphs, {references.n_nodes} nodes")
        echo(f"node features   {kinds} ({features.n_features_out_} columns)")
        for i, view in enumerate(model.views):
            echo(f"view {i}          {view.name}")
            if isinstance(view, Density):
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
