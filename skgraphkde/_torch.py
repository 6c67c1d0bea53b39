"""torch, if it is installed: otherwise names that need it are missing, and an error says why."""

import sys
from importlib.util import find_spec

HAS_TORCH = find_spec("torch") is not None  # which does not import it
INSTALL = "pip install '.[gcn]' in a clone of skgraphkde"


def needs_torch(name: str) -> Exception:
    """The error of a module that lacks a name, for its ``__getattr__``.

    Python expects an AttributeError, but replaces the message of one by its own where a statement
    imports the name: there it is an ImportError, which Python raises as it is.
    """
    is_imported = sys._getframe(2).f_code.co_name == "_handle_fromlist"
    error = ImportError if is_imported else AttributeError
    return error(f"{name} needs torch, which is not installed: {INSTALL}")
