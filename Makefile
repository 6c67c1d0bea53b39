# make demo: fit on real molecules, print the figures, draw the picture.
# make test: style, types, tests and the examples in the docstrings, on all cores, a process each.
# make docs: the pages, in docs/_build/html; every warning is an error.
# Each makes what it needs, a virtual environment in .venv, and uses it again the next time.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test docs smoke gpu test-oldest clean

demo: .venv/installed
	mkdir -p build
	$(BIN)/python examples/plot_mutag.py build/plot_mutag.png

test: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

docs: .venv/docs-installed
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# The wheel, in an environment of its own, outside of the source tree.
smoke:
	rm -rf build/smoke dist
	$(PYTHON) -m venv build/smoke
	build/smoke/bin/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	build/smoke/bin/python -m pip install --quiet -c constraints.txt dist/*.whl
	cd build/smoke && bin/python -I ../../tests/smoke.py

# What a GPU does: the tests of its kernels, and docs/benchmarks/gpu.md, in a few minutes.
gpu: .venv/installed
	$(BIN)/python -c "import torch; torch.cuda.is_available() or exit('torch sees no GPU: nothing was measured')"
	$(BIN)/python -m pytest -q tests/distances/test_triton.py
	$(BIN)/python -m benchmarks.gpu

# The tests with the oldest versions that are supported; needs Python 3.11.
test-oldest:
	$(PYTHON) -m venv build/oldest
	build/oldest/bin/python -m pip install --quiet -c constraints-oldest.txt -e '.[tests]'
	build/oldest/bin/python -m pytest -n auto

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[examples,tests]'
	touch $@

.venv/docs-installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[docs]'
	touch $@

clean:
	rm -rf docs/_build docs/auto_examples docs/generated
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
