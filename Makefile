# All targets work on a machine that has only make and Python >= 3.10.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PACKAGING := pyproject.toml setup.py

.PHONY: audit docs test

# Exit code 1 means findings, which the faulty examples have on purpose; any other is a failure.
audit: $(VENV)/installed-audit
	@echo '== tritonaudit examples/faulty: findings, exit code 1'
	@$(BIN)/tritonaudit examples/faulty; code=$$?; \
	if [ $$code -ne 1 ]; then echo "make audit: expected exit code 1, got $$code" >&2; exit 1; fi
	@echo '== tritonaudit examples/clean: none, exit code 0'
	@$(BIN)/tritonaudit examples/clean
	@echo '== tritonaudit audit examples/audited: run without a GPU, one softmax is wrong, its repaired twin is right'
	@mkdir -p build
	@$(BIN)/tritonaudit audit examples/audited --device cpu --output-format markdown --output-file build/audit.md; \
	code=$$?; if [ $$code -ne 1 ]; then echo "make audit: expected exit code 1, got $$code" >&2; exit 1; fi
	@sed -n '/^## Summary/,/^## Performance/p' build/audit.md
	@echo '== the whole report: build/audit.md'

test: $(VENV)/installed-dev
	$(BIN)/ruff check
	$(BIN)/mypy
	@$(BIN)/python -m compileall -qq -j 0 tritonaudit rules # the tests start hundreds of processes, which may write none
	$(BIN)/pytest --numprocesses auto --dist loadfile

docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo '== the site: build/site/index.html'

$(VENV)/installed-audit: $(PACKAGING) | $(BIN)/python
	@echo '== installing tritonaudit, torch and triton into $(VENV)'
	@$(PIP) --editable '.[audit]' torch==2.13.0
	@touch $@

$(VENV)/installed-docs: $(PACKAGING) | $(BIN)/python
	@echo '== installing tritonaudit and mkdocs-material into $(VENV)'
	@$(PIP) --editable '.[docs]'
	@touch $@

$(VENV)/installed-dev: $(PACKAGING) | $(BIN)/python
	@echo '== installing tritonaudit and its development tools into $(VENV)'
	@$(PIP) --no-compile --editable '.[dev]'
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true # pip has one process for it; some files are no Python
	@touch $@

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit("Python >= 3.10 is needed (make PYTHON=...)" if sys.version_info < (3, 10) else 0)'
	@echo '== creating $(VENV)'
	@$(PYTHON) -m venv $(VENV)
