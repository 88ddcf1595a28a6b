#!/usr/bin/env bash
# lint.sh: reads all Go code and all shell scripts without running them. `make lint` builds the tools first; without them
# only what comes with Go runs. Every check runs, whatever the ones before it said.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0

# check NAME COMMAND…: runs one check and counts its failure.
check() {
  local name=$1
  shift
  if "$@"; then printf '%-16s ok\n' "$name"; else
    printf '%-16s FAILED\n' "$name"
    failed=$((failed + 1))
  fi
}

# unformatted PROGRAM: fails when PROGRAM -l names a file.
unformatted() {
  local names
  names=$(git ls-files -co --exclude-standard -- '*.go' | xargs -r "$@" -l) || return 1
  [ -z "$names" ] || { printf '%s\n' "$names"; return 1; }
}

# wasip1: the guests' code, for the machine that it runs on.
wasip1() {
  local dirs
  dirs=$(GOOS=wasip1 GOARCH=wasm go list -f '{{.Dir}}' ./sdk/... ./guests/... 2>/dev/null) || true
  [ -z "$dirs" ] || GOOS=wasip1 GOARCH=wasm go vet $dirs
}

shells() { local f; for f in scripts/*.sh .ci/run bench/peer; do bash -n "$f" || return 1; done; }

check gofmt unformatted gofmt
check "go vet" go vet ./...
check "go vet wasip1" wasip1
check "shell syntax" shells
if [ -x bin/tools/gofumpt ]; then
  check gofumpt unformatted bin/tools/gofumpt
  check staticcheck bin/tools/staticcheck ./...
  check golangci-lint bin/tools/golangci-lint run ./...
fi
[ "$failed" = 0 ]
