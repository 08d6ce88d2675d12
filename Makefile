# The commands: run, test, test-slow, test-night, test-lowest, lint, fix, docs, pages, pictures, dist, bench. They set up the
# virtual environment by themselves.
VENV := .venv
BIN := $(VENV)/bin
LOWEST := .venv-lowest
READY := $(VENV)/ready
export OMP_NUM_THREADS ?= 1
export TOKENIZERS_PARALLELISM ?= false
# Tests start many programs, which would compile the package anew each time.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test test-slow test-night test-lowest lint fix docs pages pictures dist bench clean

run: $(READY)
	$(BIN)/syntagm train ngram --corpus excerpt --discount-fallback -o runs/models/5gram
	$(BIN)/syntagm run runs/models/5gram --suite hu2020 -o runs/5gram --no-report
	$(BIN)/syntagm run demo --suite hu2020 -o runs/demo --no-report
	$(BIN)/syntagm compare runs/5gram runs/demo
	$(BIN)/syntagm report runs/demo runs/5gram -o runs/report.html

test: $(READY) lint
	$(BIN)/python -m pytest -n auto --dist worksteal

test-slow: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal -m slow -o faulthandler_timeout=1200

# Hours, by hand. Without atheris, which runs on Linux only, mutations are not guided by coverage.
test-night: $(READY)
	-$(BIN)/pip install --quiet --constraint constraints.txt -e '.[fuzz]'
	$(BIN)/python -m tests.fuzzing
	$(BIN)/python -m tests.laboratory
	$(BIN)/python -m tests.page_commands

# The fast lane with the lowest versions that pyproject.toml admits, in an environment of their own. By hand, after a bound
# is changed. torch comes with CUDA there: 5 GB on the disk.
test-lowest: $(LOWEST)/ready
	$(LOWEST)/bin/python -m pytest -n auto --dist worksteal

$(LOWEST)/ready: pyproject.toml constraints-lowest.txt
	python3 -m venv $(LOWEST)
	$(LOWEST)/bin/pip install --quiet --constraint constraints-lowest.txt -e '.[dev]'
	touch $(LOWEST)/ready

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Formats, and repairs what ruff can of what lint refuses. The rest it prints; types are left to lint.
fix: $(READY)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(READY)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build
	@echo docs/_build/index.html

# The results on the pages of papers, from the commands there: about half an hour, by hand. Data: ../shared/data. What was trained stays
# in .pages.
pages: $(READY)
	$(BIN)/python -m tools.pages

# The pictures of the documentation, which need a Chromium.
pictures: $(READY)
	$(BIN)/python -m tools.pictures
	$(BIN)/python -m tools.studio

# The files of a release.
dist: $(READY)
	$(BIN)/python -m tools.package

bench: $(READY)
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml constraints.txt
	python3 -m venv $(VENV)
	$(BIN)/pip install --quiet --constraint constraints.txt torch==2.13.0 -e '.[dev,docs]'
	touch $(READY)

clean:
	rm -rf $(VENV) $(LOWEST)
