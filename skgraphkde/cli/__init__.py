"""The command line: graph files -> a model file, scores, reasons. One module per command."""

from skgraphkde.cli.main import main

__all__ = ["main"]
