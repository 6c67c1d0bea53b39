"""Tables of verdicts of people, which pages save: a CSV file -> a verdict for each graph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import click

from skgraphkde.cli.reading import GraphFiles
from skgraphkde.detectors.verdicts import ANOMALY, NORMAL, WORDS
from skgraphkde.graphs.files.tables import read_cells
from skgraphkde.graphs.naming import listed, shown

# What a table may say, and "" for no verdict.
VERDICTS = {**WORDS, "-1": ANOMALY, "1": NORMAL}

verdicts_option = click.option(
    "--verdicts",
    type=click.Path(exists=True, dir_okay=False),
    metavar="FILE",
    help='Learn from verdicts of people: a table with the columns "graph" and "verdict", '
    '"anomaly" or "normal", which the page saves.',
)


class Verdicts(NamedTuple):
    """A table of verdicts, by the names of graphs."""

    path: str
    verdicts: dict[str, int]  # 1 or -1
    ranks: dict[str, int]  # of all graphs on the page that saved it; 1 is the oddest

    def of(self, names: list[str], files: GraphFiles) -> list[int]:
        """The verdict on each graph of a list, 0 for none.

        A name of the table that the list lacks ends the command, or is skipped as requested.
        """
        # "./new/a.gml" is "new/a.gml".
        marked = {os.path.normpath(name): value for name, value in self.verdicts.items()}
        paths = [os.path.normpath(name) for name in names]
        missing = [name for name in marked if name not in set(paths)]
        if missing:
            files.on_error(
                ValueError(
                    f"{self.path} names {listed(missing)}, not among the graphs that were read: "
                    "give the files or tables that the page was made of"
                )
            )
        return [marked.get(path, 0) for path in paths]


def read_verdicts(path: str) -> Verdicts:
    """Read a table of verdicts, as spreadsheets write it.

    Raises
    ------
    click.ClickException
        If it is none, or has no verdict.
    """
    try:
        columns = read_cells(Path(path))
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    if not {"graph", "verdict"} <= set(columns):
        raise click.ClickException(
            f"{path} is no table of verdicts: it needs rows with the columns 'graph', the name of "
            "a graph, and 'verdict', 'anomaly' or 'normal'"
        )
    if "score" in columns:
        raise click.ClickException(
            f"{path} has scores, and its verdicts are those of a model: keep the columns 'graph' "
            "and 'verdict', and the rows that somebody has looked at"
        )
    found, ranks = dict[str, int](), dict[str, int]()
    ranked = columns.get("rank", [""] * len(columns["graph"]))
    for graph, text, rank in zip(columns["graph"], columns["verdict"], ranked, strict=True):
        if rank.isdecimal():
            ranks[graph] = int(rank)
        if not text:
            continue
        value = VERDICTS.get(text.lower())
        if value is None:
            raise click.ClickException(
                f"{path}: the verdict on {shown(graph)} is {shown(text)!r}, and neither "
                "'anomaly' nor 'normal'"
            )
        if found.setdefault(graph, value) != value:
            raise click.ClickException(f"{path} has two verdicts on {shown(graph)}: keep one")
    if not found:
        raise click.ClickException(f"{path} has no verdict: mark graphs on the page")
    return Verdicts(path, found, ranks)
