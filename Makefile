# make demo         shows the main job on real input
# make test         the gate: passes the tests that a change must pass
# make setup        installs the Debian packages that are missing; the targets here that need them call it
# make build        builds the three programs in release into .build/release
# make lint         form of code, man pages, shell scripts       make tidy   holds the rules of docs/STYLE.md
# make campaigns    runs everything that follows, which the gate leaves out (scripts/campaigns NAME: one of them)
# make end-to-end   plays every scenario with the real daemon (SEED=1)
# make bars         holds every bar of time, memory and rate of the tests, one test at a time
# make model        explores every interleaving of the intake with spin
# make lives        lives through 10,000 random histories of requests, and 500 of several hosts (LIVES=10000)
# make fault-sweep  tries every fault at every provider, 1,000 seeds each (SWEEP_SEEDS=1...1000)
# make fuzz         feeds every parser of outside bytes 10^8 grown inputs (EXECUTIONS=100000000)
# make api-fuzz     has schemathesis try every operation of the API (EXAMPLES=200)
# make kills        ends the daemon with kill -9 under load (KILLS=1000)
# make power-cuts   restarts the daemon on what 10,000 power cuts leave of its disk (POINTS=10000)
# make long-outages holds all kinds of providers and a directory in an outage of MINUTES, in six forms (MINUTES=30)
# make clock-steps  sets the clock 1,000 times while deletions go on (STEPS=1000)
# make purge-speed  purges 10,000 users at each kind of database and says how many a second (USERS=10000)
# make many-keys    purges and checks at a Redis with a million keys (KEYS=1000000)
# make spellings    tries over 100 spellings of ids at every kind of store (a quarter of an hour)
# make integrations tries what docs/integrations prints, Swift included
# make system-test  tries the release build on a real systemd (root)
# make release-demo runs the demo with the release build
# make bench        compares with a peer in one run (Benchmarks/bench.mk)
# make deb          builds the Debian packages into .build/deb (RELEASE_DIR=DIR: from the programs in DIR)
# make image        builds the container image from the programs of make build (ENGINE=podman)
# make install, make uninstall                                 (systemd/install.mk)
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -c
.DEFAULT_GOAL := help

.PHONY: help setup build demo release-demo test campaigns end-to-end bars model lives fault-sweep fuzz api-fuzz kills power-cuts long-outages clock-steps purge-speed many-keys spellings integrations lint tidy system-test deb image

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

release-demo:
	EXPUNGED_BIN=$(RELEASE_DIR) scripts/demo

test:
	scripts/setup test
	scripts/test

campaigns:
	scripts/campaigns

end-to-end:
	scripts/setup campaigns
	Tests/EndToEnd/run

bars:
	scripts/setup campaigns
	swift build --build-tests
	BARS=1 swift test --skip-build --no-parallel
	BARS=1 Tests/EndToEnd/run --bars --jobs 1

model:
	scripts/setup campaigns
	Tests/Model/run

# The seeds begin at SEED.
LIVES ?= 10000
lives:
	swift build --build-tests
	first=$$(($${SEED:-1} * 100000)); LIFE_SEEDS=$$first...$$((first + $(LIVES) - 1)) \
	HOST_SEEDS=$$first...$$((first + ($(LIVES) + 19) / 20 - 1)) HOSTS_BOUNDARIES=all \
	swift test --skip-build --no-parallel --filter '^SimulationTests\.(Simulation|Hosts)Tests' | grep -v '^◇'

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
	scripts/setup campaigns
	Tests/APIFuzz/run --phases coverage
	Tests/APIFuzz/run --examples $(EXAMPLES)

KILLS ?= 1000
kills:
	Tests/EndToEnd/run --only kills --set count=$(KILLS)

POINTS ?= 10000
power-cuts:
	Tests/EndToEnd/run --only power-cuts --set points=$(POINTS)

USERS ?= 10000
purge-speed: build
	EXPUNGED_BIN=$(abspath $(RELEASE_DIR)) Tests/EndToEnd/run --only purge-speed --set users=$(USERS)

KEYS ?= 1000000
many-keys: build
	BARS=1 EXPUNGED_BIN=$(abspath $(RELEASE_DIR)) Tests/EndToEnd/run --only many-keys --set count=$(KEYS)

spellings:
	swift build --build-tests
	SPELLINGS=all swift test --skip-build --filter EverySpellingTests

integrations:
	scripts/setup campaigns
	Tests/EndToEnd/run --only integrations --set with_swift=true

MINUTES ?= 30
long-outages:
	Tests/EndToEnd/run --only long-outages --set minutes=$(MINUTES)

STEPS ?= 1000
clock-steps:
	BARS=1 Tests/EndToEnd/run --only clock-steps --set count=$(STEPS)

lint:
	scripts/setup lint
	swift format lint --strict --recursive Sources Tests Package.swift
	scripts/lint
	@echo "lint: no findings"

tidy:
	EXPUNGED_SUITE=Tidy swift build --product expungedPackageTests
	EXPUNGED_SUITE=Tidy swift test --skip-build

system-test:
	scripts/setup system
	BARS=1 Tests/System/run

deb: $(if $(filter file,$(origin RELEASE_DIR)),build)
	scripts/setup deb
	RELEASE_DIR=$(RELEASE_DIR) scripts/deb
	lintian --allow-root --fail-on error,warning .build/deb/*.changes

# The context has nothing else, so that an engine sends nothing else. Podman keeps a health check in this
# format only.
ENGINE ?= podman
image:
	@test -x $(RELEASE_DIR)/expunged || { echo "nothing built yet: run 'make build' first" >&2; exit 1; }
	install -D -t .build/image $(RELEASE_DIR)/expunged $(RELEASE_DIR)/expungectl
	strip .build/image/expunged .build/image/expungectl
	$(ENGINE) build $(if $(filter podman buildah,$(notdir $(ENGINE))),--format docker) --tag expunged --file Config/container/Containerfile .build/image
