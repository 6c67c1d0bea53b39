"""The command ``skgraphkde``.

Exit codes: 0 if all is well; 1 for bad input, after one line on stderr that says which and what to
do; 2 for wrong usage; 3 if files were skipped, as requested; 4 if the alarm of `watch` sounds; 130
if the user interrupted.
"""

from __future__ import annotations

import click

from skgraphkde._version import __version__
from skgraphkde.cli.explain import explain
from skgraphkde.cli.fit import fit
from skgraphkde.cli.info import info
from skgraphkde.cli.report import report
from skgraphkde.cli.score import score
from skgraphkde.cli.shell import Commands
from skgraphkde.cli.update import update
from skgraphkde.cli.watch import watch


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="skgraphkde")
def main() -> None:
    """Find the graphs that are not like the others.

    GRAPHS are files and folders: GraphML, GML, JSON (what networkx.node_link_data gives, or a list
    of it) and zips of the TU collection. Folders are searched with their subfolders. "-" stands for
    the paths that standard input lists, one per line.
    """


for _command in (fit, update, score, explain, report, watch, info):
    main.add_command(_command)
