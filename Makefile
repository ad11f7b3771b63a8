# What people type. All of it rests on scripts/bootstrap.sh, which does nothing when
# .venv is ready, so a second call starts at once.

PYTHON := .venv/bin/python
LOCK := pip compile --quiet --generate-hashes --python-version 3.10 \
	--python-platform x86_64-manylinux_2_17 --custom-compile-command "make lock" \
	--override requirements-overrides.in --output-file requirements.lock \
	requirements.in requirements-dev.in
LOCK_TORCH := pip compile --quiet --generate-hashes --python-version 3.11 \
	--python-platform x86_64-manylinux_2_28 --custom-compile-command "make lock-torch" \
	--output-file requirements-torch.lock requirements-torch.in

.DEFAULT_GOAL := help
.PHONY: help run test check setup setup-torch lock lock-torch clean
MAKEFLAGS += --no-print-directory

help: ## Show these targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

run: setup ## Run the pipeline; ARGS="--config configs/intent.yaml" chooses what
	@$(PYTHON) local_runner.py $(ARGS)

# Two tiers, so that a slip shows within seconds; the second needs the first to pass.
# A file's tests stay together: some build on one another, as a team's runs do.
# Without PyTorch only the test that compares with it is skipped.
test: setup ## Run all tests, the fast ones first
	@sh scripts/setup-torch.sh --optional
	@$(PYTHON) -m pytest tests -m "not slow"
	@$(PYTHON) -m pytest tests -m slow --numprocesses 2 --dist loadfile

check: setup ## Check format, lint, types and the direction of imports
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m mypy
	@$(PYTHON) -m pytest -q tests/test_import_direction.py

setup: ## Make .venv ready (the other targets do it by themselves)
	@sh scripts/bootstrap.sh

setup-torch: ## Make .venv-torch ready, for the parity test and benchmarks/training.py
	@sh scripts/setup-torch.sh

# Keeps every version that still fits; ARGS="--upgrade-package pandas" moves one.
lock: ## Pin requirements.in again in requirements.lock
	@uv=$$(sh scripts/bootstrap.sh --find-uv) && "$$uv" $(LOCK) $(ARGS) >/dev/null

# UV_FIND_LINKS or UV_INDEX names where PyTorch's CPU wheels are.
lock-torch: ## Pin requirements-torch.in again in requirements-torch.lock
	@uv=$$(sh scripts/bootstrap.sh --find-uv) && "$$uv" $(LOCK_TORCH) $(ARGS) >/dev/null

clean: ## Remove .venv, .venv-torch, set-up's tools and caches; runs and data stay
	@rm -rf .venv .venv-torch .tools build *.egg-info
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
