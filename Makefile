# The course's commands. Each sets up what it needs by itself; what is set up or built already is not done again.

# The Python that makes the environment: the newest known to have every pinned package, else any that is new enough.
# Choose your own with  make book PYTHON=/path/to/python3
SUITABLE := import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))
ifndef PYTHON
PYTHON := $(shell for p in python3.13 python3.12 python3.11 python3; do \
	if $$p -c '$(SUITABLE)' 2>/dev/null; then echo $$p; exit; fi; done; echo python3)
endif

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install

# The stamps' names hold a checksum of what they stand for, so that a new pin or an edited file makes a new stamp.
# The folder's own path counts too: an environment does not survive being moved.
READY := $(VENV)/ready-$(shell (cat requirements.txt requirements-torch.txt pyproject.toml; pwd) | cksum | tr ' ' -)
SOURCES = find book src -type f -not -path '*/_build/*' -not -path '*/.*' -not -path '*/__pycache__/*' \
	-not -path '*.egg-info/*' -exec cksum {} + | LC_ALL=C sort
FLAGS = echo "$$HIGHWAY_LESSONS_SOLUTIONS $${HIGHWAY_LESSONS_REPOSITORY-unset} $${HIGHWAY_LESSONS_SITE-unset}"; git remote get-url origin 2>/dev/null
BUILT := book/_build/built-$(shell ($(SOURCES); $(FLAGS)) | cksum | tr ' ' -)

# Our matrices are small: one thread each is fastest, and two test processes do not fight for the cores.
export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

PORT ?= 8000
JOBS ?= 2
NOTEBOOKS := book/*.ipynb book/chapters/*.ipynb book/appendix/*.ipynb

.PHONY: help book serve lab test check tidy picture studies bench clean

help:  ## list these commands
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' Makefile

book: $(BUILT)  ## build the book and say which file to open
	@echo "Open this file in a browser: $(CURDIR)/book/_build/html/index.html"

serve: $(BUILT)  ## build the book and serve it at http://127.0.0.1:8000 (PORT=… for another)
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory book/_build/html $(PORT)

lab: $(READY)  ## open the chapters in JupyterLab, to run and change them (LAB=… adds options)
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/book/intro.ipynb $(LAB)

test: $(BUILT)  ## build the book, then run every test: maths, chapters, pages in a browser
	$(BIN)/python -m pytest -n 2 --dist loadfile

check: $(READY)  ## check style, spelling and that notebooks are committed clean
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell
	$(BIN)/python -m pytest -q tests/test_notebooks.py

tidy: $(READY)  ## take outputs and JupyterLab's own marks out of the notebooks (SITE=… writes in the site's address)
	$(BIN)/jupyter nbconvert --log-level=ERROR --clear-output --inplace --ClearMetadataPreprocessor.enabled=True \
	--ClearMetadataPreprocessor.clear_cell_metadata=False \
	--ClearMetadataPreprocessor.preserve_nb_metadata_mask='{"kernelspec"}' $(NOTEBOOKS)
	$(if $(SITE),PYTHONPATH=book/_ext $(BIN)/python -m highway_book.site "$(SITE)" $(NOTEBOOKS))

picture: $(BUILT)  ## take the README's picture anew from the built book
	HIGHWAY_LESSONS_PICTURE=1 $(BIN)/python -m pytest -q tests/test_pages.py -k picture

studies: $(READY)  ## measure what the records of the studies lack (some hours in all; JOBS=… processes instead of 2)
	$(BIN)/python -m highway_lessons.studies run all --jobs $(JOBS)

bench: $(READY)  ## time the engine beside PyTorch, JAX and others, and the book (15 minutes; BENCH=… adds options)
	$(PIP) --quiet --requirement benchmarks/requirements.txt
	$(BIN)/python benchmarks/bench.py $(BENCH)

clean:  ## remove what was built, and caches; keep .venv
	rm -rf book/_build build dist .pytest_cache .ruff_cache .hypothesis
	find book src tests -name __pycache__ -prune -exec rm -rf {} +

$(READY):
	@$(PYTHON) -c '$(SUITABLE)' 2>/dev/null || { echo "The course needs Python 3.11 or newer with its venv module," \
	"but $(PYTHON) is $$($(PYTHON) --version 2>&1 || true): install one (on Debian: apt-get install python3-venv)," \
	"or name yours with  make PYTHON=/path/to/python3 ."; exit 1; }
	@echo "Setting up $(VENV) with $(PYTHON): a few minutes the first time."
	@# An environment that was interrupted in the making, or made in another folder, is made again.
	@{ $(BIN)/python -m pip --version >/dev/null && grep -qF '$(CURDIR)/$(BIN)' $(BIN)/pip; } 2>/dev/null \
	|| $(PYTHON) -m venv --clear $(VENV)
	$(PIP) --quiet --requirement requirements.txt
	@echo "PyTorch, without CUDA where that can be had (the lines below say from where):"
	@$(PIP) --retries 0 --timeout 15 --no-deps --index-url https://download.pytorch.org/whl/cpu -r requirements-torch.txt \
	|| { echo "PyTorch's own index did not answer; asking the ordinary one."; $(PIP) --no-deps -r requirements-torch.txt; }
	$(PIP) --quiet --no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/ready-* && touch $@

$(BUILT): $(READY)
	@rm -f book/_build/built-*
	$(BIN)/jupyter-book build book -W -n --keep-going
	@touch $@
