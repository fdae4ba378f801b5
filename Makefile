# make demo         shows the main job on real input
# make test         passes every test
# make setup        installs the Debian packages that are missing; the targets here that need them call it
# make build        builds the three programs in release into .build/release
# make lint         looks at the form of the Swift code        make tidy   holds the rules of docs/STYLE.md
# make fault-sweep  tries every fault at every provider, 1,000 seeds each (SWEEP_SEEDS=1...1000)
# make fuzz         feeds every parser of outside bytes 10^8 grown inputs (EXECUTIONS=100000000)
# make api-fuzz     has schemathesis try every operation of the API (EXAMPLES=200)
# make kills        ends the daemon with kill -9 under load (KILLS=1000)
# make power-cuts   restarts the daemon on what 10,000 power cuts leave of its disk (POINTS=10000)
# make clock-steps  sets the clock 1,000 times while deletions go on (STEPS=1000)
# make integrations tries what docs/integrations prints, Swift included
# make system-test  tries the release build on a real systemd (root)
# make bench        compares with a peer in one run (Benchmarks/bench.mk)
# make deb          builds the Debian packages into .build/deb (RELEASE_DIR=DIR: from the programs in DIR)
# make install, make uninstall                                 (systemd/install.mk)
SHELL := /bin/bash
.DEFAULT_GOAL := help

.PHONY: help setup build demo test end-to-end fault-sweep fuzz api-fuzz kills power-cuts clock-steps integrations lint tidy system-test deb

include systemd/install.mk
include Benchmarks/bench.mk

help:
	@sed -n '/^SHELL/q; s/^# //p' Makefile

setup:
	scripts/setup

build: setup release

demo: setup
	swift build --product expunged
	swift build --product expungectl
	swift build --product expunged-sandbox
	scripts/demo

test:
	scripts/setup test
	scripts/test

end-to-end:
	Tests/EndToEnd/run

SWEEP_SEEDS ?= 1...1000
fault-sweep:
	EXPUNGED_SUITE=Providers swift build --build-tests
	EXPUNGED_SUITE=Providers SWEEP_SEEDS=$(SWEEP_SEEDS) swift test --skip-build --filter FaultSweepTests | grep --line-buffered -v '^◇'

EXECUTIONS ?= 100000000
fuzz:
	swift build --product expunged
	Tests/Fuzz/run --executions $(EXECUTIONS)

EXAMPLES ?= 200
api-fuzz:
	scripts/setup test
	Tests/APIFuzz/run --examples $(EXAMPLES)

KILLS ?= 1000
kills:
	Tests/EndToEnd/run --only kills --kills $(KILLS)

POINTS ?= 10000
power-cuts:
	Tests/EndToEnd/run --only power-cuts --points $(POINTS)

integrations:
	Tests/EndToEnd/run --only integrations --swift

STEPS ?= 1000
clock-steps:
	Tests/EndToEnd/run --only clock-steps --steps $(STEPS)

lint:
	swift format lint --strict --recursive Sources Tests Package.swift
	@echo "lint: no findings"

tidy:
	EXPUNGED_SUITE=Tidy swift build --product expungedPackageTests
	EXPUNGED_SUITE=Tidy swift test --skip-build

system-test:
	scripts/setup system
	Tests/System/run

deb: $(if $(filter file,$(origin RELEASE_DIR)),build)
	scripts/setup deb
	RELEASE_DIR=$(RELEASE_DIR) scripts/deb
	lintian --allow-root --fail-on error,warning .build/deb/*.changes
