"""Does an installed wheel work without torch? `make smoke` runs this outside of the source."""

import subprocess
import sys
import tempfile
from importlib import metadata, resources
from importlib.util import find_spec
from pathlib import Path

import skgraphkde
from skgraphkde import GraphKDEDetector, load
from skgraphkde.datasets import load_mutag


def main():
    package = Path(skgraphkde.__file__).parent
    assert "site-packages" in package.parts, f"not the wheel: {package}"
    assert metadata.version("skgraphkde") == skgraphkde.__version__
    assert resources.files("skgraphkde").joinpath("py.typed").is_file()

    molecules, y = load_mutag(return_X_y=True)
    detector = GraphKDEDetector().fit(molecules[y == 1][:100])
    verdicts = detector.predict(molecules[y == -1])
    assert (verdicts == -1).any(), "no anomaly found"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "molecules.skg"
        detector.save(path)
        assert (load(path).predict(molecules[y == -1]) == verdicts).all()

    command = Path(sys.executable).with_name("skgraphkde")
    version = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert skgraphkde.__version__ in version.stdout

    assert find_spec("torch") is None, "the plain installation has torch"
    try:
        skgraphkde.GCN()
    except AttributeError as error:
        print(f"skgraphkde {skgraphkde.__version__} works; without torch: {error}")
    else:
        raise AssertionError("a network without torch")


if __name__ == "__main__":
    main()
