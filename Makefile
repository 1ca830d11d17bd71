# One command for each thing; `make help` lists them.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
KUBERNETES_VERSION ?= v1.34.4
READY := $(VENV)/.ready
.DEFAULT_GOAL := help

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

.PHONY: venv
venv: $(READY) ## The virtual environment alone, from the lock file with its hashes

.PHONY: dev-up
dev-up: $(READY) ## Management cluster with the four managers, ready for manifests
	$(BIN)/capd up --kubernetes-version $(KUBERNETES_VERSION)

.PHONY: quickstart
quickstart: $(READY) ## dev-up, then a workload cluster of three nodes, told step by step
	$(BIN)/capd quickstart --kubernetes-version $(KUBERNETES_VERSION)

.PHONY: dev-down
dev-down: $(READY) ## Remove all that dev-up and its clusters made
	$(BIN)/capd down

.PHONY: preflight
preflight: $(READY) ## What stands in the way of clusters on this machine, with cures
	$(BIN)/capd preflight

.PHONY: images
images: $(READY) ## Node, load balancer and manager images: pulled, or built from source
	$(BIN)/capd image build --kubernetes-version $(KUBERNETES_VERSION)

.PHONY: test
test: $(READY) ## Lint, then every tier, with the seconds of each
	$(BIN)/python -m tests

.PHONY: lint
lint: $(READY) ## ruff, pyright and the import contract
	$(BIN)/python -m tests lint

.PHONY: unit
unit: $(READY) ## Pure functions, models and their comparison with the fact tables
	$(BIN)/python -m tests unit

.PHONY: integration
integration: $(READY) ## Controllers on a real API server with a fake container runtime
	$(BIN)/python -m tests integration

.PHONY: e2e
e2e: $(READY) ## Real clusters in containers
	$(BIN)/python -m tests e2e

.PHONY: crds
crds: $(READY) ## Write crds/ from the models
	$(BIN)/python -m capi_core.api.crd

.PHONY: verify-crds
verify-crds: $(READY) ## Compare crds/ with the models, and every field with the fact tables
	$(BIN)/python -m capi_core.api.crd --verify
	$(BIN)/pytest -q tests/conformance

.PHONY: lock
lock: $(READY) ## Write the lock files anew from pyproject.toml
	$(BIN)/pip install -q uv
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --python-version 3.11 pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile -q --generate-hashes --no-emit-index-url --python-version 3.11 --group dev pyproject.toml -o requirements-dev.lock

.PHONY: clean
clean: ## Remove what builds and tests left in the tree
	rm -rf $(VENV) .pytest_cache .ruff_cache .hypothesis .import_linter_cache build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(READY): requirements-dev.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed" if sys.version_info < (3, 11) else 0)'
	@# Debian's Python has no venv of its own; a half made one is made anew.
	$(PYTHON) -m venv $(VENV) || (apt-get update -q && apt-get install -y -q python3-venv && $(PYTHON) -m venv --clear $(VENV)) || \
		(echo "cure: sudo apt-get install -y python3-venv" >&2; exit 1)
	$(BIN)/pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.lock
	$(BIN)/pip install -q --disable-pip-version-check --no-deps -e .
	touch $(READY)
