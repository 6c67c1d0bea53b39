"""Imports follow the house: a room imports rooms above it on the page, and there are no circles."""

import ast
import functools
import re
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.glob("skgraphkde/**/*.py"))
}


PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
#: The rooms in the order of the table on the page.
ROOMS = re.findall(r"^\| `(\w+)(?:/|\.py)` \|", PAGE, flags=re.MULTILINE)


@functools.cache
def imported_by(module):
    """Modules that a module imports anywhere, inside functions, too."""
    found = set()
    for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module} has a relative import"
            # `from package import module` imports the module, `from module import name` does not.
            candidates = [f"{node.module}.{alias.name}" for alias in node.names]
            names = [name if name in MODULES else node.module for name in candidates]
        else:
            continue
        found |= set(names)
    return found


def ours_imported_by(module):
    return imported_by(module) & set(MODULES)


def room_of(module):
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "skgraphkde"


def test_the_page_has_all_rooms():
    there = {room_of(module) for module in MODULES} - {"skgraphkde", "__main__", "_version"}
    assert set(ROOMS) == there
    assert len(ROOMS) == len(set(ROOMS))


def test_imports_point_up_the_page():
    """And no module imports the public names."""
    wrong = [
        f"{module} imports {other}"
        for module in MODULES
        if room_of(module) in ROOMS
        for other in sorted(ours_imported_by(module) - {"skgraphkde._version"})
        if other == "skgraphkde" or ROOMS.index(room_of(other)) > ROOMS.index(room_of(module))
    ]
    assert wrong == []


def test_there_are_no_circles():
    list(TopologicalSorter({m: ours_imported_by(m) - {m} for m in MODULES}).static_order())


def test_only_one_room_imports_torch():
    found = {
        room_of(module)
        for module in MODULES
        for name in imported_by(module)
        if name.partition(".")[0] in ("torch", "dgl", "triton")
    }
    assert found == {"learned"}
