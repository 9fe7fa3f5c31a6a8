# One command each: make demo, make label-demo, make test, make check, make docs, make bench, make trust, make replicate. The first one makes the environment.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# Not unlabeled.py and label_next.py, which take an hour and data files of your own.
BENCHMARKS := start_up fit_speed against_exact rows files clusters tree_reduction picture replication contest reading label_latency label_kills

.PHONY: demo label-demo test check format docs bench trust trust-page again replicate clean

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	touch $@

demo: $(READY)
	$(BIN)/python examples/few_labels.py
	$(BIN)/twinviews demo

# A page in the browser with rows to label, and a model that learns from each.
label-demo: $(READY)
	$(BIN)/twinviews label --demo

# Two workers of one BLAS thread each: with more they would wait for each other. Tests of threads ask for theirs.
test: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src
	$(BIN)/python trust/audit.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, with every example of the gallery run: docs/_build/html/index.html
docs: $(READY)
	$(BIN)/python -m sphinx -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html

bench: $(READY)
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done

# Every law of trust/ at its full count, and the page about it: docs/trust.md. Hours; a single part is, for
# example, `make build/trust/kills.xml trust-page`.
LAWS := $(patsubst trust/test_%.py,build/trust/%.xml,$(wildcard trust/test_*.py))
trust: $(LAWS)
	$(MAKE) trust-page

build/trust/%.xml: trust/test_%.py again | $(READY)
	-TWINVIEWS_TRUST=full OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m pytest --numprocesses 2 --junit-xml $@ $<

again:

trust-page: $(READY)
	$(BIN)/python trust/page.py

# The paper's evaluation again; TWINVIEWS_DATA names a folder with data files.
replicate: $(READY)
	$(BIN)/twinviews replicate

clean:
	rm -rf docs/_build docs/api docs/auto_examples .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
