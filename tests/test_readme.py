"""The first example in the README returns what the README says."""

import re
from pathlib import Path

import numpy as np

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


def test_links_lead_somewhere_from_anywhere():
    """They are absolute, as a package index needs them; ours name files that exist."""
    text = README.read_text(encoding="utf-8")
    addresses = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r"^\[.+\]: (\S+)$", text, re.M)
    assert len(addresses) >= 20
    for address in addresses:
        _, is_ours, path = address.partition("/skgraphkde/skgraphkde/")
        assert address.startswith("https://"), address
        if is_ours:
            path = path.removeprefix("blob/").removeprefix("main/")
            assert (README.parent / path).exists(), address
    for name in set(re.findall(r"\]\[([^\]]+)\]", text)):
        assert f"\n[{name}]: " in text, name
