"""Imports follow the house: zones import what the page says, and there are no circles."""

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


def tables_of_page():
    """The first two columns of each table of the page: names, and the names that follow."""
    tables = re.split(r"^\|(?:---\|)+$", PAGE, flags=re.MULTILINE)[1:]
    for table in tables:
        rows = re.findall(r"^\| (`[^|]*) \|([^|]*)\|", table, flags=re.MULTILINE)
        yield [
            (re.findall(r"`(\w+)`", names), re.findall(r"`(\w+)`", more)) for names, more in rows
        ]


ZONES, ROOMS = list(tables_of_page())[:2]
BASE = ZONES[0][0]
#: The name of each zone by the top modules in it, and the zones that it may import.
ZONE_OF = {module: names[0] for names, _ in ZONES[1:] for module in names}
MAY_IMPORT = {names[0]: {names[0], *more} for names, more in ZONES[1:]}
ROOMS_OF_CORE = [name for names, _ in ROOMS for name in names]


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


def top_of(module):
    """The part of the name of a module that says its zone."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "skgraphkde"


def test_the_page_has_all_zones_and_rooms():
    there = {top_of(module) for module in MODULES} - {"skgraphkde"}
    assert {*BASE, *ZONE_OF} == there
    rooms = {module.split(".")[2] for module in MODULES if module.startswith("skgraphkde.core.")}
    assert set(ROOMS_OF_CORE) == rooms


def test_zones_import_what_the_page_says():
    """And no module imports the public names."""
    wrong = []
    for module in MODULES:
        top = top_of(module)
        if top == "skgraphkde":
            continue
        allowed = set() if top in BASE else MAY_IMPORT[ZONE_OF[top]]
        for other in sorted(ours_imported_by(module)):
            zone = ZONE_OF.get(top_of(other), top_of(other))
            if zone not in BASE and zone not in allowed:
                wrong.append(f"{module} imports {other}")
    assert wrong == []


def test_rooms_of_the_core_import_rooms_above_them():
    wrong = []
    for module in MODULES:
        if not module.startswith("skgraphkde.core."):
            continue
        room = ROOMS_OF_CORE.index(module.split(".")[2])
        for other in sorted(ours_imported_by(module)):
            is_room = other.startswith("skgraphkde.core.")
            if is_room and ROOMS_OF_CORE.index(other.split(".")[2]) > room:
                wrong.append(f"{module} imports {other}")
    assert wrong == []


def test_there_are_no_circles():
    list(TopologicalSorter({m: ours_imported_by(m) - {m} for m in MODULES}).static_order())


def test_only_one_zone_imports_torch():
    found = {
        top_of(module)
        for module in MODULES
        for name in imported_by(module)
        if name.partition(".")[0] in ("torch", "dgl", "triton")
    }
    assert found == {"learned"}


def sentences_of(module):
    """Strings of four words or more outside of docstrings, errors and warnings."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    said = set()
    for node in ast.walk(tree):
        is_error = isinstance(node, ast.Raise)
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            is_error = name in ("warn", "fail", "refuse") or name.endswith("Error")
        is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_error or is_docstring:
            said |= {id(x) for x in ast.walk(node)}
    found = []
    for node in ast.walk(tree):
        if id(node) in said or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        said |= {id(x) for x in ast.walk(node)}
        texts = [x.value for x in parts if isinstance(x, ast.Constant)]
        words = re.findall(r"[a-z]{2,}", " ".join(x for x in texts if isinstance(x, str)))
        if len(words) >= 4:
            found.append(" ".join(words))
    return found


def test_the_core_makes_no_sentences():
    """`explanation` says what a view finds; errors and warnings say what to do."""
    made = {x: sentences_of(x) for x in MODULES if x.startswith("skgraphkde.core.")}
    assert {module: sentences for module, sentences in made.items() if sentences} == {}


def test_no_test_imports_from_a_module_of_tests():
    """What several of them need is in `common.py` and `conftest.py`."""
    wrong = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and re.match(r"tests\.(.*\.)?test_", node.module):
                wrong.append(f"{path.name} imports {node.module}")
    assert wrong == []


#: How many names of the core the outer zones know: this only shrinks.
KNOWN_NAMES = {"explanation": 41, "page": 7, "cli": 11}


def test_outer_zones_know_few_names_of_the_core():
    """And none that begins with an underscore."""
    found = {zone: set() for zone in KNOWN_NAMES}
    for module, path in MODULES.items():
        zone = ZONE_OF.get(top_of(module))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or "skgraphkde.core" not in node.module:
                continue
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            if zone != "core":
                assert not any(alias.name.startswith("_") for alias in node.names), module
            if zone in found:
                found[zone] |= names
    assert {zone: len(names) for zone, names in found.items()} == KNOWN_NAMES
