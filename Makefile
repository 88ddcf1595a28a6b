# `make` alone lists the targets. One set of build flags everywhere: a second one would compile every module again.

SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS   += --no-print-directory

# Where there is no home (a bare container), Go's caches go into the work tree, git-ignored.
ifeq ($(strip $(HOME)),)
export HOME := $(CURDIR)/.home
endif

export CGO_ENABLED ?= 0
GO      ?= go
T       ?= 30s
SOAK    ?= 30m
PKG     ?= ./...
ALIVE   := scripts/alive.sh
TOOLS   := bin/tools
WSTREAM := bin/wstream

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' Makefile

.PHONY: build
build: ## make bin/wstream
	@$(ALIVE) "building $(WSTREAM)" $(GO) build -o $(WSTREAM) ./cmd/wstream
	@ls -l $(WSTREAM) | awk '{printf "%s, %.0f MB\n", $$NF, $$5 / 1e6}'

.PHONY: demo
demo: build ## the whole thing in a minute, nothing to install
	@$(WSTREAM) quickstart

.PHONY: guests
guests: ## build the example guests into testdata/guests (needs the compilers: scripts/install.sh guests)
	@scripts/guests.sh build

.PHONY: guests-check
guests-check: build ## hold every prebuilt guest against the ABI, and build it again for the same bytes
	@scripts/guests.sh check

.PHONY: test
test: ## all tests that need nothing but Go; services and the oracle are used where they are there
	@$(ALIVE) "testing" $(GO) test $(PKG)

.PHONY: race
race: ## the same under the race detector (needs a C compiler)
	@CGO_ENABLED=1 $(ALIVE) "testing for races" $(GO) test -race $(PKG)

.PHONY: fuzz
fuzz: ## every fuzz test for T (30s) each; make fuzz T=5m
	@scripts/fuzz.sh $(T)

.PHONY: soak
soak: build ## random crashes for SOAK (30m), the full matrix of crash points, 100,000 simulated seeds
	@$(GO) run ./internal/sim -n 100000
	@WSTREAM_SOAK=$(SOAK) $(ALIVE) "soaking" $(GO) test -count=1 -timeout=0 -run 'Soak|Matrix|Flips|CutFiles|DamagedObjects' -v ./...

.PHONY: golden
golden: build ## write the golden files anew; read the difference before you commit it
	@scripts/golden.sh

.PHONY: bench
bench: build ## the short benchmarks: rows/s per core beside a plain Go loop, in one run
	@$(GO) run ./bench $(BENCH)

# Everything that reads the code without running it. The tools are pinned in tools/go.mod.
.PHONY: lint
lint: $(TOOLS)/.built ## gofumpt, go vet, staticcheck and golangci-lint
	@scripts/lint.sh

$(TOOLS)/.built: tools/go.mod tools/go.sum
	@mkdir -p $(TOOLS)
	@GOBIN=$(CURDIR)/$(TOOLS) $(ALIVE) "building the tools" $(GO) -C tools install tool
	@touch $@

.PHONY: docs
docs: build ## write the generated pages of docs/ anew
	@scripts/docs.sh

.PHONY: check
check: lint test guests-check ## what must pass before a commit lands

.PHONY: release
release: ## archives of linux and darwin, amd64 and arm64, with checksums, in dist/
	@scripts/release.sh
