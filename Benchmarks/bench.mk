# make bench        builds and measures against the peer; 45 minutes, exit 1 when a bar is missed
# make bench-quick  the same with small numbers: does the benchmark itself work?
# make costs        holds what a deletion and a build cost against limits.toml, with the debug build; a minute
# Needs nginx-light, openssl, python3-venv (Debian packages) and, the first time, PyPI for the peer.
BENCH_PYTHON ?= python3
BENCH_OPTIONS ?=
BENCH_BUILD ?= swift build $(RELEASE_FLAGS) --product expunged
BENCH_VENV = Benchmarks/.venv

.PHONY: bench costs bench-quick bench-build bench-environment bench-clean

bench: bench-build bench-environment
	Benchmarks/run $(BENCH_OPTIONS)

bench-quick: bench-build bench-environment
	Benchmarks/run --quick $(BENCH_OPTIONS)

costs: bench-environment
	Benchmarks/costs

bench-build:
	$(BENCH_BUILD)

bench-environment: $(BENCH_VENV)/.complete

$(BENCH_VENV)/.complete: Benchmarks/requirements.txt
	@command -v nginx >/dev/null || test -x /usr/sbin/nginx || \
	    { echo "nginx is missing: apt-get install nginx-light" >&2; exit 1; }
	$(BENCH_PYTHON) -m venv $(BENCH_VENV) || \
	    { echo "python3-venv is missing: apt-get install python3-venv" >&2; exit 1; }
	$(BENCH_VENV)/bin/pip install --quiet --requirement Benchmarks/requirements.txt
	touch $@

bench-clean:
	rm -rf $(BENCH_VENV)
