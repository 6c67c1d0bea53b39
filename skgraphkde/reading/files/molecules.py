"""Molecules in files: SMILES, one in a line or in a column of a table, and SDF -> networkx graphs.

A line of a SMILES file (.smi) has the SMILES and, after a space or a tab, the name, before which
there may be extensions between bars (CXSMILES), which are not read; "#" begins a comment. If the
first line names columns, it is a table. The molecules of a table are those of the column whose name
contains "smiles", or that the user names, or whose cells are SMILES if the schema is that of
molecules; other columns are data of the graphs. RDKit reads molecules (``pip install rdkit``). In
place of a molecule that it cannot read there is an error.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from skgraphkde._messages import listed
from skgraphkde._utils import progress, warn
from skgraphkde.core.graphs.schema import GraphSchema, closest_names, names_in_schema
from skgraphkde.reading.files.common import AnyPath, Graphs, read_content
from skgraphkde.reading.files.tables import NO_OPTIONS, NUMBER, Cells, decode_text, records
from skgraphkde.reading.formats.rdkit import molecule_graph
from skgraphkde.reading.problems import UnreadableError

if TYPE_CHECKING:
    from rdkit.Chem import Mol


# Extensions of a SMILES before its name.
EXTENSIONS = re.compile(r"^\|[^|]*\|")
# Columns with the names of molecules: "name", "id", "zinc_id", "Compound Name".
NAMES = re.compile(r"(^|[^a-z])(name|id)$")
LEAST_NAMES = 10  # fewer cells may all differ, whatever they are
# Cells by which a column of SMILES is recognized.
SAMPLE = 20


def read_smi(path: AnyPath, schema: GraphSchema, options: Mapping[str, str] = NO_OPTIONS) -> Graphs:
    """The molecules of a SMILES file, whose first line may be a header.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of data of the graphs, which other columns below a header are.
    options : mapping
        As for :func:`~skgraphkde.reading.files.batches.iter_graphs`.
    """
    wanted = options.get("smiles_column")
    lines = [line.strip() for line in decode_text(path, read_content(path)).splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    header = lines[0] if lines else ""
    separator = next((x for x in "\t," if x in header), None)
    columns = [name.strip() for name in header.split(separator)]
    if wanted is not None or any("smiles" in name.lower() for name in columns):
        last = len(columns) - 1  # a cell with all that remains
        rows = [[*line.split(separator, last), *[""] * last] for line in lines[1:]]
        cells = {}
        for i, name in enumerate(columns):
            cells[name] = [EXTENSIONS.sub("", row[i].strip()).strip() for row in rows]
        column = smiles_column(path, cells, schema, wanted)
        return read_smiles_table(path, cells, str(column), schema, columns)
    texts = []
    names = []
    for line in lines:
        text, _, rest = line.replace("\t", " ").partition(" ")
        texts.append(text)
        names.append(EXTENSIONS.sub("", rest.strip()).strip())
    return read_smiles(texts, names, [{}] * len(texts))


def smiles_column(
    path: AnyPath, cells: Cells, schema: GraphSchema, wanted: str | None
) -> str | None:
    """The column of a table that has SMILES, by its name, or for molecules by its cells.

    A warning says which one is read, if that is not plain.

    Parameters
    ----------
    path : Path or zipfile.Path
    cells : dict of list of str
    schema : GraphSchema
    wanted : str or None
        The name that the user gave.
    """
    if wanted is not None and wanted not in cells:
        there = closest_names(wanted, cells)
        raise UnreadableError(f"{path} has no column {wanted!r}, only {there}")
    if wanted is not None:
        return wanted
    named = [name for name in cells if "smiles" in name.lower()]
    found = [name for name in named if name.lower() == "smiles"] or named
    if not named and schema.reads_molecules:
        found = [name for name, texts in cells.items() if _are_smiles(texts)]
        if found and _are_smiles(found[:1]):
            raise UnreadableError(
                f"{path} has no row of names: it begins with the SMILES {found[0]!r}: give it a "
                "first row such as smiles,name"
            )
    if len(named) > 1 or (found and not named):
        others = ", ".join(map(repr, named or cells))
        warn(
            f"{path}: molecules are read from the column {found[0]!r} of {others}; "
            "--smiles-column (in Python, the options of read_batch) names another"
        )
    return found[0] if found else None


def _are_smiles(texts: Sequence[str]) -> bool:
    """True if the first few cells are SMILES of several atoms."""
    some = [text for text in texts if text][:SAMPLE]
    with _rdkit() as chem:
        molecules = [chem.MolFromSmiles(text) for text in some]
    n_atoms = [0 if mol is None else mol.GetNumAtoms() for mol in molecules]
    return min(n_atoms, default=0) > 0 and sum(n_atoms) > 2 * len(some)


def read_smiles_table(
    path: AnyPath,
    cells: Cells,
    smiles: str,
    schema: GraphSchema,
    may_name: Sequence[str] = (),
    decimal: str | None = None,
) -> Graphs:
    """Molecules of a table, with the names of the column "name" or "id", or of one like it.

    If there is none, they have those of the first column of texts that all differ.

    Parameters
    ----------
    path : Path or zipfile.Path
        For messages.
    cells : dict of list of str
    smiles : str
        The column of the SMILES.
    schema : GraphSchema
        The names of data of the graphs.
    may_name : sequence of str, default=()
        Columns with the names, if none is called like that, also if some are alike.
    decimal : {",", "."}, default=None
        Decimal mark of the numbers.
    """
    texts = cells.pop(smiles)
    names = [""] * len(texts)
    called = [name for name in cells if NAMES.search(name.lower())]
    called.sort(key=lambda name: name.lower() not in ("name", "id"))
    others = [name for name in cells if name in may_name or _are_names(cells[name])]
    others = [name for name in others if "smiles" not in name.lower()]
    data = names_in_schema(schema, "graph")
    for column in [name for name in called + others if name not in data][:1]:
        names = cells.pop(column)
    rows = list(records(path, cells, schema, "graph", len(texts), decimal))
    return read_smiles(texts, names, rows)


def _are_names(texts: Sequence[str]) -> bool:
    """True if all cells differ, and are words."""
    are_words = all(any(map(str.isalpha, x)) and not NUMBER.fullmatch(x) for x in texts)
    return are_words and len(set(texts)) == len(texts) >= LEAST_NAMES


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
    if not smiles:
        raise ValueError("it contains no molecule")
    sources = [f"the SMILES {text!r}" for text in smiles]
    return _graphs(_molecules(smiles), names, sources, rows)


def _molecules(smiles: Sequence[str]) -> Iterator[Mol]:
    """One molecule after the other: those of a library take more memory than its graphs."""
    with _rdkit() as chem:
        for text in smiles:
            yield chem.MolFromSmiles(text)  # without atoms for ""


def read_sdf(path: AnyPath, schema: GraphSchema) -> Graphs:
    """The molecules of an SDF file, with their names and fields, typed as cells of tables are.

    Parameters
    ----------
    path : Path or zipfile.Path
    schema : GraphSchema
        The names of what is read.
    """
    with _rdkit() as chem:
        text = decode_text(path, read_content(path))
        content = text.rstrip().encode() + b"\n"  # an empty line would be a molecule
        molecules = list(chem.ForwardSDMolSupplier(io.BytesIO(content)))
    if not molecules:
        raise ValueError("it contains no molecule")
    names = ["" if mol is None else mol.GetProp("_Name") for mol in molecules]
    fields = [{} if mol is None else _fields_of(mol) for mol in molecules]
    of_any = dict.fromkeys(name for own in fields for name in own)
    cells = {name: [own.get(name, "") for own in fields] for name in of_any}
    rows = list(records(path, cells, schema, "graph", len(molecules)))
    return _graphs(molecules, names, ["the record"] * len(names), rows)


def _fields_of(mol: Mol) -> dict[str, str]:
    """The fields of a molecule as the texts that they are in an SDF file."""
    return {name: mol.GetProp(name).strip() for name in mol.GetPropNames()}


def _graphs(
    molecules: Iterable[Mol | None],
    names: Sequence[str],
    sources: Sequence[str],
    rows: Sequence[dict[str, Any]],
) -> Iterator[tuple[str, Any]]:
    """Generate graphs with their positions: names of their own, or else numbers."""
    counts = Counter(names)
    repeated = [repr(name) for name, n in counts.items() if name and n > 1]
    if repeated:
        warn(
            f"several molecules are called {listed(repeated)}: they are listed as #0, #1, ..., by "
            "their positions in the file"
        )
    given = {name for row in rows for name in row}  # in place of computed properties
    for i, (mol, name, source, row) in enumerate(
        zip(molecules, progress(names), sources, rows, strict=True)
    ):
        position = f"#{name}"
        if not name or counts[name] > 1:
            # Another molecule may be called like its number.
            position = f"#record {i}" if str(i) in counts else f"#{i}"
        if mol is None or not mol.GetNumAtoms():
            error = f"RDKit reads no molecule from {source}: correct it or leave it out"
            yield position, ValueError(error)
            continue
        graph = molecule_graph(mol)
        if name:
            graph.graph["name"] = name
        for computed in given.intersection(graph.graph):
            del graph.graph[computed]
        graph.graph |= row
        yield position, graph


@contextmanager
def _rdkit() -> Iterator[Any]:
    """RDKit, without its messages on stderr: errors name the molecule."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        raise ImportError("RDKit reads molecules: pip install rdkit") from error
    with rdBase.BlockLogs():
        yield Chem
