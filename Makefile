# make demo         shows the main job on real input
# make test         passes every test
# make setup        installs the Debian packages that are missing; the targets here that need them call it
# make build        builds the three programs in release into .build/release
# make lint         looks at the form of the Swift code        make tidy   holds the rules of docs/STYLE.md
# make fault-sweep  tries every fault at every provider, 1,000 seeds each (SWEEP_SEEDS=1...1000)
# make power-cuts   restarts the daemon on what 10,000 power cuts leave of its disk (POINTS=10000)
# make system-test  tries the release build on a real systemd (root)
# make bench        compares with a peer in one run (Benchmarks/bench.mk)
# make install, make uninstall                                 (systemd/install.mk)
SHELL := /bin/bash
.DEFAULT_GOAL := help

.PHONY: help setup build demo test end-to-end fault-sweep power-cuts lint tidy system-test

include systemd/install.mk
include Benchmarks/bench.mk

help:
	@sed -n 's/^# //p' Makefile | head -n 10

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

POINTS ?= 10000
power-cuts:
	Tests/EndToEnd/run --only power-cuts --points $(POINTS)

lint:
	swift format lint --strict --recursive Sources Tests Package.swift
	@echo "lint: no findings"

tidy:
	EXPUNGED_SUITE=Tidy swift build --product expungedPackageTests
	EXPUNGED_SUITE=Tidy swift test --skip-build

system-test:
	scripts/setup system
	Tests/System/run
