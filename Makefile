# make demo: fit on real molecules, print the figures, draw the picture.
# make test: style, types, tests and the examples in the docstrings.
# make docs: the pages, in docs/_build/html; every warning is an error.
# Each makes what it needs, a virtual environment in .venv, and uses it again the next time.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test docs clean

demo: .venv/installed
	mkdir -p build
	$(BIN)/python examples/plot_mutag.py build/plot_mutag.png

test: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

docs: .venv/docs-installed
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

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
