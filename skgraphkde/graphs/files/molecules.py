"""Molecules in files: SMILES, one in a line or in a column of a CSV, and SDF -> networkx graphs.

A line of a SMILES file (.smi) has the SMILES and, after a space or a tab, the name. A CSV has one
column whose name contains "smiles"; the others are data of the graphs. RDKit reads the molecules
(``pip install rdkit``). In place of a molecule that it cannot read there is an error.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skgraphkde.graphs.files.common import Graphs, read_content
from skgraphkde.graphs.formats.rdkit import molecule_graph

if TYPE_CHECKING:
    from rdkit.Chem import Mol


def read_smi(path: Path, _: Any) -> Graphs:
    """The molecules of a SMILES file, whose first line may be a header.

    Parameters
    ----------
    path : Path
    _ : GraphSchema
        What is read, which this format does not need.
    """
    lines = read_content(path).decode("utf-8-sig").splitlines()
    rows = [(*line.split(None, 1), "")[:2] for line in lines if line.strip()]
    if rows and rows[0][0].lower() == "smiles":
        del rows[0]
    return read_smiles([row[0] for row in rows], [row[1].strip() for row in rows])


def read_smiles(
    smiles: Sequence[str], names: Sequence[str], data: Iterable[dict[str, Any]] | None = None
) -> Graphs:
    """Molecules of SMILES.

    Parameters
    ----------
    smiles : sequence of str
    names : sequence of str
        The names of the molecules, "" for none.
    data : iterable of dict, default=None
        Data of the graphs.
    """
    with _rdkit() as chem:  # which has a molecule without atoms for ""
        molecules = [chem.MolFromSmiles(text) if text else None for text in smiles]
    graphs = _graphs(molecules, names, [f"the SMILES {text!r}" for text in smiles])
    rows = list(data or ())
    given = {name for fields in rows for name in fields}  # in place of computed properties
    for (_, graph), fields in zip(graphs, rows, strict=data is not None):
        if not isinstance(graph, ValueError):
            graph.graph = {k: x for k, x in graph.graph.items() if k not in given} | fields
    return graphs


def read_sdf(path: Path, _: Any) -> Graphs:
    """The molecules of an SDF file, with their names and fields.

    Parameters
    ----------
    path : Path
    _ : GraphSchema
        What is read, which this format does not need.
    """
    with _rdkit() as chem:
        content = read_content(path).rstrip() + b"\n"  # an empty line would be a molecule
        molecules = list(chem.ForwardSDMolSupplier(io.BytesIO(content)))
    names = ["" if mol is None else mol.GetProp("_Name") for mol in molecules]
    return _graphs(molecules, names, ["the record"] * len(molecules))


def _graphs(
    molecules: Sequence[Mol | None], names: Sequence[str], sources: Sequence[str]
) -> list[tuple[str, Any]]:
    """Graphs with their positions: names of their own, or else numbers."""
    if not molecules:
        raise ValueError("it contains no molecule")
    counts = Counter(names)
    graphs: list[tuple[str, Any]] = []
    for i, (mol, name, source) in enumerate(zip(molecules, names, sources, strict=True)):
        position = f"#{name if name and counts[name] == 1 else i}"
        if mol is None or not mol.GetNumAtoms():
            error = f"RDKit reads no molecule from {source}: correct it or leave it out"
            graphs.append((position, ValueError(error)))
            continue
        graph = molecule_graph(mol)
        graph.graph |= {"name": name} if name else {}
        graphs.append((position, graph))
    return graphs


@contextmanager
def _rdkit() -> Iterator[Any]:
    """RDKit, without its messages on stderr: errors name the molecule."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise ImportError("RDKit reads molecules: pip install rdkit") from error
    with rdBase.BlockLogs():
        yield Chem
