"""Compiled code is cached where that is possible, and works where it is not."""

import runpy

import numba
import numpy as np
import pytest
from numba.core import caching

from skgraphkde.computing.compiled import compiled
from skgraphkde.distances.engines import cpu_loops


def twice(x):
    return 2 * x


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_second_process_finds_what_the_first_compiled(folder):
    first, second = compiled()(twice), compiled()(twice)
    assert first(2) == second(2) == 4
    assert [sum(x.stats.cache_hits.values()) for x in (first, second)] == [0, 1]
    assert len(list(folder.rglob("*.nbc"))) == 1


def test_all_loops_work_where_nothing_can_be_written(monkeypatch):
    """As numba finds it with a package and a home that are read-only."""
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    loops = runpy.run_path(cpu_loops.__file__)
    out = np.ones(3)
    loops["add_scaled"](2.0, np.arange(3.0), out)
    assert out.tolist() == [1, 3, 5]


def test_without_a_known_home_no_folder_is_made_where_the_user_works(tmp_path, monkeypatch):
    class Elsewhere(caching.UserWideCacheLocator):
        """Where the package cannot be written to, numba takes the home."""

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [Elsewhere])
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    assert compiled()(twice)(2) == 4
    assert not list(tmp_path.iterdir())


def test_a_full_disk(folder, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", full)
    assert compiled()(twice)(2) == 4
    monkeypatch.undo()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))
    assert compiled()(twice)(2) == 4  # the index has it, and the folder does not


@pytest.mark.parametrize("suffix", ["nbi", "nbc"])
@pytest.mark.parametrize("content", [b"", b"no pickle at all"])
def test_a_damaged_cache_only_costs_time(folder, suffix, content):
    assert compiled()(twice)(2) == 4
    (damaged,) = folder.rglob(f"*.{suffix}")
    damaged.write_bytes(content)
    assert compiled()(twice)(2) == 4
