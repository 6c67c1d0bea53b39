"""``skgraphkde compare``: two piles of graph files -> a page: whether they differ, and in what."""

from __future__ import annotations

import warnings
from typing import Any

import click
import numpy as np
import pandas as pd

from skgraphkde._messages import listed, shown
from skgraphkde._words import number
from skgraphkde.cli.info import echo_what_is_read
from skgraphkde.cli.options import (
    column_option,
    examples,
    output_option,
    read_with_gaps,
    reads_graphs,
    schema_options,
    table_options,
)
from skgraphkde.cli.output import TABLES, echo, open_output, write_table
from skgraphkde.cli.piles import check_piles, piles_of
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.comparing import Comparison, first_of_alike
from skgraphkde.comparing import compare as compare_piles
from skgraphkde.core.graphs.problems import IgnoredWarning
from skgraphkde.page.page import SUFFIXES
from skgraphkde.page.piles import LEVEL, page_of_piles

PRINTED = 5  # findings, at most


@click.command(
    epilog=examples(
        "skgraphkde compare before/ after/ -o page.html",
        "skgraphkde compare scans/ --graphs scans.csv --column patient -o page.html",
        "skgraphkde compare scans/ --graphs scans.csv --column site=C --match size -o page.html",
        "skgraphkde compare before.zip after.zip -o findings.csv",
    )
)
@table_options
@output_option("The HTML file, or a table: .csv, .jsonl or .parquet.", *SUFFIXES, *TABLES)
@column_option
@click.option(
    "--within",
    metavar="COLUMN",
    help="Data of graphs, such as a site: graphs are exchanged within it only, so that a "
    "difference between sites is none between the piles.",
)
@click.option(
    "--match",
    type=click.Choice(["size"]),
    help="Graphs are exchanged among those of nearly the same size only, so that a difference of "
    "sizes alone is none.",
)
@click.option(
    "--permutations",
    type=click.IntRange(19),
    default=999,
    show_default=True,
    help="Random exchanges.",
)
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed.")
@schema_options
@reads_graphs
def compare(
    files: GraphFiles,
    output: str,
    within: str | None,
    match: Any,
    permutations: int,
    random_state: int,
    **schema_settings: Any,
) -> None:
    """Say if two piles of GRAPHS differ, in what, and how sure that is.

    Give two files or folders, one for each pile; or one list, and --column, whose two values say to
    which pile a graph belongs. The test is exact: if the piles are of one source, p is at most .05
    in one of twenty comparisons.
    """
    check_piles(files)
    files.are_piles = files.column is None
    if within is not None and within == files.column_name:
        raise click.UsageError(
            f"{within!r} says to which pile a graph belongs: exchange within something else"
        )
    batch, schema = read_with_gaps(files, schema_settings)
    is_first, is_second, piles = piles_of(files)
    n_others = int((~is_first & ~is_second).sum())
    if n_others:
        echo(f"{n_others} graphs without {files.column_name!r} are left out", err=True)
    X = batch[np.flatnonzero(is_first)]
    Z = batch[np.flatnonzero(is_second)]
    blocks = None
    if within is not None:
        of_graphs = np.array(files.beside.column(files.names, within), dtype=object)
        n_lacking = int((of_graphs[is_first | is_second] == "").sum())
        if n_lacking:
            lacking = f"{n_lacking} graphs without {within!r}"
            echo(f"{lacking} are exchanged among themselves", err=True)
        blocks = [*of_graphs[is_first], *of_graphs[is_second]]
    with (
        files.stage("Comparing"),
        warnings.catch_warnings(action="ignore", category=IgnoredWarning),
    ):
        found = compare_piles(
            X,
            Z,
            schema=schema,
            n_permutations=permutations,
            blocks=blocks,
            match=match,
            names=piles,
            random_state=random_state,
        )
    echo_what_is_read(files, found.detector, "different")
    if output.lower().endswith(SUFFIXES):
        with files.stage("Drawing"), open_output(output) as file:
            exchanged = []
            if within is not None:
                exchanged.append(f"within each {within}")
            if match is not None:
                exchanged.append(f"among {found.detector.schema_.words.graphs} of nearly one size")
            page = page_of_piles(found, X, Z, piles, [*files.skipped], files.notes, exchanged)
            file.write(page)
    else:
        write_table(table_of_piles(found), output)
    _echo(found, piles, (len(X), len(Z)), output)


def table_of_piles(found: Comparison) -> pd.DataFrame:
    """The test, its views and the findings, one row each, by the columns of the findings."""
    test = pd.DataFrame({"kind": ["test"], "what": ["all views"], "p_value": [found.p_value]})
    views = found.views.drop(columns="p_alone").rename(columns={"view": "what"})
    views.insert(0, "kind", "view")
    table = pd.concat([test, views, found.findings], ignore_index=True)
    return table[list(found.findings)]


def _echo(found: Comparison, piles: tuple[str, str], sizes: tuple[int, int], output: str) -> None:
    """Print whether the piles differ, and the clearest findings."""
    words = found.detector.schema_.words
    is_different = found.p_value <= LEVEL
    says = "differ" if is_different else "are not shown to differ"
    names = f"{shown(piles[0])} ({sizes[0]}) and {shown(piles[1])} ({sizes[1]} {words.graphs})"
    echo(f"{names} {says}: p = {number(found.p_value)}: {output}")
    table = found.findings
    sure = first_of_alike(table[table["p_value"] <= LEVEL])
    for _, row in sure.head(PRINTED).iterrows():
        echo(f"  {row['finding']}; p = {number(row['p_value'])}")
    if len(sure) > PRINTED:
        echo(f"  and {len(sure) - PRINTED} more in {output}")
    if is_different and not len(sure):
        echo(
            f"  in no single number or kind, but in many together: {listed(found.views['view'], 2)}"
        )
