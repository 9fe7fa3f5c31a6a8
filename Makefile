# One command each: make demo, make label-demo, make test, make check, make docs, make bench, make house, make trust, make matrix, make replicate. The first one makes the environment.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
# Not unlabeled.py and label_next.py, which take an hour and data files of your own.
BENCHMARKS := start_up fit_speed against_exact rows files clusters tree_reduction picture replication contest reading label_latency

.PHONY: demo label-demo test check format docs bench house trust trust-page coverage mutants matrix again replicate clean

$(READY): pyproject.toml experiments/pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[dev]" --editable "./experiments[peers]"
	touch $@

demo: $(READY)
	$(BIN)/python examples/few_labels.py
	$(BIN)/twinviews demo

# A page in the browser with rows to label, and a model that learns from each.
label-demo: $(READY)
	$(BIN)/twinviews label --demo

# Two workers of one BLAS thread each: with more they would wait for each other. Tests of threads ask for theirs.
test: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses 2 --dist worksteal

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit --quiet --recursive --configfile pyproject.toml src experiments/src
	$(BIN)/python trust/audit.py

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The site, with every example of the gallery run: docs/_build/html/index.html
docs: $(READY)
	$(BIN)/python -m sphinx -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html

bench: $(READY)
	for name in $(BENCHMARKS); do $(BIN)/python benchmarks/$$name.py || exit 1; done

# Lines of the wheel, classes behind an estimator, names that occur twice.
house: $(READY)
	$(BIN)/python benchmarks/house.py

# Every law of trust/ at its full count, and the page about it: docs/trust.md. Hours; a single part is, for
# example, `make build/trust/kills.xml trust-page`.
LAWS := $(patsubst trust/test_%.py,build/trust/%.xml,$(wildcard trust/test_*.py))
trust: $(LAWS) coverage mutants matrix
	$(MAKE) trust-page

build/trust/%.xml: trust/test_%.py again | $(READY)
	-TWINVIEWS_TRUST=full OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/python -m pytest --numprocesses 2 --junit-xml $@ $<

again:

# Which lines and branches of src the tests run, long ones too, in all processes. Not the laws of trust/,
# where files that coverage writes would be among those that nobody may write.
coverage: $(READY)
	mkdir -p build/trust
	rm -f build/trust/.coverage*
	-TWINVIEWS_TRUST=full OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
		$(BIN)/coverage run -m pytest --numprocesses 2 --deselect trust --junit-xml build/trust/coverage.xml
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet -o build/trust/coverage.json
	$(BIN)/coverage report --skip-covered

# Whether tests notice small changes to the mathematics; those that none does: build/trust/unnoticed_mutants.txt
mutants: $(READY)
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python trust/mutants.py

trust-page: $(READY)
	$(BIN)/python trust/page.py

# The core of the tests with the oldest and with the newest libraries, each in an environment of its own.
matrix: $(READY)
	$(BIN)/python trust/matrix.py

# The paper's evaluation again; TWINVIEWS_DATA names a folder with data files.
replicate: $(READY)
	$(BIN)/twinviews replicate

clean:
	rm -rf docs/_build docs/api docs/auto_examples .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache
