"""The code on pages of the documentation runs, and does what the pages say."""

import doctest
import sys
import types
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
RECIPES = [f"recipes/{x.name}" for x in DOCS.glob("recipes/*.md") if x.stem != "index"]


@pytest.mark.filterwarnings("ignore:node labels that fit did not see")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # PyTorch Geometric's imports
@pytest.mark.parametrize("page", ["extending.md", "schema.md", *RECIPES])
def test_page(page, monkeypatch):
    """As if the page were a module, so that its classes can be pickled."""
    module = types.ModuleType(Path(page).stem)
    monkeypatch.setitem(sys.modules, module.__name__, module)
    text = (DOCS / page).read_text(encoding="utf-8")
    test = doctest.DocTestParser().get_doctest(text, module.__dict__, page, page, 0)
    test.globs = module.__dict__  # doctest has made a copy
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
    assert result.attempted > 10
    assert not result.failed
