# Everything a person needs: `make run`, `make test`. Only Python (3.11 or newer) and make are assumed.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: help run test check unit slow bench fix lock clean
.DEFAULT_GOAL := help

help: ## show what can be made
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/runtime.stamp: requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements.lock
	@touch $@

$(VENV)/dev.stamp: requirements-dev.lock $(VENV)/runtime.stamp
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-dev.lock
	@touch $@

run: $(VENV)/runtime.stamp ## start Lode: database, broker, web, worker and beat
	@exec $(BIN)/python manage.py up $(ARGS)

check: $(VENV)/dev.stamp ## lint, types, architecture, migrations, deployment checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run --settings config.settings.test
	LODE_SECRET_KEY=$$($(BIN)/python -c "import secrets; print(secrets.token_urlsafe(64))") LODE_ALLOWED_HOSTS=localhost \
	  $(BIN)/python manage.py check --deploy --fail-level WARNING --settings config.settings.production

test: check ## everything that must be green: check, then the suite
	$(BIN)/python -m pytest

unit: $(VENV)/dev.stamp ## the pure rules alone, in seconds
	$(BIN)/python -m pytest tests/rules

slow: $(VENV)/dev.stamp ## what takes over ten seconds a case
	$(BIN)/python -m pytest -m slow

bench: $(VENV)/dev.stamp ## run every benchmark and print the table
	$(BIN)/python -m benchmarks all

fix: $(VENV)/dev.stamp ## format and mend what can be mended
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: ## renew both locks from pyproject.toml (needs uv)
	uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  pyproject.toml -o requirements.lock
	uv pip compile --quiet --no-config --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --extra dev -c requirements.lock pyproject.toml -o requirements-dev.lock

clean: ## remove what was installed and all that the embedded servers keep
	@for servers in var/servers var/test/servers; do if test -L $$servers; then rm -rf "$$(readlink $$servers)"; fi; done
	rm -rf $(VENV) var
