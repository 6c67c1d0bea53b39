"""The first example in the README returns what the README says."""

import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[1] / "README.md"


def test_first_example():
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    namespace = {}
    claims = 0
    for line in code.splitlines():
        expression, _, claim = line.partition("  # ")
        if not claim:
            exec(line, namespace)
            continue
        actual = eval(expression, namespace)
        np.testing.assert_allclose(actual, eval(claim, {"array": np.array}), atol=0.11)
        claims += 1
    assert claims == 2


@pytest.mark.parametrize("path", re.findall(r"\]\(([^)]+)\)", README.read_text(encoding="utf-8")))
def test_links_lead_somewhere(path):
    assert (README.parent / path).exists()
