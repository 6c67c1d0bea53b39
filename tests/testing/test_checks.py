"""Sound estimators pass every check, and a fault fails its own check first."""

import copy
from unittest import SkipTest

import networkx as nx
import numpy as np
import pytest
from sklearn.base import BaseEstimator, OutlierMixin, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state

from skgraphkde import GCN, Contrastive, GraphKDEDetector, NodeFeatures, read_graphs
from skgraphkde.testing import _checks as checks
from skgraphkde.testing import check_graph_estimator, graph_estimator_checks
from tests.conftest import random_graphs
from tests.graphs.test_relations import WEIGHTED, typed_graphs


class SizeDetector(OutlierMixin, TransformerMixin, BaseEstimator):
    """Graphs whose size, density and mean attribute are far from the median are anomalies."""

    def __init__(self, contamination=0.1, weights=(1.0, 1.0, 1.0), random_state=None):
        self.contamination = contamination
        self.weights = weights
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags

    def fit(self, graphs, y=None):
        features = self._features(graphs)
        if not 0 < self.contamination <= 0.5:
            raise ValueError("contamination must be in (0, 0.5]")
        rng = check_random_state(self.random_state)
        self.weights_ = np.asarray(self.weights) * rng.uniform(0.5, 1.5, 3)
        self.center_ = np.median(features, axis=0)
        self.training_scores_ = self._scores(features)
        self.offset_ = np.quantile(self.training_scores_, self.contamination)
        self.n_features_in_ = 3
        return self

    def score_samples(self, graphs):
        self._check_is_fitted()
        return self._scores(self._features(graphs))

    def decision_function(self, graphs):
        return self.score_samples(graphs) - self.offset_

    def predict(self, graphs):
        return np.where(self.decision_function(graphs) < 0, -1, 1)

    def fit_predict(self, graphs, y=None):
        self.fit(graphs)
        return np.where(self.training_scores_ < self.offset_, -1, 1)

    def score(self, graphs, y=None):
        return float(self.score_samples(graphs).mean())

    def transform(self, graphs):
        self._check_is_fitted()
        return self._features(graphs) - self.center_

    def get_feature_names_out(self, input_features=None):
        return np.array(["size", "density", "attribute"], dtype=object)

    def _check_is_fitted(self):
        if not hasattr(self, "center_"):
            raise NotFittedError("call fit first")

    def _features(self, graphs):
        return np.array([self._of_graph(graph) for graph in self._checked(graphs)])

    def _checked(self, graphs):
        if not isinstance(graphs, list | tuple):
            raise TypeError("expected a list of graphs")
        if not graphs:
            raise ValueError("the list of graphs is empty")
        if not all(isinstance(graph, nx.Graph) for graph in graphs):
            raise TypeError("expected networkx graphs")
        return graphs

    def _of_graph(self, graph):
        attribute = self._attribute(graph)
        if not np.isfinite(attribute):
            raise ValueError("an attribute is not finite")
        size, n_edges = graph.number_of_nodes(), graph.number_of_edges()
        return np.log(size), np.log1p(n_edges) - np.log(size), attribute

    def _attribute(self, graph):
        return np.sum([x for _, x in graph.nodes(data="x", default=0.0)]) / len(graph)

    def _scores(self, features):
        return -np.abs(features - self.center_) @ self.weights_


# -- one fault each --------------------------------------------------------------------------------

FAULTS = []


def fails(check):
    """Register a broken estimator under the check that it must fail."""

    def enter(broken):
        FAULTS.append((check, broken))
        return broken

    return enter


@fails("check_parameters")
class CopiesAParameter(SizeDetector):
    def __init__(self, contamination=0.1, weights=(1.0, 1.0, 1.0), random_state=None):
        super().__init__(contamination, np.array(weights), random_state)


@fails("check_parameters")
class ValidatesEarly(SizeDetector):
    def __init__(self, contamination=0.1, weights=(1.0, 1.0, 1.0), random_state=None):
        super().__init__(contamination, weights, random_state)
        float(contamination)


@fails("check_parameters")
class DoesNotSetAParameter(SizeDetector):
    def set_params(self, **params):
        params.pop("weights", None)
        return super().set_params(**params)


@fails("check_set_params_reaches_fit")
class RemembersItsFirstContamination(SizeDetector):
    def fit(self, graphs, y=None):
        super().fit(graphs)
        self.first_ = getattr(self, "first_", self.contamination)
        self.offset_ = np.quantile(self.training_scores_, self.first_)
        return self


@fails("check_parameters")
class CannotBePrinted(SizeDetector):
    def __repr__(self):
        return repr(self.centre_)


@fails("check_parameters")
class ClaimsToTakeMatrices(SizeDetector):
    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


@fails("check_fit")
class ReturnsACopy(SizeDetector):
    def fit(self, graphs, y=None):
        return copy.copy(super().fit(graphs))


@fails("check_fit_ignores_y")
class LooksAtY(SizeDetector):
    def fit(self, graphs, y=None):
        super().fit(graphs)
        if y is not None:
            self.offset_ += np.mean(y)
        return self


@fails("check_fit")
class LearnsWithoutUnderscore(SizeDetector):
    def fit(self, graphs, y=None):
        self.n_graphs = len(graphs)
        return super().fit(graphs)


@fails("check_is_fitted_agrees")
class ClaimsToBeFitted(SizeDetector):
    def __sklearn_is_fitted__(self):
        return True


@fails("check_is_fitted_agrees")
class StumblesUnfitted(SizeDetector):
    def _check_is_fitted(self):
        return self.center_


@fails("check_fit_forgets")
class StartsWarm(SizeDetector):
    """Takes a step toward the median, from where the last fit on as many graphs stopped."""

    def fit(self, graphs, y=None):
        start = self.center_ if getattr(self, "n_graphs_", 0) == len(graphs) else 0.0
        super().fit(graphs)
        self.n_graphs_ = len(graphs)
        self.center_ = 0.1 * start + 0.9 * self.center_
        return self


@fails("check_fit_is_reproducible")
class IgnoresItsSeed(SizeDetector):
    def fit(self, graphs, y=None):
        super().fit(graphs)
        self.weights_ = self.weights_ * np.random.RandomState().uniform(0.5, 1.5, 3)
        return self


@fails("check_global_random_state")
class SeedsEverything(SizeDetector):
    def fit(self, graphs, y=None):
        np.random.seed(0)
        return super().fit(graphs)


@fails("check_input_unchanged")
class WritesIntoGraphs(SizeDetector):
    def _of_graph(self, graph):
        graph.graph["size"] = len(graph)
        return super()._of_graph(graph)


@fails("check_training_graphs_are_copied")
class KeepsTheCallersGraphs(SizeDetector):
    def fit(self, graphs, y=None):
        super().fit(graphs)
        self.graphs_ = list(graphs)
        return self

    def score_samples(self, graphs):
        return super().score_samples(graphs) - sum(map(len, self.graphs_))

    def decision_function(self, graphs):
        return super().decision_function(graphs)


@fails("check_tuples")
class TakesListsOnly(SizeDetector):
    def _checked(self, graphs):
        if isinstance(graphs, tuple):
            raise TypeError("expected a list")
        return super()._checked(graphs)


@fails("check_bad_input")
class ScoresNothing(SizeDetector):
    def score_samples(self, graphs):
        self._check_is_fitted()
        return super().score_samples(graphs) if len(graphs) else np.zeros(0)


@fails("check_bad_input")
class TakesASingleGraph(SizeDetector):
    def _checked(self, graphs):
        return super()._checked([graphs] if isinstance(graphs, nx.Graph) else graphs)


@fails("check_nan")
class LetsNaNPass(SizeDetector):
    def _of_graph(self, graph):
        attribute = self._attribute(graph)
        n_edges = graph.number_of_edges()
        return np.log(len(graph)), np.log1p(n_edges) - np.log(len(graph)), attribute


@fails("check_failed_fit")
class ForgetsBeforeItReads(SizeDetector):
    def fit(self, graphs, y=None):
        self.center_ = np.zeros(3)
        return super().fit(graphs)


@fails("check_contamination")
class ClipsContamination(SizeDetector):
    def fit(self, graphs, y=None):
        asked, self.contamination = self.contamination, np.clip(self.contamination, 0.01, 0.5)
        super().fit(graphs)
        self.contamination = asked
        return self


@fails("check_scores")
class SinglePrecision(SizeDetector):
    def score_samples(self, graphs):
        return super().score_samples(graphs).astype(np.float32)


@fails("check_decision_function")
class AddsTheOffset(SizeDetector):
    def decision_function(self, graphs):
        return self.score_samples(graphs) + self.offset_


@fails("check_predict")
class VerdictsUpsideDown(SizeDetector):
    def predict(self, graphs):
        return -super().predict(graphs)


@fails("check_fit_predict")
class FitPredictFitsACopy(SizeDetector):
    def fit_predict(self, graphs, y=None):
        return SizeDetector(**self.get_params()).fit_predict(graphs)


@fails("check_anomalies_score_lower")
class ScoresUpsideDown(SizeDetector):
    def _scores(self, features):
        return -super()._scores(features)


@fails("check_transform")
class TransformsToThreeDimensions(SizeDetector):
    def transform(self, graphs):
        return super().transform(graphs)[:, np.newaxis]


@fails("check_fit_transform")
class FitTransformDiffers(SizeDetector):
    def fit_transform(self, graphs, y=None):
        return self.fit(graphs).transform(graphs) * self.weights_


@fails("check_feature_names_out")
class NamesTooFewFeatures(SizeDetector):
    def get_feature_names_out(self, input_features=None):
        return super().get_feature_names_out()[:2]


@fails("check_fit")
class ManyFeaturesIn(SizeDetector):
    def fit(self, graphs, y=None):
        super().fit(graphs)
        self.n_features_in_ = "many"
        return self


@fails("check_outputs_belong_to_the_caller")
class HandsOutItsOwnScores(SizeDetector):
    """Computes the scores of the training graphs once."""

    def fit(self, graphs, y=None):
        super().fit(graphs)
        self.known_ = [id(graph) for graph in graphs]
        return self

    def score_samples(self, graphs):
        scores = super().score_samples(graphs)
        return self.training_scores_ if self.known_ == [id(g) for g in graphs] else scores


@fails("check_other_graphs")
class SubtractsTheMean(SizeDetector):
    def score_samples(self, graphs):
        return super().score_samples(graphs) - 0.01 * np.mean([len(graph) for graph in graphs])


@fails("check_other_graphs")
class Squeezes(SizeDetector):
    def score_samples(self, graphs):
        return np.squeeze(super().score_samples(graphs))


@fails("check_nodes")
class LooksAtTheFirstNode(SizeDetector):
    def _of_graph(self, graph):
        size, density, attribute = super()._of_graph(graph)
        return size, density + graph.degree[next(iter(graph))], attribute


@fails("check_methods_keep_state")
class Counts(SizeDetector):
    def score_samples(self, graphs):
        self.n_scored_ = getattr(self, "n_scored_", 0) + len(graphs)
        return super().score_samples(graphs)


@fails("check_copies")
class HoldsALambda(SizeDetector):
    def fit(self, graphs, y=None):
        super().fit(graphs)
        self.distance_ = lambda x: abs(x - self.center_)
        return self


@fails("check_copies")
class CopiesUnfitted(SizeDetector):
    def __deepcopy__(self, memo):
        return clone(self)


@fails("check_pipeline")
class TakesYByName(SizeDetector):
    def fit(self, graphs, *, y=None):
        return super().fit(graphs)


@fails("check_cross_val_score")
class ScoresEachGraph(SizeDetector):
    def score(self, graphs, y=None):
        return self.score_samples(graphs)


# -- tests -----------------------------------------------------------------------------------------

NAMED = {check.__name__: check for _, check in graph_estimator_checks(SizeDetector())}


@pytest.mark.parametrize(("check", "broken"), FAULTS, ids=[broken.__name__ for _, broken in FAULTS])
def test_a_fault_fails_its_check(check, broken):
    with pytest.raises(AssertionError, match=f"^{check} failed for {broken.__name__}: "):
        check_graph_estimator(broken())


def test_every_check_has_its_fault_and_a_sound_estimator_that_passes():
    assert set(NAMED) == {check for check, _ in FAULTS}
    for check in NAMED.values():
        check(SizeDetector())  # it has all methods that can be checked: none is skipped


@pytest.mark.parametrize(
    "estimator",
    [
        NodeFeatures(),
        pytest.param(
            GraphKDEDetector(encoder=GCN(hidden_dim=8), training=Contrastive(max_iter=2)),
            marks=pytest.mark.slow,
        ),
    ],
    ids=["features", "gcn"],
)
def test_sound_estimators_pass(estimator):
    check_graph_estimator(estimator)


@pytest.mark.parametrize("check", ["check_input_unchanged", "check_nodes"])
def test_directed_and_typed_graphs(check):
    """Those checks that read data of edges, or write them anew."""
    getattr(checks, check)(GraphKDEDetector(schema=WEIGHTED), typed_graphs(20))


def test_what_the_estimator_lacks_is_skipped():
    with pytest.raises(SkipTest, match="NodeFeatures has no score_samples"):
        NAMED["check_scores"](NodeFeatures())


def test_graphs_of_the_caller_are_left_alone():
    """Checks that change networkx graphs are skipped for others."""
    graphs = random_graphs(16, n_attributes=2)
    kept, detector = copy.deepcopy(graphs), SizeDetector()
    check_graph_estimator(detector, graphs=graphs)
    with pytest.raises(AssertionError, match="check_input_unchanged"):
        check_graph_estimator(WritesIntoGraphs(), graphs=graphs)
    assert vars(detector) == vars(SizeDetector())
    assert [graph.graph for graph in graphs] == [graph.graph for graph in kept]
    with pytest.raises(SkipTest):
        checks.check_nodes(NodeFeatures(), read_graphs(graphs))


def test_an_instance_is_expected():
    with pytest.raises(TypeError, match=r"write SizeDetector\(\)"):
        check_graph_estimator(SizeDetector)
