"""A fit that was killed goes on from its checkpoint, to the bits of one that was not."""

import os
import shutil
import signal
import subprocess
import sys
from collections import namedtuple

import numpy as np
import pytest

from skgraphkde import GCN, MMD, Contrastive, GraphKDEDetector, read_graphs
from skgraphkde.training.trainer import Trainer
from tests.conftest import random_graphs

MAX_ITER = 6
KILLED = """
import os, signal
from skgraphkde import MMD
from skgraphkde.training.trainer import Trainer
from tests.training.test_checkpoint import fit

epoch = Trainer._epoch

def epoch_or_death(trainer):
    if len(trainer.history["loss"]) == {after}:
        os.kill(os.getpid(), signal.SIGKILL)
    return epoch(trainer)

Trainer._epoch = epoch_or_death
fit({path!r}, **{options!r})
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "training.skg"


def make_detector(path, **changes):
    training = Contrastive(
        max_iter=MAX_ITER, batch_size=8, learning_rate=0.01, n_iter_no_change=99, checkpoint=path
    )
    detector = GraphKDEDetector(encoder=GCN(hidden_dim=8), training=training, random_state=0)
    return detector.set_params(**changes)


def fit(path, **changes):
    return make_detector(path, **changes).fit(random_graphs(40, seed=1))


def killed(path, after, **options):
    code = KILLED.format(after=after, path=str(path), options=options)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    assert path.exists()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {
            "references": "importance",
            "references__ratio": 0.5,
            "calibration": "split",
            "calibration__fraction": 0.3,
            "training__validation_fraction": 0.3,
            "encoder__batch_norm": False,
        },
        {
            "encoder": "propagation",
            "distance": (
                MMD(estimator="biased", method="random_features"),
                MMD(gammas=(1.0,), method="random_features"),
            ),
        },
        {
            "training__n_iter_no_change": 1,
            "training__max_iter": 30,
            "training__learning_rate": 0.05,
        },
    ],
    ids=["plain", "sampling", "weights alone", "early stopping"],
)
def test_a_killed_fit_goes_on_to_the_same_result(path, options):
    after = 2 if "training__n_iter_no_change" in options else 4
    new_graphs = random_graphs(10, seed=2)
    whole = fit(None, **options)
    killed(path, after, **options)
    resumed = fit(path, **options)
    assert not path.exists()  # a finished fit needs it no more
    for name in ("loss", "validation_loss", "mixture_weights"):
        np.testing.assert_array_equal(resumed.history_[name], whole.history_[name])
    np.testing.assert_array_equal(
        resumed.score_samples(new_graphs), whole.score_samples(new_graphs)
    )
    assert resumed.offset_ == whole.offset_
    assert resumed.score(new_graphs) == whole.score(new_graphs)


def interrupted(path, after, monkeypatch):
    epoch = Trainer._epoch

    def epoch_or_interrupt(trainer):
        if len(trainer.history["loss"]) == after:
            raise KeyboardInterrupt
        return epoch(trainer)

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "_epoch", epoch_or_interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(path)


def test_it_goes_on_where_it_was(path, monkeypatch):
    interrupted(path, 4, monkeypatch)
    epochs = []
    epoch = Trainer._epoch
    monkeypatch.setattr(Trainer, "_epoch", lambda self: epochs.append(1) or epoch(self))
    fit(path)
    assert len(epochs) == MAX_ITER - 3  # epochs 1, 2 and 3 were done


@pytest.mark.parametrize(
    "change",
    [{"encoder__hidden_dim": 9}, {"random_state": 1}, {"training__twins__swap_ratio": 0.3}],
)
def test_the_checkpoint_of_another_fit_is_refused(path, change, monkeypatch):
    interrupted(path, 2, monkeypatch)
    with pytest.raises(ValueError, match="checkpoint of a fit with other parameters or graphs"):
        fit(path, **change)
    with pytest.raises(ValueError, match="delete the file to start again, or choose another path"):
        make_detector(path).fit(read_graphs(random_graphs(41)))
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
    usage = namedtuple("usage", "free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(-1))
    with pytest.raises(OSError, match=r"there is no room for .* free disk space, or choose"):
        fit(path)
    assert os.listdir(path.parent) == []


def test_a_disk_that_fills_up_leaves_the_last_state(path, monkeypatch):
    replace, n_done = os.replace, []

    def full(source, target):
        n_done.append(target)
        if len(n_done) == 4:  # the trial before the training is the first
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        fit(path)
    assert os.listdir(path.parent) == [path.name]
    monkeypatch.undo()
    assert fit(path).offset_ == fit(None).offset_
