# The only list of commands: .ci/run, hooks and documents call these targets.
# Two are enough on a fresh machine with Python 3.11 or newer and pip: `make check` and `make test`.

PYTHON ?= python3
VENV ?= .venv
# The Python of a GPU machine, for `gpu` alone.
GPU_PYTHON ?= python3
IMPL ?= sharedkv_adapter:cpu
WORKERS ?= auto

BIN := $(VENV)/bin
BUILD := build
RESULTS := $(BUILD)/conformance
# Environments of `package` and `lowest`; each is made anew when what it was made from changes.
BARE := $(BUILD)/venvs/bare
FULL := $(BUILD)/venvs/full
LOWEST := $(BUILD)/venvs/lowest

PIP_INSTALL = -m pip install --quiet --disable-pip-version-check --no-input
NEEDS_311 = import sys; sys.version_info >= (3, 11) or sys.exit( \
	"SharedKV needs Python 3.11 or newer; $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")
# Debian packages for what a command before this found missing; needs root and apt, and says so.
DEBIAN = { test "$$(id -u)" = 0 && command -v apt-get > /dev/null || { echo "missing here: $(1). Install these Debian packages, or their like, or run make $@ as root" >&2; exit 1; }; \
	apt-get update -qq && apt-get install -y -qq --no-install-recommends $(1); }
FRESH_VENV = $(PYTHON) -c '$(NEEDS_311)' && rm -rf $(@D) && $(PYTHON) -m venv $(@D)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
# What is tested is what is installed.
unexport PYTHONPATH
# Beside any other busy process, a second thread makes each operation of torch wait for a tick of the scheduler.
export OMP_NUM_THREADS ?= 1

.PHONY: help venv check evidence test lint types imports unit package lowest site serve site-test browser engines kernels gpu bench format clean

help: ## Say what each target does
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

venv: $(VENV)/.made ## Make .venv and install everything that development needs

$(VENV)/.made: pyproject.toml constraints/dev.txt
	@$(PYTHON) -c '$(NEEDS_311)'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) -c constraints/dev.txt hatchling
	$(BIN)/python $(PIP_INSTALL) -c constraints/dev.txt --no-build-isolation -e '.[conformance,reference,torch,cuda,mooncake,nixl,transfer,docs,dev]'
	@touch $@

check: $(VENV)/.made ## Prove the specification on the reference: suite, self-test, evidence, tree, coverage
	@mkdir -p $(RESULTS)
	$(BIN)/kvconform selftest --impl $(IMPL) --output $(RESULTS)/selftest.json
	$(BIN)/kvconform run --impl $(IMPL) -j 2 --output $(RESULTS)/report.json
	$(BIN)/python -m tests.governance.selftest --output $(RESULTS)/governance.json
	$(BIN)/govctl check
	$(BIN)/govctl coverage
	$(BIN)/govctl evidence --from $(RESULTS)/selftest.json --from $(RESULTS)/governance.json --compare

evidence: $(VENV)/.made ## Run the whole kill matrix and write evidence/conformance (the only target that writes it)
	@mkdir -p $(RESULTS)
	$(BIN)/kvconform selftest --full --impl $(IMPL) --output $(RESULTS)/selftest.json
	$(BIN)/python -m tests.governance.selftest --output $(RESULTS)/governance.json
	$(BIN)/govctl catalogue --write
	$(BIN)/govctl evidence --from $(RESULTS)/selftest.json --from $(RESULTS)/governance.json --write

test: lint types imports unit check package lowest site-test ## Everything that must be green before a change lands

lint: $(VENV)/.made ## Style and mistakes (ruff)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.made ## Types of code and tests (mypy --strict)
	$(BIN)/mypy

imports: $(VENV)/.made ## Directions between and inside the packages (import-linter)
	$(BIN)/lint-imports --cache-dir $(BUILD)/imports

unit: $(VENV)/.made engines ## Tests of our own tools and of the reference's inner laws
	$(BIN)/python -m pytest -n $(WORKERS) --ignore=tests/site --ignore=tests/kernels/on_device

kernels: $(VENV)/.made ## Tests of the kernels in Triton's interpreter, then their dry run (also a part of `unit`)
	PYTHONPATH=reference/src $(BIN)/python -m gpu --dry-run --output $(BUILD)/gpu

gpu: ## Test and time the kernels on this machine's GPU, and write evidence/gpu; needs no venv and no network
	PYTHONPATH=reference/src $(GPU_PYTHON) -m gpu

package: $(VENV)/.made $(BARE)/.made $(FULL)/.made ## Build sdist and wheel, and try both where nothing else is installed
	rm -rf $(BUILD)/dist $(BUILD)/sdist
	$(BIN)/python -m build --no-isolation --outdir $(BUILD)/dist . > $(BUILD)/dist.log 2>&1 || { cat $(BUILD)/dist.log; exit 1; }
	mkdir -p $(BUILD)/sdist && tar -xzf $(BUILD)/dist/sharedkv-*.tar.gz -C $(BUILD)/sdist --strip-components=1
	$(BARE)/bin/python -m pip uninstall --quiet --quiet --yes sharedkv
	$(BARE)/bin/python $(PIP_INSTALL) -c constraints/dev.txt $(BUILD)/dist/sharedkv-*.whl
	$(BARE)/bin/govctl --version
	$(BARE)/bin/govctl check
	$(BARE)/bin/govctl -C $(BUILD)/sdist check
	$(FULL)/bin/python -m pip uninstall --quiet --quiet --yes sharedkv
	$(FULL)/bin/python $(PIP_INSTALL) -c constraints/dev.txt "$$(echo $(BUILD)/dist/sharedkv-*.whl)[conformance,reference]"
	$(FULL)/bin/kvconform list
	$(FULL)/bin/kvconform smoke --impl $(IMPL)

$(BARE)/.made $(FULL)/.made: pyproject.toml constraints/dev.txt
	@$(FRESH_VENV)
	@touch $@

# What stands on the libraries themselves: schemas, TOML, terminals, templates, versions, arrays, and hypothesis under a whole run.
lowest: $(LOWEST)/.made ## The lowest versions that the metadata allows, without torch: govctl, reports, reference, a quick run
	$(LOWEST)/bin/python -m pytest -n $(WORKERS) tests/govctl tests/known tests/reference tests/reports
	$(LOWEST)/bin/kvconform run --impl $(IMPL) --effort quick -j 2 --output $(RESULTS)/lowest.json

$(LOWEST)/.made: pyproject.toml constraints/lowest.txt
	@$(FRESH_VENV)
	$(LOWEST)/bin/python $(PIP_INSTALL) -c constraints/lowest.txt hatchling
	$(LOWEST)/bin/python $(PIP_INSTALL) -c constraints/lowest.txt --no-build-isolation -e '.[conformance,reference]' pytest-xdist
	@touch $@

site: $(VENV)/.made ## Render the specification and build its site, strictly and offline, into build/site
	$(BIN)/govctl render --output $(BUILD)/pages
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

serve: site ## Serve the site on this machine; run `make site` again after a change of the tree
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

site-test: $(VENV)/.made browser ## Read the built site as a browser does: links, anchors, requests, contrast, width
	$(BIN)/python -m pytest tests/site

browser: ## Install the headless browser that site-test drives (Debian's), where there is none
	@command -v chromium > /dev/null && command -v chromedriver > /dev/null || $(call DEBIAN,chromium chromium-driver)

# libibverbs is what Mooncake is linked to; its Python package brings everything else. NIXL brings all that it needs.
engines: ## Install what example engines are built from and run by, and what Mooncake needs (Debian's), where it is missing
	@$(PYTHON) -c 'import ctypes; ctypes.CDLL("libibverbs.so.1")' 2> /dev/null || $(call DEBIAN,libibverbs1)
	@command -v g++ > /dev/null && command -v make > /dev/null && command -v node > /dev/null && test -f /usr/include/nlohmann/json.hpp || $(call DEBIAN,g++ make nlohmann-json3-dev nodejs)

bench: $(VENV)/.made ## Measure, and write evidence/bench and docs/benchmarks.md (some minutes on a quiet machine)
	$(BIN)/python -m benchmarks --write

format: $(VENV)/.made ## Rewrite the code in the house format (ruff)
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

clean: ## Remove everything that these targets made
	rm -rf $(VENV) $(BUILD)
