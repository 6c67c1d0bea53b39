"""What chemists use, from SMILES: Morgan counts and physical properties, by RDKit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import Crippen, Descriptors, rdFingerprintGenerator, rdMolDescriptors
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

PROPERTIES = ("weight", "logp", "polar_surface")


def properties(smiles: Sequence[str]) -> np.ndarray:
    """Molecular weight, logP and polar surface of molecules, shape (n, 3)."""
    of_one = (Descriptors.MolWt, Crippen.MolLogP, rdMolDescriptors.CalcTPSA)
    molecules = _molecules(smiles)
    return np.array([[float(function(x)) for function in of_one] for x in molecules])


def morgan_counts(smiles: Sequence[str]) -> np.ndarray:
    """Counts of circular neighborhoods of radius 2 (Rogers and Hahn, 2010), shape (n, 4096)."""
    generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=4096)
    return np.array([generator.GetCountFingerprintAsNumPy(x) for x in _molecules(smiles)], float)


def _molecules(smiles: Sequence[str]) -> list[Chem.Mol]:
    RDLogger.DisableLog("rdApp.*")
    return [Chem.MolFromSmiles(x) for x in smiles]


class MoleculeDetector(BaseEstimator):
    """A detector of molecules.

    `method` is "tanimoto", the mean similarity of Morgan counts to the five most similar; "forest",
    an isolation forest on Morgan counts; or "properties", the mean distance to the five nearest in
    standardized physical properties.
    """

    def __init__(self, method: str) -> None:
        self.method = method

    def fit(self, smiles: Sequence[str]) -> Any:
        """Learn normal molecules."""
        if self.method == "properties":
            self.scaler_ = StandardScaler().fit(properties(smiles))
            known = self.scaler_.transform(properties(smiles))
            self.model_ = NearestNeighbors(n_neighbors=5).fit(known)
        elif self.method == "forest":
            self.model_ = IsolationForest(random_state=0).fit(morgan_counts(smiles))
        else:
            self.known_ = morgan_counts(smiles)
        return self

    def score_samples(self, smiles: Sequence[str]) -> np.ndarray:
        """Score molecules, higher for normal ones."""
        if self.method == "properties":
            X = self.scaler_.transform(properties(smiles))
            return -self.model_.kneighbors(X)[0].mean(axis=1)
        counts = morgan_counts(smiles)
        if self.method == "forest":
            return self.model_.score_samples(counts)
        similarity = [
            np.minimum(row, self.known_).sum(axis=1) / np.maximum(row, self.known_).sum(axis=1)
            for row in counts
        ]
        return np.sort(similarity, axis=1)[:, -5:].mean(axis=1)
