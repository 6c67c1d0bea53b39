"""What the library says in Python, in words of the shell: an error names the option that helps."""

from __future__ import annotations

import re

#: A pattern of a message -> how the command line says it.
OPTIONS = {
    r"(say|fit with) missing='indicate' in the GraphSchema": "fit with --missing indicate",
    r"schema=GraphSchema\(directed=False\)": "--undirected",
    r"fit with calibration=\w+\(copies='apart'\)": "fit with --set calibration__copies=apart",
    r"in (node|edge)_numbers, and": r"with --\1-number, and",
    r"copies='together'": "--set calibration__copies=together",
    r"raise fraction": "raise --set calibration__fraction or --contamination",
    r"raise contamination": "raise --contamination",
    r"calibration='loo'": "--calibration loo",
}


def in_shell(message: str) -> str:
    """A message with options in place of parameters."""
    for pattern, option in OPTIONS.items():
        message = re.sub(pattern, option, message)
    return message
