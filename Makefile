# vault-memory: `make run` to try it, `make test` and `make check` to work on it. `make help` lists everything.

PYTHON ?= python3
READY := .venv/.ready
export PATH := $(CURDIR)/.venv/bin:$(PATH)
# Compiled modules are kept, whatever the environment says: the tests start hundreds of processes.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup run demo test test-all check audit bench clients train clean

help:
	@echo 'make run       set up, make ./my-vault with a sample conversation, serve it (PORT=8766 chooses another port)'
	@echo 'make demo      the same without the server'
	@echo 'make setup     only set up .venv (PYTHON=python3.12 chooses another Python, 3.11 or newer)'
	@echo 'make check     format, lint, types, architecture and fast tests: under a minute'
	@echo 'make test      all tests but the soaks'
	@echo 'make test-all  check, test, and the soaks: a long life replayed, twenty writers at once; many minutes'
	@echo 'make audit     look up every installed dependency in the database of known vulnerabilities (needs the network)'
	@echo 'make bench     the benchmarks, each against a floor of the same run'
	@echo 'make train     learn the judge of preferences anew from the labelled turns: a quarter of an hour, 6 GB'
	@echo 'make clients   install the chat clients of tests/clients into .clients, to record their sessions anew (needs the network)'
	@echo 'make clean     remove .venv and caches; ./my-vault stays'

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "vault-memory needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) --version 2>&1 || true)."; \
	  echo "Name a newer one: make $(MAKECMDGOALS) PYTHON=/path/to/python3.12"; exit 1; }
	@echo 'Setting up .venv (a minute, once) ...'
	@$(PYTHON) -m venv .venv
	@.venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

run: demo
	@echo
	@echo 'Now ./my-vault is served, and every note that you edit there is followed.'
	@cd my-vault && vault-memory serve $(if $(PORT),--port $(PORT)) || { \
	  echo 'If the port is taken: make run PORT=8766'; exit 1; }

demo: setup
	@test ! -e my-vault/memory || echo './my-vault is there already and stays as it is; to start afresh, delete it first.'
	@test -e my-vault/memory || $(MAKE) --no-print-directory tour

# What a person would type, shown by make and then run.
.PHONY: tour
tour:
	vault-memory init my-vault
	cd my-vault && vault-memory turn --user alice --jsonl ../docs/sample-conversation.jsonl
	@echo
	cat my-vault/memory/alice/USER.md
	@echo
	git -C my-vault --no-pager log --format='%h  %an  %s'
	@echo
	git -C my-vault --no-pager log --max-count=1 --grep='Vault-Key: theme'
	@echo
	cd my-vault && vault-memory search --user alice -k 3 '暗色主题'
	@echo
	cd my-vault && vault-memory search --user alice -k 3 'fetch data in React'
	@echo
	@echo 'Look around in ./my-vault, with Obsidian too. To have the command at hand: . .venv/bin/activate'

test: setup
	.venv/bin/python -m pytest -q -n auto --dist worksteal -m 'not soak'

test-all: check test
	.venv/bin/python -m pytest -q -m soak
	.venv/bin/python benchmarks/soak.py 2

check: setup
	.venv/bin/ruff format --check .
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/python -m pytest -q -n auto --dist worksteal -m 'not slow and not soak'

# In an environment of its own: the auditor brings many packages that vault-memory does not need.
audit: setup
	@test -x .venv-audit/bin/pip-audit || $(PYTHON) -m venv .venv-audit
	@.venv-audit/bin/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.7'
	.venv/bin/python -m pip freeze --exclude-editable > .venv-audit/installed.txt
	.venv-audit/bin/pip-audit --strict --no-deps --disable-pip --timeout 60 -r .venv-audit/installed.txt

bench: setup
	@for script in benchmarks/*.py; do echo "== $$script"; .venv/bin/python "$$script" || exit 1; done

# Deterministic: the same turns give the same bytes. The figures are of turns that neither rules nor weights had seen.
train: setup
	.venv/bin/python benchmarks/judge_training.py

# Optional: `make test` replays recorded sessions and needs none of them.
clients: setup
	.venv/bin/python tests/clients/install.py

clean:
	rm -rf .venv .venv-audit .clients build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
