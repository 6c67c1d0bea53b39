"""The command ``skgraphkde``.

Exit codes: 0 if all is well; 1 for bad input, after one line on stderr that says which and what to
do; 2 for wrong usage; 3 if graphs were skipped, as requested; 130 if the user interrupted.
"""

from __future__ import annotations

import _thread
import difflib
import importlib
import sys
import threading
from typing import Any

import click

from skgraphkde._interrupts import interrupts_deferred
from skgraphkde._version import __version__

INTERRUPTED = 130  # exit code
CLOSE = 0.8  # ratio of difflib, of words that may be meant for each other

#: The commands in order: the module, and what a list of them says, so that it imports nothing slow.
COMMANDS = {
    "find": ("pages", "Find the GRAPHS that are not like the others, and show why on a page."),
    "fit": ("fit", "Learn what normal GRAPHS look like, and write it to a file."),
    "score": ("score", "Judge GRAPHS, one row of a table each."),
    "similar": ("similar", "Find the known graphs that are most like GRAPHS, one row each."),
    "compare": ("compare", "Say if two piles of GRAPHS differ, in what, and how sure that is."),
    "report": ("pages", "Make a page that shows which GRAPHS are odd, and why."),
    "learn": ("refit", "Learn from verdicts of people on GRAPHS, and write the model to a file."),
    "update": ("refit", "Let new normal GRAPHS join a model, and write it to a file."),
    "info": ("info", "Say what is in a model file."),
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
        return getattr(importlib.import_module(f"skgraphkde.cli.{COMMANDS[name][0]}"), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        before = sys.unraisablehook
        sys.unraisablehook = _interrupt_again
        try:
            with interrupts_deferred():  # threads of BLAS would take them while RDKit drops them
                from skgraphkde.cli.output import one_line_errors  # imports NumPy and pandas
            with one_line_errors():
                return super().invoke(ctx)
        except click.NoSuchOption as error:
            raise self._explained(error) from None
        except KeyboardInterrupt:
            click.echo("Interrupted", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        finally:
            sys.unraisablehook = before

    def _explained(self, error: click.NoSuchOption) -> click.NoSuchOption:
        """The error with options that the user may have meant, or with what the option is."""
        name = error.option_name
        fit = importlib.import_module("skgraphkde.cli.fit").fit
        close = difflib.get_close_matches(name, error.possibilities or (), cutoff=CLOSE)
        is_of_fit = any(name in (*x.opts, *x.secondary_opts) for x in fit.params)
        message = f"No such option {name!r}, but `fit` has it: the model file keeps that."
        if error.ctx is not None and error.ctx.info_name == "find":  # which reads no model file
            message = f"No such option {name!r}, but `fit` has it: use `fit`, and then `report`."
        return click.NoSuchOption(name, message if is_of_fit else None, close, error.ctx)


def _interrupt_again(dropped: Any) -> None:
    """Repeat an interrupt that Python dropped, as it does in a callback of its import system."""
    if isinstance(dropped.exc_value, KeyboardInterrupt):
        threading.Timer(0.1, _thread.interrupt_main).start()
    else:
        sys.__unraisablehook__(dropped)


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="skgraphkde")
def main() -> None:
    """Find the graphs that are not like the others.

    GRAPHS are files and folders: GraphML, GML, GEXF, DOT, Pajek, JSON (what
    networkx.node_link_data gives, or a list of it), edge lists as CSV, matrices (CSV, NumPy,
    MATLAB), molecules (SMILES, SDF), event logs (CSV, XES), spans of OpenTelemetry (JSON), all of
    these also gzipped, zips of them, and zips of the TU collection.
    Folders are searched with their subfolders. "-" stands for the paths that standard input lists,
    one per line.
    """
