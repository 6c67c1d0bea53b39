"""The container: written in one step, read back as it was, or not at all."""

import os
import stat
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from skgraphkde.persistence import atomic_file, container, digest, read, write

TREE = {"a": [1, 2.5, None, True, "Å\ud800"], "b": {"c": {}}}
ARRAYS = {
    "matrix": np.arange(6.0).reshape(2, 3),
    "empty": np.zeros((0, 3), np.int64),
    "number": np.array(2.5, np.float32),
    "flags": np.array([True, False]),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.skg"


# -- there and back --------------------------------------------------------------------------------


def assert_equal(arrays, others):
    assert arrays.keys() == others.keys()
    for name, array in arrays.items():
        assert array.dtype == others[name].dtype
        assert array.shape == others[name].shape
        np.testing.assert_array_equal(array, others[name])


def test_what_is_written_comes_back(path):
    write(path, TREE, ARRAYS)
    tree, arrays = read(path)
    assert tree == TREE
    assert_equal(arrays, ARRAYS)
    first = path.read_bytes()
    write(path, tree, {name: np.asarray(x, order="F") for name, x in arrays.items()})
    assert path.read_bytes() == first


def test_nan_in_arrays_but_not_in_text(path):
    write(path, {}, {"a": np.array([np.nan, np.inf])})
    np.testing.assert_array_equal(read(path)[1]["a"], [np.nan, np.inf])
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        write(path, {"a": float("nan")}, {})
    assert path.read_bytes() == before


# -- the checksum ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tree", "arrays"),
    [
        ({"a": 1}, {}),
        ({"b": 0}, {}),
        ({"a": 0}, {"x": np.zeros(2)}),
        ({"a": 0}, {"y": np.zeros(1)}),
        ({"a": 0}, {"x": np.zeros((1, 1))}),
        ({"a": 0}, {"x": np.zeros(1, np.int64)}),
        ({"a": 0}, {"x": -np.zeros(1)}),
        ({"a": 0}, {"x": np.zeros(1), "y": np.zeros(0)}),
    ],
)
def test_the_checksum_depends_on_everything(tree, arrays):
    assert digest(tree, arrays) != digest({"a": 0}, {"x": np.zeros(1)})


# -- writing in one step ---------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file_and_nothing_else(path, monkeypatch, step):
    path.write_bytes(b"old")

    def fail(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(OSError, match="no space left"):
        write(path, TREE, ARRAYS)
    assert path.read_bytes() == b"old"
    assert list(path.parent.iterdir()) == [path]


def test_a_new_file_has_the_mode_of_the_old_one(path):
    path.write_bytes(b"old")
    path.chmod(0o600)
    with atomic_file(path) as file:
        (temporary,) = set(path.parent.iterdir()) - {path}
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600  # and nobody reads it meanwhile
        file.write(b"new")
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o600)
    path.chmod(0o644)
    write(path, TREE, ARRAYS)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


@pytest.mark.parametrize("error", [None, PermissionError])
def test_a_new_file_has_the_owner_of_the_old_one(path, monkeypatch, error):
    """If the user may give it away, which root may; if not, it is written all the same."""
    path.write_bytes(b"old")
    owner, given = SimpleNamespace(st_uid=1234, st_gid=5678, st_mode=path.stat().st_mode), []

    def chown(name, *ids):
        given.append((Path(name).read_bytes() == b"new", path.read_bytes(), *ids))
        if error:
            raise error

    monkeypatch.setattr(container, "check_regular", lambda _: owner)
    monkeypatch.setattr(os, "chown", chown, raising=False)
    with atomic_file(path) as file:
        file.write(b"new")
    assert given == [(True, b"old", 1234, 5678)]  # before it has its name
    assert path.read_bytes() == b"new"


def test_symbolic_links_stay(path, tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "target.skg"
    path.symlink_to(target)
    for _ in range(2):  # the link leads nowhere at first
        write(path, TREE, ARRAYS)
        assert path.is_symlink()
        assert read(target)[0] == TREE
    assert sorted(x.name for x in tmp_path.rglob("*")) == ["file.skg", "folder", "target.skg"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes")
def test_devices_and_pipes_are_left_alone(path):
    os.mkfifo(path)
    nodes = [path, Path(os.devnull), path.parent]
    for node in nodes:
        before = os.stat(node)
        for function in (read, lambda x: write(x, TREE, ARRAYS)):
            with pytest.raises(OSError, match="is a folder or a device: give the path of a file"):
                function(node)
        assert os.stat(node)[:6] == before[:6]
    assert list(path.parent.iterdir()) == [path]


def test_folders_that_do_not_exist_or_are_read_only(tmp_path, monkeypatch):
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "nowhere" / "file.skg", TREE, ARRAYS)

    def refuse(name, *arguments):  # to root, too
        raise PermissionError(13, "Permission denied", name)

    path = tmp_path / "file.skg"
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(PermissionError) as caught:
            write(path, TREE, ARRAYS)
    assert caught.value.filename == str(path)  # not the name of the temporary file
    assert not list(tmp_path.iterdir())


def test_text_in_one_step(path):
    with atomic_file(path, "t", encoding="utf-8") as file:
        file.write("Å")
        assert not path.exists()
    assert path.read_text(encoding="utf-8") == "Å"
    with pytest.raises(TypeError), atomic_file(path, "t") as file:
        file.writelines(["half", 3])
    assert path.read_text(encoding="utf-8") == "Å"
    assert list(path.parent.iterdir()) == [path]
