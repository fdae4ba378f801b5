# make demo   shows the main job on real input          make test    passes every test
# make setup  installs what Debian 12 lacks             make bench   compares with a peer in one run
# make lint, make tidy, make system-test                make release, make install, make uninstall
SHELL := /bin/bash
SUITES_TIMEOUT ?= 900

.PHONY: setup build demo test lint tidy system-test end-to-end

include systemd/install.mk
-include Benchmarks/bench.mk

setup:
	scripts/setup

build: setup release

demo: setup
	swift build --product expunged
	swift build --product expungectl
	swift build --product expunged-sandbox
	scripts/demo

test: setup
	scripts/test

end-to-end:
	Tests/EndToEnd/run

lint:
	swift format lint --strict --recursive Sources Tests Package.swift
	@echo "lint: no findings"

tidy:
	EXPUNGED_SUITE=Tidy swift build --product expungedPackageTests
	EXPUNGED_SUITE=Tidy swift test --skip-build

system-test: setup
	Tests/System/run
