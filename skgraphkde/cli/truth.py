"""What is known of graphs beside what was found: lines of a terminal, and a column of a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

from skgraphkde._messages import listed
from skgraphkde.cli.output import echo
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.detectors.verdicts import ANOMALY, UNKNOWN, WORDS

FIRST = (10, 50)  # graphs of a list that somebody looks at, besides as many as are odd


def add_what_files_say(table: pd.DataFrame, files: GraphFiles, names: Sequence[str]) -> None:
    """Add the columns "rows", of cases of one table, and "truth", if the user named one.

    Parameters
    ----------
    table : DataFrame
        One row for each graph that was read.
    files : GraphFiles
    names : sequence of str
        Of the graphs.
    """
    if files.origins:
        table["rows"] = [files.origins.get(name, "") for name in names]
    if files.said is not None:
        word_of = {value: word for word, value in WORDS.items()}
        table["truth"] = [word_of[value] for value in files.said.tolist()]


def echo_truth(
    files: GraphFiles,
    scores: Sequence[float],
    confirmed: np.ndarray | None = None,
    *,
    err: bool = False,
) -> None:
    """Print how well odd graphs were found, if the user named what says which are odd.

    Parameters
    ----------
    files : GraphFiles
    scores : sequence of float
        Of the graphs that were read; lower for odder ones.
    confirmed : ndarray of int, default=None
        Verdicts that the detector has learned; these graphs do not count.
    err : bool, default=False
        Print to stderr.
    """
    if files.truth is None or files.said is None:
        return
    is_marked = np.zeros(len(files.said), dtype=bool) if confirmed is None else confirmed != UNKNOWN
    is_said = files.said != UNKNOWN
    counts = is_said & ~is_marked
    is_odd = files.said[counts] == ANOMALY
    of_counted = np.asarray(scores, dtype=float)[counts]
    n = len(is_odd)
    n_odd = int(is_odd.sum())
    n_unsaid = int((~is_said).sum())
    n_marked = int(is_marked.sum())
    line = f"Truth: {n_odd} of {n} are odd, by {files.truth.column!r}"
    if files.truth.odd:
        line += f" ({' or '.join(map(repr, files.truth.odd))})"
    if n_unsaid:
        line += f"; {n_unsaid} without a value do not count"
    if n_marked:
        line += f"; {n_marked} with a verdict do not count"
    echo(line, err=err)
    if not 0 < n_odd < n:
        echo("  no figures: they need odd graphs, and others that it says are normal", err=err)
        return
    auroc = roc_auc_score(is_odd, -of_counted)
    precision = average_precision_score(is_odd, -of_counted)
    order = np.lexsort((is_odd, of_counted))  # of equal scores, odd graphs come last
    found = np.cumsum(is_odd[order])
    looks = sorted({k for k in (*FIRST, n_odd) if k < n})
    parts = [f"{found[k - 1]} in the first {k}" for k in looks]
    echo(f"  AUROC {auroc:.3f}, average precision {precision:.3f}; found: {listed(parts)}", err=err)
