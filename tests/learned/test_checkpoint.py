"""A fit that was killed goes on from its checkpoint, to the result of one that was not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from skgraphkde import GCN, Contrastive, GraphKDEDetector, read_graphs
from skgraphkde.learned.trainer import Trainer
from tests.conftest import random_graphs

MAX_ITER = 6
KILLED = """
import os, signal
from skgraphkde import MMD
from skgraphkde.learned.trainer import Trainer
from tests.learned.test_checkpoint import fit

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


SAMPLING = {
    "references": "importance",
    "references__ratio": 0.5,
    "calibration": "split",
    "calibration__fraction": 0.3,
    "training__validation_fraction": 0.3,
    "encoder__batch_norm": False,
}
EARLY_STOPPING = {
    "training__n_iter_no_change": 1,
    "training__max_iter": 30,
    "training__learning_rate": 0.05,
}


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no such signal")
def test_a_killed_fit_goes_on_to_the_same_result(path):
    """... up to rounding: the process that was killed may have had other threads.

    Single precision rounds by 6e-8, and an epoch of training may make a hundred times as much of
    it; the losses of another seed or of another learning rate differ by a hundredth and more.
    """
    killed(path, 4, **SAMPLING)
    check_the_same_result(path, rtol=1e-4, **SAMPLING)


@pytest.mark.parametrize(
    "options",
    [SAMPLING, EARLY_STOPPING, {"encoder": "propagation"}],
    ids=["sampling", "early stopping", "mixture weights alone"],
)
def test_an_interrupted_fit_goes_on_to_the_same_bits(path, options, monkeypatch):
    interrupted(path, 2, monkeypatch, **options)
    check_the_same_result(path, rtol=0, **options)


def check_the_same_result(path, rtol, **options):
    new_graphs = random_graphs(10, seed=2)
    whole, resumed = fit(None, **options), fit(path, **options)
    assert not path.exists()  # a finished fit needs it no more
    for name in ("loss", "validation_loss", "mixture_weights"):
        expected = whole.history_[name]
        np.testing.assert_allclose(resumed.history_[name], expected, rtol=rtol, atol=rtol / 100)
    views, expected = (x.model_.view_scores(read_graphs(new_graphs)) for x in (resumed, whole))
    np.testing.assert_allclose(views, expected, rtol=rtol, atol=rtol)
    assert resumed.offset_ == pytest.approx(whole.offset_, rel=rtol, abs=0)
    contrast = whole.score(new_graphs)
    assert resumed.score(new_graphs) == pytest.approx(contrast, rel=rtol, abs=rtol)


def interrupted(path, after, monkeypatch, **options):
    epoch = Trainer._epoch

    def epoch_or_interrupt(trainer):
        if len(trainer.history["loss"]) == after:
            raise KeyboardInterrupt
        return epoch(trainer)

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "_epoch", epoch_or_interrupt)
        with pytest.raises(KeyboardInterrupt):
            fit(path, **options)


def test_a_fit_that_was_interrupted_before_its_first_epoch_starts_anew(path, monkeypatch):
    monkeypatch.setattr(Path, "unlink", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fit(path)
    monkeypatch.undo()
    assert path.exists()
    assert fit(path).offset_ == fit(None).offset_


def interrupt(*args, **options):
    raise KeyboardInterrupt


def test_it_goes_on_where_it_was(path, monkeypatch):
    interrupted(path, 4, monkeypatch)
    epochs = []
    epoch = Trainer._epoch
    monkeypatch.setattr(Trainer, "_epoch", lambda self: epochs.append(1) or epoch(self))
    fit(path)
    assert len(epochs) == MAX_ITER - 3  # epochs 1, 2 and 3 were done


@pytest.mark.parametrize(
    "change",
    [
        {"encoder__hidden_dim": 9},
        {"random_state": 1},
        {"training__twins__swap_ratio": 0.3},
        {"training__learning_rate": 0.01 + 1e-12},
    ],
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


def test_a_link_stays_and_leads_to_the_state(path, monkeypatch):
    target = path.with_name("target.skg")
    path.symlink_to(target)
    interrupted(path, 2, monkeypatch)
    assert path.is_symlink()
    assert target.exists()
    fit(path)
    assert path.is_symlink()
    assert not target.exists()


def test_errors_come_before_the_training(path, monkeypatch):
    monkeypatch.setattr(Trainer, "_epoch", lambda self: pytest.fail("the training has started"))
    with pytest.raises(FileNotFoundError):
        fit(path / "no" / "folder")
    with pytest.raises(ValueError, match="checkpoint needs an integer random_state"):
        fit(path, random_state=None)
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
