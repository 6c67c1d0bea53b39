#!/usr/bin/env bash
# Do the constraints resolve where pip has nothing but the package index? `make test-install`.
#
# pip's own configuration of this machine (a cap, a folder of wheels such as a CPU build of torch)
# is turned off, and the interpreters of all supported versions are asked, where they are there.
set -euo pipefail
cd "$(dirname "$0")/.."
unset PIP_FIND_LINKS PIP_EXTRA_INDEX_URL PIP_CONSTRAINT PIP_NO_INDEX
export PIP_CONFIG_FILE=/dev/null
for version in 3.11 3.12 3.13; do
    # pyenv, where it is, shows an interpreter only if its version is asked for.
    if ! PYENV_VERSION=$version "python$version" --version; then
        echo "Python $version is not here: its constraints were not resolved"
        [ -z "${CI:-}" ] && continue || exit 1
    fi
    environment=build/constraints-$version
    PYENV_VERSION=$version "python$version" -m venv --clear "$environment"
    "$environment/bin/python" -m pip install --quiet --upgrade "pip>=25.1"
    "$environment/bin/python" -m pip install --quiet --dry-run --report "$environment/report.json" \
        -c constraints.txt '.[datasets,gcn,molecules,parquet,service,streams]' \
        --group tests --group docs --group benchmarks
    "$environment/bin/python" - "$version" "$environment/report.json" <<'PYTHON'
import json, sys

version, report = sys.argv[1], json.load(open(sys.argv[2]))
found = {item["metadata"]["name"].lower(): item for item in report["install"]}
torch = found["torch"]["metadata"]["version"]
assert "+" not in torch, f"torch {torch} is not the package index's"
assert found["torch"]["download_info"]["url"].startswith("https://"), "torch is a local file"
assert ("dgl" in found) == (sys.platform == "linux" and version != "3.13"), "DGL"
print(f"Python {version}: {len(found)} packages, torch {torch}")
PYTHON
done
