"""The example of a partitioned list: the same numbers, however the list is divided."""

import importlib.util
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask", reason="dask is not installed")
Chem = pytest.importorskip("rdkit.Chem", reason="RDKit is not installed")
pytest.importorskip("distributed", reason="distributed is not installed")

PATH = Path(__file__).parents[1] / "examples" / "partitions" / "molecules.py"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*(seem to be training graphs|that fit did not see)")
def test_partitions_have_the_numbers_of_one_list(tmp_path):
    spec = importlib.util.spec_from_file_location("partitions_of_molecules", PATH)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    chains = ["C" * n + end for n in range(1, 16) for end in ("O", "N", "Cl", "=O")]
    lines = [f"{text} M{i}" for i, text in enumerate([*chains, "C[Te]C", "[SiH3]C"])]
    j = lines.index(example.smallest(lines, 40)[0])  # a file that the sample holds whole
    tables = []
    for name, cuts in (("one", [0, 62]), ("two", [0, j, j + 1, 62])):
        paths = []
        for i, (start, stop) in enumerate(itertools.pairwise(cuts)):
            paths.append(tmp_path / f"{name}{i}.smi")
            paths[-1].write_text("\n\n".join(lines[start:stop]))
        if name == "two":  # in two formats
            paths[-1] = paths[-1].with_suffix(".parquet")
            pd.DataFrame({"smiles": [*lines[start:stop], None]}).to_parquet(paths[-1])
        with dask.config.set(scheduler="synchronous"):
            n_odd = example.find(paths, tmp_path / name, 40)
        table = pd.concat(pd.read_parquet(x) for x in sorted((tmp_path / name).glob("*.parquet")))
        assert table["molecule"].tolist() == lines
        assert table["is_odd"].sum() == n_odd > 0
        tables.append(table)
    np.testing.assert_allclose(*(table["score"] for table in tables), rtol=1e-12, atol=1e-12)
    assert list(example.read(["C M0", "no molecule", "CO"])) == ["C M0", "CO"]
