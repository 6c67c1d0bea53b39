"""Arrays of a loaded detector that do not fit together are found, wherever they are."""

import pickle

import numpy as np
import pytest

from skgraphkde import GraphKDEDetector
from skgraphkde.detectors.checks import check_arrays
from tests.golden import trace


def put(place, value):
    def changed(x):
        x = x.copy()
        x[place] = value
        return x

    return changed


def shorter(x):
    return x[:-1]


def of(field, change):
    """Change an array of the data of nodes, edges or graphs."""
    return lambda data: data._replace(**{field: change(getattr(data, field))})


VIEWS = ("density", "novelty", "tanimoto", "statistics", "numbers")
GRAPHS, EDGES = "training_graphs_", "training_graphs_.adjacency"
NOVELTY, COUNTS = "model_.views.1", "model_.views.2.counts_.counts"
POINTS, BLOCKS = "model_.views.4.points_.0", "model_.features.blocks_"
DAMAGE = [
    (EDGES, "indices", put(0, -7)),
    (EDGES, "indices", put(0, 2**31 - 2)),
    (EDGES, "indices", put(0, 150)),  # in another graph
    (EDGES, "indices", lambda x: np.full(len(x), np.nan)),
    (EDGES, "indptr", put(3, 2**30)),
    (EDGES, "indptr", put(-1, 3)),
    (EDGES, "indptr", lambda x: x[:, np.newaxis]),
    (EDGES, "indptr", lambda x: np.r_[0, np.full(len(x) - 2, 2**30), 0].astype(x.dtype)),
    (EDGES, "data", shorter),
    (EDGES, "data", put(0, np.nan)),
    (GRAPHS, "adjacency", lambda x: x.tocsc()),
    (GRAPHS, "node_ptr", put(1, -1)),
    (GRAPHS, "node_ptr", put(-1, 2**40)),
    (GRAPHS, "node_ptr", shorter),
    (GRAPHS, "node", of("labels", put(0, 99))),
    (GRAPHS, "node", of("labels", put(0, -1))),
    (GRAPHS, "node", of("labels", lambda x: x[:, np.newaxis])),
    (GRAPHS, "node", of("numbers", put(0, np.nan))),
    (GRAPHS, "node", of("numbers", lambda x: x[:, :0])),
    (GRAPHS, "edge", of("labels", shorter)),
    (GRAPHS, "edge", of("numbers", lambda x: x.astype(str))),
    (GRAPHS, "graph", of("labels", put(0, 5))),
    ("", "verdicts_", put(0, 3)),
    ("", "verdicts_", put(0, -1)),
    ("", "training_scores_", shorter),
    ("", "calibration_index_", put(0, 20)),
    ("calibration_", "graphs", put(0, 20)),
    ("calibration_", "scores", put(0, np.inf)),
    ("model_", "reference_index", put(0, 20)),
    ("model_", "reference_index", put(0, 1)),
    ("model_", "training_scores", lambda x: x[:-1]),
    ("model_", "view_weights", shorter),
    ("model_", "view_weights", lambda x: 0 * x),
    ("model_", "view_weights", put(0, -1)),
    ("model_.log_p_values.0", "scores", shorter),
    ("model_.log_p_values.0", "_sorted", lambda x: x[::-1]),
    ("model_.log_p_values.0", "_tail", lambda x: np.nan),
    ("model_.encoder", "means", shorter),
    ("model_.views.0", "logits_", shorter),
    ("model_.views.0", "size_bandwidths_", shorter),
    (f"{NOVELTY}.neighborhoods_.table", "owners", put(0, 20)),
    (f"{NOVELTY}.parts_.tables.categories.known", "colors", lambda x: x[::-1]),
    (f"{NOVELTY}.parts_.tables.categories.known", "counts", shorter),
    (f"{NOVELTY}.parts_.tables.categories.known", "n_graphs", lambda x: 0 * x + 1),
    (COUNTS, "indices", put(0, 10**5)),
    (COUNTS, "data", put(0, -1)),
    (COUNTS, "indptr", lambda x: 0 * x),
    (COUNTS, "_shape", lambda x: (x[0], 2**40)),
    ("model_.views.3", "columns_", put(0, -1)),
    ("model_.views.3", "table_", shorter),
    (POINTS, "codes", put(0, 99)),
    (POINTS, "points", shorter),
    (f"{BLOCKS}.0", "hidden", shorter),
    (f"{BLOCKS}.1", "used", put(0, 9)),
    (f"{BLOCKS}.4", "positions", put((0, 0), -1)),
]


@pytest.fixture(scope="module")
def fitted():
    return GraphKDEDetector(views=VIEWS, schema="all").fit([trace(seed) for seed in range(20)])


def held(x, path):
    for part in filter(None, path.split(".")):
        if isinstance(x, dict):
            x = x[part]
        elif part.isdigit():
            x = x[int(part)]
        else:
            x = getattr(x, part)
    return x


def test_arrays_that_fit_pass(fitted):
    check_arrays(pickle.loads(pickle.dumps(fitted)))


@pytest.mark.parametrize(("owner", "name", "change"), DAMAGE)
def test_arrays_that_do_not_fit_are_found(fitted, owner, name, change):
    detector = pickle.loads(pickle.dumps(fitted))
    of = held(detector, owner)
    wrong = change(getattr(of, name))
    while isinstance(of, tuple):  # which cannot be changed: what holds it is
        wrong = of._replace(**{name: wrong})
        owner, _, name = owner.rpartition(".")
        of = held(detector, owner)
    fields = of if isinstance(of, dict) else vars(of)
    fields[name] = wrong
    with pytest.raises((IndexError, TypeError, ValueError)):
        check_arrays(detector)
