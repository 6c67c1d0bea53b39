"""What was left out of graphs, said once."""

from __future__ import annotations

import warnings

from skgraphkde.graphs.naming import listed


def say_left_out(texts: list[str], stacklevel: int, *, in_fit: bool) -> None:
    """Warn of self-loops, and of attributes that are not read."""
    attributes = [text for text in texts if " attribute " in text]
    loops = [text for text in texts if text not in attributes]
    if loops:
        message = f"left out: {listed(loops)}, as no node is its own neighbor"
        warnings.warn(message, stacklevel=stacklevel + 1)
    if attributes:
        named = listed(attributes, 20)
        message = f"not read, as the training graphs did not have it: {named}"
        if in_fit:
            message = (
                f"not read: {named}; to use them, name them in schema=GraphSchema(...), and to "
                "leave them out without a word, name what is read"
            )
        warnings.warn(message, stacklevel=stacklevel + 1)
