# Two commands do all the set-up: `make demo` and `make test`.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# `make test` keeps to a seeded subset of the large grids; FULL=1 runs them whole.
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
DEMO := tests/models/fsdp_scan

.PHONY: demo test test-full lit pytest lint types docs docs-check packaging bench clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/base.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/dev.stamp: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev,jax]'
	touch $@ $(VENV)/base.stamp

demo: $(VENV)/base.stamp
	mkdir -p build
	$(BIN)/headrace-compile $(DEMO)/model.mlir --target=cpu -o build/fsdp_scan.vmfb \
	  --report=build/fsdp_scan.json
	$(BIN)/python examples/print_report.py build/fsdp_scan.json
	$(BIN)/headrace-run build/fsdp_scan.vmfb --inputs=$(DEMO)/inputs.npz \
	  --expect=$(DEMO)/outputs.npz

test: lit pytest

lit: $(VENV)/dev.stamp
	$(BIN)/lit -j$(JOBS) --order=smart -q tests

pytest: $(VENV)/dev.stamp
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal tests

test-full: $(VENV)/dev.stamp
	$(BIN)/lit -j$(JOBS) -q tests
	$(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal --full tests

lint: $(VENV)/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp
	$(BIN)/python .ci/stubs.py
	$(BIN)/pyright --pythonpath $(BIN)/python

docs: $(VENV)/dev.stamp
	$(BIN)/python docs/generate.py

docs-check: $(VENV)/dev.stamp
	$(BIN)/python docs/generate.py --check

packaging: $(VENV)/dev.stamp
	$(BIN)/python .ci/packaging.py

bench: $(VENV)/dev.stamp
	$(BIN)/python benchmarks/compile.py
	$(BIN)/python benchmarks/pipeliner.py

clean:
	rm -rf build dist .stubs *.egg-info
