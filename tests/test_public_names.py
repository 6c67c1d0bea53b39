"""The public names: which they are, and that they cost nothing until they are used."""

import subprocess
import sys

import pytest

import skgraphkde

NAMES = [
    "GCN",
    "KDE",
    "LGKDE",
    "MMD",
    "BaseGraphDetector",
    "Density",
    "Distance",
    "Encoder",
    "EncoderModule",
    "FittedDistance",
    "FittedEncoder",
    "GraphBatch",
    "GraphKDEDetector",
    "GraphSchema",
    "IgnoredWarning",
    "InvalidFileError",
    "LeaveOneOut",
    "Namesakes",
    "Neighbors",
    "NodeFeatures",
    "Novelty",
    "Numbers",
    "Propagation",
    "Split",
    "Statistics",
    "Tanimoto",
    "TorchEncoder",
    "UnseenCategoryWarning",
    "View",
    "__version__",
    "load",
    "read_graphs",
    "read_log",
    "read_tables",
    "report",
]


HEAVY = ("torch", "numba", "sklearn", "scipy", "dgl", "pandas", "matplotlib")


def test_names_are_frozen():
    """Whoever adds or removes one changes this list, and the API page of the documentation."""
    assert sorted(skgraphkde.__all__) == sorted(NAMES)


@pytest.mark.parametrize("name", skgraphkde.__all__)
def test_a_name_leads_to_an_object_of_that_name(name):
    found = getattr(skgraphkde, name)
    assert name in dir(skgraphkde)
    assert name == "__version__" or found.__name__ == name


def test_importing_imports_nothing_heavy():
    program = f"import sys, skgraphkde; print([m for m in {HEAVY} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
