"""Tables of verdicts of people, which pages save: a CSV file -> a verdict for each graph."""

from __future__ import annotations

import os
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import click

from skgraphkde._messages import listed, shown
from skgraphkde.cli.reading import GraphFiles
from skgraphkde.detectors.verdicts import ANOMALY, NORMAL, UNKNOWN, WORDS
from skgraphkde.page.rendering import FORMULA
from skgraphkde.page.rows import LONGEST
from skgraphkde.reading.files.tables import read_cells

# What a table may say, and "" for no verdict.
VERDICTS = {**WORDS, "-1": ANOMALY, "1": NORMAL}
# 0 and 1 alone might be the codes of others.
IN_WORDS = {ANOMALY: "anomaly", UNKNOWN: "", NORMAL: "normal"}

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

    def of(self, names: list[str], files: GraphFiles) -> list[str]:
        """The verdict on each graph of a list in words, "" for none.

        A name of the table that the list lacks ends the command, or is skipped as requested.
        """
        by_text = defaultdict(list)
        by_path = defaultdict(list)
        for i, name in enumerate(names):
            for text in {name, shown(name, LONGEST).strip()}:  # the latter as pages save it
                by_text[text].append(i)
            by_path[os.path.normpath(name)].append(i)  # "./new/a.gml" is "new/a.gml"
        said = dict[int, str]()  # the name in the table of each graph that has a verdict
        missing = []
        for name in self.verdicts:
            places = by_text.get(name) or by_path.get(os.path.normpath(name), [])
            if not places:
                missing.append(name)
            same = sorted({names[i] for i in places})
            if len(same) > 1:
                raise click.ClickException(
                    f"{self.path} names {shown(name)}, which may be "
                    f"{listed(list(map(repr, same)))}: rename one of these graphs"
                )
            for i in places:
                if i in said:
                    raise click.ClickException(
                        f"{self.path} names {shown(said[i])} and {shown(name)}, which are one "
                        "graph: keep one"
                    )
                said[i] = name
        if missing:
            meant = [x for x in names if x.endswith((f"#{missing[0]}", f"/{missing[0]}"))]
            question = f" (did you mean {meant[0]!r}?)" if meant else ""
            files.on_error(
                ValueError(
                    f"{self.path} names {listed(missing)}{question}, not among the graphs that "
                    "were read: give the files or tables that the page was made of"
                )
            )
        found = [self.verdicts[said[i]] if i in said else UNKNOWN for i in range(len(names))]
        return [IN_WORDS[verdict] for verdict in found]


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
    found = dict[str, int]()
    ranks = dict[str, int]()
    ranked = columns.get("rank", [""] * len(columns["graph"]))
    for row, (graph, text, rank) in enumerate(
        zip(columns["graph"], columns["verdict"], ranked, strict=True), 2
    ):
        if graph.startswith("'") and FORMULA.match(graph[1:]):
            graph = graph[1:]
        if rank.isdecimal() and len(rank) < 10:
            ranks[graph] = int(rank)
        if not text:
            continue
        if not graph:
            raise click.ClickException(f"{path}, row {row}: a verdict on no graph: name the graph")
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
