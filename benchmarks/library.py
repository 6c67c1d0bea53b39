"""A library of 2,000 to 100,000 molecules, of which one in a hundred is odd."""

import re
import tempfile
import time
from collections import defaultdict
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rdkit import Chem, DataStructs, RDConfig, rdBase
from rdkit.Chem import BRICS, rdFingerprintGenerator
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score

from benchmarks.render import markdown
from benchmarks.scale import in_fresh_process, peak
from skgraphkde import GraphKDEDetector
from skgraphkde.reading.files import find_files, read_batch

TITLE = "A library of molecules"
ABOUT = """\
Halves of the 5,000 molecules of the National Cancer Institute that ship with RDKit, cut at bonds
that chemists make (BRICS; Degen et al., ChemMedChem 2008), and joined anew where their ends fit.
One in a hundred molecules is odd: a peptide, or with an element or a functional group that no other
molecule has. Each is judged by the others. *Ours* are the defaults with `schema="molecule"`, *all
references* the same with `max_references=None`, *forest* is an isolation forest on counts of Morgan
fingerprints, and *Tanimoto* the mean similarity of their bits to the five most similar molecules.
CPU seconds of one process; *score* scores 2,000 molecules of another seed.
"""
SIZES = (2_000, 5_000, 20_000, 100_000)
METHODS = ("ours", "all references", "forest", "Tanimoto")
# Largest library of a method whose time grows with the square of the list.
LARGEST = {"all references": 20_000, "Tanimoto": 5_000}
NEIGHBORS = 5
ODD_SHARE = 0.01
ODD = {
    "element": ("[Te]C", "[SiH2]C", "B(O)O", "[GeH2]C", "[Sb](C)C"),
    "group": ("N=C=O", "SN=O", "N=S=O", "C=C=C", "C=[N+]=[N-]", "N=[N+]=[N-]", "OOC", "C(=O)Cl"),
}
RESIDUES = ("", "C", "C(C)C", "CC(C)C", "CO", "CS", "Cc1ccccc1", "CC(=O)O", "CCCCN", "CC(N)=O")
ELEMENTS = frozenset(["C", "N", "O", "S", "P", "F", "Cl", "Br", "I"])
ATOMS = 8, 40
FIRST_ATOM = re.compile(r"\[[^]]*\]|Cl|Br|.")


def cells(datasets: list[str] | None, n_folds: int) -> list[dict[str, Any]]:
    """Every size by every method that finishes."""
    grid = product(SIZES, METHODS)
    return [{"n_molecules": n, "detector": x} for n, x in grid if n <= LARGEST.get(x, n)]


def estimator(n_molecules: int, detector: str) -> Any:
    """Our detector, or the forest; Tanimoto fits nothing."""
    if detector in ("forest", "Tanimoto"):
        return IsolationForest(random_state=0) if detector == "forest" else None
    most = None if detector == "all references" else "auto"
    return GraphKDEDetector(schema="molecule", max_references=most, random_state=0)


def measure(estimator: Any, n_molecules: int, detector: str) -> dict[str, float]:
    """CPU seconds, memory and AUROC of a process of its own."""
    measured = _measure_ours if isinstance(estimator, GraphKDEDetector) else _measure_peer
    return in_fresh_process(measured, estimator, n_molecules)


def _measure_ours(estimator: GraphKDEDetector, n_molecules: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        path, new, model = (Path(folder, name) for name in ("known.smi", "new.smi", "model.skg"))
        kinds = write(path, n_molecules)
        write(new, 2_000, seed=1)
        estimator.fit(read_batch(find_files([str(new)]), "molecule")[:500])  # compiles
        values: dict[str, float] = {}
        batch = _timed("read", values, lambda: read_batch(find_files([str(path)]), "molecule"))
        _timed("fit", values, lambda: estimator.fit(batch))
        values["memory_gib"] = peak()
        batch = read_batch(find_files([str(new)]), "molecule")
        _timed("score", values, lambda: estimator.score_samples(batch))
        _timed("save", values, lambda: estimator.save(model))
    calls = np.empty(100)
    for i in range(len(calls)):
        start = time.process_time()
        estimator.score_samples(batch[i])
        calls[i] = time.process_time() - start
    index, scores = estimator.calibration_graphs_, estimator.calibration_scores_
    values["call_ms"] = round(1e3 * float(np.median(calls)), 2)
    return values | {"auroc": _auroc(kinds[index], scores)}


def _measure_peer(forest: IsolationForest | None, n_molecules: int) -> dict[str, float]:
    """The forest, or Tanimoto neighbors instead of it."""
    smiles, kinds = library(n_molecules)
    values: dict[str, float] = {}
    morgan = rdFingerprintGenerator.GetMorganGenerator()
    make = morgan.GetFingerprint if forest is None else morgan.GetCountFingerprintAsNumPy
    prints = _timed("read", values, lambda: [make(Chem.MolFromSmiles(x)) for x in smiles])
    if forest is not None:
        counts = np.array(prints, np.uint8)
        _timed("fit", values, lambda: forest.fit(counts))
        scores = forest.score_samples(counts)
    else:

        def nearest(x: Any) -> float:
            similar = np.array(DataStructs.BulkTanimotoSimilarity(x, prints))
            return np.sort(similar)[-NEIGHBORS - 1 : -1].mean()  # without itself

        scores = _timed("fit", values, lambda: np.array([nearest(x) for x in prints]))
    return values | {"memory_gib": peak(), "auroc": _auroc(kinds, scores)}


def _auroc(kinds: np.ndarray, scores: np.ndarray) -> float:
    return round(100 * float(roc_auc_score(kinds != "normal", -scores)), 2)


def _timed(name: str, values: dict[str, float], work: Any) -> Any:
    start = time.process_time()
    result = work()
    values[f"{name}_seconds"] = round(time.process_time() - start, 2)
    return result


def report(rows: pd.DataFrame) -> str:
    """One row per size and method."""
    columns = {"detector": "", "auroc": "AUROC"}
    columns |= {f"{x}_seconds": f"{x}, s" for x in ("read", "fit", "score", "save")}
    columns |= {"call_ms": "a call, ms", "memory_gib": "memory, GiB"}
    table = rows.reindex(columns=["n_molecules", *columns]).set_index("n_molecules")
    table = table.rename(columns=columns).astype(object)
    table.index = [f"{int(n):,}" for n in table.index]
    table.index.name = "molecules"
    return markdown(table.where(table.notna(), ""))


# -- the molecules ---------------------------------------------------------------------------------


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
            if molecule is not None and ATOMS[0] <= molecule.GetNumAtoms() <= ATOMS[1]:
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
