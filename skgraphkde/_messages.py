"""Names that graphs and files bring, as an error shows them: on one line, and not too long.

A name can be anything: a paragraph, a sequence that moves the cursor of a terminal, half a
character.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Characters of a name among others.
LONGEST = 100


def printable(text: str) -> str:
    """The text with all that cannot be seen, such as the end of a line, written as an escape."""
    return "".join(x if x.isprintable() else x.encode("unicode_escape").decode() for x in text)


def encodable(text: str) -> str:
    """The text with half characters, which no file holds, written as escapes."""
    return text.encode(errors="backslashreplace").decode()


def shown(name: Any, most: int = LONGEST) -> str:
    """A name in a message: printable, and cut after a word if it is longer than `most` characters.

    Parameters
    ----------
    name : object
    most : int, default=100

    Examples
    --------
    >>> shown("receive goods", 11), shown("receive", 3)
    ('receive...', 'rec...')
    """
    text = name if isinstance(name, str) else str(name)
    text = printable(text[: most + 1])
    words = text.rpartition(" ")[0].rstrip(" ,;:-(.")
    cut = words if 2 * len(words) > most else text[:most]
    return text if len(text) <= most else f"{cut}..."


def listed(names: Sequence[Any], most: int = 5) -> str:
    """The first few of some names, and how many more there are.

    Parameters
    ----------
    names : sequence
    most : int, default=5
    """
    more = [f"and {len(names) - most} more"] if len(names) > most else []
    return ", ".join([*map(shown, names[:most]), *more])
