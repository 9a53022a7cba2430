# Everything a developer types. `make help` lists it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO := examples/reduction
# What builds the package and its runtime, which is done while the rest is downloaded; hatchling installs a tree in place
# by editables.
BUILD_TOOLS = editables $(shell sed -n 's/^requires = \[\(.*\)\].*/\1/p' pyproject.toml | tr -d ,)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# Natives that run on the host: what programs include and device code keep the shape of what they stand for.
NATIVES = $(shell git ls-files intelliperf tests/contract tests/emulator/native tests/gfx90a/native tests/gfx90a/tritonhip \
	| grep '\.\(c\|cpp\|h\)$$' | grep -v '^intelliperf/dropins/\(include\|standins\)/')

# A file's fixtures are made once; files begin in the order of collection, see `tests/conftest.py`.
SPREAD = -n auto --dist loadfile --no-loadscope-reorder --no-leftovers
SLOWEST = --durations=30 --durations-min=5

.PHONY: help setup packages runtime demo test slow check prose docs coverage mutation sanitize format wheel benchmark clean zoo sample
.DEFAULT_GOAL := help

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(STAMP) ## a virtual environment with the package and its development tools

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(PIP) $(BUILD_TOOLS)
	@echo "installing the packages, and building the emulator's runtime, once for these sources"
	$(MAKE) --no-print-directory -j2 packages runtime
	$(BIN)/python -m compileall -q intelliperf
	touch $@

packages:
	$(PIP) --no-compile --no-build-isolation -e '.[dev]'

runtime:
	@$(BIN)/python -c 'from intelliperf.emulator.native import runtime_library; runtime_library()'

demo: $(STAMP) ## find, rewrite and prove: a contended reduction on the emulator
	cd $(DEMO) && $(CURDIR)/$(BIN)/intelliperf --formula atomicContention --target h100 \
		--build-command 'make app-cuda' -- ./app-cuda

test: $(STAMP) ## all tests that this machine can run
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest $(SPREAD) $(SLOWEST) $(PYTEST_OPTIONS)

slow: $(STAMP) ## the tests that take long, which `make test` leaves out
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -n auto --dist worksteal --no-leftovers $(SLOWEST) -m slow $(PYTEST_OPTIONS)

zoo: $(STAMP) ## wrong and honest changes of programs, all of them: how many are judged wrongly
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -n auto --dist loadgroup --zoo tests/zoo $(PYTEST_OPTIONS)

sample: $(STAMP) ## a sample of the zoo, for CI
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pytest -n auto --dist loadgroup -m "zoo and sample" tests/zoo $(PYTEST_OPTIONS)

check: $(STAMP) prose ## formatting, lints, types, import layers and prose
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/clang-format --dry-run -Werror $(NATIVES)
	$(BIN)/mypy
	$(BIN)/lint-imports

prose: $(STAMP) ## words in docs, messages and comments that a native engineer would not write
	$(BIN)/python docs/prose.py

docs: $(STAMP) ## the documentation as a site in build/site, links checked
	$(PIP) 'mkdocs-material>=9.5'
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

coverage: $(STAMP) ## branches that the unit tests reach, by file
	$(PIP) 'coverage>=7.4'
	$(BIN)/coverage run --branch --source intelliperf -m pytest -n 0 tests/unit $(PYTEST_OPTIONS)
	$(BIN)/coverage report --skip-covered --sort cover

mutation: $(STAMP) ## changes of records, validation and formulas that tests notice (SAMPLE=n for a sample)
	$(PIP) 'cosmic-ray>=8.3'
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/mutation.py $(if $(SAMPLE),--sample $(SAMPLE))

sanitize: $(STAMP) ## tests of the natives, built with -Werror and traps on undefined behaviour
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tests/sanitized.py

format: $(STAMP) ## format and fix what can be fixed
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(NATIVES)

wheel: $(STAMP) ## wheel and sdist in dist/
	$(BIN)/python -m build --outdir dist .

clean: ## remove what the other targets made
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
