"""Two piles of graphs: paths, or the values of a column -> which graph is in which pile."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import click
import numpy as np

from skgraphkde._messages import listed
from skgraphkde.cli.reading import GraphFiles

MOST_VALUES = 10  # of a column, that an error names

# Masks of the graphs of both piles, which share none, and the names of the piles.
Piles = tuple[np.ndarray, np.ndarray, tuple[str, str]]


def check_piles(files: GraphFiles) -> None:
    """Refuse paths and options that do not make two piles, before anything is read.

    Parameters
    ----------
    files : GraphFiles
    """
    n = len(files.paths)
    if files.column is not None:
        if not files.column_name:
            raise click.UsageError("--column has no name before =: give COLUMN or COLUMN=VALUE")
        return
    if n != 2:
        raise click.UsageError(
            f"{n} {'path makes' if n == 1 else 'paths make'} no two piles: give two, or one "
            "list and --column, whose values say to which pile a graph belongs"
        )
    first, second = [Path(path).resolve() for path in files.paths]
    if first.is_relative_to(second) or second.is_relative_to(first):
        raise click.UsageError(
            f"{files.paths[0]} and {files.paths[1]} are one, or one is in the other: give two "
            "folders or files"
        )
    if files.rule is not None:
        raise click.UsageError(
            "--cases makes graphs of one table: give one, and --column, which says to which pile a "
            "case belongs"
        )


def piles_of(files: GraphFiles) -> Piles:
    """Which graphs that were read are in the first pile, which in the second, and their names.

    Parameters
    ----------
    files : GraphFiles
        Which has read them.

    Raises
    ------
    ClickException
        If there are not two.
    """
    if files.column is None:
        pile = np.array([_path_of(name, files.path_of) for name in files.names])
        return pile == 0, pile == 1, _names_of_paths(*files.paths)
    values = np.array(files.column.values(files.names), dtype=object)
    counts = Counter(values[values != ""].tolist())
    there = listed([f"{value!r} ({n})" for value, n in counts.most_common()], MOST_VALUES)
    if files.value_of_first:
        return _one_value(files.column_name, files.value_of_first, values, there)
    if len(counts) != 2:
        raise click.ClickException(
            f"{files.column_name!r} has {len(counts)} value{'' if len(counts) == 1 else 's'}, "
            f"and two make two piles: {there}; --column {files.column_name}=VALUE compares "
            "those of one value with all others"
        )
    one, other = counts  # in the order in which they come
    names = (f"{files.column_name}={one}", f"{files.column_name}={other}")
    return values == one, values == other, names


def _one_value(column: str, wanted: str, values: np.ndarray, there: str) -> Piles:
    """The graphs with one value, and those with any other."""
    is_given = values != ""
    is_first = values == wanted
    if not is_first.any():  # a number may be written in another way
        is_first = values == wanted.removesuffix(".0")
    if not is_first.any() or is_first[is_given].all():
        raise click.ClickException(
            f"{wanted!r} makes no two piles by {column!r}, which has {there}"
        )
    return is_first, ~is_first & is_given, (f"{column}={wanted}", f"other {column}")


def _path_of(name: str, path_of: dict[str, int]) -> int:
    """The path from which a graph was read: its name begins with that of its file, and "#"."""
    for end in range(len(name), 0, -1):
        is_end = end == len(name) or name[end] == "#" or name[end - 1] == "#"
        if is_end and name[:end] in path_of:
            return path_of[name[:end]]
    raise ValueError(f"{name} is in none of the given files")


def _names_of_paths(first: str, second: str) -> tuple[str, str]:
    """Short names of two paths, which tell them apart."""
    names = Path(os.path.abspath(first)).name, Path(os.path.abspath(second)).name
    return names if names[0] != names[1] else (first, second)
