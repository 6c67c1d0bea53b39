"""Files appear when they are complete, and an old one is kept if writing fails."""

import pytest

from skgraphkde.writing import atomic_file


def test_a_file_is_there_when_it_is_complete(tmp_path):
    path = tmp_path / "a.txt"
    with atomic_file(path) as file:
        file.write("first\n\udcff")
        assert not path.exists()
    assert path.read_bytes() == b"first\n\\udcff"
    path.chmod(0o600)
    (tmp_path / "link").symlink_to(path)
    with atomic_file(tmp_path / "link", "wb") as file:
        file.write(b"second")
        assert path.read_bytes() == b"first\n\\udcff"
    assert path.read_bytes() == b"second"
    assert path.stat().st_mode & 0o777 == 0o600
    assert len(list(tmp_path.iterdir())) == 2


def test_an_error_leaves_the_old_file(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), atomic_file(path) as file:
        file.write("half")
        raise KeyboardInterrupt
    assert [(x.name, x.read_text()) for x in tmp_path.iterdir()] == [("a.txt", "old")]
