# Every command works on a machine that has only python3 (3.11 or newer) with pip, and make.
# The environment is made on first use, in .venv, and made again when pyproject.toml changes.

PYTHON ?= python3
BIN := .venv/bin

.PHONY: help demo docs test system soak mutants bench figures screens fmt clean
.DEFAULT_GOAL := help

help:  ## this list
	@sed -n 's/^\([a-z%-]*\):.*## /\1|/p' Makefile | awk -F'|' '{printf "make %-10s %s\n", $$1, $$2}'

demo: .venv/installed-demo  ## one made-up hospital's story, in about a minute
	@$(BIN)/deniable demo --picture build/demo.png

test: .venv/installed-dev  ## format, lint, types, import rules, guards, doctests and tests
	@$(BIN)/python tools/check.py

system:  ## (root, Debian) what some tests need outside Python
	@$(PYTHON) tools/system.py

soak: .venv/installed-dev  ## every test at full size
	@$(BIN)/python -m pytest --full -n auto

soak-%: .venv/installed-dev  ## one part of the tests at full size, such as soak-exact
	@$(BIN)/python -m pytest --full -n auto tests/$*

mutants: .venv/installed-dev  ## guarantees broken one at a time: a test must notice each
	@$(BIN)/python -m tools.mutants

bench: .venv/installed-bench  ## our speed against our peers', as ratios
	@$(BIN)/python -m benchmarks

bench-%: .venv/installed-bench  ## one part of it, such as bench-noise
	@$(BIN)/python -m benchmarks $*

docs: .venv/installed-docs  ## the documentation as a site, in build/site; needs no network
	@$(BIN)/python -m tools.pages

figures: .venv/installed-figures  ## every picture, into build/figures
	@$(BIN)/python -m deniable.figures build/figures

screens: .venv/installed-dev  ## every page and picture that people see, into build/screens
	@$(BIN)/python -m tools.screens

fmt: .venv/installed-dev  ## format, and mend what lint can mend
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .

clean:  ## forget the environment
	rm -rf .venv

.venv/installed-runtime: pyproject.toml tools/environment.py
	@$(PYTHON) tools/environment.py

.venv/installed-%: pyproject.toml tools/environment.py
	@$(PYTHON) tools/environment.py $*
