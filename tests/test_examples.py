"""Every example is a well-formed page of the gallery; sphinx-build runs them."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_a_page(path):
    text = path.read_text(encoding="utf-8")
    title, rule, *_ = ast.get_docstring(ast.parse(text)).splitlines()
    assert rule == "=" * len(title)
    assert "\n# %%\n" in text
    assert f'"{path.name}"' in (ROOT / "docs" / "conf.py").read_text(encoding="utf-8")
