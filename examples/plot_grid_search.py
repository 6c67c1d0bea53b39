"""
Choosing parameters, with and without labels
============================================

With some known anomalies, a grid search can choose by their AUROC. Without any, ``LGKDE.score``
compares held-out graphs with their perturbed twins. This example tries both on MUTAG, and shows how
far to trust them.
"""

# %%
# With labels, ``OneClassKFold`` makes the folds: it trains on normal graphs only.
# ``StratifiedKFold`` would put the anomalies among the training graphs. Sixteen settings are
# compared. The six views of the default compete with two: one distance, and novelty.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from skgraphkde import LGKDE, MMD, Density, GraphKDEDetector, NodeFeatures, Propagation
from skgraphkde.datasets import load_mutag
from skgraphkde.model_selection import OneClassKFold

warnings.filterwarnings("ignore", message="node categories that fit did not see")
molecules, y = load_mutag(return_X_y=True)
with_labels = {
    "scoring": "roc_auc",
    "cv": OneClassKFold(3, shuffle=True, random_state=0),
    "refit": False,  # the search's last fit would take the anomalies for normal, too
}
grid = {
    "encoder__n_layers": [0, 1, 2, 3],
    "features": [NodeFeatures("given"), NodeFeatures()],
    "views": ["auto", (Density(MMD(estimator="biased")), "novelty")],
}
detector = GraphKDEDetector(encoder=Propagation(), random_state=0)
search = GridSearchCV(detector, grid, **with_labels).fit(molecules, y)
print("chosen with labels:", search.best_params_)
median = np.median(search.cv_results_["mean_test_score"])
print(f"its AUROC: {search.best_score_:.3f}; that of the median setting: {median:.3f}")

# %%
# Without labels, the mutagenic molecules alone are enough for ``LGKDE.score``. It compares three
# kinds of node features. The labels then tell whether the choice was good.
grid = {"features": [NodeFeatures(("constant",)), NodeFeatures("given"), NodeFeatures()]}
lgkde = LGKDE(max_iter=60, weights_learning_rate=0.2, random_state=0)
folds = KFold(3, shuffle=True, random_state=0)
unlabeled = GridSearchCV(lgkde, grid, cv=folds, refit=False).fit(molecules[y == 1])
labeled = GridSearchCV(lgkde, grid, **with_labels).fit(molecules, y)
contrast = unlabeled.cv_results_["mean_test_score"]
auroc = labeled.cv_results_["mean_test_score"]
print("chosen without labels:", unlabeled.best_params_)
print(f"AUROC of the choice: {auroc[unlabeled.best_index_]:.3f}, best {auroc.max():.3f}")

# %%
# Left: with labels, the best settings differ by less than the folds do (bars: standard deviation
# over folds). Right: the contrast prefers constant features, which detect worst: under these, twins
# differ from molecules in nothing but structure, and are told apart easily. So do not compare node
# features by the contrast. Twins are one kind of anomaly, not yours.
colors = {"constant": "gray", "given": "#e07b39", "all": "#2f6fde"}


def name_of(features):
    """Name of a kind of node features in the legends."""
    return {"auto": "all", "given": "given", ("constant",): "constant"}[features.kinds]


figure, axes = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
results = search.cv_results_
for i, setting in enumerate(results["params"]):
    kind = name_of(setting["features"])
    views = "six views" if setting["views"] == "auto" else "two views"
    shift = 0.16 * (kind == "all") + 0.08 * (views == "two views") - 0.12
    axes[0].errorbar(
        setting["encoder__n_layers"] + shift,
        results["mean_test_score"][i],
        results["std_test_score"][i],
        color=colors[kind],
        marker="o" if views == "six views" else "s",
        markerfacecolor=None if views == "six views" else "white",
        label=f"{kind} features, {views}" if setting["encoder__n_layers"] == 0 else None,
    )
axes[0].legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=2)
axes[0].set(xticks=range(4), xlabel="n_layers", ylabel="AUROC", title="With labels")
for i, setting in enumerate(unlabeled.cv_results_["params"]):
    kind = name_of(setting["features"])
    axes[1].scatter(
        contrast[i],
        auroc[i],
        s=60,
        color=colors[kind],
        label=f"{kind} features",
    )
axes[1].legend(frameon=False)
axes[1].set(xlabel="held-out contrast, without labels", ylabel="AUROC", title="Without labels")
plt.show()
