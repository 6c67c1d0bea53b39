"""Molecules in files: SMILES, one in a line or in a column of a CSV, and SDF -> networkx graphs.

A line of a SMILES file (.smi) has the SMILES and, after a space or a tab, the name, before which
there may be extensions between bars (CXSMILES), which are not read; "#" begins a comment. A CSV has
one column whose name contains "smiles"; the others are data of the graphs. RDKit reads the
molecules (``pip install rdkit``). In place of a molecule that it cannot read there is an error.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from skgraphkde.graphs.files.common import AnyPath, Graphs, read_content
from skgraphkde.graphs.formats.rdkit import molecule_graph

if TYPE_CHECKING:
    from rdkit.Chem import Mol


# Extensions of a SMILES before its name.
EXTENSIONS = re.compile(r"^\|[^|]*\|")


def read_smi(path: AnyPath, _: Any) -> Graphs:
    """The molecules of a SMILES file, whose first line may be a header.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        What is read, which this format does not need.
    """
    smiles: list[str] = []
    names: list[str] = []
    for line in read_content(path).decode("utf-8-sig").splitlines():
        text, _, rest = line.strip().replace("\t", " ").partition(" ")
        is_header = not smiles and text.lower() == "smiles"
        if text and not text.startswith("#") and not is_header:
            smiles.append(text)
            names.append(EXTENSIONS.sub("", rest.strip()).strip())
    return read_smiles(smiles, names, [{}] * len(smiles))


def read_smiles(
    smiles: Sequence[str], names: Sequence[str], rows: Sequence[dict[str, Any]]
) -> Graphs:
    """Molecules of SMILES.

    Parameters
    ----------
    smiles : sequence of str
    names : sequence of str
        The names of the molecules, "" for none.
    rows : sequence of dict
        Data of the graphs.
    """
    with _rdkit() as chem:  # which has a molecule without atoms for ""
        molecules = [chem.MolFromSmiles(text) if text else None for text in smiles]
    return _graphs(molecules, names, [f"the SMILES {text!r}" for text in smiles], rows)


def read_sdf(path: AnyPath, _: Any) -> Graphs:
    """The molecules of an SDF file, with their names and fields.

    Parameters
    ----------
    path : Path or zipfile.Path
    _ : GraphSchema
        What is read, which this format does not need.
    """
    with _rdkit() as chem:
        content = read_content(path).rstrip() + b"\n"  # an empty line would be a molecule
        molecules = list(chem.ForwardSDMolSupplier(io.BytesIO(content)))
    names = ["" if mol is None else mol.GetProp("_Name") for mol in molecules]
    return _graphs(molecules, names, ["the record"] * len(names), [{}] * len(names))


def _graphs(
    molecules: Sequence[Mol | None],
    names: Sequence[str],
    sources: Sequence[str],
    rows: Sequence[dict[str, Any]],
) -> Graphs:
    """Graphs with their positions: names of their own, or else numbers."""
    if not molecules:
        raise ValueError("it contains no molecule")
    counts = Counter(names)
    given = {name for row in rows for name in row}  # in place of computed properties
    graphs: list[tuple[str, Any]] = []
    for i, (mol, name, source, row) in enumerate(zip(molecules, names, sources, rows, strict=True)):
        position = f"#{name if name and counts[name] == 1 else i}"
        if mol is None or not mol.GetNumAtoms():
            error = f"RDKit reads no molecule from {source}: correct it or leave it out"
            graphs.append((position, ValueError(error)))
            continue
        graph = molecule_graph(mol)
        if name:
            graph.graph["name"] = name
        for computed in given.intersection(graph.graph):
            del graph.graph[computed]
        graph.graph |= row
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
