"""Checks of scikit-learn's contract, for any estimator that takes lists of graphs.

:func:`check_graph_estimator` takes an estimator and reports where it behaves differently from what
scikit-learn's tools and users expect. scikit-learn's own checks pass matrices; these pass networkx
graphs.

Each ``check_...(estimator, graphs=None)`` can be called alone. It works on an unfitted copy of the
estimator, whose `random_state` is 0 if it has one, and on copies of the graphs. It returns nothing,
raises an AssertionError that names the check and says what is wrong, or raises SkipTest if it does
not apply. Each check is about one thing: one fault in an estimator fails one check.
"""

from skgraphkde.testing.construction import (
    check_clone,
    check_constructor_does_not_validate,
    check_constructor_sets_only_parameters,
    check_get_params,
    check_repr,
    check_set_params,
    check_set_params_reaches_fit,
    check_set_params_refuses_unknown_names,
    check_tags,
)
from skgraphkde.testing.fit import (
    check_fit_forgets,
    check_fit_ignores_y,
    check_fit_is_idempotent,
    check_fit_is_reproducible,
    check_fit_keeps_parameters,
    check_fit_returns_self,
    check_fitted_attributes,
    check_global_random_state,
    check_is_fitted_agrees,
    check_methods_need_fit,
    check_random_state_instance,
)
from skgraphkde.testing.independence import (
    check_node_names,
    check_node_order,
    check_one_graph,
    check_order_invariance,
    check_subset_invariance,
)
from skgraphkde.testing.inputs import (
    check_contamination_range,
    check_empty_list,
    check_failed_fit,
    check_graphs_unchanged,
    check_list_unchanged,
    check_nan,
    check_no_graph,
    check_single_graph,
    check_training_graphs_are_copied,
    check_tuples,
)
from skgraphkde.testing.pipelines import check_cross_val_score, check_pipeline
from skgraphkde.testing.runner import CheckResult, check_graph_estimator, graph_estimator_checks
from skgraphkde.testing.scores import (
    check_anomalies_score_lower,
    check_contamination,
    check_decision_function,
    check_feature_names_out,
    check_fit_predict,
    check_fit_transform,
    check_n_features_in,
    check_outputs_belong_to_the_caller,
    check_predict,
    check_predict_is_the_sign,
    check_scores,
    check_scores_are_finite,
    check_transform,
)
from skgraphkde.testing.state import check_deepcopy, check_methods_keep_state, check_pickle

__all__ = [
    "CheckResult",
    "check_anomalies_score_lower",
    "check_clone",
    "check_constructor_does_not_validate",
    "check_constructor_sets_only_parameters",
    "check_contamination",
    "check_contamination_range",
    "check_cross_val_score",
    "check_decision_function",
    "check_deepcopy",
    "check_empty_list",
    "check_failed_fit",
    "check_feature_names_out",
    "check_fit_forgets",
    "check_fit_ignores_y",
    "check_fit_is_idempotent",
    "check_fit_is_reproducible",
    "check_fit_keeps_parameters",
    "check_fit_predict",
    "check_fit_returns_self",
    "check_fit_transform",
    "check_fitted_attributes",
    "check_get_params",
    "check_global_random_state",
    "check_graph_estimator",
    "check_graphs_unchanged",
    "check_is_fitted_agrees",
    "check_list_unchanged",
    "check_methods_keep_state",
    "check_methods_need_fit",
    "check_n_features_in",
    "check_nan",
    "check_no_graph",
    "check_node_names",
    "check_node_order",
    "check_one_graph",
    "check_order_invariance",
    "check_outputs_belong_to_the_caller",
    "check_pickle",
    "check_pipeline",
    "check_predict",
    "check_predict_is_the_sign",
    "check_random_state_instance",
    "check_repr",
    "check_scores",
    "check_scores_are_finite",
    "check_set_params",
    "check_set_params_reaches_fit",
    "check_set_params_refuses_unknown_names",
    "check_single_graph",
    "check_subset_invariance",
    "check_tags",
    "check_training_graphs_are_copied",
    "check_transform",
    "check_tuples",
    "graph_estimator_checks",
]
