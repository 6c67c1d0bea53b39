"""Rows of a CSV -> Markdown, the paper's figures beside ours."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

PAPER = Path(__file__).parent / "paper"


def read_paper(table: str) -> pd.DataFrame:
    """Figures of the paper; the first lines of a file, after "#", say where it prints them."""
    return pd.read_csv(PAPER / f"{table}.csv", comment="#")


def mean_std(values: Sequence[float], digits: int = 1, out_of: int = 0) -> str:
    """`mean ± standard deviation`; a single value alone; nothing for no value.

    Fewer values than `out_of` are followed by their number in parentheses.
    """
    few = f" ({len(values)})" if len(values) < out_of else ""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if not len(values):
        return few
    spread = f" ± {values.std():.{digits}f}" if len(values) > 1 else ""
    return f"{values.mean():.{digits}f}{spread}{few}"


def markdown(table: pd.DataFrame, index: bool = True) -> str:
    """A table as Markdown, with numbers aligned to the right."""
    align = ["left", *["right"] * (table.shape[1] - (not index))]
    texts = table.astype(object).where(table.notna(), "")
    return texts.to_markdown(index=index, colalign=align, disable_numparse=True)


def against_paper(
    rows: pd.DataFrame,
    metric: str,
    datasets: Sequence[str],
    methods: Sequence[str],
    paper: pd.DataFrame,
    paper_names: dict[str, str],
    unranked: Sequence[str] = (),
) -> str:
    """Methods by data sets, then mean and mean rank; figures of the paper below, in italics.

    Low values of "fpr95" rank first, high values of anything else. Mean and rank are over the data
    sets that all methods have, except for `unranked`, which have no mean and no rank.
    `paper_names` are the paper's names of our methods.
    """
    ours = rows.pivot_table(index="method", columns="dataset", values=metric, aggfunc="mean")
    ours = ours.reindex(index=methods, columns=datasets)
    ranked = ours.drop(index=[method for method in unranked if method in ours.index])
    common = ours.columns[ranked.notna().all()]
    ranks = ranked[common].rank(ascending=metric == "fpr95").mean(axis=1)
    means = ranked[common].mean(axis=1)
    published = paper.pivot_table(index="method", columns="dataset", values="mean")
    n_folds = rows.groupby("dataset")["fold"].nunique()
    lines = []
    for method in methods:
        of_method = rows[rows["method"] == method].groupby("dataset")[metric]
        cells = {name: mean_std(x, out_of=n_folds[name]) for name, x in of_method}
        behind = {}
        if len(common) and method not in unranked:
            behind = {"mean": f"{means[method]:.1f}", "rank": f"{ranks[method]:.1f}"}
        lines.append({"method": method, **cells, **behind})
        if paper_names.get(method) in published.index:
            figures = published.loc[paper_names[method]].reindex(datasets)
            named = {name: f"*{x:.1f}*" for name, x in figures.items() if np.isfinite(x)}
            lines.append({"method": "*in the paper*", **named, "mean": f"*{figures.mean():.1f}*"})
    table = pd.DataFrame(lines).reindex(columns=["method", *datasets, "mean", "rank"])
    table = table.rename(columns={n: f"{n} ({n_folds.get(n, 0)})" for n in datasets})
    note = f"Mean and rank over {', '.join(common)}." if len(common) else ""
    return f"{markdown(table, index=False)}\n\n{note}"


def rounded(table: pd.DataFrame, digits: int = 1, index: bool = True) -> str:
    """A table of numbers as Markdown; missing ones are empty."""
    texts = table.map(lambda x: x if isinstance(x, str) else f"{x:.{digits}f}")
    return markdown(texts.replace("nan", ""), index)


def averaged(
    rows: pd.DataFrame,
    by: str | list[str],
    values: Sequence[str],
    digits: int = 1,
    out_of: int = 0,
) -> pd.DataFrame:
    """Means and standard deviations of some columns as text, a row for each value of `by`."""
    return rows.groupby(by, sort=False)[list(values)].agg(lambda x: mean_std(x, digits, out_of))


def of_paper(paper: pd.DataFrame, by: str | list[str], column: str, digits: int = 1):
    """The paper's figures as text: a row for each value of `by`, a column for each of `column`."""
    text = [f"{mean:.{digits}f}" for mean in paper["mean"]]
    if "std" in paper:
        stds = [f" ± {std:.{digits}f}" if np.isfinite(std) else "" for std in paper["std"]]
        text = np.char.add(text, stds)
    return paper.assign(text=text).pivot_table(
        index=by, columns=column, values="text", aggfunc="first", sort=False
    )


def side_by_side(ours: pd.DataFrame, paper: pd.DataFrame, titles: dict[str, str]) -> str:
    """Two tables of text in one: each column of the paper in italics after ours, with titles."""
    table = pd.DataFrame(index=ours.index)
    for key, title in titles.items():
        if key in ours:
            table[title] = ours[key]
        if key in paper:
            table[f"*{title}, paper*"] = ("*" + paper[key] + "*").reindex(ours.index)
    return markdown(table)
