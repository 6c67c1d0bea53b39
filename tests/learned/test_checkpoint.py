"""A fit that was interrupted goes on from its checkpoint, to the result of one that was not."""

import os

import numpy as np
import pytest

from skgraphkde import GCN, Contrastive, GraphKDEDetector, read_graphs
from skgraphkde.learned.trainer import Trainer
from tests.conftest import random_graphs

MAX_ITER = 4


def make_detector(path, **changes):
    training = Contrastive(
        max_iter=MAX_ITER, batch_size=8, learning_rate=0.01, n_iter_no_change=99, checkpoint=path
    )
    detector = GraphKDEDetector(encoder=GCN(hidden_dim=8), training=training, random_state=0)
    return detector.set_params(**changes)


def fit(path, **changes):
    return make_detector(path, **changes).fit(random_graphs(24, seed=1))


def interrupted(path, after, **options):
    """Interrupt a fit after some epochs."""
    train_epoch = Trainer._train_epoch

    def train_or_interrupt(trainer, epoch):
        if epoch == after:
            raise KeyboardInterrupt
        train_epoch(trainer, epoch)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Trainer, "_train_epoch", train_or_interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(path, **options)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "training.skg"


@pytest.fixture(scope="module")
def whole():
    """A fit without a checkpoint."""
    return fit(None)


@pytest.fixture(scope="module")
def half_done(tmp_path_factory):
    """The checkpoint of a fit that was interrupted."""
    path = tmp_path_factory.mktemp("half") / "done.skg"
    interrupted(path, 2)
    return path.read_bytes()


SAMPLING = {
    "references": "importance",
    "references__ratio": 0.5,
    "calibration": "split",
    "calibration__fraction": 0.4,
    "training__validation_fraction": 0.3,
    "encoder__batch_norm": False,
}
EARLY_STOPPING = {
    "training__n_iter_no_change": 2,
    "training__max_iter": 30,
    "training__learning_rate": 0.05,
}


NUMPY_NUMBERS = {"training__max_iter": np.int64(4), "training__learning_rate": np.float64(0.02)}


@pytest.mark.parametrize(
    ("options", "after"),
    [(SAMPLING, 2), (EARLY_STOPPING, 2), ({"encoder": "propagation", **NUMPY_NUMBERS}, 2), ({}, 0)],
    ids=["sampling", "early stopping", "mixture weights alone", "before the first epoch"],
)
def test_an_interrupted_fit_goes_on_to_the_same_bits(path, options, after):
    interrupted(path, after, **options)
    assert path.exists()
    whole, resumed = fit(None, **options), fit(path, **options)
    assert not path.exists()  # a finished fit needs it no more
    for name in ("loss", "validation_loss", "mixture_weights"):
        np.testing.assert_array_equal(resumed.history_[name], whole.history_[name])
    new_graphs = read_graphs(random_graphs(10, seed=2))
    views, expected = (x.model_.view_scores(new_graphs) for x in (resumed, whole))
    np.testing.assert_array_equal(views, expected)
    assert resumed.offset_ == whole.offset_
    assert resumed.score(new_graphs) == whole.score(new_graphs)


def test_it_goes_on_where_it_was_and_a_link_stays(path, half_done, whole, monkeypatch):
    target = path.with_name("target.skg")
    path.symlink_to(target)
    target.write_bytes(half_done)
    epochs = []
    epoch = Trainer._epoch
    monkeypatch.setattr(Trainer, "_epoch", lambda self: epochs.append(1) or epoch(self))
    assert fit(path).offset_ == whole.offset_
    assert len(epochs) == MAX_ITER - 1  # epoch 1 was done
    assert path.is_symlink()
    assert not target.exists()


@pytest.mark.parametrize(
    "change",
    [
        {"encoder__hidden_dim": 9},
        {"random_state": 1},
        {"training__twins__swap_ratio": 0.3},
        {"training__learning_rate": 0.01 + 1e-12},
    ],
)
def test_the_checkpoint_of_another_fit_is_refused(path, change, half_done):
    path.write_bytes(half_done)
    with pytest.raises(ValueError, match="checkpoint of a fit with other parameters or graphs"):
        fit(path, **change)
    with pytest.raises(ValueError, match="delete the file to start again, or choose another path"):
        make_detector(path).fit(read_graphs(random_graphs(25)))
    assert path.exists()


@pytest.mark.parametrize("content", [b"", b"nothing", b"\x08" + bytes(40)])
def test_a_file_that_is_not_a_checkpoint_is_refused_and_left(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"is not a checkpoint .* delete the file to start again"):
        fit(path)
    assert path.read_bytes() == content


def test_errors_come_before_the_training(path, monkeypatch):
    monkeypatch.setattr(Trainer, "_epoch", lambda self: pytest.fail("the training has started"))
    with pytest.raises(FileNotFoundError):
        fit(path / "no" / "folder")
    with pytest.raises(ValueError, match="checkpoint needs an integer random_state"):
        fit(path, random_state=None)
    assert os.listdir(path.parent) == []
