# Both targets work on a machine that has only make and Python >= 3.10.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PACKAGING := pyproject.toml setup.py

.PHONY: audit test

# Exit code 1 means findings, which the faulty examples have on purpose; any other is a failure.
audit: $(VENV)/installed
	@echo '== tritonaudit examples/faulty: findings, exit code 1'
	@$(BIN)/tritonaudit examples/faulty; code=$$?; \
	if [ $$code -ne 1 ]; then echo "make audit: expected exit code 1, got $$code" >&2; exit 1; fi
	@echo '== tritonaudit examples/clean: none, exit code 0'
	@$(BIN)/tritonaudit examples/clean

test: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/pytest

$(VENV)/installed: $(PACKAGING) | $(BIN)/python
	@echo '== installing tritonaudit into $(VENV)'
	@$(PIP) --editable .
	@touch $@

$(VENV)/installed-dev: $(PACKAGING) | $(BIN)/python
	@echo '== installing tritonaudit and its development tools into $(VENV)'
	@$(PIP) --editable '.[dev]'
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python >= 3.10 is needed (make PYTHON=...)" if sys.version_info < (3, 10) else 0)'
	@echo '== creating $(VENV)'
	@$(PYTHON) -m venv $(VENV)
