"""Find the odd molecules of files that are too many for one process, on a Dask cluster.

Run it with ``OMP_NUM_THREADS=1 python molecules.py parts/*.smi -o scores --workers 2``, or with
parts/*.parquet. It needs ``pip install '.[molecules,parquet]' distributed``, in a clone.
"""

import argparse
import hashlib
import heapq
import resource
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pandas as pd
from dask import compute, delayed
from dask.distributed import Client
from rdkit import Chem

import skgraphkde


def lines_of(path: Path) -> list[str]:
    """The molecules of one partition: a SMILES and a name in each line that is not empty.

    Parquet has the SMILES in the column "smiles"; a row without one is left out, too.
    """
    if path.suffix == ".parquet":
        return pd.read_parquet(path, columns=["smiles"])["smiles"].dropna().tolist()
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def read(lines: list[str]) -> dict[str, Chem.Mol]:
    """Molecules by their lines, without those that RDKit cannot read."""
    molecules = {line: Chem.MolFromSmiles(line.split(maxsplit=1)[0]) for line in lines}
    return {line: molecule for line, molecule in molecules.items() if molecule is not None}


def smallest(lines: list[str], n: int) -> list[str]:
    """The n lines with the smallest hashes, which depend on no order and no partition."""
    return heapq.nsmallest(n, lines, key=lambda x: hashlib.blake2b(x.encode()).digest())


@delayed
def sample(path: Path, n: int) -> list[str]:
    """Lines of one partition that the sample of all partitions may contain."""
    return smallest(lines_of(path), n)


@delayed
def merge(parts: list[list[str]], n: int) -> list[str]:
    """The sample of several partitions."""
    return smallest([line for part in parts for line in part], n)


@delayed
def score(path: Path, detector: Any, known: dict[str, float], output: Path) -> int:
    """Score a partition, and write a table of it; molecules of the sample have a score by it.

    Lines that cannot be read have no score.
    """
    lines, scores = lines_of(path), dict(known)
    new = read([line for line in lines if line not in known])
    if new:
        scores |= dict(zip(new, detector.score_samples(list(new.values())), strict=True))
    table = pd.DataFrame({"molecule": lines, "score": [scores.get(line) for line in lines]})
    table["is_odd"] = table["score"] < detector.offset_
    table.to_parquet(output / f"{path.stem}.parquet")
    return int(table["is_odd"].sum())


def find(paths: list[Path], output: Path, n_sample: int) -> int:
    """Fit on a sample of all partitions, score each of them, and return the number of odd ones."""
    if find_spec("pyarrow") is None:  # before hours of work
        raise ImportError("tables of scores are Parquet files: pip install pyarrow")
    if len({path.stem for path in paths}) < len(paths):
        raise ValueError("two partitions have the same name, as their tables would: rename one")
    output.mkdir(exist_ok=True)
    parts = [sample(path, n_sample) for path in paths]
    while len(parts) > 1:  # no process holds the lines of all partitions
        parts = [merge(parts[i : i + 8], n_sample) for i in range(0, len(parts), 8)]
    [lines] = compute(*parts)
    detector = skgraphkde.GraphKDEDetector(schema="molecule", contamination=0.02, random_state=0)
    molecules = read(lines)
    detector.fit(list(molecules.values())).save(output / "model.skg")
    # A molecule of the sample is judged by the others: by itself, it would look usual.
    known = delayed(dict(zip(molecules, detector.training_scores_.tolist(), strict=True)))
    model = delayed(skgraphkde.load)(output / "model.skg")  # once on each worker, not for each file
    return sum(compute(*(score(path, model, known, output) for path in paths)))


def peak() -> float:
    """Largest memory of this process so far, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> None:
    """Start workers on this machine; ``Client("scheduler:8786")`` takes those of a cluster."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sample", type=int, default=20_000)
    options = parser.parse_args()
    with Client(n_workers=options.workers, threads_per_worker=1, dashboard_address=":0") as client:
        n_odd = find([path.resolve() for path in options.paths], options.output, options.sample)
        print(f"{n_odd} odd molecules: {options.output}")
        workers = ", ".join(f"{x:.2f}" for x in client.run(peak).values())
        print(f"GiB: {workers} of the workers, {peak():.2f} of this process")


if __name__ == "__main__":
    main()
