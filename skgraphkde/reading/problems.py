"""Errors of reading."""


class UnreadableError(ValueError):
    """A complete message about a file, whatever its format; it names the file and the remedy."""
