# make demo: fit on real molecules, print the figures, draw the picture.
# make test: style, types, tests and the examples in the docstrings, on all cores, a process each.
# make test-slow: what takes longer: fuzzing, contracts of whole estimators, killed processes, a
#     browser, other processors, and the installation.
# make docs: the pages, in docs/_build/html; a warning, or a link to nowhere, is an error.
# Each makes what it needs, a virtual environment in .venv, and uses it again the next time.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PYTEST := $(BIN)/python -m pytest -n auto
WITH_EXTRAS := -e '.[datasets,gcn,molecules,parquet,service,streams]'

.PHONY: demo test test-slow test-processors test-computes test-install coverage docs smoke gpu
.PHONY: test-oldest clean

demo: $(VENV)/installed
	mkdir -p build
	$(BIN)/python examples/plot_mutag.py build/plot_mutag.png

test: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(PYTEST) -m "not slow"

test-slow: $(VENV)/installed
	OMP_NUM_THREADS=1 HYPOTHESIS_PROFILE=slow $(PYTEST) -m "slow or hypothesis"
	$(MAKE) test-processors
	$(MAKE) test-install

# The tests of what computes, as other processors, other numbers of threads and Python 3.12 do it.
COMPUTES := tests/core/distances tests/core/points tests/core/scoring tests/core/views \
	tests/core/graphs/test_copies.py tests/detectors tests/learned tests/explanation/test_explain.py \
	tests/explanation/test_contributions.py tests/page/test_plots.py
SETTINGS := ATEN_CPU_CAPABILITY=default ATEN_CPU_CAPABILITY=avx2 \
	OPENBLAS_CORETYPE=Haswell OPENBLAS_CORETYPE=Prescott NPY_DISABLE_CPU_FEATURES=X86_V3 \
	NUMBA_CPU_NAME=generic OMP_NUM_THREADS=2
test-processors: $(VENV)/installed
	set -e; for setting in $(SETTINGS); do \
	    echo "== $$setting"; \
	    env OMP_NUM_THREADS=1 $$setting $(PYTEST) -q -m "not slow" $(COMPUTES); \
	done
	if PYENV_VERSION=3.12 python3.12 --version; then \
	    PYENV_VERSION=3.12 $(MAKE) VENV=build/python3.12 PYTHON=python3.12 test-computes; \
	else \
	    echo "Python 3.12 is not here: nothing was tested with it"; test -z "$$CI"; \
	fi

test-computes: $(VENV)/installed
	OMP_NUM_THREADS=1 $(PYTEST) -q -m "not slow" $(COMPUTES)

# The constraints resolve, asking only the package index, and the wheel is complete and works.
test-install: $(VENV)/installed smoke
	tests/constraints.sh
	$(BIN)/twine check --strict dist/*.whl
	$(BIN)/check-wheel-contents dist/*.whl

# Which lines the quick tests run. Of functions that Numba compiles, coverage sees none.
coverage: $(VENV)/installed
	OMP_NUM_THREADS=1 $(PYTEST) -q -m "not slow" --cov skgraphkde --cov-report term --cov-report xml:build/coverage.xml

docs: $(VENV)/docs-installed
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html
	$(BIN)/linkchecker --no-status docs/_build/html/index.html

# The wheel, in an environment of its own, outside of the source tree.
smoke:
	rm -rf build/smoke dist
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	build/smoke/bin/python -m pip install --quiet -c constraints.txt dist/*.whl
	cd build/smoke && bin/python -I ../../tests/smoke.py

# What a GPU does: LGKDE on it, beside the CPU, in docs/benchmarks/gpu.md.
gpu: $(VENV)/installed
	$(BIN)/python -c "import torch; torch.cuda.is_available() or exit('torch sees no GPU: nothing was measured')"
	$(BIN)/python -m pytest -q tests/learned/test_gpu.py
	$(BIN)/python -m benchmarks.gpu

# The tests with the oldest versions that are supported; needs Python 3.11.
test-oldest:
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	build/oldest/bin/python -m pip install --quiet -c constraints-oldest.txt $(WITH_EXTRAS) --group tests
	build/oldest/bin/python -m pytest -n auto -m "not slow"

$(VENV)/installed: pyproject.toml constraints.txt
	@echo "Installing into $(VENV): this takes a few minutes"
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet -c constraints.txt $(WITH_EXTRAS) --group tests
	touch $@

$(VENV)/docs-installed: $(VENV)/installed
	$(BIN)/python -m pip install --quiet -c constraints.txt $(WITH_EXTRAS) --group docs
	touch $@

clean:
	rm -rf docs/_build docs/auto_examples docs/generated
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
