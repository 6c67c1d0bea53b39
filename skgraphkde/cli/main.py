"""The command ``skgraphkde``.

Exit codes: 0 if all is well; 1 for bad input, after one line on stderr that says which and what to
do; 2 for wrong usage; 3 if files were skipped, as requested; 4 if the alarm of `watch` sounds,
whether or not files were skipped; 130 if the user interrupted.
"""

from __future__ import annotations

import importlib
from difflib import get_close_matches
from typing import Any

import click

from skgraphkde._version import __version__
from skgraphkde.cli.exit_codes import INTERRUPTED

#: The commands in order, with what a list of them says, so that this imports nothing slow.
COMMANDS = {
    "find": "Find the GRAPHS that are not like the others, and make a page that shows why.",
    "fit": "Learn what normal GRAPHS look like, and write it to a file.",
    "learn": "Learn from verdicts of people on GRAPHS, and write the model to a file.",
    "update": "Let new normal GRAPHS join a model, and write it to a file.",
    "score": "Judge GRAPHS, one row of a table each.",
    "explain": "Say why GRAPHS have their scores: what is odd about them, which nodes and which "
    "references.",
    "report": "Make a page that shows which GRAPHS are odd, and why.",
    "watch": "Say whether GRAPHS are still like those that the model was fitted to.",
    "info": "Say what is in a model file.",
}


class Commands(click.Group):
    """Imports a command when it is asked for, and says in one line what is wrong with its input."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of a name; None if there is none."""
        if name not in COMMANDS:
            return None
        return getattr(importlib.import_module(f"skgraphkde.cli.{name}"), name)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command of the arguments; an unknown one is an error that names a similar one."""
        if args[0] not in COMMANDS and (similar := get_close_matches(args[0], COMMANDS, 1)):
            ctx.fail(f"No such command {args[0]!r}. Did you mean {similar[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            from skgraphkde.cli.runtime import one_line_errors  # imports scikit-learn

            with one_line_errors():
                return super().invoke(ctx)
        except KeyboardInterrupt:  # while something is imported, or an error is told
            click.echo("Interrupted", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="skgraphkde")
def main() -> None:
    """Find the graphs that are not like the others.

    GRAPHS are files and folders: GraphML, GML, GEXF, JSON (what networkx.node_link_data gives, or a
    list of it), edge lists as CSV, molecules (SMILES, SDF), all of these also gzipped, zips of
    them, and zips of the TU collection.
    Folders are searched with their subfolders. "-" stands for the paths that standard input lists,
    one per line.
    """
