"""``python -m skgraphkde``: the command line, see :mod:`skgraphkde.cli`."""

from skgraphkde.cli import main

if __name__ == "__main__":
    main(prog_name="skgraphkde")
