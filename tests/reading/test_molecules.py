"""Molecules of RDKit, in lists and in files, against what chemistry says of them."""

import gzip
import signal

import networkx as nx
import pytest

from skgraphkde import GraphSchema, read_graphs
from skgraphkde.reading.files import find_files, iter_graphs, read_batch
from tests.conftest import refused, warned
from tests.core.graphs.common import assert_same

Chem = pytest.importorskip("rdkit.Chem")

ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"
SMILES = {"aspirin": ASPIRIN, "glycine": "[NH3+]CC(=O)[O-]", "water": "O", "benzene": "c1ccccc1"}


def mols():
    found = []
    for name, smiles in SMILES.items():
        found.append(Chem.MolFromSmiles(smiles))
        found[-1].SetProp("_Name", name)
    return found


def written(folder):
    """The same molecules in each format of files."""
    lines = [f"{smiles}\t{name}\n" for name, smiles in SMILES.items()]
    (folder / "a.smi").write_text("".join(lines))
    (folder / "header.smi").write_text("smiles name\n" + "".join(lines))
    (folder / "b.smi.gz").write_bytes(gzip.compress("".join(lines).encode()))
    rows = [f"{name},{smiles}\n" for name, smiles in SMILES.items()]
    (folder / "c.csv").write_text("name,Canonical_SMILES\n" + "".join(rows))
    with Chem.SDWriter(str(folder / "d.sdf")) as writer:
        for mol in mols():
            writer.write(mol)
    return find_files([str(folder)])


def test_data_of_molecules():
    batch = read_graphs(mols(), schema="molecule")
    assert batch.n_nodes_per_graph.tolist() == [13, 5, 1, 6]
    assert batch.n_edges_per_graph.tolist() == [13, 4, 0, 6]
    atoms = [batch.label_names[code] for code in batch.labels]
    assert atoms[-1] == ("C", 0, 1, True, True)  # of benzene
    assert atoms[-7] == ("O", 0, 2, False, False)  # of water
    assert atoms[13] == ("N", 1, 3, False, False)  # of glycine
    assert set(batch.edge_label_names) == {"single", "double", "aromatic"}
    names = batch.schema.graph_columns
    aspirin = dict(zip(names, batch.graph_attributes[0], strict=True))
    # PubChem, CID 2244: 180.16 g/mol, one donor, 63.6 square angstroms, three rotatable bonds,
    # of which RDKit counts two by its strict rule.
    assert aspirin["weight"] == pytest.approx(180.16, abs=0.01)
    assert aspirin["surface"] == pytest.approx(63.6, abs=0.1)
    assert (aspirin["donors"], aspirin["rotatable"]) == (1, 2)
    assert aspirin["logp"] == pytest.approx(1.31, abs=0.01)


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="Windows has no masks")
@pytest.mark.usefixtures("hears_interrupts")
@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupt_waits_for_rdkit(monkeypatch, error):
    def calculate(_):  # RDKit's own handler would drop the signal
        signal.raise_signal(signal.SIGINT)
        reached.append(True)
        if error is ValueError:
            raise error

    reached, before = [], signal.pthread_sigmask(signal.SIG_BLOCK, ())
    monkeypatch.setattr("rdkit.Chem.rdMolDescriptors.CalcNumHBD", calculate)
    with pytest.raises(KeyboardInterrupt):
        read_graphs(mols(), schema="molecule")
    assert reached == [True]
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before


def test_files_are_the_molecules_of_a_list(tmp_path):
    expected = read_graphs(mols(), schema="molecule")
    files = written(tmp_path)
    assert len(files) == 5
    for path in files:
        found = list(iter_graphs([path]))
        assert [name for name, _ in found] == [f"{path}#{name}" for name in SMILES]
        assert [graph.graph["name"] for _, graph in found] == list(SMILES)
        assert_same(read_batch([path], "molecule"), expected)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.smi", "CCO\nC1CC\n\nCCN\n", r"a.smi#1: RDKit .* from the SMILES 'C1CC'"),
        ("a.smi", "SMILES\n", r"a.smi cannot be read as SMILES \(it contains no mol"),
        (
            "b.csv",
            "smiles,dose\nCCO,1\n,2\n",
            "b.csv#1: RDKit reads no molecule from .* ''",
        ),
        ("a.csv", "CCO,a\nCCN,b\nCCC,c\n", "a.csv has no row of names: it begins with .* 'CCO'"),
    ],
)
def test_broken_molecules_are_named(tmp_path, capfd, name, text, message):
    (tmp_path / name).write_text(text)
    refused(message, read_batch, [tmp_path / name], "molecule")
    assert capfd.readouterr().err == ""  # RDKit says the same there


def test_columns_and_fields_are_data_of_graphs(tmp_path):
    (tmp_path / "a.csv").write_text("smiles,dose,site\nCCO,1.5,A\nCCN,2,B\n")
    schema = GraphSchema.molecule(graph_numbers=("dose", "logp"), graph_categories="site")
    batch = read_batch(find_files([str(tmp_path)]), schema)
    assert batch.graph_attributes[:, 0].tolist() == [1.5, 2]


@pytest.mark.parametrize(
    ("graphs", "message"),
    [
        ([*mols()[:1], None], "graph 1 is None, which RDKit returns"),
        (["CCO"], r"graph 0 is the text 'CCO'.*MolFromSmiles"),
        ([Chem.MolFromSmiles("")], "graph 0 has no nodes"),
        (mols()[0], "one graph: write"),
        ([nx.path_graph(3)], "no node attribute 'label', which the schema names"),
    ],
)
def test_what_is_no_molecule(graphs, message):
    with pytest.raises((TypeError, ValueError), match=message):
        read_graphs(graphs, schema="molecule")


def test_given_properties_replace_computed_ones(tmp_path):
    (tmp_path / "a.csv").write_text("smiles,name,logp\nCCO,a,5.5\nCC,b,\n")
    logp = [x.graph.get("logp") for _, x in iter_graphs(find_files([str(tmp_path)]))]
    assert logp == [5.5, None]  # and not Crippen's beside a measured one
    mol = Chem.MolFromSmiles("CCO")
    mol.SetDoubleProp("logp", 5.5)
    mol.SetProp("self", "a field of this name")
    assert read_graphs([mol], schema="molecule").graph_attributes[0, 1] == 5.5
    (tmp_path / "b.sdf").write_text(Chem.MolToMolBlock(mol) + "$$$$\n\n")
    assert len(read_batch(find_files([str(tmp_path / "b.sdf")]))) == 1


def test_molecules_that_were_not_sanitized():
    mol = Chem.MolFromSmiles("C1CC1O", sanitize=False)
    expected = read_graphs([Chem.MolFromSmiles("C1CC1O")], schema="molecule")
    assert_same(read_graphs([mol], schema="molecule"), expected)
    assert mol.NeedsUpdatePropertyCache()  # the caller's molecule is not changed


def test_odd_lines_of_a_smiles_file(tmp_path):
    lines = ["# made by hand", "SMILES Name", "CCO |$;;OH$| ethanol", "", "#", "C1CC no ring"]
    lines += ["[Na+].[Cl-] |f:0.1|", "c1ccccc1,benzene", "O\twater", "CC twice", "CCC twice"]
    (tmp_path / "a.smi").write_text("\n".join(lines))
    errors = []
    found = warned(
        "^several molecules are called 'twice': they are listed a",
        dict,
        iter_graphs([tmp_path / "a.smi"], on_error=errors.append),
    )
    path = tmp_path / "a.smi"
    assert [*found] == [f"{path}#ethanol", f"{path}#2", f"{path}#water", f"{path}#5", f"{path}#6"]
    assert [graph.graph.get("name") for graph in found.values()] == [
        "ethanol",
        None,
        "water",
    ] + 2 * ["twice"]
    first, second = map(str, errors)
    assert f"{path}#no ring: RDKit reads no molecule from the SMILES 'C1CC'" in first
    assert "the SMILES 'c1ccccc1,benzene'" in second


# -- tables of molecules ---------------------------------------------------------------------------


def read_molecules(path, text, schema="molecule", smiles=None):
    """The names, sizes and data of the molecules of a file."""
    path.write_text(text)
    options = {} if smiles is None else {"smiles_column": smiles}
    graphs = [graph for _, graph in iter_graphs([path], schema, options=options)]
    return [(graph.graph.get("name"), len(graph), graph.graph) for graph in graphs]


@pytest.mark.parametrize("ends", ["source,target", "from,to", "Target,Source"])
def test_molecules_beside_columns_that_are_called_like_ends(tmp_path, ends):
    text = f"name,smiles,{ends}\na,CCO,lab1,EGFR\nb,CCCN,lab1,EGFR\n"
    found = read_molecules(tmp_path / "a.csv", text)
    assert [x[:2] for x in found] == [("a", 3), ("b", 4)]
    schema = read_batch([tmp_path / "a.csv"], "molecule").schema  # as that of a detector
    for other in (schema.to_schema(), GraphSchema.molecule(graph_numbers=("logp",))):
        assert len(read_molecules(tmp_path / "a.csv", text, other)) == 2
    assert len(read_molecules(tmp_path / "a.csv", text, None)) == 1  # an edge list
    text = f"{ends},label\na,b,single\nb,c,single\n"  # no SMILES: the edges of a molecule
    assert [x[1] for x in read_molecules(tmp_path / "a.csv", text)] == [3]


def test_of_several_columns_one_is_read_and_said(tmp_path):
    text = "id,canSMILES,isoSMILES\nx,CCO,CC\ny,CCN,C\n"
    path = tmp_path / "a.csv"
    message = "column 'canSMILES' of 'canSMILES', 'isoSMILES'; --smile"
    found = warned(message, read_molecules, path, text)
    assert [x[:2] for x in found] == [("x", 3), ("y", 3)]
    text = "product_smiles,Smiles\nC,CCO\n"
    message = "column 'Smiles' of 'product_smiles', 'Smiles'"
    assert [x[1] for x in warned(message, read_molecules, path, text)] == [3]


@pytest.mark.parametrize("n", [9, 10])
def test_words_that_all_differ_are_names(tmp_path, n):
    rows = "".join(f"{k / 8:.3f},{'C' * (k + 1)},{k}e1,{k % 3}-b,c{k}\n" for k in range(n))
    found = read_molecules(tmp_path / "a.csv", "logd,smiles,dose,batch,code\n" + rows)
    assert [x[0] for x in found] == ([f"c{k}" for k in range(n)] if n == 10 else [None] * n)
    assert "code" in found[0][2] or n == 10
    kept = GraphSchema.molecule(graph_categories="code")
    assert read_molecules(tmp_path / "a.csv", "code,smiles\n" + "c,C\n", kept)[0][0] is None


def test_a_column_of_another_name_is_found_by_its_cells(tmp_path):
    text = "zinc_id,structure,split,N\nz1,CC(=O)O,C,12\nz2,c1ccccc1,O,13\n"
    found = warned(
        "read from the column 'structure' of 'zinc_id', 'structu",
        read_molecules,
        tmp_path / "a.csv",
        text,
    )
    assert [x[:2] for x in found] == [("z1", 4), ("z2", 6)]
    assert [x[2]["N"] for x in found] == [12, 13]
    refused(
        r"a.csv has no column 'mol', only .*'structure'",
        read_molecules,
        tmp_path / "a.csv",
        text,
        smiles="mol",
    )
    refused("it has no columns", read_molecules, tmp_path / "a.csv", "id,cell\na,b\n")


@pytest.mark.parametrize("separator", ["\t", ",", " ", "  "])
def test_a_smiles_file_with_a_header_is_a_table(tmp_path, separator):
    rows = [("Dose", "SMILES", "zinc_id"), ("1.5", "CCO", "z1"), ("2", "CCCN", "z2")]
    text = "# of today\n" + "\n".join(map(separator.join, rows)) + "\n"
    found = read_molecules(tmp_path / "a.smi", text)
    assert [x[:2] for x in found] == [("z1", 3), ("z2", 4)]
    assert [x[2]["Dose"] for x in found] == [1.5, 2]
    schema = GraphSchema.molecule(graph_numbers="Dose")
    assert read_batch([tmp_path / "a.smi"], schema).graph_attributes.tolist() == [[1.5], [2]]


@pytest.mark.parametrize(
    ("name", "text", "smiles", "expected"),
    [
        (
            "a.smi",
            "canonical_smiles title\nCCO |$;;OH$| ethyl alcohol\nCC\n",
            None,
            "ethyl alcohol 3, None 2",
        ),
        ("a.smi", "mol,smiles\nCCO,CC\n", "mol", "None 3"),
        ("a.csv", "id,canSMILES,isoSMILES\nx,CCO,CC\ny,CCN,C\n", "isoSMILES", "x 2, y 1"),
        ("a.csv", "canSMILES,source,target\nCCO,a,b\n", "canSMILES", "None 3"),
    ],
)
@pytest.mark.parametrize("schema", [None, "all", "molecule"])
def test_names_and_sizes_of_molecules(tmp_path, name, text, smiles, expected, schema):
    found = read_molecules(tmp_path / name, text, schema, smiles=smiles)
    assert ", ".join(f"{name} {size}" for name, size, _ in found) == expected


def test_fields_of_a_molecule_are_as_they_are_written():
    Chem = pytest.importorskip("rdkit.Chem")
    molecules = [Chem.MolFromSmiles("CCO"), Chem.MolFromSmiles("CCN")]
    for molecule, version in zip(molecules, ("1.10", "1E2"), strict=True):
        molecule.SetProp("version", version)
        molecule.SetProp("dose", "12.50")
    schema = GraphSchema(graph_categories="version", graph_numbers="dose")
    batch = read_graphs(molecules, schema=schema)
    assert batch.graph_label_names == ("1.10", "1E2")
    assert batch.graph_attributes.tolist() == [[12.5], [12.5]]
