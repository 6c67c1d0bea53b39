"""Views by themselves: fitted to references, and asked for scores."""

import numpy as np

from skgraphkde.core.views.base import Context


def context_of(graphs):
    """A context for views that compare no clouds."""
    return Context(graphs, lambda _: {}, {})


def fit(view, references):
    return view.fit(references, context_of(references))


def scores_of(view, graphs, own=None):
    """Scores of new graphs, or of the references `own`."""
    own = np.full(len(graphs), -1) if own is None else np.asarray(own)
    return view.scores(graphs, own, context_of(graphs))
