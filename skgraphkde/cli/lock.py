"""One writer at a time: two processes that add to the same file would damage it."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

import click

try:
    import fcntl
except ImportError:  # Windows, where a second writer goes unnoticed
    fcntl = None  # type: ignore[assignment]

ENDING = ".lock"  # after the name of the file


@contextlib.contextmanager
def only_writer(path: str) -> Iterator[None]:
    """Refuse to go on while another process writes this file; "-" is stdout.

    The lock is the system's, on a file beside it. Whatever ends a process, ``kill -9`` included,
    ends its lock, and what it leaves behind holds up nobody.

    Raises
    ------
    click.ClickException
        If another process holds the lock.
    """
    if path == "-" or fcntl is None:
        yield
        return
    place = f"{os.path.realpath(path)}{ENDING}"
    lock = _locked(place, path)
    try:
        yield
    finally:
        if lock is not None:
            with contextlib.suppress(OSError):
                os.unlink(place)  # before the lock ends: nobody else has one on this file
            os.close(lock)


def _locked(place: str, path: str) -> int | None:
    """A locked file at `place`; None if the file system has no locks."""
    while True:
        lock = os.open(place, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(lock), os.stat(place)):
                return lock
        except FileNotFoundError:  # another process has just ended, and removed it
            pass
        except BlockingIOError as error:
            os.close(lock)
            raise click.ClickException(
                f"another process is writing {path}: wait until it has ended, or give another -o"
            ) from error
        except OSError:
            os.close(lock)
            return None
        os.close(lock)
