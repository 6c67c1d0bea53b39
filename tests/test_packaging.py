"""What stands around the package agrees with it: recipe, citation, workflows, the paper."""

import re
import tomllib
from pathlib import Path

import skgraphkde

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def read(path):
    return (ROOT / path).read_text(encoding="utf-8")


def test_the_recipe_asks_for_what_the_package_asks_for():
    recipe = read("conda/recipe.yaml")
    _, _, run = recipe.partition("\n  run:\n")
    asked = re.findall(r"^    - (\S+) >=(\S+)$", run.partition("\n\n")[0], re.MULTILINE)
    names = {name.removesuffix("-base"): floor for name, floor in asked}
    assert names.pop("python") == PROJECT["requires-python"].removeprefix(">=")
    assert names == dict(x.split(">=") for x in PROJECT["dependencies"])
    assert f'version: "{skgraphkde.__version__}"' in recipe


def test_the_citation_has_the_version():
    assert f"\nversion: {skgraphkde.__version__}\n" in read("CITATION.cff")


def test_each_version_of_python_is_named_where_it_is_tested():
    prefix = "Programming Language :: Python :: 3."
    named = [x.removeprefix(prefix) for x in PROJECT["classifiers"] if x.startswith(prefix)]
    (resolved,) = re.findall(r"for version in ([\d. ]+);", read("tests/constraints.sh"))
    assert [f"3.{x}" for x in named] == resolved.split()
    tested = set(re.findall(r'"3\.(\d+)"', read(".github/workflows/tests.yml")))
    assert tested == {*named, "14"}  # nobody has seen 3.14 pass: it is not named yet


def test_the_paper_is_short_and_cites_what_its_bibliography_has():
    _, _, text = read("paper/paper.md").split("---\n", 2)
    assert 750 < len(text.split()) < 1000  # words of JOSS, and ours
    cited = set(re.findall(r"@([\w-]+)", text))
    assert cited == set(re.findall(r"^@\w+\{([\w-]+),", read("paper/paper.bib"), re.MULTILINE))
