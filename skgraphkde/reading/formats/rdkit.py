"""Molecules of RDKit: a ``Mol`` -> a networkx graph of its atoms and bonds -> Graph.

RDKit is imported when the first molecule is read.
"""

from __future__ import annotations

from sys import intern
from typing import TYPE_CHECKING

import networkx as nx

from skgraphkde._interrupts import interrupts_deferred
from skgraphkde._utils import warn
from skgraphkde.core.graphs.schema import GraphSchema
from skgraphkde.reading.formats.common import Graph, cell_of
from skgraphkde.reading.formats.networkx import read_networkx

if TYPE_CHECKING:
    from rdkit.Chem import Mol


def read_mol(index: int, mol: Mol, schema: GraphSchema) -> Graph:
    """Read a molecule.

    Parameters
    ----------
    index : int
        The position of the molecule in the caller's list.
    mol : rdkit.Chem.Mol
    schema : GraphSchema
    """
    return read_networkx(index, molecule_graph(mol), schema)


def molecule_graph(mol: Mol) -> nx.Graph:
    """The graph of a molecule, with the names that ``schema="molecule"`` reads.

    Parameters
    ----------
    mol : rdkit.Chem.Mol

    Returns
    -------
    networkx.Graph
        The nodes are the indices of the atoms. They have the element as "label", the "charge", the
        number of "hydrogens", and say whether the atom is "aromatic" and in a "ring". Edges have
        the type of the bond as "label", such as "single" or "aromatic". Data of the graph are the
        molecule's "name", its fields of an SDF file, and the properties of the rules of Lipinski
        and Veber: molecular "weight" (Da), "logp" (octanol and water, by Crippen), polar "surface"
        (square angstroms), "donors" and "acceptors" of hydrogen bonds, and "rotatable" bonds.
    """
    from rdkit.Chem import Crippen, Descriptors, rdMolDescriptors

    if mol.NeedsUpdatePropertyCache():  # it was read without sanitizing
        mol = _sanitized(mol)
    graph = nx.Graph()
    for i in range(mol.GetNumAtoms()):  # RDKit's own iterators are slow
        atom = mol.GetAtomWithIdx(i)
        graph.add_node(
            i,
            label=intern(atom.GetSymbol()),  # of which a library has millions
            charge=atom.GetFormalCharge(),
            hydrogens=atom.GetTotalNumHs(),
            aromatic=atom.GetIsAromatic(),
            ring=atom.IsInRing(),
        )
    for i in range(mol.GetNumBonds()):
        bond = mol.GetBondWithIdx(i)
        label = intern(bond.GetBondType().name.lower())
        graph.add_edge(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), label=label)
    with interrupts_deferred():  # RDKit drops them where it searches for substructures
        graph.graph |= {
            "weight": Descriptors.MolWt(mol),  # type: ignore[attr-defined]
            "logp": Crippen.MolLogP(mol),  # type: ignore[attr-defined]
            "surface": rdMolDescriptors.CalcTPSA(mol),
            "donors": rdMolDescriptors.CalcNumHBD(mol),
            "acceptors": rdMolDescriptors.CalcNumHBA(mol),
            "rotatable": rdMolDescriptors.CalcNumRotatableBonds(mol),
        }
    fields = mol.GetPropsAsDict(autoConvertStrings=False)
    graph.graph |= {name: cell_of(x) if isinstance(x, str) else x for name, x in fields.items()}
    if mol.HasProp("_Name") and mol.GetProp("_Name"):
        graph.graph["name"] = mol.GetProp("_Name")
    return graph


def _sanitized(mol: Mol) -> Mol:
    """A copy of a molecule, in which bonds of aromatic rings are aromatic, if RDKit can say."""
    from rdkit.Chem import FastFindRings, Mol, SanitizeFlags, SanitizeMol

    copy = Mol(mol)
    with interrupts_deferred():
        failed = SanitizeMol(copy, catchErrors=True)
    if failed != SanitizeFlags.SANITIZE_NONE:
        warn(
            "a molecule cannot be sanitized, so that its aromatic bonds may not be known as such: "
            f"{failed.name}; correct it, or leave it out"
        )
        copy = Mol(mol)
        copy.UpdatePropertyCache(strict=False)
        FastFindRings(copy)
    return copy
