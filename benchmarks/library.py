"""A library of molecules of any length, some of them odd: halves of real molecules, joined anew.

The real molecules are 5,000 of the National Cancer Institute, which ship with RDKit. Each is cut at
bonds that chemists make (BRICS; Degen et al., ChemMedChem 2008), and halves whose ends fit are
joined. One in a hundred molecules is odd: a peptide, an element that no other molecule has, or a
functional group that no other one has.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import numpy as np
from rdkit import Chem, RDConfig, rdBase
from rdkit.Chem import BRICS

ODD_SHARE = 0.01
ODD = {
    "element": ("[Te]C", "[SiH2]C", "B(O)O", "[GeH2]C", "[Sb](C)C"),
    "group": ("N=C=O", "SN=O", "N=S=O", "C=C=C", "C=[N+]=[N-]", "N=[N+]=[N-]", "OOC", "C(=O)Cl"),
}
RESIDUES = ("", "C", "C(C)C", "CC(C)C", "CO", "CS", "Cc1ccccc1", "CC(=O)O", "CCCCN", "CC(N)=O")
ELEMENTS = frozenset(["C", "N", "O", "S", "P", "F", "Cl", "Br", "I"])
SIZES = 8, 40
FIRST_ATOM = re.compile(r"\[[^]]*\]|Cl|Br|.")


def library(n_molecules: int, seed: int = 0) -> tuple[list[str], np.ndarray]:
    """SMILES of distinct molecules, and what each is: "normal", or a kind of odd molecules."""
    rng = np.random.default_rng(seed)
    lefts, rights = _halves()
    ends = list(lefts)
    shares = np.array([len(lefts[end]) for end in ends]) / sum(map(len, lefts.values()))
    kinds = rng.choice([*ODD, "peptide"], n_molecules)
    kinds[rng.random(n_molecules) >= ODD_SHARE] = "normal"
    found: dict[str, str] = {}
    with rdBase.BlockLogs():
        while len(found) < n_molecules:
            kind, end = kinds[len(found)], ends[rng.choice(len(ends), p=shares)]
            left = lefts[end][rng.integers(len(lefts[end]))]
            if kind == "normal":
                text = f"{left}.{rights[end][rng.integers(len(rights[end]))]}"
            elif kind == "peptide":
                text = _peptide(rng)
            else:
                text = f"{left}.{_open(ODD[kind][rng.integers(len(ODD[kind]))])}"
            molecule = Chem.MolFromSmiles(text)
            if molecule is not None and SIZES[0] <= molecule.GetNumAtoms() <= SIZES[1]:
                found.setdefault(Chem.MolToSmiles(molecule), kind)
    return list(found), np.array(list(found.values()))


def write(path: Path, n_molecules: int, seed: int = 0) -> np.ndarray:
    """Write a library to a SMILES file, and return what each molecule is."""
    smiles, kinds = library(n_molecules, seed)
    path.write_text("".join(f"{text} M{i:06d}\n" for i, text in enumerate(smiles)))
    return kinds


def _peptide(rng: np.random.Generator) -> str:
    chain = [f"NC({side})C(=O)" if side else "NCC(=O)" for side in rng.choice(RESIDUES, 4)]
    return f"{''.join(chain)}O"


@cache
def _halves() -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """The halves of real molecules, left and right of the bonds, by the kind of the bond."""
    lefts, rights = defaultdict(list), defaultdict(list)
    lines = Path(RDConfig.RDDataDir, "NCI", "first_5K.smi").read_text().splitlines()
    with rdBase.BlockLogs():
        molecules = [Chem.MolFromSmiles(line.split()[0]) for line in lines]
        for molecule in molecules:
            if molecule is None or len(Chem.GetMolFrags(molecule)) > 1:
                continue
            if not {atom.GetSymbol() for atom in molecule.GetAtoms()} <= ELEMENTS:
                continue
            for (a, b), ends in BRICS.FindBRICSBonds(molecule):
                bond = molecule.GetBondBetweenAtoms(a, b)
                if bond.GetBondType() != Chem.BondType.SINGLE:
                    continue
                cut = Chem.FragmentOnBonds(molecule, [bond.GetIdx()], dummyLabels=[(1, 2)])
                pieces = Chem.GetMolFrags(cut, asMols=True)
                # The atom of a becomes the neighbor of the dummy 2, that of b that of 1.
                by_dummy = {_dummy(piece).GetIsotope(): piece for piece in pieces}
                if len(by_dummy) == 2:
                    kind = "-".join(ends)
                    lefts[kind].append(_rooted(by_dummy[2]))
                    rights[kind].append(_rooted(by_dummy[1]))
    return dict(lefts), dict(rights)


def _dummy(piece: Chem.Mol) -> Chem.Atom:
    return next(atom for atom in piece.GetAtoms() if not atom.GetAtomicNum())


def _rooted(piece: Chem.Mol) -> str:
    """The SMILES of a half, in which its first atom has an open bond."""
    text = Chem.MolToSmiles(piece, rootedAtAtom=_dummy(piece).GetIdx(), isomericSmiles=False)
    return _open(text.removeprefix("*"))


def _open(text: str) -> str:
    first = FIRST_ATOM.match(text).end()
    return f"{text[:first]}%99{text[first:]}"
